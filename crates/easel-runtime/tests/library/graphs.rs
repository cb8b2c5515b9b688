//! Graphs: how they are run here, and what models, inputs and outputs do in them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use easel_runtime::components::{Call, Tool, ToolAnswer};
use easel_runtime::core::machine::NodeLife;
use easel_runtime::models::ToolSpec;
use easel_runtime::secrets::Secret;
use easel_runtime::{
    Ending, Engine, Input, Object, RunEvent, ScriptedWorld, Session, TurnError, Value,
};
use futures::executor::block_on;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};

/// A tool that says what it was called with, or fails if it is told to.
struct Probe {
    name: &'static str,
    log: Arc<Mutex<Vec<Json>>>,
}

impl Tool for Probe {
    fn spec(&self) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": {
                "x": {"type": "string"}, "n": {"type": "integer"}, "key": {"type": "string"},
                "fail": {"type": "string"},
            },
        });
        ToolSpec {
            name: self.name.into(),
            description: "Says what it was called with.".into(),
            parameters: Value::from(schema),
        }
    }

    fn call<'a>(&'a self, arguments: Object, _: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            self.log
                .lock()
                .unwrap()
                .push(Value::from(arguments.clone()).to_json());
            if let Some(why) = arguments.get("fail") {
                return ToolAnswer::failure(why.to_string());
            }
            let said = arguments.get("key").or(arguments.get("x"));
            ToolAnswer {
                text: said
                    .map_or_else(|| "ran".to_owned(), Value::to_string)
                    .into(),
                ..ToolAnswer::default()
            }
        })
    }
}

/// A graph in a world of its own.
pub struct World {
    graph: String,
    script: Json,
    secrets: HashMap<String, Secret>,
    unchecked: bool,
}

/// What a run of it left.
pub struct Ran {
    pub session: Session,
    pub ending: Result<Ending, TurnError>,
    pub events: Vec<Json>,
    pub calls: Vec<Json>,
    pub requests: Vec<Json>,
    pub tools: Vec<Json>,
}

impl World {
    /// A graph of these nodes.
    pub fn new(nodes: &str) -> World {
        World::of(&format!("name: g\nnodes:\n{nodes}"))
    }

    /// The whole text of a graph.
    pub fn of(graph: &str) -> World {
        World {
            graph: graph.to_owned(),
            script: json!({"default_reply": "OK"}),
            secrets: HashMap::new(),
            unchecked: false,
        }
    }

    /// What models answer: rules as canvases' cases have them.
    pub fn says(mut self, rules: Json) -> World {
        self.script = json!({"rules": rules, "default_reply": "OK"});
        self
    }

    /// What is outside: sections of a script.
    pub fn knows(mut self, script: Json) -> World {
        self.script = script;
        self
    }

    /// A secret that is set.
    pub fn secret(mut self, name: &str, value: &str) -> World {
        self.secrets.insert(name.to_owned(), Secret::new(value));
        self
    }

    /// Also if the check refuses it.
    pub fn unchecked(mut self) -> World {
        self.unchecked = true;
        self
    }

    /// Runs it with these inputs.
    pub fn run(self, inputs: Json) -> Ran {
        let world = ScriptedWorld::read(self.script, || {}).unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let probe = |name| {
            Arc::new(Probe {
                name,
                log: log.clone(),
            })
        };
        let engine = Engine::builder()
            .tool(probe("probe"))
            .tool(probe("other"))
            .model(world.model())
            .world(world.tools())
            .secrets(self.secrets)
            .build()
            .unwrap();
        let workflow = Arc::new(engine.load(self.graph.as_bytes()).unwrap());
        let mut session = engine.session(&workflow);
        if self.unchecked {
            session = session.despite_refusals();
        }
        let mut ran = Ran {
            session,
            ending: Ok(Ending::Finished),
            events: Vec::new(),
            calls: Vec::new(),
            requests: Vec::new(),
            tools: Vec::new(),
        };
        ran.turn(inputs);
        ran.calls = log.lock().unwrap().clone();
        ran.tools = world.other_calls();
        let requests = world.model_calls();
        ran.requests = requests
            .values()
            .flat_map(|calls| calls.as_array().cloned().unwrap())
            .collect();
        ran
    }
}

