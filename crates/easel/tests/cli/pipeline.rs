//! Ingestion pipelines: `easel kb add --pipeline`, and `easel run` over a document.

mod canvases;

use serde_json::{Value, json};

use super::easel::{Desk, Done, canvas, says};
use super::model::Server;
use super::sample_documents;
use canvases::{
    answer, by_size, by_titles, compiled, everything, extractor, pipeline, setups, summaries,
    tokenizer,
};

fn add(desk: &Desk, base: &str, server: &Server, more: &[&str]) -> Done {
    let url = server.url();
    let always = [
        "kb",
        "add",
        base,
        "--model",
        "m",
        "--base-url",
        &url,
        "--pipeline",
        "p.json",
    ];
    desk.easel(&[&always[..], more].concat())
}

fn found(desk: &Desk, base: &str, query: &str) -> Vec<Value> {
    let searched = desk.easel(&["kb", "search", base, query, "--json", "--words", "1"]);
    searched.json()["passages"].as_array().unwrap().clone()
}

#[test]
fn twenty_documents_go_through_each_kind_of_pipeline() {
    let desk = Desk::new();
    sample_documents::twenty(&desk);
    let server = Server::answering(answer);
    for (base, pipeline) in [
        ("everything", everything()),
        ("summaries", summaries(512)),
        ("titles", by_titles()),
        ("compiled", compiled()),
    ] {
        desk.json("p.json", &pipeline);
        desk.easel(&["kb", "new", base]);
        let added = add(&desk, base, &server, &["docs"]);
        assert_eq!(added.code, 0, "{base}: {}", added.err);
        assert!(added.err.contains("20 added, 0 replaced"), "{}", added.err);
        let listed = desk.easel(&["kb", "list", base, "--json"]).json();
        let documents = listed["documents"].as_array().unwrap();
        assert_eq!(documents.len(), 20);
        for document in documents {
            assert_eq!(document["error"], Value::Null, "{document}");
            assert!(document["passages"].as_u64().unwrap() >= 1, "{document}");
        }
        for (name, words) in [
            ("05.xlsx", "subject 5"),
            ("17.pdf", "subject 17"),
            ("03.docx", "subject 3"),
        ] {
            let hits = found(&desk, base, words);
            assert_eq!(hits[0]["document"], name, "{base}: {hits:?}");
        }
    }
    let again = add(&desk, "compiled", &server, &["docs"]);
    assert!(again.err.contains("20 unchanged"), "{}", again.err);
}

#[test]
fn passages_are_found_by_their_summaries_keywords_and_questions() {
    let desk = Desk::new();
    desk.json("p.json", &everything());
    desk.write("tea.md", "This is about tea.");
    desk.write("rain.md", "This is about rain.");
    desk.easel(&["kb", "new", "b"]);
    let added = add(
        &desk,
        "b",
        &Server::answering(answer),
        &["tea.md", "rain.md", "--set", "team=people"],
    );
    assert_eq!(added.code, 0, "{}", added.err);
    for query in ["platypus digest of rain", "quokkarain", "wombats of rain"] {
        let hits = found(&desk, "b", query);
        assert_eq!(hits[0]["document"], "rain.md", "{query}: {hits:?}");
        assert_eq!(hits[0]["text"], "This is about rain.");
    }
    let fields = &found(&desk, "b", "quokkarain")[0]["fields"];
    assert_eq!(
        *fields,
        json!({
            "summary": "A platypus digest of rain.", "keywords": ["quokkarain", "marsupials"],
            "questions": ["Who studied wombats of rain?", "Why?"], "metadata": {"theme": "rain"},
        })
    );
    let listed = desk.easel(&["kb", "list", "b", "--json"]).json();
    let metadata = &listed["documents"][0]["metadata"];
    assert_eq!(*metadata, json!({"theme": "rain", "team": "people"}));
}

#[test]
fn a_document_is_taken_in_anew_when_the_pipeline_changes() {
    let desk = Desk::new();
    desk.write("tea.md", "This is about tea.");
    desk.easel(&["kb", "new", "b"]);
    let server = Server::answering(answer);
    desk.json("p.json", &summaries(512));
    let told = |done: Done| done.err.lines().last().unwrap_or_default().to_owned();
    assert_eq!(
        told(add(&desk, "b", &server, &["tea.md"])),
        "1 added, 0 replaced, 0 unchanged."
    );
    // How the file is written does not matter.
    desk.write("p.json", &summaries(512).to_string());
    assert_eq!(
        told(add(&desk, "b", &server, &["tea.md"])),
        "0 added, 0 replaced, 1 unchanged."
    );
    desk.json("p.json", &summaries(256));
    assert_eq!(
        told(add(&desk, "b", &server, &["tea.md"])),
        "0 added, 1 replaced, 0 unchanged."
    );
    let plain = desk.easel(&["kb", "add", "b", "tea.md"]);
    assert_eq!(told(plain), "0 added, 1 replaced, 0 unchanged.");
}

