//! The rules one by one, where an example does not say enough.

use easel_catalog::{Argument, Catalog, Component, Family, Tool, Type};
use easel_check::{Code, Diagnostic, Severity};
use easel_core::draft::EffectClass;
use easel_graph::source::Format;

use crate::documents::{Checked, checked, checked_with, everything, nothing};

/// What is found of a code: severity, node, the text at its place.
fn found(text: &str, code: Code) -> Vec<(Severity, String, String)> {
    let all = checked(text, &everything()).all;
    let of_code = all.iter().filter(|d| d.code == code);
    of_code.map(|d| shown(text, d)).collect()
}

fn shown(text: &str, d: &Diagnostic) -> (Severity, String, String) {
    let at = d
        .place
        .map_or("", |at| &text[at.offset..at.offset + at.len]);
    (
        d.severity,
        d.node.as_deref().unwrap_or("-").to_owned(),
        at.to_owned(),
    )
}

fn one(severity: Severity, node: &str, at: &str) -> Vec<(Severity, String, String)> {
    vec![(severity, node.to_owned(), at.to_owned())]
}

#[test]
fn a_sound_graph_gives_nothing_to_say() {
    let graph = r#"
name: triage
inputs: {message: string, items: array}
nodes:
  - {id: sort, kind: router, instructions: "How urgent is this? {message}", routes: {urgent: now, "not urgent": later}}
  - {id: now, instructions: "Answer {message} at once.", depends_on: [sort]}
  - {id: later, instructions: "Say when {message} will be answered.", depends_on: [sort]}
  - id: each
    kind: map
    over: inputs.items
    depends_on: [now, later]
    body:
      - {id: find, kind: tool, tools: [wikipedia_search], tool_args: {query: "{item}"}}
      - {id: sum, instructions: "Sum up for {message}.", depends_on: [find]}
  - {id: out, kind: output, depends_on: [each]}
"#;
    let checked = checked(graph, &everything());
    assert_eq!((checked.all, checked.refusals), (vec![], vec![]));
}

#[test]
fn a_placeholder_is_pointed_at_where_it_stands() {
    let graph = "name: g\ninputs: {topic: string}\noutputs: [a]\nnodes:\n  - id: a\n    instructions: |\n      One.\n      Two {topik} of {topic}.\n";
    assert_eq!(
        found(graph, Code::TemplateVar),
        one(Severity::Error, "a", "{topik}")
    );
    let all = checked(graph, &everything()).all;
    assert_eq!(all[0].fix, "Did you mean `topic`?");
    assert_eq!(all[0].place.map(|at| (at.line, at.column)), Some((8, 11)));
}

#[test]
fn bodies_are_held_to_the_rules_of_the_top() {
    let graph = r#"
name: g
inputs: {items: array}
outputs: [each]
nodes:
  - id: each
    kind: map
    over: inputs.items
    body:
      - {id: ask, kind: router, instructions: "{item}", routes: {x: good, y: nope}}
      - {id: good, kind: react, instructions: "{itme}", depends_on: [ask]}
      - {id: find, kind: tool, tools: [tavily_serach], depends_on: [good], when: "inputs.itms"}
"#;
    let errors: Vec<_> = checked(graph, &everything()).refusals;
    let errors: Vec<(Code, &str)> = errors
        .iter()
        .map(|d| (d.code, d.node.as_deref().unwrap()))
        .collect();
    assert_eq!(
        errors,
        [
            (Code::RouterUnknownTarget, "ask"),
            (Code::Capability, "good"),
            (Code::TemplateVar, "good"),
            (Code::ToolTypo, "find"),
            (Code::ExpressionName, "find"),
        ]
    );
}

#[test]
fn an_undeclared_secret_is_a_warning_in_an_argument_and_an_error_in_a_prompt() {
    let tool = r#"
name: g
outputs: [t]
nodes:
  - {id: t, kind: tool, tools: [tavily_search], tool_args: {query: "a ${KEY} b"}}
"#;
    assert_eq!(
        found(tool, Code::UndeclaredSecret),
        one(Severity::Warning, "t", "${KEY}")
    );
    assert_eq!(checked(tool, &everything()).refusals, vec![]);
    let prompt = "name: g\noutputs: [t]\nnodes:\n  - {id: t, instructions: \"a ${KEY} b\"}\n";
    assert_eq!(
        found(prompt, Code::SecretInPrompt),
        one(Severity::Error, "t", "${KEY}")
    );
    assert_eq!(found(prompt, Code::TemplateVar), vec![]);
}

