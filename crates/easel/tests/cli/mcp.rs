//! `easel mcp`, and workflows that call tools of MCP servers: here agents of another Easel.

use serde_json::{Value, json};

use super::easel::{Desk, Done, canvas};
use super::served::Served;

/// A server with an agent that greets, and settings that know it as `team`.
fn greeting(desk: &Desk) -> Served {
    let greets = canvas(&[
        (
            "begin",
            "Begin",
            json!({"mode": "conversational"}),
            &["Message:Say"],
        ),
        (
            "Message:Say",
            "Message",
            json!({"content": ["Good day, {sys.query}!"]}),
            &[],
        ),
    ]);
    desk.json("Greet.json", &greets);
    let data = &["--data", "data"];
    let import = desk.easel(&[&["agents", "import", "Greet.json"][..], data].concat());
    assert_eq!(import.code, 0, "{}", import.err);
    let publish = desk.easel(&[&["agents", "publish", "Greet"][..], data].concat());
    assert_eq!(publish.code, 0, "{}", publish.err);
    let served = Served::start(desk, &[]);
    let settings = format!(
        "[mcp.team]\nurl = \"http://{}/mcp\"\nheaders = {{ Authorization = \"Bearer ${{TEAM_KEY}}\" }}\nids = [\"9f3c\"]\n",
        served.address()
    );
    desk.write("easel.toml", &settings);
    served
}

/// Runs a command with the server's key set.
fn with_key(desk: &Desk, served: &Served, arguments: &[&str]) -> Done {
    let mut command = desk.command(arguments);
    command.env("TEAM_KEY", served.token());
    command.env("EASEL_HOME", desk.path("home"));
    let done = Done::of(command.output().unwrap());
    assert!(
        !(done.out.clone() + &done.err).contains(served.token()),
        "the key was shown"
    );
    done
}

#[test]
fn servers_and_tools_are_listed_and_a_tool_is_called() {
    let desk = Desk::new();
    let served = greeting(&desk);
    let run = |arguments: &[&str]| with_key(&desk, &served, arguments);
    let servers = run(&["mcp", "list"]);
    assert!(
        servers.out.contains("team") && servers.out.contains("9f3c"),
        "{}",
        servers.out
    );
    let tools = run(&["mcp", "list", "team", "--json"]).json();
    assert_eq!(tools["tools"][0]["name"], "greet");
    let called = run(&["mcp", "call", "team", "greet", "query=Ada"]);
    assert_eq!(
        (called.code, &*called.out),
        (0, "Good day, Ada!\n"),
        "{}",
        called.err
    );
    let by_id = run(&[
        "mcp",
        "call",
        "9f3c",
        "greet",
        "--arguments",
        r#"{"query": "Bo"}"#,
    ]);
    assert_eq!(by_id.out, "Good day, Bo!\n");
    let wrong = run(&["mcp", "call", "team", "greet"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("It takes: query"), "{}", wrong.err);
}

#[test]
fn what_cannot_be_reached_or_is_not_set_up_is_said_with_what_to_do() {
    let desk = Desk::new();
    let nothing = desk.easel(&["mcp", "list"]);
    assert_eq!(nothing.code, 0);
    assert!(nothing.err.contains("[mcp.NAME]"), "{}", nothing.err);
    let served = greeting(&desk);
    let unset = desk.easel(&["mcp", "list", "team"]);
    assert_eq!(unset.code, 2);
    assert!(
        unset.err.contains("The secret TEAM_KEY is not set"),
        "{}",
        unset.err
    );
    let odd = desk.easel(&["mcp", "call", "team", "greet", "--arguments", "[1]"]);
    assert_eq!(odd.code, 2);
    assert!(
        odd.err.contains("--arguments is no JSON object"),
        "{}",
        odd.err
    );
    let unknown = with_key(&desk, &served, &["mcp", "list", "teams"]);
    assert!(unknown.err.contains("There are team."), "{}", unknown.err);
    desk.write("easel.toml", "[mcp.team]\ncommand = \"cat\"\n");
    let program = desk.easel(&["mcp", "login", "team"]);
    assert!(
        program.err.contains("one signs in to addresses alone"),
        "{}",
        program.err
    );
    desk.write(
        "easel.toml",
        "[mcp.team]\nurl = \"http://127.0.0.1:9/mcp\"\n",
    );
    let closed = desk.easel(&["mcp", "list", "team"]);
    assert_eq!(closed.code, 1);
    assert!(
        closed.err.contains("No connection to the MCP server team"),
        "{}",
        closed.err
    );
}

#[test]
fn a_graph_and_an_agent_of_a_canvas_call_a_tool_and_the_receipt_names_the_server() {
    let desk = Desk::new();
    let served = greeting(&desk);
    desk.write(
        "ask.yaml",
        "name: ask\ninputs: {who: string}\nnodes:\n  - {id: t, kind: tool, tools: [mcp__team__greet], tool_args: {query: '{who}'}}\noutputs: [t]\n",
    );
    let asked = with_key(&desk, &served, &["run", "ask.yaml", "--input", "who=Ada"]);
    assert_eq!(asked.code, 0, "{}", asked.err);
    assert!(asked.out.contains("Good day, Ada!"), "{}", asked.out);
    // The same, found by the tool's name alone.
    desk.write(
        "short.yaml",
        &desk.read("ask.yaml").replace("mcp__team__greet", "greet"),
    );
    let asked = with_key(&desk, &served, &["run", "short.yaml", "--input", "who=Bo"]);
    assert!(asked.out.contains("Good day, Bo!"), "{}", asked.out);

    let tool = json!({"greet": {"description": "Greets.", "inputSchema": {
        "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}});
    let agent = canvas(&[
        (
            "begin",
            "Begin",
            json!({"mode": "conversational"}),
            &["Agent:Ask"],
        ),
        (
            "Agent:Ask",
            "Agent",
            json!({"llm_id": "m", "sys_prompt": "Greet.", "cite": false, "mcp": [{"mcp_id": "9f3c", "tools": tool}]}),
            &["Message:Say"],
        ),
        (
            "Message:Say",
            "Message",
            json!({"content": ["{Agent:Ask@content}"]}),
            &[],
        ),
    ]);
    desk.json("agent.json", &agent);
    let model = super::model::Server::saying(calls_then_repeats);
    let asked = with_key(
        &desk,
        &served,
        &[
            "run",
            "agent.json",
            "hello",
            "--model",
            "m",
            "--base-url",
            &model.url(),
            "--json",
        ],
    );
    assert_eq!(asked.code, 0, "{}", asked.err);
    let asked = asked.json();
    assert!(
        asked.to_string().contains("It said: Good day, Cy!"),
        "{asked}"
    );
    let entries = &asked["receipt"]["receipt"]["entries"];
    assert_eq!(
        (&entries[0]["secret"], &entries[0]["sink"]),
        (&json!("TEAM_KEY"), &json!("mcp:team")),
        "{entries}"
    );
}

/// A model that calls the tool once and then says what it was told.
fn calls_then_repeats(request: &Value) -> Value {
    let messages = request["messages"].as_array().unwrap();
    match messages.last() {
        Some(last) if last["role"] == "tool" => {
            let told = last["content"].as_str().unwrap();
            json!({"role": "assistant", "content": format!("It said: {told}")})
        }
        _ => json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": "c1", "type": "function",
            "function": {"name": "greet_0", "arguments": r#"{"query": "Cy"}"#},
        }]}),
    }
}
