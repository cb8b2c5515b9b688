//! What a search finds, and what it says when it cannot.

use std::sync::Arc;

use easel_core::Value;
use easel_knowledge::{
    Chunking, Embedder, HashedNgrams, Knowledge, NewBase, Purpose, Reranker, Source,
};
use easel_tools::retrieval::{FilterLogic, MetadataCondition, RetrievalRequest, Retriever};
use easel_tools::{References, ToolError};
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::BoxFuture;

/// A folder with knowledge bases in it, and their handle.
struct Held {
    knowledge: Knowledge,
    _folder: tempfile::TempDir,
}

fn held() -> Held {
    let folder = tempfile::tempdir().unwrap();
    Held {
        knowledge: Knowledge::open(folder.path()).unwrap(),
        _folder: folder,
    }
}

impl Held {
    fn base(&self, name: &str, model: Option<&str>, documents: &[(&str, &str, &str)]) -> String {
        let new = NewBase {
            name: name.into(),
            model: model.map(str::to_owned),
            ..NewBase::default()
        };
        let id = block_on(self.knowledge.create(new)).unwrap().id;
        let source = |(name, text, metadata): &(&str, &str, &str)| Source {
            name: (*name).into(),
            bytes: (*text).into(),
            metadata: serde_json::from_str(metadata).unwrap(),
        };
        let sources = documents.iter().map(source).collect();
        let report = block_on(self.knowledge.add(name, sources, |_| {})).unwrap();
        assert_eq!(report.added.len(), documents.len(), "{report:?}");
        id
    }

    fn found(&self, request: RetrievalRequest) -> Vec<String> {
        let hits = block_on(self.knowledge.search(&request)).unwrap();
        hits.into_iter().map(|hit| hit.document).collect()
    }

    fn refused(&self, request: RetrievalRequest) -> ToolError {
        block_on(self.knowledge.retrieve(request)).unwrap_err()
    }
}

fn asking(query: &str, bases: &[&str]) -> RetrievalRequest {
    RetrievalRequest {
        query: query.into(),
        dataset_ids: bases.iter().map(|base| (*base).to_owned()).collect(),
        similarity_threshold: 0.05,
        ..RetrievalRequest::default()
    }
}

const TEA: (&str, &str, &str) = (
    "tea.md",
    "# Drinks\n\nTea is served at noon.",
    r#"{"url": "http://e.com/tea"}"#,
);
const BUS: (&str, &str, &str) = ("bus.md", "The bus leaves at ten.", "{}");

#[test]
fn a_base_is_asked_by_its_id_or_its_name() {
    let held = held();
    let id = held.base("handbook", Some(HashedNgrams::MODEL), &[TEA, BUS]);
    assert_eq!(
        held.found(asking("when is tea served", &["handbook"]))[0],
        "tea.md"
    );
    assert_eq!(
        held.found(asking("when is tea served", &[&id, "handbook"]))[0],
        "tea.md"
    );
}

#[test]
fn several_bases_are_searched_as_one() {
    let held = held();
    held.base("drinks", Some(HashedNgrams::MODEL), &[TEA]);
    held.base("traffic", Some(HashedNgrams::MODEL), &[BUS]);
    let found = held.found(asking("tea on the bus", &["drinks", "traffic"]));
    assert_eq!(found.len(), 2);
    assert!(held.found(asking("tea", &["traffic"])).is_empty());
}

#[test]
fn what_cannot_be_searched_says_why() {
    let held = held();
    held.base("drinks", Some(HashedNgrams::MODEL), &[TEA]);
    held.base("words", None, &[BUS]);
    let text = |request| held.refused(request).to_string();
    assert!(text(asking("x", &["lost"])).contains("Dataset(lost) does not exist."));
    let mixed = text(asking("x", &["drinks", "words"]));
    assert!(
        mixed.contains("Knowledge bases use different embedding models."),
        "{mixed}"
    );
    let ranked = RetrievalRequest {
        rerank_id: Some("judge".into()),
        ..asking("x", &["drinks"])
    };
    assert!(text(ranked).contains("\"judge\" is not connected"));
    let heavy = RetrievalRequest {
        keywords_similarity_weight: 1.5,
        ..asking("x", &["drinks"])
    };
    assert_eq!(
        text(heavy),
        "keywords_similarity_weight cannot be used: 1.5 is not from 0 to 1"
    );
    let graph = RetrievalRequest {
        use_kg: true,
        ..asking("x", &["drinks"])
    };
    let refused = held.refused(graph);
    assert!(refused.to_string().contains("no knowledge graph") && !refused.retryable());
}

