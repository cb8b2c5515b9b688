//! `easel secrets`, `easel import`, `easel receipt`, and runs that use secrets.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::easel::{Desk, Done, asks_a_model, canvas, wait};
use crate::model::{Server, slow};

const VALUE: &str = "s3cr3t value/1";

/// The command, with a place for the vault.
fn easel(desk: &Desk, arguments: &[&str], input: &str) -> Done {
    let home = desk.path("home");
    let mut child = desk
        .command(arguments)
        .env("EASEL_HOME", home)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    wait(child)
}

/// A desk with TOKEN in its vault.
fn with_token() -> Desk {
    let desk = Desk::new();
    let set = easel(&desk, &["secrets", "set", "TOKEN"], &format!("{VALUE}\n"));
    assert_eq!(set.code, 0, "{}", set.err);
    desk
}

/// A canvas that sends TOKEN to that address and shows the answer.
fn sends(url: &str) -> Value {
    let params = json!({
        "url": url,
        "method": "post",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
        "variables": [{"key": "q", "ref": "sys.query"}],
    });
    let shown = json!({"content": ["{Invoke:I@result}"]});
    canvas(&[
        ("begin", "Begin", json!({}), &["Invoke:I"]),
        ("Invoke:I", "Invoke", params, &["Message:M"]),
        ("Message:M", "Message", shown, &[]),
    ])
}

/// A server that answers with what it was sent, in several forms, so many times. Gives its address, and what it got.
fn echo(times: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serve = move || {
        let mut got = Vec::new();
        for _ in 0..times {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = Vec::new();
            let mut piece = [0; 4096];
            let whole = |bytes: &[u8]| {
                let text = String::from_utf8_lossy(bytes).to_lowercase();
                let (head, body) = text.split_once("\r\n\r\n")?;
                let length = head.split("content-length: ").nth(1)?;
                let length: usize = length.split("\r\n").next()?.parse().ok()?;
                Some(body.len() >= length)
            };
            while whole(&bytes) != Some(true) {
                let read = stream.read(&mut piece).unwrap();
                assert_ne!(read, 0);
                bytes.extend_from_slice(&piece[..read]);
            }
            let text = String::from_utf8(bytes).unwrap();
            let body = json!({"heard": text, "quoted": json!(text).to_string()}).to_string();
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
            .unwrap();
            got.push(text);
        }
        got
    };
    (address, std::thread::spawn(serve))
}

#[test]
fn a_secret_is_set_listed_and_removed_and_never_shown() {
    let desk = with_token();
    let listed = easel(&desk, &["secrets", "list"], "");
    assert!(
        listed.out.starts_with("TOKEN  vault  set 20"),
        "{}",
        listed.out
    );
    for file in ["home/vault", "home/vault.key"] {
        let bytes = std::fs::read(desk.path(file)).unwrap();
        assert!(
            !String::from_utf8_lossy(&bytes).contains("s3cr3t"),
            "{file}"
        );
    }
    assert!(!listed.out.contains("s3cr3t"));
    let removed = easel(&desk, &["secrets", "rm", "TOKEN"], "");
    assert_eq!(
        (removed.code, &*removed.out),
        (0, "TOKEN is no longer in the vault.\n")
    );
    let again = easel(&desk, &["secrets", "rm", "TOKEN"], "");
    assert_eq!(again.code, 2);
    assert_eq!(easel(&desk, &["secrets", "list"], "").out, "");
}

#[test]
fn a_value_on_the_command_line_is_refused_and_not_repeated() {
    let desk = Desk::new();
    for arguments in [
        ["secrets", "set", "sk-live-1234"].as_slice(),
        &["secrets", "set", "TOKEN", "sk-live-1234"],
    ] {
        let refused = easel(&desk, arguments, "");
        assert_eq!(refused.code, 2);
        assert!(!desk.path("home/vault").exists());
    }
    let named = easel(&desk, &["secrets", "set", "sk-live-1234"], "");
    assert!(!named.err.contains("sk-live-1234"), "{}", named.err);
}

#[test]
fn a_short_value_is_kept_and_warned_of() {
    let desk = Desk::new();
    let set = easel(&desk, &["secrets", "set", "PIN"], "1234");
    assert_eq!(set.code, 0);
    assert!(set.err.contains("not masked"), "{}", set.err);
    let blank = easel(&desk, &["secrets", "set", "PIN"], " \n");
    assert_eq!(blank.code, 2);
    assert!(blank.err.contains("blank"), "{}", blank.err);
}

#[cfg(unix)]
#[test]
fn a_key_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let desk = with_token();
    let mode = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(desk.path("home/vault.key"), mode).unwrap();
    let listed = easel(&desk, &["secrets", "list"], "");
    assert_eq!(listed.code, 2);
    assert!(listed.err.contains("chmod 600"), "{}", listed.err);
}