/// A document of seven pieces, each of a section.
fn seven(desk: &Desk) {
    let sections = (1..=7).map(|n| format!("## Part {n}\n\nThis is about number {n}.\n\n"));
    desk.write("seven.md", &sections.collect::<String>());
    desk.json("p.json", &by_titles());
    desk.easel(&["kb", "new", "b"]);
}

/// How many requests a server gets while something is done.
fn asked(server: &Server) -> usize {
    server.requests().len()
}

#[test]
fn a_model_that_fails_half_way_is_asked_for_the_rest_alone() {
    let desk = Desk::new();
    seven(&desk);
    let server = Server::answering(|request| match request.to_string().contains("number 5") {
        true => None,
        false => answer(request),
    });
    let failed = add(&desk, "b", &server, &["seven.md"]);
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert!(
        failed
            .err
            .contains("seven.md: \"Extractor:S\" got no answer"),
        "{}",
        failed.err
    );
    let listed = desk.easel(&["kb", "list", "b", "--json"]).json();
    assert_eq!(listed["documents"], json!([]), "nothing half done is there");
    let server = Server::answering(answer);
    let added = add(&desk, "b", &server, &["seven.md"]);
    assert_eq!(added.code, 0, "{}", added.err);
    // Those before the one that failed were answered and kept.
    assert!(asked(&server) <= 3);
    let listed = desk.easel(&["kb", "list", "b", "--json"]).json();
    assert_eq!(listed["documents"][0]["passages"], 7);
}

#[cfg(unix)]
#[test]
fn what_was_killed_half_way_goes_on_where_it_was() {
    let desk = Desk::new();
    seven(&desk);
    let server = Server::answering(|request| {
        let first = ["number 1", "number 2", "number 3"];
        let asked = request.to_string();
        if first.iter().any(|number| asked.contains(number)) {
            return answer(request);
        }
        loop {
            std::thread::park();
        }
    });
    let url = server.url();
    let mut child = desk
        .command(&[
            "kb",
            "add",
            "b",
            "seven.md",
            "--pipeline",
            "p.json",
            "--model",
            "m",
            "--base-url",
            &url,
        ])
        .spawn()
        .unwrap();
    // Four are asked at once, in order: the seventh comes when the first three are answered and kept.
    for _ in 0..7 {
        server.wait_for_a_request();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let server = Server::answering(answer);
    let added = add(&desk, "b", &server, &["seven.md"]);
    assert_eq!(added.code, 0, "{}", added.err);
    assert!(added.err.contains("1 added"), "{}", added.err);
    assert_eq!(asked(&server), 4);
    let hits = found(&desk, "b", "platypus digest number 7");
    assert!(
        hits[0]["text"].as_str().unwrap().contains("number 7"),
        "{hits:?}"
    );
}

#[test]
fn a_model_that_is_away_stops_the_work_and_leaves_what_was_there() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("docs")).unwrap();
    for n in 1..=5 {
        desk.write(
            &format!("docs/{n}.md"),
            &format!("This is about number {n}."),
        );
    }
    desk.json("p.json", &summaries(512));
    desk.easel(&["kb", "new", "b"]);
    add(&desk, "b", &Server::answering(answer), &["docs/1.md"]);
    desk.write("docs/1.md", "This is about something else.");
    let refusing = Server::answering(|_| None);
    let failed = add(
        &desk,
        "b",
        &refusing,
        &[
            "docs/1.md",
            "docs/2.md",
            "docs/3.md",
            "docs/4.md",
            "docs/5.md",
        ],
    );
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert!(
        failed.err.contains("3 failed") && failed.err.contains("the other 2 were"),
        "{}",
        failed.err
    );
    assert_eq!(
        found(&desk, "b", "number 1")[0]["text"],
        "This is about number 1."
    );
    let nobody = desk.easel(&["kb", "add", "b", "docs", "--pipeline", "p.json"]);
    assert_eq!(nobody.code, 1);
    assert!(
        nobody.err.contains("--model NAME@PROVIDER"),
        "{}",
        nobody.err
    );
}