impl Ran {
    /// Makes a turn: the inputs of a run, or an answer.
    pub fn turn(&mut self, inputs: Json) {
        let input = match Value::from(inputs) {
            Value::Object(inputs) => Input {
                inputs: (*inputs).clone(),
                ..Input::default()
            },
            query => Input {
                query,
                ..Input::default()
            },
        };
        let events = &mut self.events;
        let mut observe =
            |event: RunEvent| events.push(serde_json::to_value(&event).unwrap_or_default());
        self.ending = block_on(self.session.turn(input, &mut observe));
    }

    /// What it gave out.
    pub fn results(&self) -> Json {
        Value::from(self.session.results()).to_json()
    }

    /// The value of a node, in the last pass of its body.
    pub fn value(&self, node: &str) -> Json {
        let (_, ports) = self
            .session
            .outputs()
            .find(|(id, _)| ***id == *node)
            .unwrap();
        ports.get("value").map(Value::to_json).unwrap_or_default()
    }

    /// Where a node stands.
    pub fn life(&self, node: &str) -> NodeLife {
        let (_, life) = self.session.lives().find(|(id, _)| ***id == *node).unwrap();
        life.unwrap()
    }

    pub fn finished(&self) -> bool {
        matches!(self.ending, Ok(Ending::Finished))
    }

    /// The error of the run.
    pub fn error(&self) -> String {
        match &self.ending {
            Ok(Ending::Failed { node, fault }) => {
                format!("{}: {}", node.as_deref().unwrap_or("-"), fault.message)
            }
            Err(error) => error.to_string(),
            other => panic!("no error: {other:?}"),
        }
    }

