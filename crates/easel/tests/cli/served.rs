//! A server that the command runs, and requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::easel::Desk;

/// How long a server may take to do anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `easel serve` over the folder `data` of a desk.
pub struct Served {
    child: Child,
    address: String,
    token: String,
}

impl Served {
    /// Starts one, and waits until it can be reached.
    pub fn start(desk: &Desk, arguments: &[&str]) -> Served {
        let all = [
            &["serve", "--data", "data", "--listen", "127.0.0.1:0"],
            arguments,
        ]
        .concat();
        let beacon = desk.path("data/serve.json");
        // One that was killed has left its own behind.
        let _ = std::fs::remove_file(&beacon);
        let mut child = desk
            .command(&all)
            .env("EASEL_HOME", desk.path("home"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lit = within(|| {
            assert!(child.try_wait().unwrap().is_none(), "the server has ended");
            let text = std::fs::read_to_string(&beacon).ok()?;
            serde_json::from_str::<Value>(&text).ok()
        });
        let served = Served {
            child,
            address: lit["address"].as_str().unwrap().to_owned(),
            token: lit["token"].as_str().unwrap().to_owned(),
        };
        within(|| {
            let status = served.ask("GET", "/readyz", &served.token, Value::Null)?.0;
            (status == 200).then_some(())
        });
        served
    }

    /// Starts one on a PostgreSQL database, for whoever has that key.
    pub fn on(desk: &Desk, url: &str, key: &str) -> Served {
        let mut child = desk
            .command(&["serve", "--database", url, "--listen", "127.0.0.1:0"])
            .env("EASEL_HOME", desk.path("home"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, place) = line.split_once("http://")?;
            place.split(',').next().map(str::to_owned)
        });
        // What it says later is for nobody, and must not fill the pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Served {
            child,
            address: address.unwrap(),
            token: key.to_owned(),
        }
    }

    /// Where it is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The key of this machine.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Makes a request with a key; the status and the body.
    pub fn ask(&self, method: &str, path: &str, key: &str, body: Value) -> Option<(u16, Value)> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nhost: {}\r\nauthorization: Bearer {key}\r\naccept: application/json\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}",
            self.address
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).unwrap_or_default()))
    }

    /// Starts a run of an agent, with the machine's own token or a key, and gives it once its turn is over.
    pub fn run(&self, agent: &str, key: Option<&str>, mut request: Value) -> Value {
        request["wait"] = json!(true);
        let key = key.unwrap_or(&self.token);
        let path = format!("/v1/agents/{agent}/runs");
        let (status, run) = self.ask("POST", &path, key, request).unwrap();
        assert_eq!(status, 200, "{run}");
        run
    }

    /// Starts a run and does not wait for anything but its beginning.
    pub fn begin(&self, agent: &str, request: Value) -> String {
        let path = format!("/v1/agents/{agent}/runs");
        let (status, run) = self.ask("POST", &path, &self.token, request).unwrap();
        assert_eq!(status, 202, "{run}");
        run["id"].as_str().unwrap().to_owned()
    }

    /// Asks it to stop, and waits until it has.
    pub fn stop(mut self) {
        let id = self.child.id().to_string();
        let asked = std::process::Command::new("kill").arg(id).status().unwrap();
        assert!(asked.success());
        within(|| self.child.try_wait().unwrap());
    }

    /// Kills it where it stands.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Looks again and again until there is something.
pub fn within<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "it takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}