#[test]
fn what_cannot_be_read_is_told_and_keeps_nothing_else_out() {
    let desk = Desk::new();
    sample_documents::twenty(&desk);
    desk.write("docs/broken.docx", "no archive at all");
    desk.write("docs/scan.png", "a picture");
    desk.json("p.json", &compiled());
    desk.easel(&["kb", "new", "b"]);
    let server = Server::answering(answer);
    let added = add(&desk, "b", &server, &["docs"]);
    assert_eq!(added.code, 1, "{}", added.err);
    assert!(
        added
            .err
            .contains("20 added, 0 replaced, 0 unchanged, 1 failed, 1 of no known format."),
        "{}",
        added.err
    );
    assert!(
        added
            .err
            .contains("broken.docx cannot be read: it is called docx"),
        "{}",
        added.err
    );
    assert_eq!(
        added.err.matches("DeepDOC").count(),
        1,
        "what holds for all is told once: {}",
        added.err
    );
    assert!(
        added
            .err
            .contains("needs a group of templates and names none"),
        "{}",
        added.err
    );
    let picture = add(&desk, "b", &server, &["docs/scan.png", "--json"]);
    assert_eq!(picture.code, 1);
    let why = picture.json()["failed"][0]["error"].to_string();
    assert!(
        why.contains("cannot read scan.png: that takes text recognition"),
        "{why}"
    );
}