    /// The last message of each request to a model, in order.
    pub fn asked(&self) -> Vec<String> {
        let last = |request: &Json| {
            let messages = request["messages"].as_array().unwrap();
            messages.last().unwrap()["content"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        self.requests.iter().map(last).collect()
    }

    /// The warnings.
    pub fn warnings(&self) -> Vec<&str> {
        let warnings = self
            .events
            .iter()
            .filter(|event| event["event"] == "warning");
        warnings
            .map(|event| event["data"]["message"].as_str().unwrap())
            .collect()
    }
}

#[test]
fn a_model_is_told_what_its_text_names_and_what_came_before() {
    let ran = World::of(
        "name: g\ninputs: {topic: string, secret_plan: {type: string, required: false}}\nnodes:\n  \
         - {id: a, instructions: 'Find facts about {topic}.', when: inputs.secret_plan}\n  \
         - {id: b, instructions: 'Write it up, {topic}.', depends_on: [a]}\noutputs: [b]\n",
    )
    .says(json!([
        {"match": {"last_contains": "Find"}, "reply": "Owls fly."},
        {"match": {"last_contains": "Write"}, "reply": "About owls."},
    ]))
    .run(json!({"topic": "owls", "secret_plan": "nobody named this"}));
    assert!(ran.finished());
    assert_eq!(ran.results(), json!({"b": "About owls."}));
    assert_eq!(
        ran.asked(),
        [
            "Your task:\nFind facts about owls.",
            "Your task:\nWrite it up, owls.\n\nContext from previous nodes:\n--- a ---\nOwls fly."
        ]
    );
    let everything = json!(ran.requests).to_string();
    assert!(!everything.contains("nobody named this"));
}

#[test]
fn what_the_text_shows_whole_is_not_told_twice() {
    let ran = World::new(
        "  - {id: a, instructions: one}\n  - {id: c, instructions: three}\n  \
         - {id: b, instructions: 'Sum up: {a}', depends_on: [a, c]}\noutputs: [b]\n",
    )
    .says(json!([{"match": {"last_contains": "one"}, "reply": "A"}, {"match": {"last_contains": "three"}, "reply": "C"}]))
    .run(json!({}));
    assert_eq!(
        ran.asked()[2],
        "Your task:\nSum up: A\n\nContext from previous nodes:\n--- c ---\nC"
    );
}

#[test]
fn a_node_may_state_purpose_goal_and_result_instead() {
    let ran =
        World::new("  - {id: a, purpose: Summarise, expected_result: One line}\noutputs: [a]\n")
            .run(json!({}));
    let asked = &ran.asked()[0];
    assert!(
        asked.starts_with("Your task:\n- PURPOSE: Summarise\n- GOAL: "),
        "{asked}"
    );
    assert!(asked.ends_with("\n- EXPECTED_RESULT: One line"), "{asked}");
}

#[test]
fn an_answer_with_a_shape_is_data_whose_fields_can_be_named() {
    let ran = World::new(
        "  - id: a\n    mode: structured\n    instructions: Plan\n    output_schema: {type: object, properties: {sql: {type: string}, n: {type: integer}}, required: [sql]}\n  \
         - {id: o, kind: output, value: '{a.sql} {a[n]}', depends_on: [a]}\n",
    )
    .says(json!([{"tool_calls": [{"name": "submit_result", "arguments": {"sql": "select 1", "n": "4", "x": 1}}]}]))
    .run(json!({}));
    assert!(ran.finished(), "{:?}", ran.ending);
    assert_eq!(ran.value("a"), json!({"sql": "select 1", "n": 4}));
    assert_eq!(
        ran.results(),
        json!({"o": {"a": {"sql": "select 1", "n": 4}, "o": "select 1 4"}})
    );
}

#[test]
fn a_model_that_hands_nothing_in_is_asked_three_times() {
    let ran = World::new(
        "  - {id: a, instructions: Plan, output_schema: {type: object, properties: {t: {type: string}}, required: [t]}}\noutputs: [a]\n",
    )
    .run(json!({}));
    assert_eq!(ran.requests.len(), 3);
    assert!(ran.error().contains("asked 3 times"), "{}", ran.error());
}

#[test]
fn a_base_node_may_use_its_tools_for_one_round_and_react_until_it_is_done() {
    let rules = json!([
        {"times": 2, "tool_calls": [{"name": "probe", "arguments": {"x": "1"}}]},
        {"reply": "done"},
    ]);
    let of = |kind: &str| {
        World::new(&format!(
            "  - {{id: a, kind: {kind}, instructions: go, tools: [probe]}}\noutputs: [a]\n"
        ))
        .says(rules.clone())
        .run(json!({}))
    };
    let react = of("react");
    assert_eq!(react.results(), json!({"a": "done"}));
    assert_eq!(react.calls.len(), 2);
    let base = of("base");
    assert!(base.error().contains("kind: react"), "{}", base.error());
    assert_eq!(base.calls.len(), 1);
}

#[test]
fn inputs_are_cast_and_refused_before_anything_runs() {
    let graph = "name: g\ninputs: {n: integer, lang: {type: string, required: false, enum: [en, de]}}\nnodes:\n  - {id: o, kind: output, value: 'n={n}', when: \"inputs.lang != 'fr'\"}\n";
    let ran = World::of(graph).run(json!({"n": "7"}));
    assert_eq!(ran.results(), json!({"o": "n=7"}));
    for (inputs, why) in [
        (json!({}), "required and not given"),
        (json!({"n": true}), "where a whole number belongs"),
        (json!({"n": 1, "lang": "fr"}), "not allowed"),
    ] {
        let ran = World::of(graph).run(inputs.clone());
        assert!(ran.error().contains(why), "{inputs}: {}", ran.error());
        assert!(ran.events.is_empty(), "nothing ran");
    }
    let ran = World::of(graph).run(json!({"n": 1, "nn": 2}));
    assert!(ran.finished());
    assert!(ran.warnings()[0].contains("`nn`"), "{:?}", ran.warnings());
}

#[test]
fn a_run_that_lacks_a_value_waits_for_it_and_goes_on_where_it_was() {
    let mut ran = World::new(
        "  - {id: first, instructions: one}\n  - {id: ask, kind: input, instructions: Which colour?, options: [red, blue], depends_on: [first]}\n  \
         - {id: o, kind: output, value: 'It is {ask}.', depends_on: [ask]}\n",
    )
    .run(json!({}));
    assert!(matches!(ran.ending, Ok(Ending::Waiting)));
    let asked = ran.events.last().unwrap();
    assert_eq!(asked["event"], "user_inputs");
    assert_eq!(asked["data"]["tips"], "Which colour?");
    assert_eq!(
        asked["data"]["inputs"]["ask"]["options"],
        json!(["red", "blue"])
    );
    ran.turn(json!({"ask": "red"}));
    assert!(ran.finished(), "{:?}", ran.ending);
    assert_eq!(ran.results()["o"]["o"], "It is red.");
    let started = |event: &&Json| {
        event["event"] == "node_started" && event["data"]["component_id"] == "first"
    };
    assert_eq!(
        ran.events.iter().filter(started).count(),
        1,
        "nothing runs twice"
    );
}

#[test]
fn a_supplied_value_is_not_asked_for() {
    let graph = "  - {id: ask, kind: input, writes: topic}\n  - {id: o, kind: output, value: '{topic} {ask}', depends_on: [ask]}\n";
    let ran = World::new(graph).run(json!({"topic": "owls"}));
    assert_eq!(ran.results()["o"]["o"], "owls owls");
    let bare =
        World::new("  - {id: ask, kind: input}\n  - {id: o, kind: output, depends_on: [ask]}\n")
            .run(json!("hello"));
    assert_eq!(bare.results(), json!({"o": "hello"}));
    let empty = World::new(graph).run(json!({"topic": ""}));
    assert!(empty.finished(), "an empty text is a value");
}

#[test]
fn a_form_of_all_inputs_asks_for_those_that_are_missing() {
    let graph = "name: g\ninputs: {city: string, days: integer, note: {type: string, required: false}}\nnodes:\n  - {id: form, kind: input, input_mode: dict}\n  - {id: o, kind: output, depends_on: [form]}\n";
    let mut ran = World::of(graph).run(json!({"city": "Oslo"}));
    assert!(
        matches!(ran.ending, Ok(Ending::Waiting)),
        "{:?}",
        ran.ending
    );
    ran.turn(json!({"days": 3}));
    assert_eq!(ran.results(), json!({"o": {"city": "Oslo", "days": 3}}));
}

#[test]
fn an_output_gives_one_value_as_it_is_and_several_by_name() {
    let graph = |output: &str| {
        format!(
            "  - {{id: a, kind: tool, tools: [probe], tool_args: {{x: A}}}}\n  - {{id: b, kind: tool, tools: [probe], tool_args: {{x: B}}}}\n  - {{id: o, kind: output, {output}}}\n"
        )
    };
    let of = |output: &str| World::new(&graph(output)).run(json!({})).results()["o"].clone();
    assert_eq!(of("depends_on: [a]"), json!("A"));
    assert_eq!(of("depends_on: [a, b]"), json!({"a": "A", "b": "B"}));
    assert_eq!(
        of("depends_on: [a, b], value: '{a}{b} {{x}}'"),
        json!({"a": "A", "b": "B", "o": "AB {x}"})
    );
    assert_eq!(of("value: fixed"), json!("fixed"));
}

#[test]
fn tools_are_told_inputs_dependencies_and_their_own_arguments() {
    let ran = World::of(
        "name: g\ninputs: {x: string, n: integer, junk: string}\nnodes:\n  \
         - {id: t, kind: tool, tools: [probe], tool_args: {x: 'find {x}'}}\n  - {id: key, kind: tool, tools: [other], tool_args: {key: K}}\n  \
         - {id: u, kind: tool, tools: [probe], depends_on: [key]}\noutputs: [u]\n",
    )
    .run(json!({"x": "owls", "n": 4, "junk": "j"}));
    assert_eq!(
        ran.calls,
        [
            json!({"x": "find owls", "n": 4}),
            json!({"x": "owls", "n": 4, "key": "K"}),
            json!({"x": "owls", "n": 4, "key": "K"})
        ]
    );
    let typed = World::of(
        "name: g\ninputs: {k: string}\nnodes:\n  - {id: t, kind: tool, tools: [probe], tool_args: {n: '{k}'}}\noutputs: [t]\n",
    );
    assert_eq!(typed.run(json!({"k": "7"})).calls, [json!({"n": 7})]);
}

#[test]
fn what_cannot_be_filled_in_stays_in_a_prompt_and_fails_a_tool() {
    let prompt = World::of(
        "name: g\ninputs: {t: string}\nnodes:\n  - {id: a, instructions: 'Write {t} and {nope}.'}\noutputs: [a]\n",
    );
    let ran = prompt.unchecked().run(json!({"t": "owls"}));
    assert_eq!(ran.asked(), ["Your task:\nWrite owls and {nope}."]);
    assert!(ran.warnings()[0].contains("{nope}"));
    let tool = World::new(
        "  - {id: t, kind: tool, tools: [probe], tool_args: {x: '{nope}'}}\noutputs: [t]\n",
    )
    .unchecked();
    let ran = tool.run(json!({}));
    assert!(
        ran.error().contains("{nope} has no value"),
        "{}",
        ran.error()
    );
    assert!(ran.calls.is_empty());
}

#[test]
fn a_graph_by_itself_runs_no_python() {
    let ran = World::new("  - {id: f, kind: function, callable: 'fns:one'}\noutputs: [f]\n")
        .unchecked()
        .run(json!({}));
    assert!(ran.error().contains("no package"), "{}", ran.error());
}
