//! Documents come into a knowledge base: step by step, and through a crash.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use easel_knowledge::{
    Chunking, Embedder, HashedNgrams, Knowledge, KnowledgeError, Limits, NewBase, Outcome,
    Progress, Purpose, Source, State, Step,
};
use easel_tools::retrieval::RetrievalRequest;
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::BoxFuture;

fn open(folder: &Path) -> Knowledge {
    let knowledge = Knowledge::open(folder).unwrap();
    if block_on(knowledge.base("handbook")).is_err() {
        let new = NewBase {
            name: "handbook".into(),
            model: Some(HashedNgrams::MODEL.into()),
            chunking: Chunking {
                tokens: 64,
                overlap_percent: 10,
            },
        };
        block_on(knowledge.create(new)).unwrap();
    }
    knowledge
}

fn source(name: &str, text: &str) -> Source {
    Source {
        name: name.into(),
        bytes: text.into(),
        metadata: None,
    }
}

fn found(knowledge: &Knowledge, query: &str) -> Vec<String> {
    let request = RetrievalRequest {
        query: query.into(),
        dataset_ids: vec!["handbook".into()],
        ..RetrievalRequest::default()
    };
    let hits = block_on(knowledge.search(&request)).unwrap();
    hits.into_iter().map(|hit| hit.document).collect()
}

#[test]
fn what_has_not_changed_is_passed_by_and_what_has_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let add = |sources| block_on(knowledge.add("handbook", sources, |_| {})).unwrap();
    let report = add(vec![
        source("tea.md", "Tea is served at noon."),
        source("bus.md", "The bus leaves at ten."),
    ]);
    assert_eq!(report.added, ["tea.md", "bus.md"]);
    let report = add(vec![
        source("tea.md", "Coffee is served at noon."),
        source("bus.md", "The bus leaves at ten."),
    ]);
    assert_eq!(
        (report.replaced, report.unchanged),
        (vec!["tea.md".into()], vec!["bus.md".into()])
    );
    assert_eq!(found(&knowledge, "coffee"), ["tea.md"]);
    assert!(!found(&knowledge, "tea at teatime").contains(&"bus.md".into()));
    let base = block_on(knowledge.base("handbook")).unwrap();
    assert_eq!(
        (base.documents, base.chunks, base.dimensions),
        (2, 2, Some(HashedNgrams::DIMENSIONS))
    );
}

#[test]
fn a_document_keeps_its_id_and_its_metadata_when_it_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let add = |source| block_on(knowledge.add("handbook", vec![source], |_| {})).unwrap();
    let of_north = Source {
        metadata: serde_json::from_str(r#"{"region": "north"}"#).unwrap(),
        ..source("tea.md", "Tea.")
    };
    add(of_north);
    let before = block_on(knowledge.document("handbook", "tea.md")).unwrap();
    add(source("tea.md", "Coffee."));
    let after = block_on(knowledge.document("handbook", "tea.md")).unwrap();
    assert_eq!((&before.id, &before.metadata), (&after.id, &after.metadata));
    let of_south = Source {
        metadata: serde_json::from_str(r#"{"region": "south"}"#).unwrap(),
        ..source("tea.md", "Coffee.")
    };
    assert_eq!(add(of_south).unchanged, ["tea.md"]);
    let after = block_on(knowledge.document("handbook", "tea.md")).unwrap();
    assert_eq!(after.metadata["region"].as_str(), Some("south"));
}

#[test]
fn a_damaged_document_does_not_keep_the_others_out() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let sources = || {
        vec![
            source("bad.pdf", "%PDF-1.4 nothing"),
            source("tea.md", "Tea is served."),
        ]
    };
    let report = block_on(knowledge.add("handbook", sources(), |_| {})).unwrap();
    assert_eq!(report.added, ["tea.md"]);
    assert!(
        report.failed[0]
            .1
            .starts_with("bad.pdf cannot be read: it is damaged as pdf"),
        "{report:?}"
    );
    let documents = block_on(knowledge.documents("handbook")).unwrap();
    assert!(matches!(&documents[0].state, State::Failed(why) if why.contains("damaged")));
    assert_eq!(documents[1].state, State::Ready);
    // It is tried again the next time.
    let report = block_on(knowledge.add("handbook", sources(), |_| {})).unwrap();
    assert_eq!(
        (report.failed.len(), report.unchanged),
        (1, vec!["tea.md".into()])
    );
}