#[test]
fn a_damaged_vault_is_no_empty_one() {
    let desk = with_token();
    let whole = std::fs::read(desk.path("home/vault")).unwrap();
    std::fs::write(desk.path("home/vault"), &whole[..whole.len() - 1]).unwrap();
    desk.json("a.json", &sends("http://127.0.0.1:9/"));
    for arguments in [
        ["secrets", "list"].as_slice(),
        &["secrets", "rm", "TOKEN"],
        &["secrets", "check", "a.json"],
    ] {
        let refused = easel(&desk, arguments, "");
        assert_ne!(refused.code, 0, "{arguments:?}");
        assert!(
            format!("{}{}", refused.out, refused.err).contains("is damaged"),
            "{}{}",
            refused.out,
            refused.err
        );
    }
}

#[test]
fn check_says_what_a_workflow_needs_and_who_has_it() {
    let desk = with_token();
    let params = json!({"url": "http://e.com", "headers": {"A": "${TOKEN}", "B": "${OTHER}", "C": "${token}", "D": "${BROKEN}"}});
    desk.json(
        "a.json",
        &canvas(&[
            ("begin", "Begin", json!({}), &["Invoke:I"]),
            ("Invoke:I", "Invoke", params, &[]),
        ]),
    );
    desk.write(".env", "OTHER='from the file'\nBROKEN=\"two\\nlines\"\n");
    let checked = easel(&desk, &["secrets", "check", "a.json"], "");
    assert_eq!(checked.code, 3);
    let lines: Vec<&str> = checked.out.lines().map(str::trim_end).collect();
    assert!(
        lines[0].starts_with("BROKEN  unusable: a control character"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("OTHER   set, from .env"), "{lines:?}");
    assert!(lines[2].starts_with("TOKEN   set, from vault"), "{lines:?}");
    assert!(lines[3].starts_with("token   missing"), "{lines:?}");
    let check = easel(&desk, &["check", "a.json"], "");
    assert!(
        check.out.contains("`token`, which is not set"),
        "{}",
        check.out
    );
    assert!(
        !check.out.contains("`TOKEN`, which is not set"),
        "{}",
        check.out
    );
}

#[test]
fn a_secret_reaches_the_tool_and_nobody_else() {
    let desk = with_token();
    let (address, server) = echo(3);
    desk.write("easel.toml", &format!("[http]\nallow = [\"{address}\"]\n"));
    desk.json("a.json", &sends(&format!("http://{address}/")));
    // What the user knows of it goes out to the tool masked.
    let query = format!("I know {VALUE}");
    let runs = [
        easel(
            &desk,
            &["run", "a.json", &query, "--receipt", "receipt.json"],
            "",
        ),
        easel(&desk, &["run", "a.json", "hi", "--json"], ""),
        easel(&desk, &["run", "a.json", "hi", "--events"], ""),
    ];
    let got = server.join().unwrap();
    for (ran, got) in runs.iter().zip(&got) {
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(got.contains(&format!("Bearer {VALUE}\r\n")), "{got}");
        assert!(!got.contains("I know s3cr3t"), "{got}");
        for seen in [&ran.out, &ran.err] {
            assert!(!seen.contains("s3cr3t") && !seen.contains(VALUE), "{seen}");
        }
        assert!(ran.out.contains("Bearer ••••••"), "{}", ran.out);
    }
    let receipt = runs[1].json()["receipt"]["receipt"].clone();
    let entry = &receipt["entries"][0];
    assert_eq!(
        (
            &entry["secret"],
            &entry["sink"],
            &entry["node"],
            &entry["provider"]
        ),
        (
            &json!("TOKEN"),
            &json!("Invoke"),
            &json!("Invoke:I"),
            &json!("vault")
        )
    );
    assert!(receipt["bytes_scanned"].as_u64() > Some(100) && receipt["masked"].as_u64() > Some(1));
    let last: Value = serde_json::from_str(runs[2].out.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "receipt");

    let shown = easel(&desk, &["receipt", "receipt.json"], "");
    assert!(
        shown
            .out
            .contains("TOKEN (from vault) to the component Invoke, for Invoke:I"),
        "{}",
        shown.out
    );
    assert_eq!(
        easel(&desk, &["receipt", "--verify", "receipt.json"], "").code,
        0
    );
    let key = easel(&desk, &["receipt", "--public-key"], "").out;
    let with_key = [
        "receipt",
        "--verify",
        "--signer",
        key.trim(),
        "receipt.json",
    ];
    assert_eq!(easel(&desk, &with_key, "").code, 0);
    desk.write(
        "receipt.json",
        &desk.read("receipt.json").replace("Invoke:I", "Invoke:J"),
    );
    let changed = easel(&desk, &["receipt", "--verify", "receipt.json"], "");
    assert_eq!(changed.code, 1);
    assert!(
        changed.err.contains("was changed after it was signed"),
        "{}",
        changed.err
    );
}

#[test]
fn an_error_that_is_cut_short_has_no_half_of_a_secret() {
    let desk = Desk::new();
    let value = "v".repeat(150) + &"w".repeat(150);
    easel(&desk, &["secrets", "set", "TOKEN"], &value);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let said = format!("bad token: {value}");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 8192];
        let _ = stream.read(&mut bytes).unwrap();
        let length = said.len();
        write!(
            stream,
            "HTTP/1.1 401 No\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{said}"
        )
        .unwrap();
    });
    desk.write("easel.toml", &format!("[http]\nallow = [\"{address}\"]\n"));
    let mut document = sends(&format!("http://{address}/"));
    let params = &mut document["components"]["Invoke:I"]["obj"]["params"];
    params["fail_on_status"] = json!(true);
    params["method"] = json!("get");
    desk.json("a.json", &document);
    let ran = easel(&desk, &["run", "a.json", "hi"], "");
    server.join().unwrap();
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("bad token: ••••••"), "{}", ran.err);
    assert!(!ran.err.contains("vvvvvv"), "{}", ran.err);
}

