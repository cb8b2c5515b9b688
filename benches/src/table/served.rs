//! A server: how soon it is ready, how fast it answers, and what it holds in memory and on disk.
//!
//! It is `easel serve` as it is built beside this program, a process of its own for each row.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value as Json, json};

use crate::bare::BARE;
use crate::engine;
use crate::http::Connection;
use crate::pairs::median;
use crate::process::only;
use crate::server::{Server, megabytes};
use crate::wrk::{self, Load};

/// Where clients of the old API ask an agent.
const ASK: &str = "/api/v1/agents/chat/completions";

/// Connections that ask beside each other where a row makes many runs.
const CLIENTS: usize = 32;

/// How long what a server has finished with may linger before its memory is looked at.
const SETTLED: Duration = Duration::from_secs(2);

/// How soon it is ready, and how fast it answers.
pub fn answering() -> Result<(), Box<dyn Error>> {
    let this = std::env::current_exe()?;
    let Some(easel) = Easel::beside(&this) else {
        return Ok(());
    };
    starts(&easel)?;
    if !wrk::is_there() {
        println!("\nNo rows for answers over HTTP: they take `wrk`, from the system's packages.");
        return Ok(());
    }
    answers(&this, &easel)
}

/// What waits and what is open, in memory.
pub fn memory() -> Result<(), Box<dyn Error>> {
    let Some(easel) = Easel::beside(&std::env::current_exe()?) else {
        return Ok(());
    };
    // 1,000 streams need as many files, on both sides.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    waiting_runs(&easel)?;
    streams(&easel)
}

/// What is over, on disk.
pub fn disk() -> Result<(), Box<dyn Error>> {
    let Some(easel) = Easel::beside(&std::env::current_exe()?) else {
        return Ok(());
    };
    many_stored(&easel)?;
    conversation(&easel)
}

/// The program.
struct Easel(PathBuf);

impl Easel {
    /// The one that was built with this program.
    fn beside(this: &Path) -> Option<Easel> {
        let program = this.with_file_name("easel");
        if !program.exists() {
            println!("\nNo rows for the server: build it with `cargo build --release -p easel`.");
            return None;
        }
        Some(Easel(program))
    }

    /// A server over a folder, once it is ready.
    fn serve(&self, folder: &Path) -> Result<Server, Box<dyn Error>> {
        self.serve_with(folder, &[])
    }

    /// The same with more words.
    fn serve_with(&self, folder: &Path, more: &[&str]) -> Result<Server, Box<dyn Error>> {
        let data = folder.join("data");
        let mut words: Vec<OsString> = vec!["serve".into(), "--data".into(), data.into()];
        words.extend(more.iter().map(OsString::from));
        Server::start(&self.0, &words)
    }
}

/// How long it takes from nothing to the first answer, on an empty folder, and what it holds then.
fn starts(easel: &Easel) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    let mut resident = 0.0;
    for _ in 0..10 {
        let folder = engine::folder()?;
        let server = easel.serve(folder.path())?;
        times.push(server.ready);
        thread::sleep(SETTLED / 10);
        resident = server.resident()?.max(resident);
    }
    let ready = median(times);
    only(
        "`easel serve`, from start to ready, empty folder",
        "100 ms",
        format_args!("{ready:.1?}"),
    );
    only("the same at rest, memory", "40 MB", megabytes(resident));
    Ok(())
}

/// Begin and Message, not streamed, beside a bare handler: as a run by itself, and as the first message of a conversation.
fn answers(this: &Path, easel: &Easel) -> Result<(), Box<dyn Error>> {
    let folder = engine::folder()?;
    let server = easel.serve(folder.path())?;
    let bare = Server::announced(this, &[BARE.into(), folder.path().into()])?;
    let agent = agent(&server, "answers", &benches::chain(0))?;
    let theirs = wrk::script(folder.path(), "theirs", "/", &json!({"query": "hello"}))?;
    let run = json!({"query": "hello", "wait": true});
    let message = json!({"agent_id": agent, "query": "hello", "stream": false});
    let forms = [
        ("a run", format!("/v1/agents/{agent}/runs"), run),
        ("a conversation", ASK.to_owned(), message),
    ];
    for (name, path, body) in forms {
        let ours = wrk::script(folder.path(), "ours", &path, &body)?;
        // wrk looks at the status alone.
        let answered = || -> Result<(), Box<dyn Error>> {
            let answer = server.connect()?.ask("POST", &path, Some(&body))?;
            said(&answer, "\"hello\"")
        };
        answered()?;
        let pair = || -> Result<(Load, Load), Box<dyn Error>> {
            Ok((
                wrk::load(server.address, &ours)?,
                wrk::load(bare.address, &theirs)?,
            ))
        };
        // The first warms up.
        pair()?;
        let pairs: Result<Vec<_>, _> = (0..5).map(|_| pair()).collect();
        answered()?;
        compared(name, &pairs?);
    }
    Ok(())
}

