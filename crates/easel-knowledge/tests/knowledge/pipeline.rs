//! The door of ingestion pipelines: documents are begun, kept by a step, and ended.

use std::path::Path;

use easel_core::Object;
use easel_knowledge::{
    Begun, HashedNgrams, Hit, Knowledge, NewBase, Outcome, Pipeline, RunEnd, Source, State,
};
use easel_tools::files::{FileDescriptor, FileStore};
use easel_tools::ingestion::{
    Cut, CutRequest, DocumentPiece, HeadingCut, Ingestion, KeepRequest, Passage, ReadRequest,
};
use easel_tools::retrieval::RetrievalRequest;
use futures::executor::block_on;
use serde_json::json;

fn open(folder: &Path) -> Knowledge {
    let knowledge = Knowledge::open(folder).unwrap();
    let new = NewBase {
        name: "handbook".into(),
        model: Some(HashedNgrams::MODEL.into()),
        ..NewBase::default()
    };
    block_on(knowledge.create(new)).unwrap();
    knowledge
}

fn pipeline(knowledge: &Knowledge, key: &str) -> Pipeline {
    block_on(knowledge.pipeline("handbook", key.as_bytes())).unwrap()
}

fn source(name: &str, text: &str) -> Source {
    Source {
        name: name.into(),
        bytes: text.into(),
        metadata: None,
    }
}

fn begun(pipeline: &Pipeline, source: Source) -> FileDescriptor {
    match block_on(pipeline.begin(source, None)).unwrap() {
        Begun::Open(document) => document,
        Begun::Ended(outcome) => panic!("{outcome:?}"),
    }
}

fn passage(text: &str) -> Passage {
    Passage {
        piece: DocumentPiece {
            text: text.into(),
            ..DocumentPiece::default()
        },
        ..Passage::default()
    }
}

fn kept(document: &FileDescriptor, passages: Vec<Passage>) -> KeepRequest {
    KeepRequest {
        document: document.clone(),
        passages,
        by_words: true,
        by_vectors: true,
        name_weight: 0.1,
        ..KeepRequest::default()
    }
}

fn object(json: serde_json::Value) -> Object {
    serde_json::from_value(json).unwrap()
}

fn hits(knowledge: &Knowledge, query: &str) -> Vec<Hit> {
    let request = RetrievalRequest {
        query: query.into(),
        dataset_ids: vec!["handbook".into()],
        ..RetrievalRequest::default()
    };
    block_on(knowledge.search(&request)).unwrap()
}

#[test]
fn a_passage_is_found_by_what_a_pipeline_found_out_about_it() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let pipeline = pipeline(&knowledge, "p");
    let document = begun(&pipeline, source("tea.md", "Tea."));
    let found_out = Passage {
        summary: "When tea is served".into(),
        keywords: vec!["beverages".into(), "lunch".into()],
        questions: vec!["Which drinks does the canteen offer?".into()],
        metadata: object(json!({"floor": 3})),
        ..passage("Tea at noon.")
    };
    block_on(Ingestion::keep(&pipeline, kept(&document, vec![found_out]))).unwrap();
    let outcome = block_on(pipeline.end(&document, RunEnd::Finished)).unwrap();
    assert_eq!(outcome, Outcome::Added);
    for query in ["beverages", "canteen drinks", "served", "noon"] {
        let found = hits(&knowledge, query);
        assert_eq!(found.len(), 1, "{query}");
        assert_eq!(found[0].text, "Tea at noon.");
    }
    let fields = hits(&knowledge, "beverages")[0].fields.clone();
    assert_eq!(
        easel_core::Value::from(fields).to_json(),
        json!({
            "summary": "When tea is served", "keywords": ["beverages", "lunch"],
            "questions": ["Which drinks does the canteen offer?"], "metadata": {"floor": 3},
        })
    );
    let document = block_on(knowledge.document("handbook", "tea.md")).unwrap();
    assert_eq!(document.metadata["floor"].as_i64(), Some(3));
}