#[test]
fn the_nearest_place_gives_the_value() {
    let desk = with_token();
    let (address, server) = echo(2);
    desk.write("easel.toml", &format!("[http]\nallow = [\"{address}\"]\n"));
    desk.json("a.json", &sends(&format!("http://{address}/")));
    desk.write(".env", "TOKEN=from-the-file\n");
    easel(&desk, &["run", "a.json", "hi"], "");
    let mut command = desk.command(&["run", "a.json", "hi"]);
    command
        .env("EASEL_HOME", desk.path("home"))
        .env("TOKEN", "from-the-environment");
    command.output().unwrap();
    let got = server.join().unwrap();
    assert!(got[0].contains("Bearer from-the-file\r\n"), "{}", got[0]);
    assert!(
        got[1].contains("Bearer from-the-environment\r\n"),
        "{}",
        got[1]
    );
    let listed = easel(&desk, &["secrets", "list"], "").out;
    assert!(
        listed.contains("the .env file of this folder counts first"),
        "{listed}"
    );
}

#[test]
fn a_secret_that_is_missing_keeps_the_node_from_running() {
    let desk = Desk::new();
    desk.json("a.json", &sends("http://127.0.0.1:9/"));
    let ran = easel(&desk, &["run", "a.json", "hi"], "");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("easel secrets set TOKEN"), "{}", ran.err);
}

/// A canvas with a literal key in two nodes and in their drawing, and a password that is a user's name too.
const WITH_KEYS: &str = r#"{ "components": {
  "begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["TavilySearch:A", "ExeSQL:S"]},
  "TavilySearch:A": {"obj": {"component_name": "TavilySearch", "params": {"api_key": "tvly-0123456789", "query": "{sys.query}", "max_results": 5.0}}, "downstream": ["TavilySearch:B"]},
  "TavilySearch:B": {"obj": {"component_name": "TavilySearch", "params": {"api_key": "tvly-9876543210", "query": "tvly-0123456789"}}, "downstream": []},
  "ExeSQL:S": {"obj": {"component_name": "ExeSQL", "params": {"db_type": "mysql", "database": "d", "username": "root", "host": "e.com", "port": 3306, "password": "root", "sql": "select 1", "top_n": 30}}, "downstream": []}
 },
 "graph": {"nodes": [{"id": "TavilySearch:A", "data": {"form": {"api_key":	"tvly-0123456789"}}}], "edges": []}
}
"#;

#[test]
fn credentials_are_lifted_out_of_a_file_and_nothing_else_of_it_changes() {
    let desk = Desk::new();
    desk.write("a.json", WITH_KEYS);
    let imported = easel(&desk, &["import", "a.json", "-o", "b.json"], "");
    assert_eq!(imported.code, 0, "{}", imported.err);
    assert_eq!(desk.read("a.json"), WITH_KEYS);
    let expected = WITH_KEYS
        .replace(
            r#""api_key": "tvly-0123456789""#,
            r#""api_key": "${TAVILY_SEARCH_API_KEY}""#,
        )
        .replace(
            "\"api_key\":\t\"tvly-0123456789\"",
            "\"api_key\":\t\"${TAVILY_SEARCH_API_KEY}\"",
        )
        .replace("tvly-9876543210", "${TAVILY_SEARCH_API_KEY_2}")
        .replace(
            r#""password": "root""#,
            r#""password": "${EXE_SQL_PASSWORD}""#,
        );
    assert_eq!(desk.read("b.json"), expected);
    assert!(
        imported.err.contains("still stand at 1 other places"),
        "{}",
        imported.err
    );
    let listed = easel(&desk, &["secrets", "list"], "").out;
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        names,
        [
            "EXE_SQL_PASSWORD",
            "TAVILY_SEARCH_API_KEY",
            "TAVILY_SEARCH_API_KEY_2"
        ]
    );
    assert_eq!(easel(&desk, &["secrets", "check", "b.json"], "").code, 0);

    // In place, and once more: the same names again, and then there is nothing to do.
    easel(&desk, &["import", "a.json"], "");
    assert_eq!(desk.read("a.json"), expected);
    let again = easel(&desk, &["import", "a.json"], "");
    assert!(
        again.err.contains("No credential is written out"),
        "{}",
        again.err
    );
    assert_eq!(desk.read("a.json"), expected);
}