/// Prints what came of asking both.
fn compared(name: &str, pairs: &[(Load, Load)]) {
    let of = |value: &dyn Fn(&(Load, Load)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        move |quarter: usize| values[(values.len() - 1) * quarter / 4]
    };
    let ratio = of(&|(ours, theirs)| ours.rate / theirs.rate);
    let (ours, theirs) = (of(&|(ours, _)| ours.rate), of(&|(_, theirs)| theirs.rate));
    println!(
        "| {name} of Begin and Message over HTTP, 64 connections / a bare handler that has a row committed | ratio 0.4 | \
         {:.0}/s | {:.0}/s | {:.2} ({:.2} to {:.2}) | |",
        ours(2),
        theirs(2),
        ratio(2),
        ratio(1),
        ratio(3),
    );
    let (ours, theirs) = (
        of(&|(ours, _)| ours.p99_ms),
        of(&|(_, theirs)| theirs.p99_ms),
    );
    println!(
        "| the same, 99 of 100 are answered within | 50 ms | {:.1} ms | {:.1} ms | {:.2} | |",
        ours(2),
        theirs(2),
        ours(2) / theirs(2),
    );
}

/// What runs cost that wait for an answer.
fn waiting_runs(easel: &Easel) -> Result<(), Box<dyn Error>> {
    let folder = engine::folder()?;
    let server = easel.serve(folder.path())?;
    let form = agent(&server, "form", &benches::form())?;
    let body = json!({"agent_id": form, "query": "hello", "stream": false});
    // What serving takes at all.
    at_once(&server, 1_000, &body, "user_inputs")?;
    thread::sleep(SETTLED);
    let before = server.resident()?;
    at_once(&server, 10_000, &body, "user_inputs")?;
    thread::sleep(SETTLED);
    let more = server.resident()? - before;
    only(
        "10,000 runs that wait for an answer, memory",
        "20 MB",
        megabytes(more),
    );
    Ok(())
}

/// What streams cost that stay open: of one run, and each of a run of its own. The model does not answer.
fn streams(easel: &Easel) -> Result<(), Box<dyn Error>> {
    let folder = engine::folder()?;
    let model = format!("http://{}/v1", silent_model()?);
    let words = ["--model", "silent", "--base-url", &model];
    let server = easel.serve_with(folder.path(), &words)?;
    let hello = agent(&server, "hello", &benches::chain(0))?;
    let hello = json!({"agent_id": hello, "query": "hello", "stream": false});
    // What serving takes at all.
    at_once(&server, 1_000, &hello, "hello")?;
    let asker = agent(&server, "asker", &benches::asker())?;
    let begun = json!({"query": "hello"});
    let path = format!("/v1/agents/{asker}/runs");
    let run = server.connect()?.ask("POST", &path, Some(&begun))?;
    let run = run["id"].as_str().ok_or("a run has an id")?;

    let mut open = Vec::new();
    let mut open_all =
        |method: &str, path: &str, body: Option<&Json>| -> Result<f64, Box<dyn Error>> {
            thread::sleep(SETTLED);
            let before = server.resident()?;
            for _ in 0..1_000 {
                let mut connection = server.connect()?;
                connection.listen(method, path, body)?;
                open.push(connection);
            }
            thread::sleep(SETTLED);
            Ok(server.resident()? - before)
        };
    let more = open_all("GET", &format!("/v1/runs/{run}/events"), None)?;
    only(
        "1,000 open event streams of a run, memory",
        "60 MB",
        megabytes(more),
    );
    let body = json!({"agent_id": asker, "query": "hello", "stream": true});
    let more = open_all("POST", ASK, Some(&body))?;
    let what = "1,000 open streams, each with a run of its own that asks a model, memory";
    only(what, "", megabytes(more));
    Ok(())
}