#[test]
fn a_document_is_passed_by_until_it_or_the_pipeline_changes() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let add = |key: &str, text: &str| {
        let pipeline = pipeline(&knowledge, key);
        match block_on(pipeline.begin(source("tea.md", text), None)).unwrap() {
            Begun::Ended(outcome) => outcome,
            Begun::Open(document) => {
                block_on(Ingestion::keep(
                    &pipeline,
                    kept(&document, vec![passage(text)]),
                ))
                .unwrap();
                block_on(pipeline.end(&document, RunEnd::Finished)).unwrap()
            }
        }
    };
    assert_eq!(add("p", "Tea."), Outcome::Added);
    assert_eq!(add("p", "Tea."), Outcome::Unchanged);
    assert_eq!(add("p", "Coffee."), Outcome::Replaced);
    assert_eq!(add("q", "Coffee."), Outcome::Replaced);
    // Without a pipeline it is another document again.
    let plain = block_on(knowledge.add("handbook", vec![source("tea.md", "Coffee.")], |_| {}));
    assert_eq!(plain.unwrap().replaced, ["tea.md"]);
}

#[test]
fn a_run_that_fails_leaves_what_was_there_and_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let pipeline = pipeline(&knowledge, "p");
    let document = begun(&pipeline, source("tea.md", "Tea."));
    block_on(Ingestion::keep(
        &pipeline,
        kept(&document, vec![passage("Tea.")]),
    ))
    .unwrap();
    block_on(pipeline.end(&document, RunEnd::Finished)).unwrap();

    let document = begun(&pipeline, source("tea.md", "Coffee."));
    block_on(pipeline.keep_answer(&document, b"request", "said")).unwrap();
    let end = RunEnd::Failed("the model was away".into());
    let outcome = block_on(pipeline.end(&document, end)).unwrap();
    assert_eq!(outcome, Outcome::Failed("the model was away".into()));
    assert_eq!(hits(&knowledge, "tea").len(), 1);

    let document = begun(&pipeline, source("tea.md", "Coffee."));
    let answer = |request: &[u8]| block_on(pipeline.answer(&document, request)).unwrap();
    assert_eq!(answer(b"request").as_deref(), Some("said"));
    assert_eq!(answer(b"other"), None);
    block_on(Ingestion::keep(
        &pipeline,
        kept(&document, vec![passage("Coffee.")]),
    ))
    .unwrap();
    assert_eq!(answer(b"request"), None, "what is there needs no answers");
}

#[test]
fn a_document_that_is_unfit_is_kept_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let pipeline = pipeline(&knowledge, "p");
    let document = begun(&pipeline, source("a.pdf", "%PDF-1.4 nothing"));
    let bytes = block_on(pipeline.bytes("run", document.clone())).unwrap();
    let read = block_on(Ingestion::read(
        &pipeline,
        ReadRequest {
            name: document.name.clone(),
            bytes,
            ..ReadRequest::default()
        },
    ));
    let why = read.unwrap_err().to_string();
    assert!(
        why.starts_with("a.pdf cannot be read: it is damaged as pdf"),
        "{why}"
    );
    block_on(pipeline.end(&document, RunEnd::Unfit(why.clone()))).unwrap();
    let there = block_on(knowledge.document("handbook", "a.pdf")).unwrap();
    assert_eq!(there.state, State::Failed(why));
    let none = begun(&pipeline, source("b.md", "b"));
    let refused = block_on(Ingestion::keep(&pipeline, kept(&none, Vec::new()))).unwrap_err();
    assert!(
        refused.to_string().contains("no piece was left of it"),
        "{refused}"
    );
    let outcome = block_on(pipeline.end(&none, RunEnd::Finished)).unwrap();
    assert!(matches!(outcome, Outcome::Failed(why) if why.contains("made no pieces")));
}