#[test]
fn a_document_with_a_bad_page_is_kept_with_the_others_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let source = || Source {
        name: "report.pdf".into(),
        bytes: crate::files::pdf_with_a_bad_page(),
        metadata: None,
    };
    let report = block_on(knowledge.add("handbook", vec![source()], |_| {})).unwrap();
    let told = "page 1 could not be read. Save the document anew, and add it again";
    assert_eq!(report.partial, [("report.pdf".to_owned(), told.to_owned())]);
    assert_eq!(found(&knowledge, "good page"), ["report.pdf"]);
    let document = block_on(knowledge.document("handbook", "report.pdf")).unwrap();
    assert_eq!(document.state, State::Partial(told.into()));
    let report = block_on(knowledge.add("handbook", vec![source()], |_| {})).unwrap();
    assert_eq!(report.unchanged, ["report.pdf"]);
}

#[test]
fn a_document_that_is_gone_bad_is_found_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let add = |source| block_on(knowledge.add("handbook", vec![source], |_| {})).unwrap();
    add(source("tea.json", r#"{"drink": "tea"}"#));
    assert_eq!(found(&knowledge, "tea"), ["tea.json"]);
    assert_eq!(add(source("tea.json", "{")).failed.len(), 1);
    assert!(found(&knowledge, "tea").is_empty());
}

#[test]
fn progress_tells_each_step_of_each_document() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let mut told = Vec::new();
    let tell = |progress: Progress<'_>| {
        told.push((
            progress.name.to_owned(),
            progress.done,
            progress.total,
            progress.step,
        ));
    };
    block_on(knowledge.add(
        "handbook",
        vec![source("a.md", "Tea."), source("b.md", " ")],
        tell,
    ))
    .unwrap();
    let steps: Vec<_> = told
        .iter()
        .map(|(name, done, total, step)| (name.as_str(), *done, *total, step.clone()))
        .collect();
    assert_eq!(steps[0], ("a.md", 0, 2, Step::Reading));
    assert_eq!(steps[1], ("a.md", 0, 2, Step::Embedding(0, 1)));
    assert_eq!(steps[2], ("a.md", 0, 2, Step::Ended(Outcome::Added)));
    assert_eq!(steps[3], ("b.md", 1, 2, Step::Reading));
    assert!(matches!(
        steps[4],
        ("b.md", 1, 2, Step::Ended(Outcome::Failed(_)))
    ));
}

