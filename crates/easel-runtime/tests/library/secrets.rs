//! Secrets go to tools and come out nowhere.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use easel_runtime::components::{Call, Note, Piece, PieceKind, Run, Tool, ToolAnswer};
use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::event::{Completion, Fault, Ports};
use easel_runtime::models::{Scripted, ToolSpec};
use easel_runtime::secrets::{MASK, Secret, SinkKind};
use easel_runtime::{Ending, Engine, EventKind, Input, Journal, MemoryJournal, Object, Value};
use futures::executor::block_on;
use futures::future::BoxFuture;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use serde_json::json;

use super::own::{Own, canvas};

/// How a tool may say what it was given.
fn echo(form: u8, secret: &str) -> String {
    let beside = format!("id={secret}&next=1");
    match form % 6 {
        0 => secret.to_owned(),
        1 => beside,
        2 => json!({ "got": beside }).to_string(),
        3 => utf8_percent_encode(&beside, NON_ALPHANUMERIC).to_string(),
        4 => STANDARD.encode(format!("user:{secret}")),
        _ => URL_SAFE_NO_PAD.encode(format!("{secret}:x")),
    }
}

/// What would give a secret away in a text: as it is, and in the forms in which the tools say it.
fn traces(secret: &str) -> Vec<String> {
    let json = serde_json::to_string(secret).unwrap();
    let json = json.trim_matches('"').to_owned();
    let mut traces = vec![
        secret.to_owned(),
        serde_json::to_string(&json)
            .unwrap()
            .trim_matches('"')
            .to_owned(),
        json,
        utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
    ];
    // Without the characters at the ends that neighbours have a part in.
    for text in [
        STANDARD.encode(format!("user:{secret}")),
        URL_SAFE_NO_PAD.encode(format!("{secret}:x")),
    ] {
        traces.extend(text.get(8..text.len().saturating_sub(4)).map(str::to_owned));
    }
    traces.retain(|trace| trace.len() >= 6);
    traces
}

/// Everything that left a run.
struct Left {
    texts: Vec<String>,
    gate: easel_runtime::secrets::Receipt,
}

/// A tool that is given a secret, and says it in each way there is.
fn echoing(forms: Vec<u8>, cut: usize) -> Arc<Own> {
    let (own, _) = Own::new("Leaky", EffectClass::Writes, move |call: Call| {
        let door = call.door(SinkKind::Component, "Leaky");
        let Ok(Some(secret)) = door.secret("TOKEN") else {
            return Run::Done(Err(Fault::new("unset", "TOKEN is not set").into()));
        };
        let said: Vec<String> = forms
            .iter()
            .map(|form| echo(*form, secret.expose()))
            .collect();
        let speaker = call.execute.activation;
        for said in &said {
            let chars: Vec<char> = said.chars().collect();
            for piece in chars.chunks(cut) {
                let kind = PieceKind::Text(piece.iter().collect::<String>().into());
                call.run.wire.show(Piece { speaker, kind });
            }
            let node = call.execute.node;
            call.run
                .wire
                .note(node, Note::Warning(said.as_str().into()));
            call.run.wire.note(
                node,
                Note::ToolCall {
                    path: "Leaky".into(),
                    tool: "leak".into(),
                    arguments: Value::from(json!({ said.as_str(): [said] })),
                    result: said.as_str().into(),
                    milliseconds: 1,
                },
            );
        }
        if call.execute.attempt == 1 && said.len() > 2 {
            return Run::Done(Err(Fault::new("leak", said.join(" ")).into()));
        }
        let result = json!({ said.join("-"): {"all": said} });
        Run::Done(Ok(Completion {
            ports: Ports::one("result", Value::from(result)),
            references: vec![Value::from(said.join(" ").as_str())],
            ..Completion::default()
        }))
    });
    own
}