#[test]
fn an_export_has_names_in_place_of_credentials() {
    let desk = Desk::new();
    desk.write("a.json", WITH_KEYS);
    let exported = desk.easel(&["export", "a.json"]);
    assert_eq!(exported.code, 0);
    assert!(
        exported.out.contains("${TAVILY_SEARCH_API_KEY}"),
        "{}",
        exported.out
    );
    assert!(
        !exported.out.contains(r#""api_key": "tvly"#),
        "{}",
        exported.out
    );
    assert!(
        exported.err.contains("left out: a credential"),
        "{}",
        exported.err
    );
}

#[test]
fn a_key_that_is_written_out_is_used_masked_and_warned_of() {
    let desk = Desk::new();
    let (address, server) = echo(1);
    desk.write("easel.toml", &format!("[http]\nallow = [\"{address}\"]\n"));
    let mut document: Value = serde_json::from_str(WITH_KEYS).unwrap();
    document["components"] = sends(&format!("http://{address}/"))["components"].clone();
    let search = json!({"obj": {"component_name": "TavilySearch", "params": {"api_key": "tvly-0123456789", "query": "x"}}, "downstream": []});
    document["components"]["TavilySearch:A"] = search;
    document["components"]["Invoke:I"]["obj"]["params"]["headers"] = json!({});
    desk.write("a.json", &document.to_string());
    let ran = easel(&desk, &["run", "a.json", "the key is tvly-0123456789"], "");
    assert!(
        ran.out.contains("the key is ••••••"),
        "{}{}",
        ran.out,
        ran.err
    );
    assert!(server.join().unwrap()[0].contains("the key is ••••••"));
    let checked = easel(&desk, &["check", "a.json"], "").out;
    assert!(checked.contains("secret-in-file"), "{checked}");
}

#[test]
fn the_vault_key_may_come_from_the_environment() {
    let desk = Desk::new();
    let key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let with = |key: &str, arguments: &[&str]| {
        let mut command = desk.command(arguments);
        command
            .env("EASEL_HOME", desk.path("home"))
            .env("EASEL_VAULT_KEY", key)
            .stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(b"a long value")
            .unwrap();
        wait(child)
    };
    assert_eq!(with(key, &["secrets", "set", "TOKEN"]).code, 0);
    assert!(!desk.path("home/vault.key").exists());
    assert!(with(key, &["secrets", "list"]).out.starts_with("TOKEN"));
    let other = "MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    assert!(
        with(other, &["secrets", "list"])
            .err
            .contains("another key")
    );
    let bad = with("password", &["secrets", "list"]);
    assert!(
        bad.err.contains("EASEL_VAULT_KEY holds no key"),
        "{}",
        bad.err
    );
}

#[test]
fn the_key_of_a_model_is_a_secret_and_no_model_is_told_one() {
    let desk = with_token();
    easel(
        &desk,
        &["secrets", "set", "OPENAI_API_KEY"],
        "sk-0123456789",
    );
    let server = Server::start(slow);
    let url = server.url();
    desk.json("a.json", &asks_a_model());
    // The key becomes known with the first request, the query came in before; the request is masked.
    let arguments = [
        "run",
        "a.json",
        "My key is sk-0123456789",
        "--model",
        "m",
        "--base-url",
        &url,
        "--json",
    ];
    let ran = easel(&desk, &arguments, "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let request = server.wait_for_a_request().to_string();
    assert!(request.contains("My key is ••••••"), "{request}");
    assert!(!ran.out.contains("sk-0123456789"), "{}", ran.out);
    let entry = ran.json()["receipt"]["receipt"]["entries"][0].clone();
    assert_eq!(
        (&entry["secret"], &entry["kind"], &entry["node"]),
        (&json!("OPENAI_API_KEY"), &json!("model"), &json!("LLM:A"))
    );
}
