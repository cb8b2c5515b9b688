//! Models over HTTP: a server that speaks the OpenAI protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::{Value, json};

use crate::easel::{Desk, asks_a_model, canvas, wait};

/// A server that answers each request in its own way.
pub struct Server {
    address: String,
    requests: mpsc::Receiver<Value>,
}

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(30);

impl Server {
    /// One that answers without a look at what it is asked.
    pub fn start(answer: fn(TcpStream)) -> Server {
        Server::serving(move |_, stream| answer(stream))
    }

    /// One that says messages, each by what it is asked.
    pub fn saying(message: fn(&Value) -> Value) -> Server {
        Server::serving(move |request, mut stream| {
            head(&mut stream);
            let said = json!({"choices": [{"index": 0, "delta": message(request)}]});
            let _ = stream.write_all(format!("data: {said}\n\n").as_bytes());
            end(&mut stream);
        })
    }

    /// A server that says what fits a request, in one piece or in a stream, as it is asked; `None`: it refuses.
    pub fn answering(says: impl Fn(&Value) -> Option<String> + Send + Sync + 'static) -> Server {
        Server::serving(move |request, mut stream| match says(request) {
            None => refusing(stream),
            Some(text) if request["stream"] == true => {
                head(&mut stream);
                piece(&mut stream, &text);
                end(&mut stream);
            }
            Some(text) => whole(stream, &text),
        })
    }

    fn serving(answer: impl Fn(&Value, TcpStream) + Send + Sync + 'static) -> Server {
        let answer = Arc::new(answer);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (seen, requests) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (seen.clone(), answer.clone());
                std::thread::spawn(move || {
                    if let Some(request) = read(&stream) {
                        let _ = seen.send(request.clone());
                        answer(&request, stream);
                    }
                });
            }
        });
        Server { address, requests }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests that came since the last time this was asked.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.try_iter().collect()
    }

    pub fn wait_for_a_request(&self) -> Value {
        self.requests.recv_timeout(PATIENCE).unwrap()
    }
}

/// The body of a request.
fn read(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn head(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
}

fn piece(stream: &mut TcpStream, text: &str) {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let _ = stream
        .write_all(format!("data: {chunk}\n\n").as_bytes())
        .and_then(|()| stream.flush());
}

fn end(stream: &mut TcpStream) {
    let chunk = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let _ = stream.write_all(format!("data: {chunk}\n\ndata: [DONE]\n\n").as_bytes());
}

/// Says something in one piece.
fn whole(mut stream: TcpStream, text: &str) {
    let message = json!({"role": "assistant", "content": text});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let body = body.to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes());
}

/// Says two words with a pause between.
pub fn slow(mut stream: TcpStream) {
    head(&mut stream);
    piece(&mut stream, "first ");
    std::thread::sleep(Duration::from_millis(400));
    piece(&mut stream, "second");
    end(&mut stream);
}

/// Says a query, in the fence that models put around it.
fn writing_sql(mut stream: TcpStream) {
    head(&mut stream);
    piece(&mut stream, "```sql\nSELECT name FROM customers;\n```");
    end(&mut stream);
}

/// Says nothing.
pub fn hanging(stream: TcpStream) {
    std::thread::sleep(PATIENCE);
    drop(stream);
}

/// Refuses.
fn refusing(mut stream: TcpStream) {
    let body = json!({"error": {"message": "no such model"}}).to_string();
    let answer = format!(
        "HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).unwrap();
}

#[test]
fn the_answer_is_shown_while_it_comes() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    let server = Server::start(slow);
    let url = server.url();
    let mut child = desk
        .command(&["run", "a.json", "Hi", "--model", "m", "--base-url", &url])
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut buffer = [0; 64];
    let read = out.read(&mut buffer).unwrap();
    assert_eq!(
        &buffer[..read],
        b"first ",
        "the first word is there before the second is said"
    );
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "second\n");
    assert_eq!(wait(child).code, 0);
    let request = server.wait_for_a_request();
    assert_eq!(request["model"], "m");
    assert_eq!(request["messages"][1]["content"], "Hi");
}

#[test]
fn settings_name_the_model() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    let server = Server::start(slow);
    desk.write(
        "easel.toml",
        &format!("[models]\ndefault = \"small@mine\"\n\n[providers.mine]\nkind = \"openai\"\nbase_url = \"{}\"\n", server.url()),
    );
    let ran = desk.easel(&["run", "a.json", "Hi"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "first second\n"),
        "{}",
        ran.err
    );
    assert_eq!(server.wait_for_a_request()["model"], "small");
}

#[test]
fn a_server_that_refuses_fails_the_run() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    let server = Server::start(refusing);
    let ran = desk.easel(&[
        "run",
        "a.json",
        "Hi",
        "--model",
        "m",
        "--base-url",
        &server.url(),
    ]);
    assert_eq!(ran.code, 1);
    let told = ran
        .err
        .replace('│', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        told.contains("no such model") && told.contains("LLM:A"),
        "{told}"
    );
}

#[test]
fn a_question_becomes_sql_and_a_world_that_answers_needs_no_connection() {
    let desk = Desk::new();
    let agent = json!({"sys_prompt": "Write SQL.", "prompts": [{"role": "user", "content": "{sys.query} {Retrieval:R@formalized_content}"}]});
    let sql = json!({"sql": "{Agent:A@content}", "db_type": "mysql", "host": "", "port": 3306, "database": "",
        "username": "", "password": ""});
    let says = json!({"content": ["{ExeSQL:S@formalized_content}"]});
    let nodes = [
        ("begin", "Begin", json!({}), &["Retrieval:R"][..]),
        (
            "Retrieval:R",
            "Retrieval",
            json!({"query": "{sys.query}", "kb_ids": []}),
            &["Agent:A"],
        ),
        ("Agent:A", "Agent", agent, &["ExeSQL:S"]),
        ("ExeSQL:S", "ExeSQL", sql, &["Message:M"]),
        ("Message:M", "Message", says, &[]),
    ];
    desk.json("a.json", &canvas(&nodes));
    desk.json(
        "w.json",
        &json!({"sql": [{"match": {"contains": "customers"}, "columns": ["name"], "rows": [["Ada"]]}]}),
    );
    let url = Server::start(writing_sql).url();
    let ran = desk.easel(&[
        "run",
        "a.json",
        "Who buys?",
        "--world",
        "w.json",
        "--model",
        "m",
        "--base-url",
        &url,
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out, "| name   |\n|:-------|\n| Ada    |\n");
    let checked = desk.easel(&["check", "a.json"]);
    assert!(checked.out.contains("`host` is not set"), "{}", checked.out);
}