#[test]
fn without_an_embedding_model_words_alone_are_compared() {
    let held = held();
    held.base("words", None, &[TEA, BUS]);
    let hits = block_on(held.knowledge.search(&asking("a bus", &["words"]))).unwrap();
    assert_eq!(
        (hits[0].document.as_str(), hits[0].vector_similarity),
        ("bus.md", None)
    );
    assert_eq!(hits[0].similarity, hits[0].term_similarity);
}

#[test]
fn chinese_is_found_by_words_of_one_character_and_more() {
    let held = held();
    let documents = [
        ("库.md", "知识库保存文档的段落，并建立索引。", "{}"),
        ("茶.md", "中午供应绿茶。", "{}"),
    ];
    held.base("中文", None, &documents);
    for (query, right) in [
        ("知识库", "库.md"),
        ("索引", "库.md"),
        ("茶", "茶.md"),
        ("绿茶什么时候供应？", "茶.md"),
        ("引", "库.md"),
    ] {
        assert_eq!(held.found(asking(query, &["中文"])), [right], "{query}");
    }
    assert!(held.found(asking("天气", &["中文"])).is_empty());
}

#[test]
fn a_query_of_signs_or_quotes_finds_nothing_and_breaks_nothing() {
    let held = held();
    held.base("words", None, &[TEA]);
    for query in [
        "\"",
        "* OR NEAR(",
        "terms:",
        "—",
        "   ",
        "'; DROP TABLE chunks; --",
    ] {
        assert!(held.found(asking(query, &["words"])).is_empty(), "{query}");
    }
    assert_eq!(held.found(asking("\"tea\" OR (", &["words"])), ["tea.md"]);
}

#[test]
fn similarity_is_the_weighted_sum_of_both_halves() {
    let held = held();
    held.base("drinks", Some(HashedNgrams::MODEL), &[TEA, BUS]);
    for weight in [0.0, 0.3, 1.0] {
        let request = RetrievalRequest {
            keywords_similarity_weight: weight,
            similarity_threshold: 0.0,
            ..asking("tea served at noon", &["drinks"])
        };
        for hit in block_on(held.knowledge.search(&request)).unwrap() {
            let sum =
                weight * hit.term_similarity + (1.0 - weight) * hit.vector_similarity.unwrap();
            assert!((sum - hit.similarity).abs() < 1e-12);
            assert!((0.0..=1.0).contains(&hit.similarity));
        }
    }
}

#[test]
fn threshold_and_number_cut_the_answers_off() {
    let held = held();
    held.base("drinks", Some(HashedNgrams::MODEL), &[TEA, BUS]);
    let all = RetrievalRequest {
        similarity_threshold: 0.0,
        ..asking("tea or bus at ten", &["drinks"])
    };
    assert_eq!(held.found(all.clone()).len(), 2);
    assert_eq!(
        held.found(RetrievalRequest {
            top_n: 1,
            ..all.clone()
        })
        .len(),
        1
    );
    assert_eq!(
        held.found(RetrievalRequest {
            top_k: 1,
            keywords_similarity_weight: 0.0,
            ..all.clone()
        })[0],
        "bus.md"
    );
    assert!(
        held.found(RetrievalRequest {
            similarity_threshold: 0.99,
            ..all
        })
        .is_empty()
    );
}

fn condition(key: &str, op: &str, value: &str) -> MetadataCondition {
    MetadataCondition {
        key: key.into(),
        op: op.into(),
        value: serde_json::from_str::<Value>(value).unwrap(),
    }
}

