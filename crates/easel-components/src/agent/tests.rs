//! Agents as users set them up.

use std::sync::Arc;

use easel_tools::code::{CodeOutcome, CodeRequest, CodeRunner};
use easel_tools::{ScriptedWorld, ToolError, World};
use futures::future::{BoxFuture, FutureExt, pending};
use serde_json::{Value as Json, json};

use crate::testing::Trial;
use crate::turn::{HistoryEntry, Turn};

const SOURCE: &str = "\nID: 417\n├── Title: geo.txt\n└── Content:\nParis is the capital.";

fn retrieval() -> Json {
    json!({"component_name": "Retrieval", "name": "kb", "params": {"dataset_ids": ["ds1"], "description": "my files"}})
}

fn found() -> Json {
    json!([{"chunks": [{"chunk_id": "c1", "content": "Paris is the capital.", "doc_id": "d1", "docnm_kwd": "geo.txt"}],
            "doc_aggs": [{"doc_name": "geo.txt", "doc_id": "d1", "count": 1}]}])
}

fn agent(params: Json) -> Trial {
    let mut all = json!({"llm_id": "m", "sys_prompt": "", "cite": false, "tools": [retrieval()], "max_rounds": 3});
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    Trial::new("Agent", all).given("sys.query", json!("hello"))
}

/// A world and a model from one script.
fn within(trial: Trial, script: Json) -> Trial {
    let world = ScriptedWorld::new(serde_json::from_value(script.clone()).unwrap());
    trial.world(world.world()).model(script)
}

fn call(name: &str, arguments: Json) -> Json {
    json!({"times": 1, "tool_calls": [{"name": name, "arguments": arguments}]})
}

#[test]
fn without_tools_it_is_an_llm() {
    let tried = agent(json!({"tools": []}))
        .before("Message")
        .model(json!({"default_reply": "plain"}))
        .run();
    assert_eq!(
        (tried.streamed.as_str(), tried.ports()),
        ("plain", json!({"content": "plain"}))
    );
}

#[test]
fn what_a_tool_finds_goes_back_to_the_model() {
    let rules =
        json!([call("search_my_dateset_0", json!({"query": "capital"})), {"reply": "Paris"}]);
    let tried = within(
        agent(json!({})),
        json!({"rules": rules, "retrieval": found()}),
    )
    .run();
    assert_eq!(tried.ports(), json!({"content": "Paris"}));
    assert_eq!(
        tried.messages("X")[1],
        [
            "user: hello".to_owned(),
            r#"assistant: ["search_my_dateset_0" "{\"query\": \"capital\"}"]"#.to_owned(),
            format!("tool: {SOURCE}")
        ]
    );
    assert_eq!(
        tried.tool_calls,
        [format!(
            "X search_my_dateset_0 {{\"query\": \"capital\"}} -> {SOURCE}"
        )]
    );
    assert_eq!(tried.completion().references.len(), 1);
    assert_eq!(tried.usage.calls, 2);
}

#[test]
fn tool_calls_are_shown_as_thoughts() {
    let rules =
        json!([call("search_my_dateset_0", json!({"query": "capital"})), {"reply": "Paris"}]);
    let tried = within(
        agent(json!({})).before("Message"),
        json!({"rules": rules, "retrieval": found()}),
    )
    .run();
    let notice = "Running the search_my_dateset_0 tool...";
    assert_eq!(tried.streamed, format!("(think {notice} think)Paris"));
    assert_eq!(
        tried.ports(),
        json!({"content": format!("<think>{notice}</think>Paris")})
    );
}

#[test]
fn what_is_found_on_the_way_is_cited_by_who_is_read() {
    let rules = json!([call("search_my_dateset_0", json!({"query": "capital"})), {"reply": "Paris [ID:417]"}]);
    let script = json!({"rules": rules, "retrieval": found()});
    let streamed = within(
        agent(json!({"cite": true})).before("Message"),
        script.clone(),
    )
    .run();
    let messages = streamed.messages("X");
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0], ["user: hello"]);
    assert!(
        messages[1][0].starts_with("system: ## Citing sources"),
        "{}",
        messages[1][0]
    );

    let plain = within(agent(json!({"cite": true})), script).run();
    assert_eq!(plain.messages("X")[1][0], "user: hello");
}

#[test]
fn calls_that_go_wrong_are_told_to_the_model() {
    let wrong = json!({"times": 1, "tool_calls": [
        {"id": "a", "name": "no_such_tool", "arguments": {}},
        {"id": "b", "name": "search_my_dateset_0", "arguments": "[1]"},
        {"id": "c", "name": "search_my_dateset_0", "arguments": {}},
        {"id": "d", "name": "search_my_dateset_0", "arguments": "{query: 'x',}"}]});
    let script =
        json!({"rules": [wrong, {"reply": "sorry"}], "retrieval": [{"error": "index down"}]});
    let tried = within(agent(json!({})), script).run();
    assert_eq!(tried.ports(), json!({"content": "sorry"}));
    let told = &tried.messages("X")[1][2..];
    assert_eq!(
        told[0],
        "tool: There is no tool called no_such_tool. There are: search_my_dateset_0."
    );
    assert!(
        told[1].contains("must be a JSON object, not array"),
        "{}",
        told[1]
    );
    assert!(told[2].contains("\"query\""), "{}", told[2]);
    assert_eq!(told[3], "tool: index down");
}

