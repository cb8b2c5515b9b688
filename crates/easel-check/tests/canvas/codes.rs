//! A document for each code: what people write when they meet it.

use std::collections::BTreeSet;

use crate::documents::{Node, begin, canvas, checked, node, nothing, says, switch};
use easel_check::{Code, Diagnostic, Dialect};
use serde_json::{Value, json};

/// A key that looks real and is none.
fn key() -> String {
    format!("tvly-{}", "dev0123456789abcdefghij")
}

fn with(mut document: Value, name: &str, value: Value) -> Value {
    document[name] = value;
    document
}

fn model(prompt: &str) -> Node {
    node(
        "LLM",
        json!({"llm_id": "m@p", "sys_prompt": prompt, "prompts": [{"role": "user", "content": "{sys.query}"}]}),
    )
}

fn looping(params: Value, body: Vec<(&'static str, Node)>) -> Value {
    let mut nodes = vec![
        begin(&["Loop:L"]),
        ("Loop:L", node("Loop", params)),
        ("LoopItem:I", node("LoopItem", json!({})).inside("Loop:L")),
    ];
    nodes.extend(body);
    canvas(nodes)
}

/// Text of a canvas that has the code.
fn document(code: Code) -> String {
    let hello = || vec![begin(&["Message:M"]), ("Message:M", says("Hi"))];
    let pretty = |document: Value| serde_json::to_string_pretty(&document).unwrap();
    let message = |params: Value| {
        canvas(vec![
            begin(&["Message:M"]),
            ("Message:M", node("Message", params)),
        ])
    };
    let one = |name: &'static str, node: Node| canvas(vec![begin(&[name]), (name, node)]);
    let drawing = json!({"nodes": [
        {"id": "begin", "data": {"label": "Begin", "name": "begin", "form": {}}},
        {"id": "Message:M", "data": {"label": "Message", "name": "M", "form": {"content": ["Hi"]}}}
    ], "edges": [{"source": "begin", "target": "Message:M"}]});
    pretty(match code {
        Code::NotReadable => return "{\"components\": {\n  \"begin\": {\"obj\"".to_owned(),
        Code::NoEntry => canvas(vec![("Message:M", says("Hi"))]),
        Code::DuplicateId => {
            let text = serde_json::to_string_pretty(&canvas(hello())).unwrap();
            return text.replacen(
                "\"components\": {",
                "\"components\": {\n    \"Message:M\": {},",
                1,
            );
        }
        Code::NoSuchContainer => canvas(vec![
            begin(&["Message:M"]),
            ("Message:M", says("Hi").inside("begin")),
        ]),
        Code::EdgeToNothing => canvas(vec![begin(&["Message:Gone"])]),
        Code::EdgeAcrossBodies => looping(
            json!({"maximum_loop_count": 3}),
            vec![
                (
                    "Message:In",
                    says("Hi").to(&["Message:Out"]).inside("Loop:L"),
                ),
                ("Message:Out", says("Bye")),
            ],
        ),
        Code::EndlessCircle => canvas(vec![
            begin(&["LLM:Write"]),
            ("LLM:Write", model("Write.").to(&["LLM:Review"])),
            ("LLM:Review", model("Review.").to(&["LLM:Write"])),
        ]),
        Code::ReferenceCircle => canvas(vec![
            begin(&["LLM:A", "LLM:B"]),
            ("LLM:A", model("B said {LLM:B@content}")),
            ("LLM:B", model("A said {LLM:A@content}")),
        ]),
        Code::ReferenceAcrossBodies => canvas(vec![
            begin(&["Iteration:I"]),
            (
                "Iteration:I",
                node("Iteration", json!({"items_ref": "sys.files"})).to(&["Iteration:J"]),
            ),
            (
                "IterationItem:I",
                node("IterationItem", json!({}))
                    .to(&["LLM:I"])
                    .inside("Iteration:I"),
            ),
            ("LLM:I", model("x").inside("Iteration:I")),
            (
                "Iteration:J",
                node("Iteration", json!({"items_ref": "sys.files"})),
            ),
            (
                "IterationItem:J",
                node("IterationItem", json!({}))
                    .to(&["Message:J"])
                    .inside("Iteration:J"),
            ),
            ("Message:J", says("{LLM:I@content}").inside("Iteration:J")),
        ]),
        Code::UnknownComponent => one("Agent:A", node("Agnet", json!({}))),
        Code::NotRunYet => one(
            "Agent:A",
            node(
                "Agent",
                json!({
                    "llm_id": "m@p",
                    "tools": [{"component_name": "WenCai", "params": {}}]
                }),
            ),
        ),
        Code::MissingParameter => message(json!({})),
        Code::BadParameter => message(json!({"content": ["Hi"], "stream": "perhaps"})),
        Code::NoModel => one(
            "LLM:A",
            node("LLM", json!({"llm_id": "", "sys_prompt": "x"})),
        ),
        Code::UnknownModel => one("LLM:A", model("x")),
        Code::NoCredentials => one(
            "TavilySearch:T",
            node("TavilySearch", json!({"query": "sys.query", "api_key": ""})),
        ),
        Code::UnknownOperator => looping(
            json!({"maximum_loop_count": 3, "loop_termination_condition": [
                {"variable": "sys.query", "operator": "like", "value": "a"}
            ]}),
            vec![],
        ),
        Code::TwoWaysAfterFailure => canvas(vec![
            begin(&["LLM:A"]),
            (
                "LLM:A",
                node(
                    "LLM",
                    json!({
                        "llm_id": "m@p", "sys_prompt": "x", "exception_method": "yes",
                        "exception_default_value": "n/a", "exception_goto": ["Message:Sorry"]
                    }),
                ),
            ),
            ("Message:Sorry", says("Sorry")),
        ]),
        Code::ReservedName => {
            let mut document = message(json!({"content": ["{begin@_ERROR}"]}));
            document["components"]["begin"]["obj"]["params"] =
                json!({"inputs": {"_ERROR": {"type": "line"}}});
            document
        }
        Code::DuplicateMember => {
            let text = serde_json::to_string_pretty(&canvas(hello())).unwrap();
            return text.replacen(
                "\"content\":",
                "\"content\": [\"Bye\"],\n          \"content\":",
                1,
            );
        }
        Code::SubAgentLeftOut => json!({"graph": {"nodes": [
            {"id": "begin", "data": {"label": "Begin", "name": "begin", "form": {}}},
            {"id": "Agent:A", "data": {"label": "Agent", "name": "A", "form": {"llm_id": "m@p"}}},
            {"id": "Agent:B", "data": {"label": "Agent", "name": "B", "form": {"llm_id": "m@p"}}}
        ], "edges": [
            {"source": "begin", "target": "Agent:A"},
            {"source": "Agent:A", "sourceHandle": "agentBottom", "target": "Agent:B", "targetHandle": "agentTop"},
            {"source": "Agent:B", "sourceHandle": "agentBottom", "target": "Agent:B", "targetHandle": "agentTop"}
        ]}}),
        Code::UnknownReference => message(json!({"content": ["Hi {env.nmae}"]})),
        Code::NotAReference => canvas(vec![
            begin(&["Iteration:I"]),
            (
                "Iteration:I",
                node(
                    "Iteration",
                    json!({
                        "items_ref": "sys.files", "outputs": {"lines": {"ref": "all of them"}}
                    }),
                ),
            ),
        ]),
        Code::UnknownPort => canvas(vec![
            begin(&["LLM:A"]),
            ("LLM:A", model("x").to(&["Message:M"])),
            ("Message:M", says("{LLM:A@contnet}")),
        ]),
        Code::MaybeMissing => canvas(vec![
            begin(&["Switch:S"]),
            ("Switch:S", switch(&["LLM:A"], &["Message:M"])),
            ("LLM:A", model("x").to(&["Message:M"])),
            ("Message:M", says("{LLM:A@content}")),
        ]),
        Code::OrderingLeftOut => canvas(vec![
            begin(&["LLM:A"]),
            ("LLM:A", model("{LLM:B@content}").to(&["LLM:B"])),
            ("LLM:B", model("x")),
        ]),
        Code::UnusedInput => {
            let mut document = canvas(hello());
            document["components"]["begin"]["obj"]["params"] =
                json!({"inputs": {"topic": {"type": "line"}}});
            document
        }
        Code::OneSidedEdge => {
            let mut document = canvas(hello());
            document["components"]["Message:M"]["upstream"] = json!([]);
            document
        }
        Code::SelfEdge => canvas(vec![
            begin(&["Message:M"]),
            ("Message:M", says("Hi").to(&["Message:M"])),
        ]),
        Code::UnreachableNode => canvas(vec![begin(&[]), ("Message:Alone", says("?"))]),
        Code::NoSuchTarget => {
            let mut document = canvas(vec![
                begin(&["Switch:S"]),
                ("Switch:S", switch(&["Message:Gone"], &["Message:M"])),
                ("Message:M", says("Hi")),
            ]);
            document["components"]["Switch:S"]["downstream"] = json!(["Message:M"]);
            document
        }
        Code::TargetWithoutEdge => {
            let mut document = canvas(vec![
                begin(&["Switch:S"]),
                ("Switch:S", switch(&["Message:A"], &["Message:M"])),
                ("Message:A", says("a")),
                ("Message:M", says("Hi")),
            ]);
            document["components"]["Switch:S"]["downstream"] = json!(["Message:M"]);
            document
        }
        Code::BranchWithoutElse => canvas(vec![
            begin(&["Switch:S"]),
            ("Switch:S", switch(&["Message:M"], &[])),
            ("Message:M", says("Hi")),
        ]),
        Code::TargetRunsAnyway => canvas(vec![
            begin(&["Switch:S", "LLM:A"]),
            ("Switch:S", switch(&["Message:M"], &["Message:N"])),
            ("LLM:A", model("x").to(&["Message:M"])),
            ("Message:M", says("m")),
            ("Message:N", says("n")),
        ]),
        Code::BackEdge => canvas(vec![
            begin(&["LLM:Write"]),
            ("LLM:Write", model("x").to(&["Switch:S"])),
            ("Switch:S", switch(&["LLM:Write"], &["Message:M"])),
            ("Message:M", says("{LLM:Write@content}")),
        ]),
        Code::EmptyBody => one(
            "Iteration:I",
            node("Iteration", json!({"items_ref": "sys.files"})),
        ),
        Code::LoopWithoutPasses => looping(json!({}), vec![]),
        Code::LoopWithoutEnd => looping(json!({"maximum_loop_count": 3}), vec![]),
        Code::IncompleteVariable => looping(
            json!({"maximum_loop_count": 3, "loop_variables": [
                {"variable": "n", "input_mode": "constant", "type": "number"}
            ]}),
            vec![],
        ),
        Code::ExitOutsideLoop => one("ExitLoop:E", node("ExitLoop", json!({}))),
        Code::UndeclaredSecret => one("LLM:A", model("Use ${TAVILY_API_KEY}.")),
        Code::SecretNotSet => one(
            "TavilySearch:T",
            node(
                "TavilySearch",
                json!({
                    "query": "sys.query", "api_key": "${TAVILY_API_KEY}"
                }),
            ),
        ),
        Code::SecretInFile => one(
            "TavilySearch:T",
            node(
                "TavilySearch",
                json!({"query": "sys.query", "api_key": key()}),
            ),
        ),
        Code::UnknownField => message(json!({"content": ["Hi"], "straem": true})),
        Code::DrawingLifted => drawing,
        Code::DrawingRepaired => {
            let mut graph = drawing;
            graph["nodes"].as_array_mut().unwrap().push(
                json!({"id": "Iteration:I", "type": "group", "data": {
                    "label": "Iteration", "name": "I", "form": {"items_ref": "sys.files"}
                }}),
            );
            json!({"graph": graph})
        }
        Code::HistoryReshaped => with(
            canvas(hello()),
            "history",
            json!([{"role": "user", "content": "hi"}]),
        ),
        Code::RetrievalReshaped => with(
            canvas(hello()),
            "retrieval",
            json!({"chunks": {}, "doc_aggs": {}}),
        ),
        Code::MemoryReshaped => with(
            canvas(hello()),
            "memory",
            json!([{"user": "u", "assistant": "a", "summary": "s"}]),
        ),
        Code::VariablesReshaped => with(canvas(hello()), "variables", json!([])),
        Code::EntryReshaped => json!({"components": {
            "begin": {"name": "Begin", "params": {}, "downstream": ["Message:M"]},
            "Message:M": {"name": "Message", "params": {"content": ["Hi"]}, "downstream": []}
        }}),
        Code::ClassRenamed | Code::IdRenamed => one("Splitter:Tidy", node("Splitter", json!({}))),
        Code::ComponentsDerived => json!({"graph": drawing}),
        Code::ParamReshaped => message(json!({"messages": ["Hi"]})),
        Code::PlaceholderRewritten => canvas(vec![
            begin(&["Retrieval:R"]),
            (
                "Retrieval:R",
                node("Retrieval", json!({"query": "sys.query"})).to(&["Generate:G"]),
            ),
            (
                "Generate:G",
                node(
                    "Generate",
                    json!({"llm_id": "m@p", "prompt": "Answer {input} from {Retrieval:R}"}),
                ),
            ),
        ]),
        Code::LegacyReplaced => one(
            "Generate:G",
            node("Generate", json!({"llm_id": "m@p", "prompt": "Answer."})),
        ),
        Code::AnswerReplaced | Code::MessageAdded => canvas(vec![
            begin(&["Answer:A"]),
            ("Answer:A", node("Answer", json!({})).to(&["Generate:G"])),
            (
                "Generate:G",
                node("Generate", json!({"llm_id": "m@p", "prompt": "Answer."})).to(&["Answer:A"]),
            ),
        ]),
        of_graphs => panic!("{of_graphs} is no code of canvases"),
    })
}

/// The codes that a canvas can have.
fn of_canvases() -> impl Iterator<Item = Code> {
    let codes = Code::ALL.iter().copied();
    codes.filter(|code| code.rule().dialect != Dialect::Graph)
}

fn line(d: &Diagnostic) -> String {
    let at = d
        .place
        .map_or("-".to_owned(), |at| format!("{}:{}", at.line, at.column));
    let detail = d.detail.as_ref().map(|detail| format!("\n    {detail}"));
    let node = d.node.as_deref().unwrap_or("-");
    format!(
        "{}[{}] {at} {node}\n    {}{}\n    fix: {}\n",
        d.severity.name(),
        d.code,
        d.message,
        detail.unwrap_or_default(),
        d.fix
    )
}

#[test]
fn each_code_is_said_about_some_document() {
    let mut text = String::new();
    for code in of_canvases() {
        let (all, refusals) = checked(&document(code), &nothing());
        let said = all.iter().find(|d| d.code == code);
        let said = said.unwrap_or_else(|| {
            panic!(
                "{code} is not among {:?}",
                all.iter().map(|d| d.code).collect::<Vec<_>>()
            )
        });
        assert_eq!(said.severity, code.rule().severity);
        let errors: Vec<&Diagnostic> = all
            .iter()
            .filter(|d| d.severity == easel_check::Severity::Error)
            .collect();
        assert_eq!(
            errors,
            refusals.iter().collect::<Vec<_>>(),
            "{code}: what forbids a run is what is an error"
        );
        text.push_str(&line(said));
    }
    insta::assert_snapshot!("diagnostics", text);
}

#[test]
fn places_are_those_of_the_thing_itself() {
    for code in of_canvases() {
        let text = document(code);
        let (all, _) = checked(&text, &nothing());
        for d in all.iter().filter(|d| d.code == code) {
            let at = d.place.unwrap_or_else(|| panic!("{code} has no place"));
            assert!(text.get(at.offset..at.offset + at.len).is_some(), "{code}");
            let line = text.lines().nth(at.line - 1).unwrap();
            assert!(at.column <= line.chars().count() + 1, "{code}");
        }
    }
    let (all, _) = checked(&document(Code::UnknownPort), &nothing());
    let text = document(Code::UnknownPort);
    let at = all
        .iter()
        .find(|d| d.code == Code::UnknownPort)
        .unwrap()
        .place
        .unwrap();
    assert_eq!(&text[at.offset..at.offset + at.len], "LLM:A@contnet");
}

#[test]
fn a_sound_canvas_gives_nothing_to_say() {
    let mut document = canvas(vec![
        begin(&["Switch:S"]),
        ("Switch:S", switch(&["LLM:A"], &["LLM:B"])),
        ("LLM:A", model("a").to(&["Message:M"])),
        ("LLM:B", model("b").to(&["Message:M"])),
        ("Message:M", says("{LLM:A@content}{LLM:B@content}")),
    ]);
    document["globals"] = json!({"sys.query": ""});
    let (all, refusals) = checked(&document.to_string(), &easel_check::Surroundings::default());
    assert_eq!((all, refusals), (vec![], vec![]));
}

#[test]
fn a_key_is_never_shown() {
    let (all, _) = checked(&document(Code::SecretInFile), &nothing());
    let text = serde_json::to_string(&all).unwrap();
    assert!(!text.contains(&key()));
    let bad = canvas(vec![
        begin(&["TavilySearch:T"]),
        (
            "TavilySearch:T",
            node(
                "TavilySearch",
                json!({"query": "sys.query", "api_key": [key()]}),
            ),
        ),
    ]);
    let (all, _) = checked(&bad.to_string(), &nothing());
    assert!(!serde_json::to_string(&all).unwrap().contains(&key()));
}

#[test]
fn both_nodes_of_a_circle_are_named() {
    let (_, refusals) = checked(&document(Code::ReferenceCircle), &nothing());
    let codes: BTreeSet<Code> = refusals.iter().map(|d| d.code).collect();
    assert_eq!(codes, BTreeSet::from([Code::ReferenceCircle]));
    assert!(refusals[0].message.contains("LLM:A") && refusals[0].message.contains("LLM:B"));
}