#[test]
fn a_folder_is_followed() {
    let (folder, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let knowledge = open(folder.path());
    fs::create_dir(files.path().join("guide")).unwrap();
    fs::write(
        files.path().join("guide/install.md"),
        "# Install\n\nRun the installer.",
    )
    .unwrap();
    fs::write(files.path().join("tea.txt"), "Tea is served.").unwrap();
    fs::write(files.path().join("picture.png"), [1, 2, 3]).unwrap();
    fs::write(files.path().join(".hidden.md"), "secret").unwrap();
    let sync =
        |remove| block_on(knowledge.sync_folder("handbook", files.path(), remove, |_| {})).unwrap();
    block_on(knowledge.add("handbook", vec![source("mine.md", "Mine.")], |_| {})).unwrap();

    let report = sync(false);
    assert_eq!(report.added, ["guide/install.md", "tea.txt"]);
    assert_eq!(report.skipped, ["picture.png"]);
    fs::remove_file(files.path().join("tea.txt")).unwrap();
    let report = sync(false);
    assert_eq!(
        (&*report.gone, report.removed),
        (&["tea.txt".to_owned()][..], false)
    );
    assert_eq!(found(&knowledge, "tea served"), ["tea.txt"]);
    let report = sync(true);
    assert_eq!(
        (&*report.gone, report.removed),
        (&["tea.txt".to_owned()][..], true)
    );
    assert!(found(&knowledge, "tea served").is_empty());
    // What did not come from the folder stays.
    assert_eq!(found(&knowledge, "mine"), ["mine.md"]);
}

#[test]
fn two_folders_do_not_replace_each_others_files() {
    let (folder, one, two) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let knowledge = open(folder.path());
    for place in [&one, &two] {
        fs::write(
            place.path().join("readme.md"),
            format!("{}", place.path().display()),
        )
        .unwrap();
    }
    block_on(knowledge.sync_folder("handbook", one.path(), false, |_| {})).unwrap();
    let report = block_on(knowledge.sync_folder("handbook", two.path(), true, |_| {})).unwrap();
    assert!(
        report.failed[0]
            .1
            .contains("a document of this name is there from"),
        "{report:?}"
    );
    assert!(report.gone.is_empty());
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let error =
        block_on(knowledge.sync_folder("handbook", Path::new("/nowhere/at/all"), false, |_| {}))
            .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/nowhere/at/all cannot be read: "),
        "{error}"
    );
}

#[test]
fn a_file_above_the_limit_is_not_read_into_memory() {
    let (folder, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let limits = Limits {
        file_bytes: 10,
        ..Limits::default()
    };
    let knowledge = open(folder.path()).with_limits(limits);
    fs::File::create(files.path().join("huge.txt"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let report = block_on(knowledge.sync_folder("handbook", files.path(), false, |_| {})).unwrap();
    assert!(
        report.failed[0].1.contains("larger than 10 bytes"),
        "{report:?}"
    );
}

/// A model that fails, or ends the process, at one of its calls.
struct Fragile {
    calls: AtomicUsize,
    at: usize,
    abort: bool,
}

impl Embedder for Fragile {
    fn model(&self) -> &str {
        HashedNgrams::MODEL
    }

    fn batch(&self) -> usize {
        2
    }

    fn embed(
        &self,
        purpose: Purpose,
        texts: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<Vec<f32>>, String>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if call == self.at && self.abort {
            std::process::abort();
        }
        if call == self.at {
            return async { Err("the quota is used up".into()) }.boxed();
        }
        HashedNgrams.embed(purpose, texts)
    }
}

fn fragile(folder: &Path, at: usize, abort: bool) -> Knowledge {
    open(folder).with_embedder(Arc::new(Fragile {
        calls: AtomicUsize::new(0),
        at,
        abort,
    }))
}

/// Six documents of several passages each: three batches a document.
fn long_documents() -> Vec<Source> {
    let text = |n: usize| {
        let sentence =
            |s| format!("Document {n} says in sentence {s} what nobody else has said before it. ");
        (0..20).map(sentence).collect::<String>()
    };
    (0..6)
        .map(|n| source(&format!("long{n}.md"), &text(n)))
        .collect()
}

/// The names of the documents, each of which must be whole.
fn whole_documents(knowledge: &Knowledge) -> Vec<String> {
    let documents = block_on(knowledge.documents("handbook")).unwrap();
    let passages: usize = documents.iter().map(|document| document.chunks).sum();
    assert_eq!(
        block_on(knowledge.base("handbook")).unwrap().chunks,
        passages
    );
    let request = |document: &str| RetrievalRequest {
        query: document.into(),
        dataset_ids: vec!["handbook".into()],
        top_n: 1000,
        similarity_threshold: 0.0,
        ..RetrievalRequest::default()
    };
    for document in &documents {
        let hits = block_on(knowledge.search(&request("says in sentence"))).unwrap();
        let of_it = hits.iter().filter(|hit| hit.document == document.name);
        assert_eq!(
            of_it.count(),
            document.chunks,
            "{} is there in part",
            document.name
        );
        assert!(document.chunks > 4);
    }
    documents
        .into_iter()
        .map(|document| document.name)
        .collect()
}

#[test]
fn a_model_that_fails_keeps_what_is_done_and_the_next_time_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = fragile(folder.path(), 8, false);
    let error = block_on(knowledge.add("handbook", long_documents(), |_| {})).unwrap_err();
    assert!(matches!(&error, KnowledgeError::Model { .. }));
    assert!(error.to_string().contains("the quota is used up"));
    let there = whole_documents(&knowledge).len();
    assert!((1..6).contains(&there));
    let report = block_on(knowledge.add("handbook", long_documents(), |_| {})).unwrap();
    assert_eq!(
        (report.unchanged.len(), report.added.len()),
        (there, 6 - there)
    );
    assert_eq!(whole_documents(&knowledge).len(), 6);
}

const CRASH: &str = "EASEL_KNOWLEDGE_CRASH";

/// What the process of the next test does that is to die; without its variable there is nothing to do.
#[test]
fn dies_while_it_adds() {
    if let Ok(told) = std::env::var(CRASH) {
        let (at, folder) = told.split_once(':').unwrap();
        let knowledge = fragile(Path::new(folder), at.parse().unwrap(), true);
        block_on(knowledge.add("handbook", long_documents(), |_| {})).unwrap();
        panic!("it was to die before that");
    }
}

#[test]
fn adding_that_is_killed_anywhere_goes_on_where_it_was() {
    for at in [0, 1, 7, 11] {
        let folder = tempfile::tempdir().unwrap();
        let died = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "adding::dies_while_it_adds"])
            .env(CRASH, format!("{at}:{}", folder.path().display()))
            .output()
            .unwrap();
        assert!(died.status.code().is_none(), "it was not killed: {died:?}");
        let knowledge = open(folder.path());
        let there = whole_documents(&knowledge).len();
        assert!(there < 6);
        let report = block_on(knowledge.add("handbook", long_documents(), |_| {})).unwrap();
        assert_eq!(
            (report.unchanged.len(), report.added.len()),
            (there, 6 - there)
        );
        assert_eq!(whole_documents(&knowledge).len(), 6);
    }
}

