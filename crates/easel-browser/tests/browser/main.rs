//! A real browser against a server on this machine. Without a browser nothing of it is tested, and that is said.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod server;

use std::path::PathBuf;

use easel_browser::{BrowserConfig, Browsers, find_program};
use easel_tools::ToolError;
use easel_tools::browser::{BrowserOpener, BrowserPage, BrowserRequest, BrowserStep, UploadFile};
use easel_tools::guard::Allow;

use server::Server;

/// A page in a browser that may reach the server; `None`: there is no browser.
async fn page_with(
    server: &Server,
    folder: Option<PathBuf>,
    files: Vec<UploadFile>,
) -> Option<Box<dyn BrowserPage>> {
    if find_program().is_none() {
        eprintln!("NOT TESTED: there is no browser on this machine; install chromium");
        return None;
    }
    let config = BrowserConfig {
        allow: Allow::parse([server.host().as_str()]).unwrap(),
        folder,
        // Tests run as root in places, which no browser shuts in.
        sandbox: false,
        ..BrowserConfig::default()
    };
    let opened = Browsers::new(config).open(BrowserRequest { files }).await;
    Some(opened.unwrap())
}

async fn page(server: &Server) -> Option<Box<dyn BrowserPage>> {
    page_with(server, None, Vec::new()).await
}

async fn page_in(server: &Server, folder: Option<PathBuf>) -> Option<Box<dyn BrowserPage>> {
    page_with(server, folder, Vec::new()).await
}

fn go(address: impl Into<String>) -> BrowserStep {
    BrowserStep::Go {
        address: address.into(),
    }
}

