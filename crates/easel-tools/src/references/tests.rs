use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object(json: serde_json::Value) -> Object {
    Value::from(json).as_object().unwrap().clone()
}

fn passage(id: &str) -> Object {
    object(json!({"chunk_id": id, "content": format!("about {id}"), "docnm_kwd": "geo.txt"}))
}

fn found(ids: &[&str]) -> Retrieved {
    Retrieved {
        chunks: ids.iter().map(|id| passage(id)).collect(),
        doc_aggs: vec![object(
            json!({"doc_name": "geo.txt", "doc_id": "d1", "count": 1}),
        )],
    }
}

fn keys(cited: &[Cited]) -> Vec<u32> {
    cited.iter().map(|c| c.key).collect()
}

#[test]
fn a_passage_is_stored_under_the_key_that_conversations_quote() {
    let mut references = References::default();
    let raw = object(json!({
        "chunk_id": "c1", "content": "Paris is the capital.", "doc_id": "d1", "docnm_kwd": "geo.txt",
        "kb_id": "ds1", "similarity": 0.9, "image_id": "", "positions": [], "extra": 1,
    }));
    let cited = references.add(&Retrieved {
        chunks: vec![raw],
        doc_aggs: found(&[]).doc_aggs,
    });
    assert_eq!(keys(&cited), [417]);
    assert_eq!(
        serde_json::to_string(&references.to_value()).unwrap(),
        json!({
            "chunks": {"417": {
                "id": "c1", "content": "Paris is the capital.", "document_id": "d1", "document_name": "geo.txt",
                "dataset_id": "ds1", "image_id": "", "positions": [], "url": null, "similarity": 0.9,
                "vector_similarity": null, "term_similarity": null, "row_id": null, "doc_type": null,
                "document_metadata": null,
            }},
            "doc_aggs": {"geo.txt": {"doc_name": "geo.txt", "doc_id": "d1", "count": 1}},
        })
        .to_string()
    );
    assert_eq!(
        passages_text(&cited, PASSAGE_BUDGET, str::len),
        "\nID: 417\n├── Title: geo.txt\n└── Content:\nParis is the capital."
    );
}

#[test]
fn clean_names_are_read_as_well_as_raw_ones() {
    let clean = object(json!({
        "id": "c1", "content_with_weight": "text", "document_id": "d", "document_name": "n", "dataset_id": "k",
        "img_id": "i", "position_int": [1], "doc_type": "image", "chunk_id": null,
    }));
    let stored = stored_shape(&clean);
    for (name, value) in [
        ("id", json!("c1")),
        ("content", json!("text")),
        ("document_id", json!("d")),
        ("document_name", json!("n")),
        ("dataset_id", json!("k")),
        ("image_id", json!("i")),
        ("positions", json!([1])),
        ("doc_type", json!("image")),
    ] {
        assert_eq!(stored[name], Value::from(value), "{name}");
    }
    assert_eq!(stored_shape(&stored), stored);
}

#[test]
fn passages_that_share_a_key_are_both_kept() {
    // c1, c7 and c575 all have the key 417, and c262 has 418.
    let mut references = References::default();
    let cited = references.add(&found(&["c1", "c7", "c262", "c575", "c7"]));
    assert_eq!(keys(&cited), [417, 418, 419, 420, 418]);
    assert_eq!(keys(&references.add(&found(&["c262"]))), [419]);
    assert_eq!(references.cited().len(), 4);

    // c335 and c961 have the last key of all; the second goes on at the first.
    assert_eq!(
        keys(&References::default().add(&found(&["c335", "c961"]))),
        [499, 0]
    );
}

#[test]
fn what_came_first_stays() {
    let mut references = References::default();
    references.add(&found(&["c1"]));
    let mut again = found(&["c1"]);
    again.chunks[0].insert("content".into(), "changed".into());
    again.doc_aggs[0].insert("count".into(), Value::from(9));
    references.add(&again);
    let expected = References::gather([&{
        let mut first = References::default();
        first.add(&found(&["c1"]));
        first.to_value()
    }]);
    assert_eq!(references, expected);
}

#[test]
fn stores_of_parallel_calls_are_gathered_in_order() {
    let store = |ids: &[&str]| {
        let mut references = References::default();
        references.add(&found(ids));
        references.to_value()
    };
    let stores = [
        store(&["c1"]),
        store(&["c7", "c262"]),
        Value::Null,
        store(&["c1", "c2"]),
    ];
    let all = References::gather(&stores);
    let ids: Vec<_> = all
        .cited()
        .iter()
        .map(|c| (c.key, text_of(&c.chunk["id"]).into_owned()))
        .collect();
    let c2 = sha1_modulo("c2", KEYS);
    assert_eq!(
        ids,
        [
            (417, "c1".into()),
            (418, "c7".into()),
            (419, "c262".into()),
            (c2, "c2".into())
        ]
    );
    assert!(References::gather([&Value::Null]).is_empty());
}

#[test]
fn headings_stay_on_one_line_and_name_what_is_known() {
    let raw = object(json!({
        "chunk_id": "c1", "content": "body", "docnm_kwd": "two\n\nlines\n", "url": "http://e.com",
        "document_metadata": {"year": 2024, "tags": ["a", "b"], "none": null, "empty": ""},
    }));
    let cited = References::default().add(&Retrieved {
        chunks: vec![raw],
        doc_aggs: vec![],
    });
    assert_eq!(
        passages_text(&cited, PASSAGE_BUDGET, str::len),
        "\nID: 417\n├── Title: two lines \n├── URL: http://e.com\n├── year: 2024\n├── tags: [\"a\",\"b\"]\n└── Content:\nbody"
    );
}

#[test]
fn the_text_ends_after_the_passage_that_fills_the_budget() {
    let cited = References::default().add(&found(&["c1", "c2", "c3", "c4"]));
    let blocks = |budget| {
        passages_text(&cited, budget, |_| 10)
            .matches("ID: ")
            .count()
    };
    assert_eq!(blocks(200), 4);
    assert_eq!(blocks(20), 2);
    assert_eq!(blocks(1), 1);
    assert_eq!(passages_text(&[], 20, |_| 10), "");
}

#[test]
fn a_passage_that_another_call_had_to_move_is_kept_once() {
    let mut moved = References::default();
    moved.add(&found(&["c1", "c7"]));
    let mut alone = References::default();
    alone.add(&found(&["c7"]));
    let all = References::gather([&alone.to_value(), &moved.to_value()]);
    assert_eq!(keys(&all.cited()), [417, 418]);
    assert_eq!(all.cited()[0].chunk["id"], Value::from("c7"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_passage_is_lost_however_many_there_are(ids in prop::collection::hash_set("[a-z]{1,3}", 0..600)) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut references = References::default();
        let cited = references.add(&found(&ids));
        let distinct: std::collections::HashSet<u32> = keys(&cited).into_iter().collect();
        prop_assert_eq!(distinct.len(), ids.len());
        prop_assert!(ids.len() > 500 || distinct.iter().all(|key| *key < 500));
        // Adding again, and writing and reading, changes nothing.
        prop_assert_eq!(&references.add(&found(&ids)), &cited);
        prop_assert_eq!(&References::gather([&references.to_value()]), &references);
    }
}