#[test]
fn a_document_of_which_something_could_not_be_read_is_there_in_part() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let pipeline = pipeline(&knowledge, "p");
    let document = begun(&pipeline, source("tea.pdf", "Tea."));
    let request = KeepRequest {
        format: Some("pdf".into()),
        unread: Some("page 2 could not be read".into()),
        ..kept(&document, vec![passage("Tea.")])
    };
    block_on(Ingestion::keep(&pipeline, request)).unwrap();
    let outcome = block_on(pipeline.end(&document, RunEnd::Finished)).unwrap();
    let why = "page 2 could not be read".to_owned();
    assert_eq!(outcome, Outcome::Partial(why.clone()));
    let there = block_on(knowledge.document("handbook", "tea.pdf")).unwrap();
    assert_eq!(
        (there.state, there.format.as_deref()),
        (State::Partial(why), Some("pdf"))
    );
    let again = block_on(pipeline.begin(source("tea.pdf", "Tea."), None)).unwrap();
    assert_eq!(again, Begun::Ended(Outcome::Unchanged));
}

#[test]
fn parts_are_searched_and_the_whole_passage_is_given_once() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let pipeline = pipeline(&knowledge, "p");
    let document = begun(&pipeline, source("tea.md", "Tea."));
    let part = |text: &str| Passage {
        piece: DocumentPiece {
            text: text.into(),
            whole: Some("Green tea. Black tea.".into()),
            ..DocumentPiece::default()
        },
        ..Passage::default()
    };
    let parts = vec![part("Green tea"), part("Black tea")];
    block_on(Ingestion::keep(&pipeline, kept(&document, parts))).unwrap();
    let found = hits(&knowledge, "tea");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].text, "Green tea. Black tea.");
    assert_eq!(
        hits(&knowledge, "green")[0].fields["part"].as_str(),
        Some("Green tea")
    );
}

#[test]
fn what_is_searched_by_meaning_alone_is_not_found_by_words() {
    let folder = tempfile::tempdir().unwrap();
    let knowledge = open(folder.path());
    let pipeline = pipeline(&knowledge, "p");
    let document = begun(&pipeline, source("tea.md", "Tea."));
    let request = KeepRequest {
        by_words: false,
        ..kept(&document, vec![passage("Tea at noon.")])
    };
    block_on(Ingestion::keep(&pipeline, request)).unwrap();
    let found = hits(&knowledge, "tea at noon");
    assert_eq!((found.len(), found[0].term_similarity), (1, 0.0));
    let request = KeepRequest {
        by_vectors: false,
        ..kept(&document, vec![passage("Tea at noon.")])
    };
    block_on(Ingestion::keep(&pipeline, request)).unwrap();
    let found = hits(&knowledge, "tea at noon");
    assert_eq!((found.len(), found[0].vector_similarity), (1, Some(0.0)));
}

#[test]
fn a_knowledge_base_of_an_older_version_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let first = include_str!("../../src/store/schema.sql");
    {
        let old = rusqlite::Connection::open(folder.path().join("knowledge.db")).unwrap();
        old.execute_batch(first).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
    }
    let knowledge = open(folder.path());
    let pipeline = pipeline(&knowledge, "p");
    let document = begun(&pipeline, source("tea.md", "Tea."));
    block_on(Ingestion::keep(
        &pipeline,
        kept(&document, vec![passage("Tea.")]),
    ))
    .unwrap();
    assert_eq!(hits(&knowledge, "tea").len(), 1);
}

#[test]
fn a_document_is_cut_at_headings_that_patterns_find() {
    let reader = easel_knowledge::Reader::default();
    let text = "Chapter I\nWho we are.\nSection 1\nOur name.\nSection 2\nOur place.";
    let read = block_on(Ingestion::read(
        &reader,
        ReadRequest {
            name: "law.txt".into(),
            bytes: text.into(),
            ..ReadRequest::default()
        },
    ));
    let pieces = block_on(reader.cut(CutRequest {
        blocks: read.unwrap().blocks,
        cut: Cut::Headings(HeadingCut {
            levels: vec![vec!["Chapter (I+V?|VI*)".into(), "Section [0-9]+".into()]],
            depth: 2,
            grouped: false,
            own_text_apart: false,
            root_heads: false,
            tokens: 512,
        }),
        children: Vec::new(),
    }));
    let texts: Vec<_> = pieces
        .unwrap()
        .into_iter()
        .map(|piece| piece.text)
        .collect();
    assert_eq!(
        texts,
        [
            "Chapter I\nWho we are.\nSection 1\nOur name.",
            "Chapter I\nWho we are.\nSection 2\nOur place.",
        ]
    );
}
