//! What the book says is so: generated pages are up to date, links lead somewhere, canvases in the text load.
//!
//! `EASEL_WRITE=1 cargo test -p house --test book` writes the generated pages anew.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use easel_check::{Code, Dialect, Severity};
use easel_runtime::catalog::{Catalog, page};
use easel_runtime::{Engine, Workflow};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every page of the book, and the pages at the top of the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .iter()
        .map(|name| root().join(name))
        .collect();
    for folder in ["docs", "docs/design"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("the book is there");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        pages.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "md")));
    }
    pages.sort();
    pages
}

/// The targets of the links and pictures of a page, code left out.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(text) {
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            let (target, after) = rest[at + 2..].split_once(')').unwrap_or_default();
            links.push(target.to_owned());
            rest = after;
        }
    }
    links
}

/// The lines of a page that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The blocks of code of a page whose first line says `kind`.
fn blocks(text: &str, kind: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if info == kind {
            blocks.push(body.join("\n"));
        }
    }
    blocks
}

/// The name under which a heading can be linked to.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

/// Compares a generated page with the one in the book, or writes it.
fn is_up_to_date(name: &str, page: &str) {
    let path = root().join("docs").join(name);
    if std::env::var_os("EASEL_WRITE").is_some() {
        std::fs::write(&path, page).expect("the page can be written");
    }
    assert!(
        read(&path) == page,
        "docs/{name} is not what the code says: EASEL_WRITE=1 cargo test -p house --test book"
    );
}

#[test]
fn the_page_of_components_is_up_to_date() {
    is_up_to_date("components.md", &page::all(Catalog::builtin()));
}

#[test]
fn the_page_of_graph_keys_is_up_to_date() {
    is_up_to_date("graph-keys.md", &easel_graph::page::all());
}

#[test]
fn the_page_of_the_check_is_up_to_date() {
    let mut page = String::from(
        "# The check\n\n\
         What `easel check` can say about a canvas or a graph. An *error* refuses a run. With a *warning* the workflow runs, and a\n\
         node may fail, or do something that nobody meant. An *info* is worth knowing. `easel explain CODE` shows one of these.\n\n\
         Codes of graphs alone stand behind those of canvases and of both; their examples are whole graphs.\n\n\
         This page is made from the rules themselves.\n",
    );
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        // Writing to a string does not fail.
        let _ = write!(page, "\n## {}\n", heading(severity));
        let codes = Code::ALL.iter().map(|code| code.rule());
        for rule in codes.filter(|rule| rule.severity == severity) {
            let (about, language) = match rule.dialect {
                Dialect::Canvas => ("Canvases", "text"),
                Dialect::Both => ("Canvases and graphs", "text"),
                Dialect::Graph => ("Graphs", "yaml"),
            };
            let _ = write!(
                page,
                "\n### {}\n\n*{about}: {}.* {} {}\n\n```{language}\n{}\n```\n\n**What to do:** {}\n",
                rule.name, rule.title, rule.means, rule.matters, rule.example, rule.fix
            );
        }
    }
    is_up_to_date("check.md", &page);
}

fn heading(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "Errors",
        Severity::Warning => "Warnings",
        Severity::Info => "Information",
    }
}

#[test]
fn every_link_leads_somewhere() {
    for path in pages() {
        let folder = path.parent().expect("a folder");
        for link in links(&read(&path)) {
            if link.contains("://") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => path.clone(),
                file => folder.join(file),
            };
            assert!(target.exists(), "{}: {link}", path.display());
            if !place.is_empty() {
                let found = anchors(&read(&target)).contains(place);
                assert!(found, "{}: {link} names no heading", path.display());
            }
        }
    }
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let summary = root().join("docs/SUMMARY.md");
    let listed: BTreeSet<PathBuf> = links(&read(&summary))
        .into_iter()
        .map(|link| root().join("docs").join(link))
        .collect();
    for page in pages() {
        let in_book = page.starts_with(root().join("docs")) && page != summary;
        assert!(!in_book || listed.contains(&page), "{}", page.display());
    }
}

#[test]
fn every_canvas_in_the_book_may_run() {
    let engine = Engine::builder().build().expect("an engine");
    let mut found = 0;
    for path in pages() {
        for block in blocks(&read(&path), "json canvas") {
            let place = path.display();
            let workflow: Workflow = engine
                .load(block.as_bytes())
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            let refusals: Vec<_> = workflow.refusals().collect();
            assert!(refusals.is_empty(), "{place}: {refusals:?}");
            found += 1;
        }
    }
    assert!(found > 0);
}

#[test]
fn json_in_the_book_is_json() {
    for path in pages() {
        for block in blocks(&read(&path), "json") {
            let read: Result<serde_json::Value, _> = serde_json::from_str(&block);
            assert!(read.is_ok(), "{}: {read:?}\n{block}", path.display());
        }
    }
}

#[test]
fn code_in_the_book_says_its_language() {
    for path in pages() {
        let mut open = false;
        for (number, line) in read(&path).lines().enumerate() {
            if line.starts_with("```") {
                open = !open;
                let named = !open || line.len() > 3;
                assert!(named, "{}:{}", path.display(), number + 1);
            }
        }
    }
}