#[test]
fn a_secret_without_a_value_is_pointed_at() {
    let graph = r#"
name: g
outputs: [t]
nodes:
  - {id: t, kind: tool, tools: [tavily_search], secrets: [KEY], tool_args: {query: q}, tool_settings: {tavily_search: {api_key: "${KEY}"}}}
"#;
    let all = checked(graph, &nothing()).all;
    let unset: Vec<_> = all
        .iter()
        .filter(|d| d.code == Code::SecretNotSet)
        .map(|d| shown(graph, d))
        .collect();
    assert_eq!(unset, one(Severity::Warning, "t", "${KEY}"));
    assert_eq!(found(graph, Code::SecretNotSet), vec![]);
    let secrets = checked(graph, &nothing()).secrets;
    let asked: Vec<_> = secrets
        .asked()
        .map(|asked| (&*asked.name, &*asked.path))
        .collect();
    assert_eq!(asked, [("KEY", "tool_settings")]);
}

#[test]
fn a_key_in_the_file_is_told_and_not_shown() {
    let key = format!("tvly-{}", "dev0123456789abcdefghij");
    let graph = format!(
        "name: g\noutputs: [t]\nnodes:\n  - {{id: t, kind: tool, tools: [tavily_search], tool_args: {{query: q}}, tool_settings: {{tavily_search: {{api_key: {key}}}}}}}\n"
    );
    let all = checked(&graph, &everything()).all;
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(
        (all[0].code, shown(&graph, &all[0]).2),
        (Code::SecretInFile, key.clone())
    );
    assert!(!serde_json::to_string(&all).unwrap().contains(&key));
}

#[test]
fn an_input_that_no_step_names_is_an_error_unless_something_may_take_it() {
    let graph = |node: &str| {
        format!("name: g\ninputs: {{topic: string}}\noutputs: [a]\nnodes:\n  - {{id: a, {node}}}\n")
    };
    let says = |node: &str| -> Vec<Severity> {
        let found = found(&graph(node), Code::UnreadInput);
        found.into_iter().map(|(severity, ..)| severity).collect()
    };
    assert_eq!(says("instructions: Write."), [Severity::Error]);
    assert_eq!(
        says("kind: tool, tools: [tavily_search], tool_args: {query: q}"),
        [Severity::Warning]
    );
    assert_eq!(
        says("kind: function, callable: 'helpers:hidden'"),
        [Severity::Warning]
    );
    for silent in [
        "kind: function, callable: 'helpers:free'",
        "kind: function, callable: 'helpers:strict'",
        "kind: input, input_mode: dict",
        "kind: input, writes: topic",
        "instructions: 'Write about {inputs}.'",
        "instructions: Write., when: inputs.topic",
        "instructions: Write., when: \"'topic' in inputs\"",
        "kind: loop, max_iterations: 2, body: [{id: b, instructions: '{topic}'}]",
    ] {
        assert_eq!(says(silent), [], "{silent}");
    }
}

#[test]
fn an_input_whose_name_is_no_word_is_named_like_others() {
    let graph = |text: &str| {
        format!(
            "name: g\ninputs: {{my-topic: string}}\noutputs: [a]\nnodes:\n  - {{id: a, instructions: Write., {text}}}\n"
        )
    };
    for naming in [
        "goal: 'About {my-topic}.'",
        "goal: 'About {inputs.my-topic}.'",
        "when: \"inputs['my-topic']\"",
    ] {
        assert_eq!(
            checked(&graph(naming), &everything()).all,
            vec![],
            "{naming}"
        );
    }
}

#[test]
fn a_target_with_another_live_dependency_runs_anyway() {
    let graph = |other: &str| {
        format!(
            "name: g\ninputs: {{n: integer}}\noutputs: [x]\nnodes:\n  - {{id: a, instructions: Write., {other}}}\n  - {{id: r, kind: router, cases: [{{when: inputs.n > 3, to: x}}], depends_on: [a]}}\n  - {{id: x, instructions: Write., depends_on: [r, a]}}\n"
        )
    };
    assert_eq!(
        found(&graph("writes: v"), Code::TargetRunsAnyway),
        one(Severity::Warning, "x", "a")
    );
    assert_eq!(
        found(&graph("disabled: true"), Code::TargetRunsAnyway),
        vec![]
    );
}

#[test]
fn what_hangs_on_disabled_nodes_alone_never_runs() {
    let graph = "name: g\noutputs: [c]\nnodes:\n  - {id: a, instructions: Write., disabled: true}\n  - {id: b, instructions: Write., depends_on: [a]}\n  - {id: d, instructions: Write.}\n  - {id: c, instructions: Write., depends_on: [b, d]}\n";
    assert_eq!(
        found(graph, Code::UnreachableNode),
        one(Severity::Warning, "b", "b")
    );
}

