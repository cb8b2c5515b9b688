//! How good the search is: 60 passages of a company's handbook, questions in other words, with slips of the pen, with
//! compounds and with names that must be met exactly.

use std::collections::HashSet;

use easel_knowledge::{HashedNgrams, Knowledge, NewBase, Source};
use easel_tools::retrieval::RetrievalRequest;
use futures::executor::block_on;

const PASSAGES: &str = include_str!("quality/passages.txt");
const QUESTIONS: &str = include_str!("quality/questions.txt");

/// How deep the answers are looked at.
const DEPTH: usize = 10;

/// The means over all questions.
#[derive(Clone, Copy, Debug)]
struct Quality {
    ndcg: f64,
    recall: f64,
    /// Questions whose first answer is a right one.
    first: f64,
}

fn sources() -> Vec<Source> {
    let source = |line: &str| {
        let (name, text) = line.split_once(" | ").unwrap();
        Source {
            // The name is searched, too, and here it would give the answers away.
            name: format!(
                "{:x}.txt",
                name.bytes()
                    .fold(7_u32, |h, b| h.wrapping_mul(31) + u32::from(b))
            ),
            bytes: text.into(),
            metadata: serde_json::from_str(&format!("{{\"key\": \"{name}\"}}")).unwrap(),
        }
    };
    PASSAGES.lines().map(source).collect()
}

/// How well an order of answers does for what is relevant.
fn judge(found: &[String], relevant: &HashSet<&str>) -> Quality {
    let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
    let right = |key: &String| relevant.contains(key.as_str());
    let hits = found
        .iter()
        .take(DEPTH)
        .enumerate()
        .filter(|(_, key)| right(key));
    let hits: Vec<usize> = hits.map(|(at, _)| at).collect();
    let ideal: f64 = (0..relevant.len().min(DEPTH)).map(gain).sum();
    Quality {
        ndcg: hits.iter().copied().map(gain).sum::<f64>() / ideal,
        recall: hits.len() as f64 / relevant.len() as f64,
        first: f64::from(u8::from(hits.first() == Some(&0))),
    }
}

async fn measure(knowledge: &Knowledge, weight: f64) -> Quality {
    let mut all = Vec::new();
    for line in QUESTIONS.lines() {
        let (query, relevant) = line.split_once(" | ").unwrap();
        let request = RetrievalRequest {
            query: query.into(),
            dataset_ids: vec!["handbook".into()],
            top_n: DEPTH as u32,
            similarity_threshold: 0.0,
            keywords_similarity_weight: weight,
            ..RetrievalRequest::default()
        };
        let found = knowledge.search(&request).await.unwrap();
        let positive = found.iter().filter(|hit| hit.similarity > 0.0);
        let keys = positive.map(|hit| hit.metadata["key"].as_str().unwrap().to_owned());
        let quality = judge(&keys.collect::<Vec<_>>(), &relevant.split(", ").collect());
        if quality.first < 1.0 {
            println!("  weight {weight}: not first for \"{query}\"");
        }
        all.push(quality);
    }
    let mean = |of: fn(&Quality) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    Quality {
        ndcg: mean(|q| q.ndcg),
        recall: mean(|q| q.recall),
        first: mean(|q| q.first),
    }
}

#[test]
fn words_and_vectors_together_are_at_least_as_good_as_the_better_of_them() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let knowledge = Knowledge::open(folder.path()).unwrap();
        let handbook = NewBase {
            name: "handbook".into(),
            model: Some(HashedNgrams::MODEL.into()),
            ..NewBase::default()
        };
        knowledge.create(handbook).await.unwrap();
        let report = knowledge.add("handbook", sources(), |_| {}).await.unwrap();
        assert_eq!(report.added.len(), PASSAGES.lines().count());
        let words = measure(&knowledge, 1.0).await;
        let vectors = measure(&knowledge, 0.0).await;
        let hybrid = measure(&knowledge, 0.5).await;
        println!(
            "passages {}, questions {}",
            PASSAGES.lines().count(),
            QUESTIONS.lines().count()
        );
        println!(
            "{:8} {:>8} {:>10} {:>6}",
            "", "nDCG@10", "recall@10", "first"
        );
        for (name, q) in [("words", words), ("vectors", vectors), ("hybrid", hybrid)] {
            println!(
                "{name:8} {:>8.3} {:>10.3} {:>6.3}",
                q.ndcg, q.recall, q.first
            );
        }
        // The set must be one that neither half answers alone, or it would say nothing.
        assert!(
            words.ndcg < 0.97 && vectors.ndcg < 0.97,
            "{words:?} {vectors:?}"
        );
        assert!(hybrid.ndcg >= words.ndcg.max(vectors.ndcg), "{hybrid:?}");
        assert!(
            hybrid.recall >= words.recall.max(vectors.recall),
            "{hybrid:?}"
        );
        assert!(hybrid.ndcg > 0.8, "{hybrid:?}");
    });
}
