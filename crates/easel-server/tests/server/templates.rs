//! Easel's own templates do what they say.

use std::collections::BTreeSet;
use std::sync::Arc;

use easel_runtime::check::Severity;
use easel_runtime::secrets::{Provider, Resolver, Secret, SecretError};
use easel_runtime::{Ending, Engine, Input, RunEvent, ScriptedWorld, Session, Value};
use easel_server::templates::{Template, template, templates};
use serde_json::{Value as Json, json};

/// A provider that has a value for every secret that templates name.
struct Set;

impl Provider for Set {
    fn name(&self) -> &str {
        "test"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let known = [
            "INTAKE_TOKEN",
            "TICKETS_TOKEN",
            "SHOP_DB_PASSWORD",
            "TAVILY_API_KEY",
        ];
        let value = Secret::new(format!("value of {name}"));
        Ok(known.contains(&name).then_some(value))
    }
}

/// An engine with the secrets that templates name, whose models and tools answer from a script.
fn engine(world: &ScriptedWorld) -> Arc<Engine> {
    let secrets = Resolver::new([Arc::new(Set) as Arc<dyn Provider>]);
    let engine = Engine::builder()
        .model(world.model())
        .world(world.tools())
        .secrets(secrets);
    engine.build().unwrap()
}

/// A conversation with a template, and the world it is in.
struct Talk {
    session: Session,
    world: ScriptedWorld,
}

impl Talk {
    fn with(id: &str, world: Json) -> Talk {
        let world = ScriptedWorld::read(world, || {}).unwrap();
        let engine = engine(&world);
        let canvas = template(id).unwrap().dsl.to_string();
        let workflow = Arc::new(engine.load(canvas.as_bytes()).unwrap());
        Talk {
            session: engine.session(&workflow),
            world,
        }
    }

    async fn turn(&mut self, input: Input) -> (Ending, String) {
        let mut said = String::new();
        let mut observe = |event: RunEvent| said += event.text();
        let ending = self.session.turn(input, &mut observe).await.unwrap();
        (ending, said)
    }

    /// A turn that has to end well, and what is said in it.
    async fn says(&mut self, input: Input) -> String {
        let (ending, said) = self.turn(input).await;
        assert_eq!(ending, Ending::Finished);
        said
    }

    /// What models were asked since the last look, by component: the text of every message.
    fn asked(&self, component: &str) -> String {
        let calls = self.world.model_calls();
        let calls = calls.get(component).cloned().unwrap_or_default();
        serde_json::to_string(&calls).unwrap()
    }
}

fn fields(pairs: &[(&str, &str)]) -> Input {
    let value = |(name, value): &(&str, &str)| ((*name).into(), Value::from(*value));
    Input {
        inputs: pairs.iter().map(value).collect(),
        ..Input::default()
    }
}

/// A rule for a node's model.
fn rule(component: &str, reply: &str) -> Json {
    json!({"match": {"component": component}, "reply": reply})
}

#[test]
fn every_template_is_there_in_two_languages_and_sorted() {
    let all = templates();
    assert_eq!(all.len(), 12, "a template's file cannot be read");
    let ids: BTreeSet<&str> = all.iter().map(|template| &*template.id).collect();
    assert_eq!(ids.len(), all.len(), "two templates have one id");
    for template in all {
        let Template {
            id, title, avatar, ..
        } = template;
        for language in ["en", "zh"] {
            assert!(!title[language].is_empty(), "{id}");
            assert!(!template.description[language].is_empty(), "{id}");
        }
        let types = &template.canvas_types;
        assert_eq!(types.first(), Some(&template.canvas_type), "{id}");
        assert_eq!(template.canvas_category, "agent_canvas", "{id}");
        assert_eq!(avatar, "");
    }
}

#[test]
fn the_check_has_nothing_to_say_about_a_template() {
    let world = ScriptedWorld::read(json!({"default_reply": "ok"}), || {}).unwrap();
    let engine = engine(&world);
    for template in templates() {
        let workflow = engine.load(template.dsl.to_string().as_bytes()).unwrap();
        let found = engine.check(&workflow);
        let found: Vec<_> = found
            .iter()
            .filter(|found| found.severity != Severity::Info)
            .collect();
        assert!(found.is_empty(), "{}: {found:?}", template.id);
    }
}