#[test]
fn every_operator_of_a_filter_chooses_its_documents() {
    let held = held();
    let documents = [
        (
            "a.md",
            "Tea.",
            r#"{"region": "North", "year": 2024, "tags": ["hot", "green"]}"#,
        ),
        (
            "b.md",
            "Tea.",
            r#"{"region": "south", "year": "2025", "tags": []}"#,
        ),
        ("c.md", "Tea.", r#"{"year": 2026}"#),
    ];
    held.base("drinks", None, &documents);
    let through = |conditions: Vec<MetadataCondition>, filter_logic| {
        let mut found = held.found(RetrievalRequest {
            filters: conditions,
            filter_logic,
            ..asking("tea", &["drinks"])
        });
        found.sort();
        found.iter().map(|name| &name[..1]).collect::<String>()
    };
    for (key, op, value, right) in [
        ("year", "=", "2025", "b"),
        ("year", "≠", "2025", "ac"),
        ("year", ">", "2024", "bc"),
        ("year", "<", "\"2026\"", "ab"),
        ("year", "≥", "2025", "bc"),
        ("year", "≤", "2024", "a"),
        ("region", "=", "\"North\"", "a"),
        ("region", "≠", "\"North\"", "bc"),
        ("region", "contains", "\"OUT\"", "b"),
        ("region", "not contains", "\"out\"", "ac"),
        ("region", "in", "[\"North\", \"south\"]", "ab"),
        ("region", "in", "\"north, west\"", "a"),
        ("region", "not in", "[\"North\"]", "bc"),
        ("region", "start with", "\"no\"", "a"),
        ("region", "end with", "\"th\"", "ab"),
        ("region", "empty", "null", "c"),
        ("region", "not empty", "null", "ab"),
        ("tags", "=", "\"hot\"", "a"),
        ("tags", "≠", "\"hot\"", "bc"),
        ("tags", "contains", "\"gree\"", "a"),
        ("tags", "in", "[\"green\"]", "a"),
        ("tags", "empty", "null", "bc"),
        ("nothing", "=", "1", ""),
    ] {
        assert_eq!(
            through(vec![condition(key, op, value)], FilterLogic::And),
            right,
            "{key} {op} {value}"
        );
    }
    let two = || {
        vec![
            condition("year", ">", "2024"),
            condition("region", "contains", "\"o\""),
        ]
    };
    assert_eq!(through(two(), FilterLogic::And), "b");
    assert_eq!(through(two(), FilterLogic::Or), "abc");
    let unknown = RetrievalRequest {
        filters: vec![condition("year", "like", "1")],
        ..asking("tea", &["drinks"])
    };
    assert!(
        held.refused(unknown)
            .to_string()
            .contains("the filter on \"year\" cannot be used: \"like\" is no operator")
    );
}

#[test]
fn vectors_are_filtered_too() {
    let held = held();
    let documents = [
        ("a.md", "Tea.", r#"{"year": 2024}"#),
        ("b.md", "Tea.", r#"{"year": 2025}"#),
    ];
    held.base("drinks", Some(HashedNgrams::MODEL), &documents);
    let request = RetrievalRequest {
        filters: vec![condition("year", "=", "2025")],
        keywords_similarity_weight: 0.0,
        ..asking("tea", &["drinks"])
    };
    assert_eq!(held.found(request), ["b.md"]);
}

#[test]
fn what_is_found_can_be_cited() {
    let held = held();
    let id = held.base("drinks", Some(HashedNgrams::MODEL), &[TEA, BUS]);
    let found = block_on(held.knowledge.retrieve(asking("tea at noon", &["drinks"]))).unwrap();
    let cited = References::default().add(&found);
    let chunk = &cited[0].chunk;
    let text = |name: &str| chunk[name].as_str().unwrap();
    assert_eq!(text("content"), "# Drinks\n\nTea is served at noon.");
    assert_eq!(
        (text("document_name"), text("dataset_id"), text("url")),
        ("tea.md", &*id, "http://e.com/tea")
    );
    assert_eq!((text("id").len(), text("document_id").len()), (32, 32));
    assert!(chunk["similarity"].as_f64().unwrap() > 0.2);
    assert!(chunk["term_similarity"].as_f64().unwrap() > 0.2);
    assert!(cited[0].key < 500);
    let documents: Vec<_> = found
        .doc_aggs
        .iter()
        .map(|d| d["doc_name"].as_str().unwrap())
        .collect();
    assert_eq!(documents[0], "tea.md");
    assert_eq!(found.doc_aggs[0]["count"].as_i64(), Some(1));
}

#[test]
fn a_passage_keeps_its_id_when_its_document_changes_elsewhere() {
    let held = held();
    let sections = |last: &str| {
        let words = |word: &str| format!("The {word} is here. ").repeat(20);
        format!("# A\n\n{}\n\n# B\n\n{}", words("bus"), words(last))
    };
    held.base("drinks", None, &[("all.md", &sections("tea"), "{}")]);
    let id = |query: &str| {
        block_on(held.knowledge.search(&asking(query, &["drinks"]))).unwrap()[0]
            .id
            .clone()
    };
    let (bus, tea) = (id("bus"), id("tea"));
    let source = Source {
        name: "all.md".into(),
        bytes: sections("coffee").into(),
        metadata: None,
    };
    block_on(held.knowledge.add("drinks", vec![source], |_| {})).unwrap();
    assert_eq!(id("bus"), bus);
    assert_ne!(id("coffee"), tea);
}

/// A judge who likes buses.
struct Judge;

impl Reranker for Judge {
    fn model(&self) -> &str {
        "judge"
    }

    fn rerank(&self, _: String, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<f64>, String>> {
        async move {
            Ok(texts
                .iter()
                .map(|text| if text.contains("bus") { 7.0 } else { 0.1 })
                .collect())
        }
        .boxed()
    }
}

#[test]
fn a_reranking_model_has_the_last_word() {
    let held = held();
    held.base("drinks", Some(HashedNgrams::MODEL), &[TEA, BUS]);
    let knowledge = held.knowledge.clone().with_reranker(Arc::new(Judge));
    let request = RetrievalRequest {
        rerank_id: Some("judge".into()),
        keywords_similarity_weight: 0.1,
        ..asking("tea at ten", &["drinks"])
    };
    let hits = block_on(knowledge.search(&request)).unwrap();
    assert_eq!(
        (hits[0].document.as_str(), hits[0].vector_similarity),
        ("bus.md", Some(1.0))
    );
}

/// A model whose vectors have another length than before.
struct Changed(usize);

impl Embedder for Changed {
    fn model(&self) -> &str {
        "changed"
    }

    fn embed(
        &self,
        _: Purpose,
        texts: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<Vec<f32>>, String>> {
        async move { Ok(vec![vec![1.0; self.0]; texts.len()]) }.boxed()
    }
}

#[test]
fn a_model_that_is_another_one_under_its_name_is_noticed() {
    let mut held = held();
    held.knowledge = held.knowledge.clone().with_embedder(Arc::new(Changed(3)));
    held.base("drinks", Some("changed"), &[TEA]);
    held.knowledge = held.knowledge.clone().with_embedder(Arc::new(Changed(4)));
    let refused = held.refused(asking("tea", &["drinks"])).to_string();
    assert!(
        refused.contains("it gave a vector of 4 numbers, and those in \"drinks\" have 3"),
        "{refused}"
    );
    let source = Source {
        name: "b.md".into(),
        bytes: "More.".into(),
        metadata: None,
    };
    let error = block_on(held.knowledge.add("drinks", vec![source], |_| {})).unwrap_err();
    assert!(
        error.to_string().contains("it gave vectors of 4 numbers"),
        "{error}"
    );
}

#[test]
fn ten_thousand_passages_are_searched() {
    let held = held();
    let new = NewBase {
        name: "shop".into(),
        model: Some(HashedNgrams::MODEL.into()),
        chunking: Chunking {
            tokens: 64,
            overlap_percent: 0,
        },
    };
    block_on(held.knowledge.create(new)).unwrap();
    let section = |n: usize, s: usize| {
        format!(
            "# Part {n}x{s}\n\nItem {n}x{s} costs {} coins, as all know.\n\n",
            n * s
        )
    };
    let page = |n: usize| Source {
        name: format!("page{n}.md"),
        bytes: (0..100).map(|s| section(n, s)).collect::<String>().into(),
        metadata: None,
    };
    block_on(
        held.knowledge
            .add("shop", (0..100).map(page).collect(), |_| {}),
    )
    .unwrap();
    assert_eq!(
        block_on(held.knowledge.base("shop")).unwrap().chunks,
        10_000
    );
    let began = std::time::Instant::now();
    let hits = block_on(
        held.knowledge
            .search(&asking("What does item 37x42 cost?", &["shop"])),
    )
    .unwrap();
    println!("10,000 passages searched in {:?}", began.elapsed());
    assert_eq!(
        (hits[0].document.as_str(), hits[0].heading.as_str()),
        ("page37.md", "Part 37x42")
    );
}