/// Runs the tool, an LLM that is told what it gave, and a Message that shows it; the user knows the secret too.
fn run(secret: &str, forms: Vec<u8>, cut: usize) -> Left {
    let model = Scripted::new(serde_json::from_value(json!({"default_reply": "ok"})).unwrap());
    let journal = Arc::new(MemoryJournal::new());
    let secrets = HashMap::from([("TOKEN".to_owned(), Secret::new(secret))]);
    let engine = Engine::builder()
        .component(echoing(forms, cut))
        .model(Arc::new(model.clone()))
        .journal(journal.clone())
        .secrets(secrets)
        .seed(1)
        .build()
        .unwrap();
    let prompt = json!([{"role": "user", "content": "{Leaky:L@result} {sys.query}"}]);
    let text = canvas(&[
        (
            "Leaky:L",
            "Leaky",
            json!({"max_retries": 2, "delay_after_error": 0}),
        ),
        (
            "LLM:A",
            "LLM",
            json!({"sys_prompt": "Look:", "prompts": prompt}),
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Leaky:L@result} {LLM:A@content} {sys.query}"]}),
        ),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    let (mut texts, mut said) = (Vec::new(), String::new());
    let ending = block_on(session.turn(Input::from("go"), &mut |event| {
        let mut line = Vec::new();
        event.write_json(&mut line);
        texts.push(String::from_utf8(line).unwrap());
        said.push_str(event.text());
    }));
    // Once the secret is known, what the user says of it is masked too; and the conversation that follows.
    let again = block_on(session.turn(
        Input::from(format!("I know: {secret}").as_str()),
        &mut |event| {
            texts.push(serde_json::to_string(&event).unwrap());
        },
    ));
    texts.push(said);
    texts.push(format!("{ending:?} {again:?}"));
    for run in ["run-1", "run-2", "run-3"] {
        let events = block_on(journal.read(run)).unwrap();
        texts.push(serde_json::to_string(&events).unwrap());
        texts.push(format!("{events:?}"));
    }
    texts.push(serde_json::to_string(&model.take_log()).unwrap());
    texts.push(format!("{:?} {:?}", session.history(), session.variables()));
    texts.push(format!("{:?}", session.outputs().collect::<Vec<_>>()));
    Left {
        texts,
        gate: session.receipt().unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Random secrets through tools that echo them whole, beside other text, encoded and in pieces: no byte that leaves
    /// has one in it.
    #[test]
    fn nothing_that_leaves_a_run_has_a_secret_in_it(
        secret in "[!-~]{8,20}|[a-zA-Z0-9/+_-]{6,24}|[àßñçø]{6,10}",
        forms in prop::collection::vec(any::<u8>(), 1..5),
        cut in 1_usize..9,
    ) {
        // A value that the canvas or its events consist of anyway says nothing.
        prop_assume!(!["component", "content", "elapsed", "created", "message"].iter().any(|word| word.contains(&secret)));
        let left = run(&secret, forms, cut);
        for text in &left.texts {
            for trace in traces(&secret) {
                prop_assert!(!text.contains(&trace), "{trace} of {secret} in {text}");
            }
        }
        prop_assert!(left.texts.iter().any(|text| text.contains(MASK)));
        prop_assert!(left.gate.masked > 0 && left.gate.bytes_scanned > 0);
        prop_assert_eq!(&*left.gate.entries[0].secret, "TOKEN");
    }
}

/// A tool of an agent that answers with what it was given.
struct Parrot;

impl Tool for Parrot {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "Parrot".into(),
            description: "Repeats what it was given.".into(),
            parameters: Value::from(json!({"type": "object", "properties": {}})),
        }
    }

    fn call<'a>(&'a self, _: Object, call: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let door = call.door(SinkKind::Tool, "Parrot");
            let Ok(Some(token)) = door.secret("TOKEN") else {
                return ToolAnswer::failure("TOKEN is not set");
            };
            ToolAnswer {
                text: format!("I got {}", token.expose()).into(),
                ..ToolAnswer::default()
            }
        })
    }
}