/// A model that takes what it is asked and never answers.
fn silent_model() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        let mut asking = Vec::new();
        while let Ok((connection, _)) = listener.accept() {
            asking.push(connection);
        }
    });
    Ok(address)
}

/// How soon a server is ready that has many runs behind it.
fn many_stored(easel: &Easel) -> Result<(), Box<dyn Error>> {
    let folder = engine::folder()?;
    let server = easel.serve(folder.path())?;
    let hello = agent(&server, "hello", &benches::chain(0))?;
    let body = json!({"agent_id": hello, "query": "hello", "stream": false});
    at_once(&server, 100_000, &body, "hello")?;
    drop(server);
    let size = stored(folder.path())?;
    let mut times = Vec::new();
    for _ in 0..3 {
        times.push(easel.serve(folder.path())?.ready);
    }
    let ready = median(times);
    only(
        "ready again after 100,000 stored runs",
        "2 s",
        format_args!("{ready:.1?}"),
    );
    only(
        "100,000 runs of Begin and Message, disk",
        "",
        megabytes(size),
    );
    Ok(())
}

/// What a long conversation takes on disk.
fn conversation(easel: &Easel) -> Result<(), Box<dyn Error>> {
    const TURNS: usize = 50;
    let folder = engine::folder()?;
    let server = easel.serve(folder.path())?;
    let speaker = agent(&server, "speaker", &benches::speaker(100_000))?;
    let mut connection = server.connect()?;
    let mut session = Json::Null;
    let (start, mut half) = (stored(folder.path())?, 0.0);
    for turn in 0..TURNS {
        let body = json!({"agent_id": speaker, "query": format!("turn {turn}"), "stream": false, "session_id": session});
        let answer = ask(&mut connection, &body)?;
        said(&answer, &format!("turn {turn}"))?;
        session = answer["data"]["session_id"].clone();
        if turn + 1 == TURNS / 2 {
            half = stored(folder.path())? - start;
        }
    }
    let whole = stored(folder.path())?;
    // Until it stops, part of it lies in the log as well.
    server.stop()?;
    only(
        "a conversation of 50 turns with 100 kB each, disk",
        "8 MB",
        megabytes(stored(folder.path())?),
    );
    let growth = (whole - start - half) / half;
    only(
        "its second half / its first",
        "ratio 1.2",
        format_args!("{growth:.2}"),
    );
    Ok(())
}

/// Makes an agent of a canvas.
fn agent(server: &Server, title: &str, canvas: &[u8]) -> Result<String, Box<dyn Error>> {
    let dsl: Json = serde_json::from_slice(canvas)?;
    let body = json!({"title": title, "dsl": dsl});
    let made = server
        .connect()?
        .ask("POST", "/api/v1/agents", Some(&body))?;
    let id = made["data"]["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| format!("no agent was made: {made}").into())
}

fn ask(connection: &mut Connection, body: &Json) -> Result<Json, Box<dyn Error>> {
    connection.ask("POST", ASK, Some(body))
}

/// An answer that does not say what it should is no answer.
fn said(answer: &Json, expected: &str) -> Result<(), Box<dyn Error>> {
    let failed = answer.get("code").is_some_and(|code| code != 0);
    match !failed && answer.to_string().contains(expected) {
        true => Ok(()),
        false => Err(format!("the answer does not say {expected:?}: {answer:.300}").into()),
    }
}

/// Asks so often, several at the same time.
fn at_once(
    server: &Server,
    count: usize,
    body: &Json,
    expected: &str,
) -> Result<(), Box<dyn Error>> {
    let address = server.address;
    let client = move || -> Result<(), String> {
        let mut connection = Connection::open(address).map_err(|error| error.to_string())?;
        for _ in 0..count.div_ceil(CLIENTS) {
            let answer = ask(&mut connection, body).map_err(|error| error.to_string())?;
            said(&answer, expected).map_err(|error| error.to_string())?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        for client in clients {
            client.join().map_err(|_| "a client panicked")??;
        }
        Ok(())
    })
}

/// What lies in a folder, in bytes.
fn stored(folder: &Path) -> Result<f64, Box<dyn Error>> {
    let mut bytes = 0.0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => stored(&entry.path())?,
            false => entry.metadata()?.len() as f64,
        };
    }
    Ok(bytes)
}