#[test]
fn a_model_that_never_stops_is_asked_to_answer() {
    let script = json!({
        "rules": [
            {"match": {"last_contains": "Exceed max rounds: 1"}, "reply": "gave up"},
            {"tool_calls": [{"name": "search_my_dateset_0", "arguments": {"query": "q"}}]}],
        "retrieval": found()});
    let tried = within(agent(json!({"max_rounds": 1})), script).run();
    assert_eq!(tried.ports(), json!({"content": "gave up"}));
    let tools: Vec<usize> = tried.requests["X"]
        .iter()
        .map(|request| request.tools.len())
        .collect();
    assert_eq!(tools, [1, 1, 0]);
}

#[test]
fn an_answer_with_a_shape_may_follow_tools() {
    let outputs = json!({"structured": {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}});
    let rules =
        json!([call("search_my_dateset_0", json!({"query": "q"})), {"reply": "{\"a\": 1}"}]);
    let tried = within(
        agent(json!({"outputs": outputs})).before("Message"),
        json!({"rules": rules, "retrieval": found()}),
    )
    .run();
    assert_eq!(
        (tried.streamed.as_str(), tried.ports()),
        ("", json!({"structured": {"a": 1}}))
    );
}

#[test]
fn an_order_comes_with_its_reasons() {
    let ordered = |arguments: Json| super::order(&crate::testing::object(arguments));
    assert_eq!(
        ordered(json!({"user_prompt": "sub task", "reasoning": "because", "context": "ctx"})),
        "\nREASONING:\nbecause\n\nCONTEXT:\nctx\n\nQUERY:\nsub task\n"
    );
    assert_eq!(
        ordered(json!({"user_prompt": "sub task", "reasoning": ""})),
        "sub task"
    );
}

#[test]
fn agents_call_agents() {
    let helper = json!({"component_name": "Agent", "name": "Web Helper", "params": {
        "llm_id": "m", "sys_prompt": "You help.", "description": "Helps.", "tools": [retrieval()],
        "prompts": [{"role": "user", "content": "{sys.query}"}]}});
    let script = json!({
        "rules": [
            {"match": {"component": "X"}, "times": 1, "tool_calls": [{"name": "Web_Helper_0", "arguments":
                {"user_prompt": "sub task", "reasoning": "because", "context": "ctx"}}]},
            {"match": {"component": "X-->Web_Helper"}, "times": 1, "tool_calls":
                [{"name": "search_my_dateset_0", "arguments": {"query": "capital"}}]},
            {"match": {"component": "X-->Web_Helper"}, "reply": "helped"},
            {"reply": "done"}],
        "retrieval": found()});
    let tried = within(agent(json!({"tools": [helper]})), script).run();
    assert_eq!(tried.ports(), json!({"content": "done"}));
    assert_eq!(
        tried.messages("X-->Web_Helper")[0],
        [
            "system: You help.",
            "user: \nREASONING:\nbecause\n\nCONTEXT:\nctx\n\nQUERY:\nsub task\n"
        ]
    );
    assert_eq!(tried.messages("X")[1][2], "tool: helped");
    assert!(tried.tool_calls[0].starts_with("X-->Web_Helper search_my_dateset_0 "));
    assert_eq!(tried.completion().references.len(), 1);
    assert_eq!(tried.usage.calls, 4);
}

#[test]
fn what_nested_agents_used_counts_when_the_attempt_fails() {
    let helper = json!({"component_name": "Agent", "name": "Helper", "params": {"llm_id": "m"}});
    let script = json!({"rules": [
        {"match": {"component": "X"}, "times": 1, "tool_calls": [{"name": "Helper_0", "arguments":
            {"user_prompt": "t", "reasoning": "r", "context": "c"}}]},
        {"match": {"component": "X-->Helper"}, "reply": "helped"},
        {"error": "boom"}]});
    let tried = within(agent(json!({"tools": [helper]})), script).run();
    assert_eq!(&*tried.fault().code, "model.scripted");
    assert_eq!(tried.usage.calls, 3);
}

#[test]
fn tools_this_version_does_not_run_are_left_out() {
    let tools = json!([{"component_name": "Bing", "params": {}}, {"component_name": "Nonsense", "params": {}}, retrieval()]);
    let tried = agent(json!({"tools": tools, "mcp": [{"tools": {"a": {}}}]}))
        .model(json!({"default_reply": "ok"}))
        .run();
    let tools: Vec<&str> = tried.requests["X"][0]
        .tools
        .iter()
        .map(|name| &**name)
        .collect();
    assert_eq!(tools, ["search_my_dateset_2"]);
    assert_eq!(tried.warnings.len(), 3);
}

#[test]
fn a_tool_that_is_set_up_wrongly_stops_the_agent() {
    let tools = json!([{"component_name": "CodeExec", "params": {"lang": "cobol"}}]);
    let tried = agent(json!({"tools": tools})).run();
    assert!(
        tried.fault().message.contains("`tools.0.params.lang`"),
        "{}",
        tried.fault()
    );
}