#[test]
fn what_an_expression_or_a_variable_takes_is_used() {
    let graph = "name: g\noutputs: [z]\nnodes:\n  - {id: a, instructions: Write., writes: v}\n  - {id: b, instructions: Write.}\n  - {id: c, instructions: Write., on_error: h}\n  - {id: h, instructions: Write., depends_on: [c]}\n  - {id: z, instructions: 'Write {v}.', depends_on: [a], when: nodes.b}\n";
    assert_eq!(found(graph, Code::UnusedNode), vec![]);
    assert_eq!(found(graph, Code::Isolated), vec![]);
}

#[test]
fn guards_that_wait_for_one_another_are_a_circle() {
    let graph = "name: g\noutputs: [a, b]\nnodes:\n  - {id: a, instructions: Write., when: nodes.b}\n  - {id: b, instructions: Write., when: nodes.a}\n";
    let all = checked(graph, &everything()).all;
    let codes: Vec<Code> = all.iter().map(|d| d.code).collect();
    assert!(
        codes.contains(&Code::ReferenceCircle) || codes.contains(&Code::OrderingLeftOut),
        "{codes:?}"
    );
}

#[test]
fn a_loop_ends_by_a_function_that_the_sidecar_has() {
    let graph = |until: &str| {
        format!(
            "name: g\nfunctions: helpers.py\noutputs: [l]\nnodes:\n  - {{id: l, kind: loop, max_iterations: 2, until: {until}, body: [{{id: b, instructions: Write.}}]}}\n"
        )
    };
    assert_eq!(found(&graph("stop"), Code::Callable), vec![]);
    assert_eq!(found(&graph("it is done"), Code::Callable), vec![]);
    for wrong in ["stpo", "LIMIT"] {
        assert_eq!(found(&graph(wrong), Code::Callable).len(), 1, "{wrong}");
    }
}

#[test]
fn functions_behind_decorators_are_believed() {
    let graph = "name: g\ninputs: {tone: string}\noutputs: [f]\nnodes:\n  - {id: f, kind: python, callable: 'helpers:hidden'}\n";
    for code in [
        Code::Callable,
        Code::UnexpectedKeyword,
        Code::MissingArgument,
    ] {
        assert_eq!(found(graph, code), vec![]);
    }
}

#[test]
fn a_field_is_an_error_only_if_the_tool_needs_the_argument() {
    let graph = |argument: &str| {
        format!(
            "name: g\noutputs: [t]\nnodes:\n  - {{id: a, instructions: Write., output_schema: {{properties: {{query: {{type: string}}}}}}}}\n  - {{id: t, kind: react, instructions: Go., tools: [tavily_search], depends_on: [a], tool_args: {{{argument}: \"{{a.qurey}}\"}}}}\n"
        )
    };
    assert_eq!(
        found(&graph("query"), Code::UnknownBoundField),
        one(Severity::Error, "t", "{a.qurey}")
    );
    assert_eq!(
        found(&graph("topic"), Code::UnknownBoundField),
        one(Severity::Warning, "t", "{a.qurey}")
    );
    // What functions give has no shape that could be known.
    let function = "name: g\noutputs: [t]\nnodes:\n  - {id: a, kind: function, callable: 'helpers:free'}\n  - {id: t, kind: tool, tools: [tavily_search], depends_on: [a], tool_args: {query: '{a.q}'}}\n";
    assert_eq!(checked(function, &everything()).refusals, vec![]);
}

/// A tool of one's own: `db` takes a query and the address of a database, which is a credential, and changes what it is
/// told to.
fn own_tools() -> Catalog {
    let mut catalog = Catalog::builtin().clone();
    let tool = Tool::new("db", "Runs a query.")
        .argument(Argument::new("dsn", Type::Credential, "The address of the database.").required())
        .argument(Argument::new("query", Type::Text, "The query to run.").required());
    let table = Component::new("Db", Family::Tool, "Database", "Runs queries.");
    catalog
        .add(table.effect(EffectClass::Writes).tool(tool))
        .unwrap();
    catalog
}

fn with_own_tools(text: &str) -> Checked {
    checked_with(&own_tools(), Format::Yaml, text, &everything())
}

