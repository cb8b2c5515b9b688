//! What the agents reach: a model, a target that knows keys again, and one that does not. It outlives every kill.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{self, Chance, Request};

/// Everything outside of the server.
pub struct Outside {
    address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    /// What was sent, and how often, by key: to the target that knows them, and to the one that does not.
    known: Mutex<HashMap<String, Vec<String>>>,
    plain: Mutex<HashMap<String, Vec<String>>>,
}

impl Outside {
    pub fn start() -> Outside {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let there = seen.clone();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let (Ok(stream), seen) = (stream, there.clone()) else {
                    continue;
                };
                std::thread::spawn(move || {
                    if let Some(request) = http::read(&stream) {
                        seen.serve(&stream, &request, &mut Chance::new(number as u64));
                    }
                });
            }
        });
        Outside { address, seen }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether a write with that key has come.
    pub fn has(&self, key: &str) -> bool {
        // What the dead process sent is read at once.
        std::thread::sleep(Duration::from_millis(100));
        self.seen.plain.lock().unwrap().contains_key(key)
    }

    /// How many effects have that text; a target that knows keys counts one once.
    pub fn effects(&self, text: &str) -> usize {
        let known = self.seen.known.lock().unwrap();
        let known = known.values().filter(|texts| texts[0] == text).count();
        let plain = self.seen.plain.lock().unwrap();
        let plain = plain.values().flatten().filter(|sent| *sent == text);
        known + plain.count()
    }

    pub fn nothing_was_sent_twice_to_a_target_that_does_not_know_keys(&self) {
        for (key, texts) in self.seen.plain.lock().unwrap().iter() {
            assert_eq!(texts.len(), 1, "{key}: {texts:?}");
        }
    }
}

impl Seen {
    fn serve(&self, stream: &TcpStream, request: &Request, chance: &mut Chance) {
        let text = request.body["text"].as_str().unwrap_or_default().to_owned();
        let key = request.key.clone().unwrap_or_default();
        let target = match request.path.as_str() {
            "/known" => &self.known,
            "/plain" => &self.plain,
            _ => return model(stream, &request.body, chance),
        };
        target.lock().unwrap().entry(key).or_default().push(text);
        // Now and then the server dies before it hears of it.
        std::thread::sleep(Duration::from_millis(chance.below(60)));
        http::answer(stream, "text/plain", "done");
    }
}

/// A model that says what it was told, in pieces if it is asked so.
fn model(stream: &TcpStream, body: &Value, chance: &mut Chance) {
    std::thread::sleep(Duration::from_millis(chance.below(80)));
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let last = messages.last().map(|last| last["content"].clone());
    let text = last
        .unwrap_or_default()
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if body["stream"] != true {
        let message = json!({"role": "assistant", "content": format!("You said {text}")});
        let whole = json!({"id": "1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}});
        return http::answer(stream, "application/json", &whole.to_string());
    }
    let mut lines = String::new();
    for piece in ["You ", "said ", &text] {
        let chunk = json!({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": null}]});
        lines += &format!("data: {chunk}\n\n");
    }
    let end = json!({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    lines += &format!("data: {end}\n\ndata: [DONE]\n\n");
    http::answer(stream, "text/event-stream", &lines);
}
