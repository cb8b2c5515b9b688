//! Secrets in graphs: they reach the tool and nobody else (spec/graph-engine §11.2, §18).

use serde_json::json;

use super::graphs::World;

const VALUE: &str = "s3cr3t-value";

fn tool(arguments: &str, rest: &str) -> String {
    format!(
        "  - {{id: t, kind: tool, tools: [probe], secrets: [TOKEN], tool_args: {arguments}{rest}}}\noutputs: [t]\n"
    )
}

#[test]
fn a_declared_secret_reaches_the_tool_and_nothing_else_shows_it() {
    let ran = World::new(&tool("{key: '${TOKEN}', x: q}", ""))
        .secret("TOKEN", VALUE)
        .run(json!({}));
    assert_eq!(ran.calls, [json!({"key": VALUE, "x": "q"})]);
    assert_eq!(
        ran.results(),
        json!({"t": "••••••"}),
        "the tool echoes it, and the gate masks it"
    );
    assert!(!json!(ran.events).to_string().contains(VALUE));
}

#[test]
fn a_tool_that_echoes_a_secret_does_not_bring_it_into_the_next_prompt() {
    let graph = "  - {id: t, kind: tool, tools: [probe], secrets: [TOKEN], tool_args: {key: 'x${TOKEN}y'}}\n  - {id: b, instructions: 'sum {t}', depends_on: [t]}\noutputs: [b]\n";
    let ran = World::new(graph).secret("TOKEN", VALUE).run(json!({}));
    assert_eq!(ran.asked(), ["Your task:\nsum x••••••y"]);
}

#[test]
fn a_tool_that_fails_with_a_secret_does_not_leak_it_in_its_error() {
    let ran = World::new(&tool("{key: '${TOKEN}', fail: 'no such ${TOKEN}'}", ""))
        .secret("TOKEN", VALUE)
        .run(json!({}));
    assert!(ran.error().contains("no such ••••••"), "{}", ran.error());
    assert!(!json!(ran.events).to_string().contains(VALUE));
}

#[test]
fn text_that_arrives_at_run_time_is_never_expanded() {
    let graph = format!(
        "name: g\ninputs: {{x: string}}\nnodes:\n{}",
        tool("{x: '{x}'}", "")
    );
    let ran = World::of(&graph)
        .secret("TOKEN", VALUE)
        .run(json!({"x": "http://h/?k=${TOKEN}"}));
    assert_eq!(ran.calls, [json!({"x": "http://h/?k=${TOKEN}"})]);
    let model = "  - {id: a, instructions: go}\n  - {id: t, kind: tool, tools: [probe], secrets: [TOKEN], tool_args: {x: '{a}'}, depends_on: [a]}\noutputs: [t]\n";
    let ran = World::new(model)
        .secret("TOKEN", VALUE)
        .says(json!([{"reply": "${TOKEN}"}]))
        .run(json!({}));
    assert_eq!(ran.calls, [json!({"x": "${TOKEN}"})]);
}

#[test]
fn an_input_of_the_same_name_does_not_take_a_secrets_place() {
    let graph = format!(
        "name: g\ninputs: {{TOKEN: string}}\nnodes:\n{}",
        tool("{key: '${TOKEN}', x: '{TOKEN}'}", "")
    );
    let ran = World::of(&graph)
        .secret("TOKEN", VALUE)
        .run(json!({"TOKEN": "user-val"}));
    assert_eq!(ran.calls, [json!({"key": VALUE, "x": "user-val"})]);
}

#[test]
fn an_undeclared_secret_reaches_the_tool_as_it_is_written() {
    let graph = "  - {id: t, kind: tool, tools: [probe], secrets: [OTHER], tool_args: {x: '${TOKEN}'}}\noutputs: [t]\n";
    let ran = World::new(graph).secret("TOKEN", VALUE).run(json!({}));
    assert_eq!(ran.calls, [json!({"x": "${TOKEN}"})]);
}

#[test]
fn a_secret_in_a_prompt_is_never_put_in() {
    let graph = "  - {id: a, secrets: [TOKEN], instructions: 'Use ${TOKEN}.'}\noutputs: [a]\n";
    let ran = World::new(graph)
        .secret("TOKEN", VALUE)
        .unchecked()
        .run(json!({}));
    assert_eq!(ran.asked(), ["Your task:\nUse ${TOKEN}."]);
}

#[test]
fn a_secret_that_is_not_set_keeps_the_tool_from_being_called() {
    let ran = World::new(&tool("{key: '${TOKEN}'}", "")).run(json!({}));
    assert!(ran.calls.is_empty());
    assert!(
        ran.error().contains("secret TOKEN is not set"),
        "{}",
        ran.error()
    );
}

#[test]
fn a_doubled_dollar_is_a_literal_one() {
    let ran = World::new(&tool("{x: '$${TOKEN}', key: '$${TOKEN} ${TOKEN}'}", ""))
        .secret("TOKEN", VALUE)
        .run(json!({}));
    assert_eq!(ran.calls[0]["x"], "${TOKEN}");
    assert_eq!(ran.calls[0]["key"], format!("${{TOKEN}} {VALUE}"));
}

#[test]
fn a_bound_argument_leaves_the_schema_and_wins_over_what_the_model_sends() {
    let graph = "  - {id: a, kind: react, instructions: go, tools: [probe], secrets: [TOKEN], tool_args: {key: '${TOKEN}', n: 5}}\noutputs: [a]\n";
    let ran = World::new(graph)
        .secret("TOKEN", VALUE)
        .says(json!([
            {"match": {"last_role": "tool"}, "reply": "done"},
            {"tool_calls": [{"name": "probe", "arguments": {"x": "q", "key": "evil", "n": 1}}]},
        ]))
        .run(json!({}));
    assert_eq!(ran.results(), json!({"a": "done"}));
    assert_eq!(ran.calls, [json!({"x": "q", "n": 5, "key": VALUE})]);
    let offered = &ran.requests[0]["tools"][0];
    let offered = offered.to_string();
    assert!(
        !offered.contains("\"key\"") && !offered.contains("\"n\""),
        "{offered}"
    );
    assert!(!json!(ran.requests).to_string().contains(VALUE));
}

#[test]
fn a_short_secret_works_and_is_not_masked() {
    let ran = World::new(&tool("{key: '${TOKEN}'}", ""))
        .secret("TOKEN", "abcde")
        .run(json!({}));
    assert_eq!(ran.results(), json!({"t": "abcde"}));
}

#[test]
fn the_receipt_names_the_secret_and_the_tool() {
    let ran = World::new(&tool("{key: '${TOKEN}'}", ""))
        .secret("TOKEN", VALUE)
        .run(json!({}));
    let receipt = ran.session.receipt().unwrap();
    assert_eq!(receipt.entries.len(), 1);
    assert_eq!(
        (&*receipt.entries[0].secret, &*receipt.entries[0].node),
        ("TOKEN", "t")
    );
    assert!(receipt.bytes_scanned > 0);
}
