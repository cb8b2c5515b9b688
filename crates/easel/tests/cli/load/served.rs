//! A real `easel serve`, killed and started again at the same address over the same folder.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Kind;
use super::http;
use super::outside::Outside;
use crate::easel::Desk;

pub struct Served {
    desk: Desk,
    address: SocketAddr,
    child: Child,
}

impl Served {
    pub fn start(outside: &Outside) -> Served {
        let desk = Desk::new();
        let url = outside.url();
        desk.write(
            "easel.toml",
            &format!(
                "[http]\nallow = [\"127.0.0.1\"]\n\n[models]\ndefault = \"small@mine\"\n\n[providers.mine]\nkind = \
                 \"openai\"\nbase_url = \"{url}/v1\"\n"
            ),
        );
        // Taken by nobody a moment ago.
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let child = started(&desk, address);
        Served {
            desk,
            address,
            child,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn data(&self) -> PathBuf {
        self.desk.path("data")
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn kill_and_start(&mut self) {
        self.kill();
        self.child = started(&self.desk, self.address);
    }

    /// Makes an agent; gives its id.
    pub fn agent(&self, kind: Kind, outside: &Outside) -> String {
        let dsl = kind.canvas(&outside.url());
        let new = json!({"title": format!("{kind:?}"), "dsl": dsl});
        let made = http::ask(self.address, "POST", "/api/v1/agents", &new);
        let (status, made) = made.unwrap();
        assert_eq!((status, &made["code"]), (200, &json!(0)), "{made}");
        made["data"]["id"].as_str().unwrap().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(
    clippy::zombie_processes,
    reason = "whoever holds the server waits for it when it is dropped"
)]
fn started(desk: &Desk, address: SocketAddr) -> Child {
    let address_text = address.to_string();
    let mut command = desk.command(&["serve", "--data", "data", "--listen", &address_text]);
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let began = Instant::now();
    loop {
        if let Some((200, _)) = http::ask(address, "GET", "/readyz", &Value::Null) {
            return child;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "it does not start"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}