#[test]
fn removing_takes_everything_along() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    block_on(knowledge.add("handbook", long_documents(), |_| {})).unwrap();
    block_on(knowledge.remove_document("handbook", "long0.md")).unwrap();
    assert_eq!(whole_documents(&knowledge).len(), 5);
    let again = block_on(knowledge.remove_document("handbook", "long0.md")).unwrap_err();
    assert!(
        again
            .to_string()
            .starts_with("knowledge base \"handbook\" has no document \"long0.md\"")
    );
    block_on(knowledge.remove("handbook")).unwrap();
    assert!(block_on(knowledge.bases()).unwrap().is_empty());
    drop(knowledge);
    // The same name again is another one, and has nothing of the old.
    assert!(found(&open(folder.path()), "says in sentence").is_empty());
}

#[test]
fn names_are_taken_once_and_are_names() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let create = |name: &str, model: Option<&str>| {
        let new = NewBase {
            name: name.into(),
            model: model.map(str::to_owned),
            ..NewBase::default()
        };
        block_on(knowledge.create(new))
            .map(|base| base.name)
            .map_err(|error| error.to_string())
    };
    assert!(
        create("handbook", None)
            .unwrap_err()
            .contains("there is a knowledge base \"handbook\" already")
    );
    assert!(create(" ", None).unwrap_err().contains("it is empty"));
    assert!(
        create("x", Some("far-away"))
            .unwrap_err()
            .contains("\"far-away\", which is not connected")
    );
    assert_eq!(create("other", None).unwrap(), "other");
    assert!(block_on(knowledge.rename("other", "handbook")).is_err());
    block_on(knowledge.rename("other", "third")).unwrap();
    assert!(block_on(knowledge.base("third")).is_ok());
}
