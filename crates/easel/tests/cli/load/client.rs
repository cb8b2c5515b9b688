//! A user with a client that never gives up: it asks again what it got no answer to.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{self, Chance};
use super::outside::Outside;

/// What an agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A model's answer as a stream, and a write whose target knows keys.
    Stream,
    /// A question, then a write whose target does not know them.
    Form,
    /// Two such writes side by side, then a model.
    Writes,
}

/// A message that was accepted, and what became of it.
#[derive(Debug)]
pub struct Sent {
    pub kind: Kind,
    pub session: String,
    pub run: String,
    pub text: String,
    pub state: String,
    /// How many uncertain writes it had.
    pub decided: usize,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Stream, Kind::Form, Kind::Writes];

    /// How many effects each message has.
    pub fn effects(self) -> usize {
        match self {
            Kind::Stream | Kind::Form => 1,
            Kind::Writes => 2,
        }
    }

    /// The canvas, as the old editor writes it.
    pub fn canvas(self, url: &str) -> Value {
        let post = |to: &str, idempotent: bool| {
            json!({"url": format!("{url}/{to}"), "method": "post", "headers": "", "proxy": "", "timeout": 20,
                "clean_html": false, "datatype": "json", "idempotent": idempotent,
                "variables": [{"key": "text", "value": "{sys.query}"}]})
        };
        let model = json!({"llm_id": "", "sys_prompt": "Answer.", "cite": false,
            "prompts": [{"role": "user", "content": "{sys.query}"}]});
        let says = |text: &str| json!({"content": [text]});
        let form = json!({"enable_tips": true, "tips": "Sure?",
            "inputs": {"x": {"name": "x", "type": "line", "optional": false}}});
        let nodes: Vec<(&str, Value, &[&str])> = match self {
            Kind::Stream => vec![
                ("begin", json!({}), &["LLM:A"]),
                ("LLM:A", model, &["Message:Z", "Invoke:K"]),
                ("Invoke:K", post("known", true), &[]),
                ("Message:Z", says("{LLM:A@content}"), &[]),
            ],
            Kind::Form => vec![
                ("begin", json!({}), &["UserFillUp:F"]),
                ("UserFillUp:F", form, &["Invoke:P"]),
                ("Invoke:P", post("plain", false), &["Message:Z"]),
                ("Message:Z", says("{Invoke:P@result} {UserFillUp:F@x}"), &[]),
            ],
            Kind::Writes => vec![
                ("begin", json!({}), &["Invoke:P", "Invoke:Q"]),
                ("Invoke:P", post("plain", false), &["LLM:A"]),
                ("Invoke:Q", post("plain", false), &["LLM:A"]),
                ("LLM:A", model, &["Message:Z"]),
                ("Message:Z", says("{LLM:A@content}"), &[]),
            ],
        };
        let mut components = serde_json::Map::new();
        for (id, params, downstream) in &nodes {
            let kind = match *id {
                "begin" => "Begin",
                id => id.split(':').next().unwrap(),
            };
            let upstream = nodes.iter().filter(|(_, _, down)| down.contains(id));
            let upstream: Vec<&str> = upstream.map(|(id, ..)| *id).collect();
            let component = json!({"obj": {"component_name": kind, "params": params},
                "downstream": downstream, "upstream": upstream});
            components.insert((*id).to_owned(), component);
        }
        json!({"components": components, "history": [], "path": [], "retrieval": [], "memory": [], "messages": [],
            "graph": {"nodes": [], "edges": []}, "variables": {}, "globals": {"sys.query": "", "sys.user_id": "",
            "sys.conversation_turns": 0, "sys.files": [], "sys.history": [], "sys.date": ""}})
    }
}

pub struct Client<'a> {
    number: u64,
    address: SocketAddr,
    agents: &'a [(Kind, String); 3],
    outside: &'a Outside,
    chance: Chance,
}

/// After that long without an end something is stuck.
const PATIENCE: Duration = Duration::from_secs(90);

/// Messages in one conversation.
const MESSAGES: usize = 12;