#[test]
fn agents_nest_eight_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let mut params = json!({"llm_id": "m", "tools": []});
        for _ in 0..depth {
            params = json!({"llm_id": "m", "tools": [{"component_name": "Agent", "name": "A", "params": params}]});
        }
        Trial::new("Agent", params)
            .given("sys.query", json!("q"))
            .model(json!({"default_reply": "ok"}))
            .run()
    };
    assert!(nested(8).result.is_ok());
    assert!(nested(9).fault().message.contains("8 deep"));
}

#[test]
fn a_model_without_tools_is_asked_without_them() {
    let script = json!({"models": {"m": {"is_tools": false}}, "default_reply": "no tools"});
    let tried = agent(json!({})).model(script).run();
    assert_eq!(tried.ports(), json!({"content": "no tools"}));
    assert!(tried.requests["X"][0].tools.is_empty());
    assert_eq!(tried.warnings.len(), 1);
}

#[test]
fn in_a_long_conversation_the_question_is_put_so_that_it_stands_alone() {
    let entry = |role: &str, text: &str| HistoryEntry::new(role, text);
    let history = vec![
        entry("user", "Who is Ada?"),
        entry("assistant", "A mathematician."),
        entry("user", "Where born?"),
        entry("assistant", "London."),
        entry("user", "hello"),
    ];
    let turn = Turn {
        history: Arc::new(history),
        ..Turn::default()
    };
    let rules = json!([{"match": {"prompt_contains": "ASSISTANT: London."}, "reply": "When did Ada die?"}, {"reply": "1852"}]);
    let tried = agent(json!({}))
        .before("Message")
        .turn(turn)
        .model(json!({"rules": rules}))
        .run();
    let asked = tried.messages("X");
    assert_eq!(asked[1].last().unwrap(), "user: When did Ada die?");
    assert_eq!(tried.streamed, "1852");
}

#[test]
fn a_secret_goes_to_the_tool_and_not_into_its_schema() {
    let tool = json!({"component_name": "TavilySearch", "name": "web", "params": {"api_key": "${KEY}", "query": "${Q}"}});
    let rules = json!([call("tavily_search_0", json!({})), {"reply": "ok"}]);
    let tried = within(agent(json!({"tools": [tool]})), json!({"rules": rules})).run();
    // No secret is set here: the tool says so, and the model learns the name alone.
    assert!(
        tried.messages("X")[1][2].contains("the secret Q is not set"),
        "{:?}",
        tried.messages("X")[1]
    );
}

/// A sandbox that never comes to an end.
struct Stuck;

impl CodeRunner for Stuck {
    fn run(&self, _: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>> {
        pending().boxed()
    }
}

#[test]
fn a_tool_that_takes_too_long_is_stopped_and_the_model_goes_on() {
    let code = json!({"component_name": "CodeExec", "name": "code", "params": {}});
    let arguments = json!({"lang": "python", "script": "def main(): return 1"});
    let tried = agent(json!({"tools": [code]}))
        .world(World {
            code: Arc::new(Stuck),
            ..World::none()
        })
        .model(json!({"rules": [call("execute_code_0", arguments), {"reply": "I give up"}]}))
        .out_of_time()
        .run();
    assert_eq!(tried.port("content"), json!("I give up"));
    assert_eq!(
        tried.messages("X")[1].last().unwrap(),
        "tool: This call was stopped after 60 s, the most it may take. Ask for less at a time."
    );
}

#[test]
fn a_model_is_told_all_that_a_script_gave() {
    let code = json!({"component_name": "CodeExec", "name": "code", "params": {}});
    let arguments = json!({"lang": "python", "script": "def main(): return 42"});
    let rules = json!([call("execute_code_0", arguments), {"reply": "42"}]);
    let script = json!({"rules": rules, "code": [{"result": 42}]});
    let tried = within(agent(json!({"tools": [code]})), script);
    assert_eq!(
        tried.run().messages("X")[1].last().unwrap(),
        r#"tool: {"result": 42, "_created_time": 0, "_ERROR": "", "raw_result": 42, "actual_type": "Number", "_ARTIFACTS": null, "_ATTACHMENT_CONTENT": "", "attachments": [], "content": "42"}"#
    );
}

#[test]
fn a_list_that_a_tool_gives_is_told_as_canvases_know_it() {
    let extract =
        json!({"component_name": "TavilyExtract", "name": "pages", "params": {"api_key": "k"}});
    let arguments = json!({"urls": ["http://e.com/a"]});
    let rules = json!([call("tavily_extract_0", arguments), {"reply": "read"}]);
    let script =
        json!({"rules": rules, "search": [{"results": [{"url": "http://e.com/a", "score": 0.5}]}]});
    let tried = within(agent(json!({"tools": [extract]})), script);
    assert_eq!(
        tried.run().messages("X")[1].last().unwrap(),
        "tool: [{'url': 'http://e.com/a', 'score': 0.5}]"
    );
}