/// The number of what has these words in a page.
fn number(seen: &str, words: &str) -> u32 {
    let line = seen.lines().find(|line| line.contains(words));
    let line = line.unwrap_or_else(|| panic!("{words} is not in {seen}"));
    let before = &line[..line.find(words).unwrap()];
    let open = before.rfind('[').unwrap();
    before[open + 1..]
        .split(']')
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

fn click(seen: &str, words: &str) -> BrowserStep {
    BrowserStep::Click {
        element: number(seen, words),
    }
}

fn fill_in(seen: &str, words: &str, text: &str, enter: bool) -> BrowserStep {
    BrowserStep::Type {
        element: number(seen, words),
        text: text.to_owned(),
        enter,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_filled_in_and_sent() {
    let server = Server::start().await;
    let Some(mut page) = page(&server).await else {
        return;
    };
    let seen = page.step(go(server.url("/form"))).await.unwrap();
    assert!(seen.starts_with("A form\n"), "{seen}");
    assert!(
        seen.contains("# Who are you?") && !seen.contains("unseen"),
        "{seen}"
    );
    let seen = page
        .step(fill_in(&seen, "\"Name\"", "Ada \"L.\"", false))
        .await
        .unwrap();
    let seen = page
        .step(fill_in(&seen, "choice \"Colour\"", "Blue", false))
        .await
        .unwrap();
    assert!(seen.contains("= \"Ada \"L.\"\""), "{seen}");
    let seen = page.step(click(&seen, "\"Agree\"")).await.unwrap();
    assert!(seen.contains("(on)"), "{seen}");
    let seen = page.step(click(&seen, "button Send")).await.unwrap();
    assert!(
        seen.contains("/sent?name=Ada+%22L.%22&colour=b&agree=on"),
        "{seen}"
    );
    let seen = page.step(BrowserStep::Back).await.unwrap();
    assert!(seen.contains("Who are you?"), "{seen}");
    let seen = page
        .step(fill_in(&seen, "\"Name\"", "Bob", true))
        .await
        .unwrap();
    assert!(seen.contains("/sent?name=Bob"), "{seen}");
    page.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_scripts_do_is_seen_and_what_they_ask_holds_nobody_up() {
    let server = Server::start().await;
    let Some(mut page) = page(&server).await else {
        return;
    };
    let seen = page.step(go(server.url("/scripts"))).await.unwrap();
    let seen = page.step(click(&seen, "button Ask")).await.unwrap();
    assert!(seen.contains("It said true"), "{seen}");
    let seen = page.step(click(&seen, "link Elsewhere")).await.unwrap();
    assert!(
        seen.contains("Who are you?"),
        "a page of its own is gone over to: {seen}"
    );
    let gone = page
        .step(BrowserStep::Click { element: 99 })
        .await
        .unwrap_err();
    assert!(matches!(gone, ToolError::Failed { .. }), "{gone}");
    assert!(gone.to_string().contains("there is no [99]"), "{gone}");
    // And it goes on.
    let read = page.step(BrowserStep::Read { from: 0 }).await.unwrap();
    assert!(read.contains("Who are you?"), "{read}");
    page.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_page_is_read_in_parts() {
    let server = Server::start().await;
    let Some(mut page) = page(&server).await else {
        return;
    };
    let seen = page.step(go(server.url("/long"))).await.unwrap();
    assert!(
        seen.contains("read from 12000 of"),
        "{}",
        &seen[seen.len() - 200..]
    );
    let rest = page.step(BrowserStep::Read { from: 12_000 }).await.unwrap();
    assert!(rest.contains("The end."), "{rest}");
    page.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_page_does_it_reaches_nothing_that_is_private() {
    let server = Server::start().await;
    let secret = Server::start().await;
    let Some(mut page) = page(&server).await else {
        return;
    };
    let path = format!("/hostile?to={}", secret.host());
    let seen = page.step(go(server.url(&path))).await.unwrap();
    assert!(seen.contains("Something was not loaded"), "{seen}");
    let seen = page.step(click(&seen, "button All")).await.unwrap();
    assert!(seen.contains("tried 6"), "{seen}");
    // Led there, it is refused as well.
    let led = page
        .step(go(server.url(&format!("/led?to={}", secret.host()))))
        .await;
    let led = led.unwrap_or_else(|error| error.to_string());
    assert!(led.contains("127.0.0.1") && led.contains("[http]"), "{led}");
    let refused = page.step(go(secret.url("/form"))).await.unwrap_err();
    assert!(matches!(refused, ToolError::Blocked(_)), "{refused}");
    assert_eq!(secret.asked(), 0, "nobody knocked");
    for address in [
        "file:///etc/passwd",
        "chrome://version",
        "view-source:http://example.com/",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://localhost/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
    ] {
        let refused = page.step(go(address)).await.unwrap_err();
        assert!(
            matches!(refused, ToolError::Blocked(_)),
            "{address}: {refused}"
        );
    }
    let seen = page.step(go(server.url("/hostile?to=x"))).await.unwrap();
    let seen = page.step(click(&seen, "link File")).await.unwrap();
    assert!(!seen.contains("root:"), "{seen}");
    page.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_uploaded_and_downloaded() {
    let server = Server::start().await;
    let file = UploadFile {
        name: "../notes.txt".to_owned(),
        bytes: b"remember the milk".to_vec(),
    };
    let Some(mut page) = page_with(&server, None, vec![file]).await else {
        return;
    };
    let seen = page.step(go(server.url("/files"))).await.unwrap();
    let element = number(&seen, "file \"Notes\"");
    let other = BrowserStep::Upload {
        element,
        file: "/etc/passwd".to_owned(),
    };
    let refused = page.step(other).await.unwrap_err();
    assert!(
        refused.to_string().contains("there are: notes.txt"),
        "{refused}"
    );
    let upload = BrowserStep::Upload {
        element,
        file: "notes.txt".to_owned(),
    };
    let seen = page.step(upload).await.unwrap();
    assert!(seen.contains("notes.txt: remember the milk"), "{seen}");
    let seen = page.step(click(&seen, "link Report")).await.unwrap();
    assert!(seen.contains("(Downloaded: report.csv)"), "{seen}");
    let downloads = page.close().await.unwrap();
    assert_eq!(downloads.left_out, []);
    let report = &downloads.files[0];
    assert_eq!(
        (&*report.name, &*report.mime_type, report.size),
        ("report.csv", "text/csv", 3)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn each_browser_is_a_stranger() {
    let server = Server::start().await;
    for _ in 0..2 {
        let Some(mut page) = page(&server).await else {
            return;
        };
        let seen = page.step(go(server.url("/cookie"))).await.unwrap();
        assert!(seen.contains("cookies: none"), "{seen}");
        let seen = page.step(go(server.url("/cookie"))).await.unwrap();
        assert!(seen.contains("cookies: seen=yes"), "{seen}");
        page.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_browser_that_was_closed_or_dropped() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let is_empty = || std::fs::read_dir(folder.path()).unwrap().next().is_none();
    for close in [true, false] {
        let Some(mut page) = page_in(&server, Some(folder.path().to_owned())).await else {
            return;
        };
        page.step(go(server.url("/cookie"))).await.unwrap();
        assert!(!is_empty());
        match close {
            true => drop(page.close().await.unwrap()),
            false => drop(page),
        }
        // Of one that was dropped, it goes behind its back.
        for _ in 0..100 {
            if close || is_empty() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        assert!(is_empty(), "closed: {close}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_one_browser_too_many_waits() {
    if find_program().is_none() {
        eprintln!("NOT TESTED: there is no browser on this machine; install chromium");
        return;
    }
    let browsers = Browsers::new(BrowserConfig {
        sandbox: false,
        at_once: 1,
        ..BrowserConfig::default()
    });
    let first = browsers.open(BrowserRequest::default()).await.unwrap();
    let mut second = browsers.open(BrowserRequest::default());
    assert!(futures::poll!(&mut second).is_pending());
    let waiting = tokio::spawn(async move { first.close().await });
    second.await.unwrap().close().await.unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn where_there_is_no_browser_it_says_what_to_install() {
    let config = BrowserConfig {
        program: Some("/nowhere/chromium".into()),
        ..BrowserConfig::default()
    };
    let error = Browsers::new(config).open(BrowserRequest::default()).await;
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("/nowhere/chromium cannot be started"),
        "{error}"
    );
    let config = BrowserConfig {
        program: Some("/bin/true".into()),
        ..BrowserConfig::default()
    };
    let error = Browsers::new(config).open(BrowserRequest::default()).await;
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("does not answer") && error.contains("sandbox = false"),
        "{error}"
    );
}