impl<'a> Client<'a> {
    pub fn new(
        number: u64,
        address: SocketAddr,
        agents: &'a [(Kind, String); 3],
        outside: &'a Outside,
    ) -> Client<'a> {
        Client {
            number,
            address,
            agents,
            outside,
            chance: Chance::new(number + 1),
        }
    }

    /// Talks on, one conversation after the other; the last message is brought to its end.
    pub fn talk_until(mut self, done: &AtomicBool) -> Vec<Sent> {
        let mut sent = Vec::new();
        while !done.load(Ordering::SeqCst) {
            let at = self.chance.below(3) as usize;
            let (kind, agent) = &self.agents[at];
            let session = self.open(agent);
            for number in 0..MESSAGES {
                let text = format!("client {} message {}", self.number, sent.len());
                sent.push(self.send(*kind, &session, number, text));
                if done.load(Ordering::SeqCst) {
                    break;
                }
            }
        }
        sent
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
        let asked = http::ask(self.address, method, path, body);
        if asked.is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        asked
    }

    /// Asks until somebody answers.
    fn insist(&self, method: &str, path: &str, body: &Value) -> Value {
        let began = Instant::now();
        loop {
            let asked = self.ask(method, path, body);
            if let Some((200..300, answer)) = asked {
                return answer;
            }
            assert!(began.elapsed() < PATIENCE, "{method} {path}: {asked:?}");
        }
    }

    fn open(&self, agent: &str) -> String {
        let path = format!("/v1/agents/{agent}/sessions");
        let opened = self.insist("POST", &path, &json!({}));
        opened["id"].as_str().unwrap().to_owned()
    }

    /// The runs of a conversation, the newest first.
    fn runs(&self, session: &str) -> Vec<Value> {
        let path = format!("/v1/runs?session={session}&limit=100");
        let listed = self.insist("GET", &path, &Value::Null);
        listed["runs"].as_array().unwrap().clone()
    }

    /// Says something, until it is accepted, and brings it to its end.
    fn send(&mut self, kind: Kind, session: &str, before: usize, text: String) -> Sent {
        let cancels = self.chance.below(6) == 0;
        let path = format!("/v1/sessions/{session}/messages");
        let message = json!({"query": text, "wait": !cancels});
        let began = Instant::now();
        let run = loop {
            let answer = self.ask("POST", &path, &message);
            if let Some((200 | 202, run)) = &answer {
                break run["id"].as_str().unwrap().to_owned();
            }
            assert!(began.elapsed() < PATIENCE, "{text}: {answer:?}");
            // Nobody knows whether it was accepted: one looks.
            let runs = self.runs(session);
            if runs.len() > before {
                break runs[0]["id"].as_str().unwrap().to_owned();
            }
        };
        if cancels {
            std::thread::sleep(Duration::from_millis(self.chance.below(60)));
            self.ask("POST", &format!("/v1/runs/{run}/cancel"), &json!({}));
        }
        let (state, decided) = self.settle(&run);
        Sent {
            kind,
            session: session.to_owned(),
            run,
            text,
            state,
            decided,
        }
    }

    /// Answers and decides until the run is over; says how it ended.
    fn settle(&self, run: &str) -> (String, usize) {
        let began = Instant::now();
        let mut decided = 0;
        loop {
            let shown = self.insist("GET", &format!("/v1/runs/{run}"), &Value::Null);
            match shown["state"].as_str().unwrap() {
                "running" => std::thread::sleep(Duration::from_millis(10)),
                "waiting" => {
                    let answer = json!({"values": {"x": "yes"}, "wait": true});
                    self.ask("POST", &format!("/v1/runs/{run}/answer"), &answer);
                }
                "uncertain" => {
                    decided += 1;
                    self.decide(run, &shown["uncertain"][0]);
                }
                over => return (over.to_owned(), decided),
            }
            assert!(began.elapsed() < PATIENCE, "it is stuck: {shown}");
        }
    }

    fn decide(&self, run: &str, write: &Value) {
        assert!(!write["question"].as_str().unwrap().is_empty());
        let happened = self.outside.has(write["key"].as_str().unwrap());
        let decision = match happened {
            true => json!({"decision": "happened", "outputs": {"result": "done"},
                "activation": write["activation"], "wait": true}),
            false => json!({"decision": "repeat", "activation": write["activation"], "wait": true}),
        };
        self.ask("POST", &format!("/v1/runs/{run}/decide"), &decision);
    }
}