#[test]
fn a_model_is_told_what_a_tool_said_without_the_secret() {
    let script = json!({"rules": [
        {"times": 1, "tool_calls": [{"name": "Parrot_0", "arguments": {}}]},
        {"reply": "done"}
    ]});
    let model = Scripted::new(serde_json::from_value(script).unwrap());
    let engine = Engine::builder()
        .tool(Arc::new(Parrot))
        .model(Arc::new(model.clone()))
        .secrets(HashMap::from([(
            "TOKEN".to_owned(),
            Secret::new("s3cr3t-value"),
        )]))
        .build()
        .unwrap();
    let params = json!({"sys_prompt": "Use it.", "prompts": [{"role": "user", "content": "{sys.query}"}],
        "tools": [{"component_name": "Parrot", "name": "Parrot", "params": {}}]});
    let text = canvas(&[
        ("Agent:A", "Agent", params),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Agent:A@content}"]}),
        ),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    let ending = block_on(session.turn(Input::from("go"), &mut |_| {})).unwrap();
    assert_eq!(ending, Ending::Finished);
    let asked = serde_json::to_string(&model.take_log()).unwrap();
    assert!(asked.contains("I got ••••••"), "{asked}");
    assert!(!asked.contains("s3cr3t-value"), "{asked}");
    let entry = &session.receipt().unwrap().entries[0];
    assert_eq!((&*entry.sink, &*entry.node), ("Parrot", "Agent:A"));
}

#[test]
fn text_that_arrives_at_run_time_is_never_expanded() {
    let (own, _) = Own::new("Show", EffectClass::Pure, |call: Call| {
        let query = call.run.turn.query.to_string();
        Run::Done(Ok(Completion {
            ports: Ports::one("result", query.as_str()),
            ..Completion::default()
        }))
    });
    let engine = Engine::builder()
        .component(own)
        .secrets(HashMap::from([(
            "TOKEN".to_owned(),
            Secret::new("s3cr3t-value"),
        )]))
        .build()
        .unwrap();
    let text = canvas(&[
        ("Show:S", "Show", json!({})),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Show:S@result} {TOKEN}"]}),
        ),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    let mut said = String::new();
    block_on(session.turn(Input::from("give me ${TOKEN}"), &mut |e| said += e.text())).unwrap();
    assert_eq!(said, "give me ${TOKEN} {TOKEN}");
    assert!(session.receipt().unwrap().entries.is_empty());
}

#[test]
fn a_secret_in_a_number_is_warned_of_once() {
    let (own, _) = Own::new("Count", EffectClass::Pure, |call: Call| {
        let _ = call.door(SinkKind::Component, "Count").secret("PIN");
        Run::Done(Ok(Completion {
            ports: Ports::one("result", Value::from(json!([12345678, 12345678]))),
            ..Completion::default()
        }))
    });
    let engine = Engine::builder()
        .component(own)
        .secrets(HashMap::from([("PIN".to_owned(), Secret::new("12345678"))]))
        .build()
        .unwrap();
    let text = canvas(&[
        ("Count:C", "Count", json!({})),
        ("Count:D", "Count", json!({})),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    let mut warnings = Vec::new();
    block_on(session.turn(Input::from("go"), &mut |event| {
        if let EventKind::Warning { text, .. } = &event.kind {
            warnings.push(text.to_string());
        }
    }))
    .unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("the secret PIN"), "{warnings:?}");
    assert_eq!(session.receipt().unwrap().unmasked, ["PIN"]);
}

#[test]
fn a_run_without_secrets_is_not_searched() {
    let engine = Engine::builder().secrets(HashMap::new()).build().unwrap();
    let text = canvas(&[("Message:M", "Message", json!({"content": ["{sys.query}"]}))]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    block_on(session.turn(Input::from("hello"), &mut |_| {})).unwrap();
    assert_eq!(session.receipt().unwrap().bytes_scanned, 0);
}
