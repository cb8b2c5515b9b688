//! `easel mcp login` and `logout`: who calls, to servers that want to know.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use easel_mcp::{Credentials, SignIn};
use easel_runtime::Timestamp;
use easel_runtime::clock::{Clock, SystemClock};
use easel_runtime::secrets::{Gate, Secret, Sink, SinkKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Visitor;
use crate::cli::{LoginMcp, LogoutMcp};
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};

/// How long is waited for the browser to come back.
const PATIENCE: Duration = Duration::from_secs(600);

/// The path on which the browser comes back.
const BACK: &str = "/callback";

/// The longest request that a browser comes back with, in bytes.
const LONGEST: usize = 16 << 10;

/// Signs in: shows an address, waits for the browser that comes back from it, and keeps what it brings in the vault.
pub async fn login(arguments: &LoginMcp) -> Result<Exit, Problem> {
    let visitor = Visitor::of(&arguments.settings)?;
    let visit = visitor.visit(&arguments.server)?;
    let listening = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).await;
    let listener = listening.map_err(|error| {
        Problem::usage(format!("Port {} cannot be listened on.", arguments.port))
            .because(sentence(&error.to_string()))
            .fix("Choose another one with --port.")
    })?;
    let here = listener.local_addr();
    let here = here.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let redirect = format!("http://{here}{BACK}");
    let sign_in = visitor.clients.sign_in(&visit, &redirect).await;
    let sign_in = sign_in.map_err(|error| visitor.failed(&error))?;
    out::tell("Open this address in a browser of this machine and sign in:");
    out::line(sign_in.address());
    out::tell("Waiting for the browser to come back. Control-C gives up.");
    let back = tokio::time::timeout(PATIENCE, came_back(&listener));
    let mut browser = back.await.map_err(|_| {
        Problem::new(Exit::Failed, "Nobody has signed in within ten minutes.").fix(format!(
            "Begin again: easel mcp login {}",
            visit.server.name
        ))
    })?;
    let finished = finish(&visitor, sign_in, &redirect, &browser.target).await;
    browser.tell(finished.is_ok()).await;
    finished?;
    out::tell(&format!(
        "Signed in to {}. What it gave is in the vault.",
        visit.server.name
    ));
    Ok(Exit::Done)
}

async fn finish(
    visitor: &Visitor,
    sign_in: SignIn,
    redirect: &str,
    target: &str,
) -> Result<(), Problem> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    if let Some(error) = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("error="))
    {
        let problem = Problem::new(Exit::Failed, "The server did not let you in.");
        return Err(problem.because(format!("It says: {error}.")));
    }
    let back = sign_in.finish(&format!("{redirect}?{query}")).await;
    back.map_err(|error| visitor.failed(&error))
}

/// A browser that waits for a page.
struct Browser {
    stream: TcpStream,
    /// The path and the query that it asked for.
    target: String,
}

impl Browser {
    /// Shows the person how it went. A browser that is gone misses it.
    async fn tell(&mut self, signed_in: bool) {
        let text = match signed_in {
            true => "You are signed in. You can close this page.",
            false => "That did not work. The terminal says why.",
        };
        let _ = self.answer("200 OK", text).await;
    }

    async fn answer(&mut self, status: &str, text: &str) -> io::Result<()> {
        let page = format!("<!doctype html><title>Easel</title><p>{text}</p>\n");
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            page.len()
        );
        self.stream.write_all((head + &page).as_bytes()).await?;
        self.stream.shutdown().await
    }
}

/// The browser that comes back. Whoever asks for something else, as browsers do for icons, is told that it is not here.
async fn came_back(listener: &TcpListener) -> Browser {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let Ok(Some(mut browser)) = asked(stream).await else {
            continue;
        };
        let path = browser.target.split('?').next();
        if path == Some(BACK) {
            return browser;
        }
        let _ = browser
            .answer("404 Not Found", "There is nothing here.")
            .await;
    }
}

/// What somebody asks for; `None` if it is no request for a page.
async fn asked(mut stream: TcpStream) -> io::Result<Option<Browser>> {
    let mut head = Vec::new();
    let reading = async {
        let mut piece = [0; 1024];
        while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < LONGEST {
            match stream.read(&mut piece).await? {
                0 => break,
                count => head.extend_from_slice(piece.get(..count).unwrap_or_default()),
            }
        }
        io::Result::Ok(())
    };
    // One that says nothing must not keep the others waiting.
    let read = tokio::time::timeout(Duration::from_secs(5), reading).await;
    read.map_err(io::Error::from)??;
    let head = String::from_utf8_lossy(&head);
    let line = head.lines().next().unwrap_or_default();
    let target = line
        .strip_prefix("GET ")
        .and_then(|rest| rest.split(' ').next());
    Ok(target.map(|target| Browser {
        stream,
        target: target.to_owned(),
    }))
}

/// Forgets what came of signing in.
pub fn logout(arguments: &LogoutMcp) -> Result<Exit, Problem> {
    let name = &arguments.server;
    let forgotten = keyring::vault()?.remove(&place(name));
    match forgotten.map_err(|error| keyring::problem(&error))? {
        true => out::tell(&format!("Signed out of {name}.")),
        false => out::tell(&format!("Nobody was signed in to {name}.")),
    }
    Ok(Exit::Done)
}

/// The name of the secret in which it is kept: `MCP_<SERVER>_SIGN_IN`.
fn place(server: &str) -> String {
    let server = server.to_uppercase().replace('-', "_");
    format!("MCP_{server}_SIGN_IN")
}

/// What came of signing in, in the vault; in a container also in the environment.
pub struct InVault;

impl Credentials for InVault {
    fn load(&self, server: &str) -> Result<Option<String>, String> {
        let resolver = keyring::resolver().map_err(|problem| problem.message())?;
        let gate = Gate::new("mcp", resolver);
        let door = gate.door(Sink::new(SinkKind::Tool, format!("mcp:{server}"), ""));
        let found = door.secret(&place(server));
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.map(|opened| opened.expose().to_owned()))
    }

    fn save(&self, server: &str, text: &str) -> Result<(), String> {
        let vault = keyring::vault().map_err(|problem| problem.message())?;
        let now: Timestamp = SystemClock.now();
        let saved = vault.set(&place(server), &Secret::new(text), now);
        saved.map_err(|error| error.to_string())
    }

    fn forget(&self, server: &str) -> Result<(), String> {
        let vault = keyring::vault().map_err(|problem| problem.message())?;
        let removed = vault.remove(&place(server));
        removed.map(drop).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_a_name_that_secrets_may_have() {
        assert_eq!(place("my-files"), "MCP_MY_FILES_SIGN_IN");
        assert!(easel_runtime::secrets::is_name(&place("a-b_c9")));
    }
}
