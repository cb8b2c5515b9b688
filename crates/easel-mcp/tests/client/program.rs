//! A server that is a program.

use std::time::Duration;

use easel_core::Object;
use easel_mcp::McpClients;
use easel_tools::ToolError;
use easel_tools::mcp::{McpReach, McpServer, McpServers, with_secrets};

use crate::{call, clients, listed, said, visit};

fn program(command: &str, arguments: &[&str]) -> McpServer {
    let reach = McpReach::Program {
        command: command.to_owned(),
        arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
        environment: vec![("FROM_SETTINGS".into(), with_secrets("here"))],
        folder: None,
    };
    McpServer::new("tested", reach)
}

/// The example that is built with these tests.
fn example() -> String {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    let path = path.join("examples").join("mcp_server");
    path.to_str().unwrap().to_owned()
}

fn tested() -> McpClients {
    clients(vec![program(&example(), &[])], &[])
}

#[tokio::test]
async fn its_tools_are_listed_over_all_pages_and_called() {
    let clients = tested();
    let tools = clients
        .tools(visit(&clients.servers()[0], "a"))
        .await
        .unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(
        names,
        [
            "echo",
            "count",
            "picture",
            "refuse",
            "wait",
            "variables",
            "headers",
            "grow",
            "die"
        ]
    );
    assert_eq!(&*tools[0].description, "Does echo.");
    assert!(tools[0].reads_only && !tools[1].reads_only);
    assert!(tools[0].parameters.get("required").is_some());

    let arguments = Object::from_iter([("text".into(), "Good day".into())]);
    let answer = call(&clients, "a", "echo", arguments).await.unwrap();
    assert_eq!((&*answer.text, answer.failed), ("Good day", false));
    let picture = call(&clients, "a", "picture", Object::new()).await.unwrap();
    assert_eq!(picture.files[0].content_b64, "aGVsbG8=");
}

#[tokio::test]
async fn what_a_tool_or_its_server_has_against_a_call_is_an_answer() {
    let clients = tested();
    let refused = call(&clients, "a", "refuse", Object::new()).await.unwrap();
    assert_eq!((&*refused.text, refused.failed), ("Not today.", true));
    let unknown = call(&clients, "a", "nothing", Object::new()).await.unwrap();
    assert_eq!(
        (&*unknown.text, unknown.failed),
        ("There is no nothing.", true)
    );
}

#[tokio::test]
async fn it_sees_what_the_settings_give_it_and_no_more_of_the_environment() {
    let clients = tested();
    let seen = said(&clients, "a", "variables").await;
    let seen: Vec<&str> = seen.split(' ').collect();
    assert!(
        seen.contains(&"FROM_SETTINGS") && seen.contains(&"PATH"),
        "{seen:?}"
    );
    // Cargo sets this one for tests.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    assert!(!seen.contains(&"CARGO_PKG_NAME"), "{seen:?}");
}

#[tokio::test]
async fn each_conversation_has_a_program_of_its_own_unless_it_is_shared() {
    let clients = tested();
    assert_eq!(said(&clients, "a", "count").await, "1");
    assert_eq!(said(&clients, "a", "count").await, "2");
    assert_eq!(said(&clients, "b", "count").await, "1");

    let shared = McpServer {
        shared: true,
        ..program(&example(), &[])
    };
    let clients = crate::clients(vec![shared], &[]);
    assert_eq!(said(&clients, "a", "count").await, "1");
    assert_eq!(said(&clients, "b", "count").await, "2");
}

#[tokio::test]
async fn calls_of_one_conversation_run_at_the_same_time() {
    let clients = tested();
    let slow = call(&clients, "a", "wait", Object::new());
    let quick = said(&clients, "a", "count");
    tokio::select! {
        _ = slow => panic!("it waits for an hour"),
        counted = quick => assert_eq!(counted, "1"),
    }
    // The call that was given up is over, and the connection goes on.
    assert_eq!(said(&clients, "a", "count").await, "2");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_given_up() {
    let hasty = McpServer {
        timeout: Duration::from_millis(50),
        ..program(&example(), &[])
    };
    let clients = clients(vec![hasty], &[]);
    let late = call(&clients, "a", "wait", Object::new())
        .await
        .unwrap_err();
    assert_eq!(late.code(), "tool.timeout");
    assert_eq!(
        late.to_string(),
        "the MCP server tested gave no answer within 0.1 s"
    );
}

#[tokio::test]
async fn a_list_that_changed_is_asked_for_again() {
    let clients = tested();
    assert!(!listed(&clients).await.contains(&"grown".to_owned()));
    said(&clients, "a", "grow").await;
    assert!(listed(&clients).await.contains(&"grown".to_owned()));
}

#[tokio::test]
async fn a_program_that_ends_during_a_call_fails_it_and_is_started_again_for_the_next() {
    let clients = tested();
    assert_eq!(said(&clients, "a", "count").await, "1");
    let broken = call(&clients, "a", "die", Object::new()).await.unwrap_err();
    assert!(
        matches!(&broken, ToolError::Interrupted { host, .. } if host == "the MCP server tested"),
        "{broken}"
    );
    assert!(!broken.certain_nothing_sent());
    assert_eq!(said(&clients, "a", "count").await, "1");
}

#[tokio::test]
async fn a_program_that_does_not_begin_is_quoted() {
    let mute = clients(vec![program(&example(), &["mute"])], &[]);
    let error = call(&mute, "a", "echo", Object::new()).await.unwrap_err();
    let told = error.to_string();
    assert!(
        told.ends_with(
            "ended before it had answered; it wrote: There is no key, so I do not begin."
        ),
        "{told}"
    );
    assert!(error.certain_nothing_sent());

    let absent = clients(vec![program("no-such-program", &[])], &[]);
    let told = call(&absent, "a", "echo", Object::new()).await.unwrap_err();
    assert_eq!(
        told.to_string(),
        "no connection to the MCP server tested: there is no program no-such-program; install it, or name it with its whole \
         path under [mcp.tested] in easel.toml"
    );
}

#[tokio::test]
async fn only_the_tools_that_the_settings_name_are_offered() {
    let few = McpServer {
        only: Some(vec!["echo".into(), "count".into()]),
        ..program(&example(), &[])
    };
    assert_eq!(listed(&clients(vec![few], &[])).await, ["echo", "count"]);
}