#[test]
fn a_credential_written_out_in_an_argument_is_told_and_kept_like_a_secret() {
    let graph = "name: g\noutputs: [t]\nnodes:\n  - {id: t, kind: tool, tools: [db], tool_args: {dsn: 'hunter2', query: q}}\n";
    let checked = with_own_tools(graph);
    let told: Vec<_> = checked
        .all
        .iter()
        .map(|d| (d.code, shown(graph, d).2))
        .collect();
    assert_eq!(told, [(Code::SecretInFile, "'hunter2'".to_owned())]);
    let kept: Vec<_> = checked
        .secrets
        .written_out()
        .map(|it| (&*it.value, it.path.as_str()))
        .collect();
    assert_eq!(kept, [("hunter2", "tool_args.dsn")]);
    let named = graph
        .replace("'hunter2'", "'${DSN}'")
        .replace("tools:", "secrets: [DSN], tools:");
    let checked = with_own_tools(&named);
    assert_eq!(
        (checked.all, checked.secrets.written_out().count()),
        (vec![], 0)
    );
}

#[test]
fn a_missing_credential_is_asked_for_as_a_secret() {
    let graph = "name: g\noutputs: [t]\nnodes:\n  - {id: t, kind: tool, tools: [db], tool_args: {query: q}}\n";
    let refusals = with_own_tools(graph).refusals;
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].code, Code::ToolArgs);
    assert!(
        refusals[0].fix.contains("dsn: \"${NAME}\""),
        "{}",
        refusals[0].fix
    );
}

#[test]
fn inputs_and_dependencies_of_its_name_supply_an_argument() {
    let graph = "name: g\ninputs: {dsn: string}\noutputs: [t]\nnodes:\n  - {id: query, instructions: 'Write SQL for {dsn}.'}\n  - {id: t, kind: tool, tools: [db], depends_on: [query]}\n";
    assert_eq!(with_own_tools(graph).refusals, vec![]);
}

#[test]
fn a_tool_that_changes_something_needs_nobody_to_take_its_value() {
    let graph = |tool: &str| {
        format!(
            "name: g\noutputs: [a]\nnodes:\n  - {{id: a, instructions: Write.}}\n  - {{id: t, kind: tool, tools: [{tool}], tool_args: {{query: '{{a}}', dsn: '{{a}}'}}, depends_on: [a]}}\n"
        )
    };
    let unused = |tool: &str| {
        let all = with_own_tools(&graph(tool)).all;
        all.iter().filter(|d| d.code == Code::UnusedNode).count()
    };
    assert_eq!((unused("db"), unused("wikipedia_search")), (0, 1));
    let export = "name: g\noutputs: [a]\nnodes:\n  - {id: a, instructions: Write.}\n  - {id: b, instructions: Write., depends_on: [a], export: true}\n";
    assert_eq!(found(export, Code::UnusedNode), vec![]);
    assert_eq!(
        found(&export.replace("true", "false"), Code::UnusedNode),
        one(Severity::Warning, "b", "b")
    );
}

#[test]
fn a_node_that_names_itself_is_told_so() {
    let graph = "name: g\noutputs: [a]\nnodes:\n  - {id: a, instructions: 'Improve {a}.'}\n";
    let refusals = checked(graph, &everything()).refusals;
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].code, Code::TemplateVar);
    assert_eq!(refusals[0].fix, "Leave it out.");
}

#[test]
fn a_question_to_a_person_is_pointed_at_in_the_key_it_stands_in() {
    let graph = "name: g\ninputs: {t: string}\noutputs: [b]\nnodes:\n  - {id: a, kind: input, purpose: 'About {t}?'}\n  - {id: b, instructions: '{a} {t}', depends_on: [a]}\n";
    assert_eq!(
        found(graph, Code::NotRendered),
        one(Severity::Warning, "a", "{t}")
    );
}

#[test]
fn json_in_a_prompt_is_a_warning_and_in_an_argument_an_error() {
    let graph = "name: g\noutputs: [t]\nnodes:\n  - {id: a, instructions: 'As {\"k\": 1}.'}\n  - {id: t, kind: tool, tools: [wikipedia_search], depends_on: [a], tool_args: {query: '{\"k\": 1}'}}\n";
    assert_eq!(
        found(graph, Code::TemplateBraces),
        one(Severity::Warning, "a", "{\"k\": 1}")
    );
    assert_eq!(
        found(graph, Code::ToolArgsTemplate),
        one(Severity::Error, "t", "{\"k\": 1}")
    );
    assert_eq!(checked(graph, &everything()).all.len(), 2);
}

#[test]
fn the_question_of_a_router_with_conditions_is_asked_of_nobody() {
    let graph = "name: g\ninputs: {n: integer}\noutputs: [x]\nnodes:\n  - {id: r, kind: router, purpose: 'How many? {n}', cases: [{when: inputs.n > 3, to: x}]}\n  - {id: x, instructions: Write., depends_on: [r]}\n";
    assert_eq!(
        found(graph, Code::NotRendered),
        one(Severity::Warning, "r", "{n}")
    );
}