#[test]
fn a_pipeline_that_is_run_shows_what_becomes_of_a_document() {
    let desk = Desk::new();
    desk.json("p.json", &summaries(512));
    desk.write("tea.md", "# Drinks\n\nThis is about tea.");
    let url = Server::answering(answer).url();
    for file in [&["tea.md"][..], &["--file", "tea.md"]] {
        let ran =
            desk.easel(&[&["run", "p.json", "--model", "m", "--base-url", &url], file].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(
            ran.json(),
            json!({"name": "tea.md", "chunks": [{
                "text": "# Drinks\n\nThis is about tea.", "doc_type_kwd": "text", "heading": "Drinks",
                "summary": "A platypus digest of tea.",
            }]})
        );
    }
    assert!(!desk.path("easel-data").exists(), "nothing is kept");
    let nothing = desk.easel(&["run", "p.json"]);
    assert_eq!(nothing.code, 2);
    let told = on_one_line(&nothing);
    assert!(
        told.contains("easel kb add BASE FILES --pipeline PIPELINE"),
        "{told}"
    );
    let missing = desk.easel(&["run", "p.json", "none.md"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
}

#[test]
fn a_canvas_that_is_no_pipeline_is_refused_before_anything_is_read() {
    let desk = Desk::new();
    desk.json("p.json", &says("hello"));
    desk.easel(&["kb", "new", "b"]);
    let refused = desk.easel(&["kb", "add", "b", "none.md", "--pipeline", "p.json"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("p.json is no ingestion pipeline"),
        "{}",
        refused.err
    );
    desk.json("p.json", &summaries(512));
    let missing = desk.easel(&["kb", "add", "b", "none.md", "--pipeline", "p.json"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
    assert!(missing.err.contains("none.md"), "{}", missing.err);
}

/// What was told, without what lays it out for people.
fn on_one_line(done: &Done) -> String {
    let told = done.err.replace('│', " ");
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `easel run` shows of a pipeline over a text, with a world that answers from a file.
fn chunks(desk: &Desk, pipeline: &Value, text: &str, world: &Value) -> Value {
    desk.json("p.json", pipeline);
    desk.json("w.json", world);
    desk.write("a.md", text);
    let ran = desk.easel(&["run", "p.json", "a.md", "--world", "w.json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.json()["chunks"].clone()
}

#[test]
fn a_table_of_contents_becomes_a_piece_of_its_own() {
    let desk = Desk::new();
    let contents = pipeline(&[
        ("TokenChunker:C", "TokenChunker", by_size(512)),
        (
            "Extractor:T",
            "Extractor",
            extractor("toc", "TokenChunker:C"),
        ),
        ("Tokenizer:T", "Tokenizer", tokenizer()),
    ]);
    let list = "[{\"level\": 1, \"title\": \"Guide\", \"piece\": 0}, {\"level\": 2, \"title\": \"Install\", \"piece\": 7}]";
    let world = json!({"default_reply": list});
    let chunks = chunks(
        &desk,
        &contents,
        "# Guide\n\nText.\n\n## Install\n\nMore.",
        &world,
    );
    assert_eq!(chunks.as_array().unwrap().len(), 2);
    assert_eq!(
        chunks[1],
        json!({
            "text": "- Guide\n  - Install", "doc_type_kwd": "text",
            "toc": [{"level": 1, "title": "Guide", "piece": 0}, {"level": 2, "title": "Install", "piece": 0}],
        })
    );
}

#[test]
fn delimiters_and_children_cut_as_the_chunker_says() {
    let desk = Desk::new();
    let mut params = by_size(512);
    params["delimiters"] = json!(["`==`"]);
    params["children_delimiters"] = json!([";"]);
    let cut = pipeline(&[("TokenChunker:C", "TokenChunker", params)]);
    let chunks = chunks(&desk, &cut, "one; two == three", &json!({}));
    let told: Vec<_> = chunks
        .as_array()
        .unwrap()
        .iter()
        .map(|chunk| (&chunk["text"], &chunk["mom"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("one"), &json!("one; two")),
            (&json!("two"), &json!("one; two")),
            (&json!("three"), &json!("three")),
        ]
    );
}

#[test]
fn a_drawing_that_is_no_chain_says_where() {
    let desk = Desk::new();
    desk.write("a.md", "This is about tea.");
    let both = canvas(&[
        ("File", "File", json!({}), &["Parser:P"]),
        (
            "Parser:P",
            "Parser",
            json!({}),
            &["TokenChunker:A", "TokenChunker:B"],
        ),
        (
            "TokenChunker:A",
            "TokenChunker",
            by_size(64),
            &["Tokenizer:T"],
        ),
        (
            "TokenChunker:B",
            "TokenChunker",
            by_size(512),
            &["Tokenizer:T"],
        ),
        ("Tokenizer:T", "Tokenizer", tokenizer(), &[]),
    ]);
    let unread = canvas(&[
        ("File", "File", json!({}), &["TokenChunker:A"]),
        ("TokenChunker:A", "TokenChunker", by_size(64), &[]),
    ]);
    for (drawing, said) in [
        (
            both,
            "\"Tokenizer:T\" stands behind several steps, and a pipeline is a chain",
        ),
        (
            unread,
            "\"TokenChunker:A\" cannot cut a document that was not read. Put a Parser before it.",
        ),
    ] {
        desk.json("p.json", &drawing);
        let ran = desk.easel(&["run", "p.json", "a.md"]);
        assert_eq!(ran.code, 1, "{}", ran.out);
        let told = on_one_line(&ran);
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn old_names_and_flat_set_ups_of_pipelines_still_run() {
    let desk = Desk::new();
    let old = canvas(&[
        ("File", "File", json!({}), &["Parser:P"]),
        ("Parser:P", "Parser", setups(), &["Splitter:C"]),
        (
            "Splitter:C",
            "Splitter",
            by_size(512),
            &["HierarchicalMerger:H"],
        ),
        (
            "HierarchicalMerger:H",
            "HierarchicalMerger",
            json!({"levels": [["^#[^#]"]], "hierarchy": 1}),
            &[],
        ),
    ]);
    let chunks = chunks(&desk, &old, "# A\n\none\n\n# B\n\ntwo", &json!({}));
    let texts: Vec<_> = chunks
        .as_array()
        .unwrap()
        .iter()
        .map(|chunk| &chunk["text"])
        .collect();
    assert_eq!(texts, ["# A\none", "# B\ntwo"]);
}

#[test]
fn a_pattern_that_cannot_be_used_ends_the_work_at_the_first_document() {
    let desk = Desk::new();
    let titles = json!({"levels": [["(?<=x)y"]], "hierarchy": 1});
    desk.json(
        "p.json",
        &pipeline(&[("TitleChunker:C", "TitleChunker", titles)]),
    );
    desk.write("a.md", "# A");
    desk.write("b.md", "# B");
    desk.easel(&["kb", "new", "b"]);
    let refused = desk.easel(&["kb", "add", "b", "a.md", "b.md", "--pipeline", "p.json"]);
    assert_eq!(refused.code, 1);
    let told = on_one_line(&refused);
    assert!(
        told.contains("the pattern \"(?<=x)y\" cannot be used"),
        "{told}"
    );
    let listed = desk.easel(&["kb", "list", "b", "--json"]).json();
    assert_eq!(listed["documents"], json!([]), "it is no fault of theirs");
}