#[test]
fn an_editor_that_reads_the_drawing_alone_sees_the_same_workflow() {
    let engine = Engine::builder().build().unwrap();
    for template in templates() {
        let mut drawn = template.dsl.clone();
        drawn.as_object_mut().unwrap().remove("components");
        let drawn = engine.load(drawn.to_string().as_bytes()).unwrap();
        let drawn: Json = serde_json::from_str(&drawn.canvas().unwrap().to_text()).unwrap();
        let (drawn, written) = (&drawn["components"], &template.dsl["components"]);
        let ids = |components: &Json| -> BTreeSet<String> {
            components.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(ids(drawn), ids(written), "{}", template.id);
        for (id, component) in written.as_object().unwrap() {
            assert_eq!(&drawn[id], component, "{}: {id}", template.id);
        }
    }
}

#[test]
fn nothing_in_a_drawing_lies_on_top_of_something_else() {
    for template in templates() {
        let nodes = template.dsl["graph"]["nodes"].as_array().unwrap();
        let frame = |node: &Json| {
            let side = |part: &str, name: &str| node[part][name].as_f64().unwrap();
            let (x, y) = (side("position", "x"), side("position", "y"));
            let (width, height) = (side("measured", "width"), side("measured", "height"));
            (x, y, x + width, y + height)
        };
        for (at, one) in nodes.iter().enumerate() {
            for other in &nodes[at + 1..] {
                if one["parentId"] != other["parentId"] {
                    continue;
                }
                let (a, b) = (frame(one), frame(other));
                let apart = a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1;
                assert!(apart, "{}: {} and {}", template.id, one["id"], other["id"]);
            }
        }
    }
}

#[tokio::test]
async fn a_first_answer_is_given_and_remembered() {
    let world = json!({"rules": [rule("Agent:Answer", "Owls hunt at night.")]});
    let mut talk = Talk::with("first-answer", world);
    assert_eq!(
        talk.says("When do owls hunt?".into()).await,
        "Owls hunt at night."
    );
    talk.asked("Agent:Answer");
    talk.says("Why?".into()).await;
    assert!(talk.asked("Agent:Answer").contains("When do owls hunt?"));
}

#[tokio::test]
async fn a_draft_is_followed_by_questions_and_a_plan() {
    let world = json!({"rules": [
        rule("Agent:Draft", "Cake at four."),
        rule("Agent:Plan", "Bake the cake on Friday."),
    ]});
    let mut talk = Talk::with("draft-and-follow-up", world);
    let (ending, _) = talk.turn("A birthday party".into()).await;
    assert_eq!(ending, Ending::Waiting);
    let answer = fields(&[
        ("changes", "no candles"),
        ("budget", "Low"),
        ("deadline", "Saturday"),
    ]);
    assert_eq!(talk.says(answer).await, "Bake the cake on Friday.");
    let asked = talk.asked("Agent:Plan");
    for part in ["Cake at four.", "no candles", "Low", "Saturday"] {
        assert!(asked.contains(part), "{asked}");
    }
}

#[tokio::test]
async fn each_kind_of_question_goes_to_its_own_agent() {
    for (kind, agent) in [
        ("Product question", "Agent:Product"),
        ("Problem", "Agent:Problem"),
        ("Something else", "Agent:Chat"),
    ] {
        let world = json!({"rules": [rule("Categorize:Kind", kind), rule(agent, kind)]});
        let mut talk = Talk::with("question-router", world);
        assert_eq!(talk.says("Hello".into()).await, kind);
    }
}

#[tokio::test]
async fn an_urgent_message_waits_for_a_person_and_others_are_answered() {
    let read = |urgency: &str| {
        let read = json!({"urgency": urgency, "topic": "Shop", "summary": "The shop is down."});
        json!({"rules": [rule("Agent:Read", &read.to_string()), rule("Agent:Reply", "We look into it.")]})
    };
    let message = || fields(&[("customer", "Ada"), ("message", "The shop is down!")]);
    let mut urgent = Talk::with("support-triage", read("high"));
    assert_eq!(urgent.turn(message()).await.0, Ending::Waiting);
    let answer = fields(&[("reply", "It is up again."), ("owner", "Grace")]);
    assert_eq!(urgent.says(answer).await, "It is up again.\n\nGrace");

    let mut other = Talk::with("support-triage", read("normal"));
    assert_eq!(other.says(message()).await, "We look into it.");
}

#[tokio::test]
async fn two_researchers_search_at_once_and_one_editor_reads_both() {
    let call = |component: &str, tool: &str| {
        json!({"match": {"component": component, "last_role": "user"},
               "tool_calls": [{"name": tool, "arguments": {"query": "owls"}}]})
    };
    let world = json!({
        "rules": [
            call("Agent:Background", "tavily_search_0"),
            call("Agent:Present", "tavily_search_0"),
            rule("Agent:Background", "Owls are birds [Owl]."),
            rule("Agent:Present", "Owls are rarer [owls.example]."),
            rule("Agent:Editor", "Owls are rarer birds."),
        ],
    });
    let mut talk = Talk::with("two-researchers", world);
    assert_eq!(
        talk.says("How are owls?".into()).await,
        "Owls are rarer birds."
    );
    assert_eq!(talk.world.other_calls().len(), 2, "each searched once");
    let asked = talk.asked("Agent:Editor");
    assert!(asked.contains("Owls are birds [Owl]."), "{asked}");
    assert!(asked.contains("Owls are rarer [owls.example]."), "{asked}");
}

#[tokio::test]
async fn notes_are_summarised_one_by_one_and_together() {
    let note = |part: &str, reply: &str| json!({"match": {"component": "Agent:Sentence", "prompt_contains": part}, "reply": reply});
    let world = json!({"rules": [
        note("monday", "Rain on Monday."),
        note("tuesday", "Sun on Tuesday."),
        rule("Agent:Overall", "Mixed weather."),
    ]});
    let mut talk = Talk::with("summarise-notes", world);
    let notes = fields(&[("notes", "monday it rained\n\n\n\ntuesday the sun shone")]);
    let said = talk.says(notes).await;
    assert_eq!(
        said,
        "Mixed weather.\n\n- Rain on Monday.\n- Sun on Tuesday."
    );
}

#[tokio::test]
async fn a_text_is_refined_until_it_is_good() {
    let once = |component: &str, reply: &str| json!({"match": {"component": component}, "times": 1, "reply": reply});
    let world = json!({"rules": [
        once("Agent:Write", "We are closed"),
        once("Agent:Judge", r#"{"verdict": "revise", "feedback": "Say until when."}"#),
        rule("Agent:Write", "We are closed until Monday"),
        rule("Agent:Judge", r#"{"verdict": "good", "feedback": ""}"#),
    ]});
    let mut talk = Talk::with("refine-until-good", world);
    assert_eq!(
        talk.says("A sign for the door".into()).await,
        "We are closed until Monday"
    );
    let asked = talk.asked("Agent:Write");
    assert!(asked.contains("Say until when."), "{asked}");
}

#[tokio::test]
async fn a_text_that_is_never_good_ends_after_four_rounds() {
    let world = json!({"rules": [
        rule("Agent:Write", "Hm."),
        rule("Agent:Judge", r#"{"verdict": "revise", "feedback": "More."}"#),
    ]});
    let mut talk = Talk::with("refine-until-good", world);
    assert_eq!(talk.says("A sign".into()).await, "Hm.");
    let calls = talk.world.model_calls();
    assert_eq!(calls["Agent:Write"].as_array().unwrap().len(), 4);
}

/// What a contact form sends.
fn request() -> Input {
    let body = json!({"name": "Ada", "email": "ada@example.com", "message": "The lamp is broken."});
    let webhook = Value::from(json!({"query": {}, "headers": {}, "body": body}));
    Input {
        webhook: webhook.as_object().cloned(),
        ..Input::default()
    }
}

#[tokio::test]
async fn a_posted_message_becomes_a_ticket() {
    let ticket = json!({"title": "Broken lamp", "kind": "problem", "priority": "high", "summary": "A lamp is broken."});
    let world = json!({
        "rules": [rule("Agent:Sort", &ticket.to_string())],
        "http": [{"match": {"method": "post", "contains": "/api/tickets"}, "status": 201, "json": {"id": 7}}],
    });
    let mut talk = Talk::with("webhook-intake", world);
    let said = talk.says(request()).await;
    assert_eq!(said, "Filed: Broken lamp (problem, high)");
    assert!(talk.asked("Agent:Sort").contains("The lamp is broken."));
    let calls = serde_json::to_string(&talk.world.other_calls()).unwrap();
    assert!(calls.contains("ada@example.com"), "{calls}");
}

#[tokio::test]
async fn a_ticket_that_cannot_be_filed_is_not_lost() {
    let ticket = json!({"title": "Broken lamp", "kind": "problem", "priority": "high", "summary": "A lamp is broken."});
    let world = json!({
        "rules": [rule("Agent:Sort", &ticket.to_string())],
        "http": [{"match": {}, "status": 500, "text": "no disk"}],
    });
    let said = Talk::with("webhook-intake", world).says(request()).await;
    assert!(
        said.starts_with("Not filed: Broken lamp, from ada@example.com."),
        "{said}"
    );
}

#[tokio::test]
async fn the_weather_is_looked_up_and_said_in_words() {
    let place = json!({"results": [{"name": "Oslo", "country": "Norway", "latitude": 59.9, "longitude": 10.7}]});
    let world = json!({
        "rules": [rule("Agent:Place", "Oslo"), rule("Agent:Say", "Take an umbrella.")],
        "http": [
            {"match": {"contains": "geocoding-api"}, "json": place},
            {"match": {"contains": "/v1/forecast"}, "json": {"daily": {"precipitation_sum": [9.5]}}},
        ],
    });
    let mut talk = Talk::with("look-it-up", world);
    let said = talk.says("Oslo?".into()).await;
    assert_eq!(said, "Take an umbrella.", "{:#?}", talk.world.other_calls());
    let asked = talk.asked("Agent:Say");
    assert!(
        asked.contains("9.5") && asked.contains("Oslo, Norway"),
        "{asked}"
    );
}

#[tokio::test]
async fn a_place_that_is_not_there_and_a_service_that_is_down_are_told_apart() {
    let model = json!([rule("Agent:Place", "Atlantis")]);
    let nowhere =
        json!({"rules": model, "http": [{"match": {}, "json": {"generationtime_ms": 0.1}}]});
    let said = Talk::with("look-it-up", nowhere)
        .says("Atlantis?".into())
        .await;
    assert_eq!(
        said,
        "I found no place called Atlantis. Is it spelt differently?"
    );
    let down = json!({"rules": model, "http": [{"match": {}, "status": 503}]});
    let said = Talk::with("look-it-up", down)
        .says("Atlantis?".into())
        .await;
    assert!(said.contains("could not be asked"), "{said}");
}

#[tokio::test]
async fn a_question_is_put_to_the_database_and_its_answer_explained() {
    let world = json!({
        "rules": [rule("Agent:Sql", "SELECT name FROM products"), rule("Agent:Explain", "One product.")],
        "sql": [{"match": {"contains": "products"}, "columns": ["name"], "rows": [["Lamp"]]}],
    });
    let mut talk = Talk::with("ask-the-database", world);
    let said = talk.says("What do we sell?".into()).await;
    assert!(
        said.starts_with("One product.") && said.contains("Lamp"),
        "{said}"
    );
    assert!(talk.asked("Agent:Sql").contains("customers(id, name"));
}

#[tokio::test]
async fn sql_that_is_refused_is_repaired_once() {
    let world = json!({
        "rules": [
            rule("Agent:Sql", "SELECT nmae FROM products"),
            rule("Agent:Repair", "SELECT name FROM products"),
            rule("Agent:Explain", "One product."),
        ],
        "sql": [
            {"match": {"contains": "nmae"}, "error": "no column nmae"},
            {"match": {"contains": "name"}, "columns": ["name"], "rows": [["Lamp"]]},
        ],
    });
    let mut talk = Talk::with("ask-the-database", world);
    let said = talk.says("What do we sell?".into()).await;
    assert!(
        said.starts_with("One product.") && said.contains("Lamp"),
        "{said}"
    );
    assert!(talk.asked("Agent:Repair").contains("no column nmae"));
}

#[tokio::test]
async fn a_question_that_never_reaches_the_database_is_named_as_such() {
    let world = json!({"rules": [rule("Agent:Sql", "   ")]});
    let said = Talk::with("ask-the-database", world)
        .says("What do we sell?".into())
        .await;
    assert!(said.contains("could not be put to the database"), "{said}");
}

#[tokio::test]
async fn a_list_stays_tidy_over_a_whole_conversation() {
    let mut talk = Talk::with("running-list", json!({}));
    assert_eq!(
        talk.says("milk, eggs".into()).await,
        "Your list:\n\n- eggs\n- milk"
    );
    assert_eq!(
        talk.says("bread\neggs\n".into()).await,
        "Your list:\n\n- bread\n- eggs\n- milk"
    );
}

#[tokio::test]
async fn an_invoice_becomes_data_and_half_of_one_is_named_as_such() {
    let invoice = |number: Json| {
        let data = json!({"vendor": "Lamps Ltd", "number": number, "date": "2026-11-02", "currency": "EUR", "total": 99.5, "lines": []});
        json!({"rules": [rule("Agent:Extract", &data.to_string())]})
    };
    let document = || fields(&[("document", "Lamps Ltd, invoice 17, 99.50 EUR")]);
    let whole = Talk::with("invoice-to-json", invoice("17".into()))
        .says(document())
        .await;
    let data = whole
        .trim_start_matches("```json\n")
        .trim_end_matches("\n```");
    let data: Json = serde_json::from_str(data).unwrap();
    assert_eq!(data["total"], 99.5);

    let half = Talk::with("invoice-to-json", invoice(Json::Null))
        .says(document())
        .await;
    assert!(
        half.starts_with("This does not look like a whole invoice"),
        "{half}"
    );
}
