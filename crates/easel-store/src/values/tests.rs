//! What is taken out comes back.

use proptest::prelude::*;

use super::*;

fn restorer(held: &[Packed]) -> Restorer {
    let text = |packed: &Packed| {
        let mut bytes = Vec::new();
        match packed.packed {
            true => {
                ZlibDecoder::new(packed.body.as_slice())
                    .read_to_end(&mut bytes)
                    .unwrap();
            }
            false => bytes = packed.body.clone(),
        }
        assert_eq!(bytes.len() as u64, packed.size);
        assert_eq!(hash(&bytes), packed.hash);
        String::from_utf8(bytes).unwrap()
    };
    Restorer {
        held: held.iter().map(|p| (p.hash.clone(), text(p))).collect(),
    }
}

/// The text without its big values, and those.
fn shortened(json: &str, limit: usize) -> (String, Vec<Packed>) {
    let mut keeper = Keeper::with_limit(limit);
    let short = keeper.shorten(json.to_owned());
    (short, keeper.into_held())
}

fn comes_back(json: &str, limit: usize) -> String {
    let (short, held) = shortened(json, limit);
    serde_json::from_str::<serde::de::IgnoredAny>(&short).unwrap();
    let mut wanted: Vec<String> = markers(&short);
    wanted.extend(held.iter().flat_map(|packed| {
        let inner = restorer(std::slice::from_ref(packed));
        markers(&inner.held[&packed.hash])
    }));
    assert!(
        wanted
            .iter()
            .all(|hash| held.iter().any(|p| p.hash == *hash))
    );
    assert_eq!(restorer(&held).restore(short.clone()).unwrap(), json);
    short
}

#[test]
fn a_long_text_is_kept_beside_and_a_short_one_stays() {
    let long = "x".repeat(300);
    let json = format!(r#"{{"v":1,"a":"{long}","b":["{long}","short"]}}"#);
    let (short, held) = shortened(&json, 200);
    assert_eq!(held.len(), 1, "the same text is kept once");
    assert!(!short.contains(&long) && short.contains("short"), "{short}");
    // Its marker alone makes the list longer than this limit: it goes too, and the whole stays.
    let short = comes_back(&json, 85);
    assert!(short.starts_with(r#"{"v":1,"#), "{short}");
}

#[test]
fn a_long_list_of_short_values_is_kept_beside() {
    let list: Vec<u32> = (0..100).collect();
    let json = format!(r#"{{"v":1,"list":{list:?},"n":1}}"#);
    let (short, held) = shortened(&json, 100);
    assert_eq!(held.len(), 1);
    assert!(short.ends_with(r#""},"n":1}"#), "{short}");
    comes_back(&json, 100);
}

#[test]
fn what_looks_like_a_marker_is_none() {
    let hash = "0".repeat(HASH);
    for json in [
        format!(r#"{{"$held":"{hash}"}}"#),
        format!(r#"{{"$$held":"{hash}","$held":1}}"#),
        format!(r#"[{{"$held":"{hash}"}}]"#),
        r#"{"a":"{\"$held\":\"x\"}","x\"$held":1,"held":2,"$heldx":3}"#.to_owned(),
        r#"{"\u0024held":"x"}"#.to_owned(),
        format!(r#""{{\"$held\":\"{hash}\"}}""#),
        r#"["$held","$$held"]"#.to_owned(),
    ] {
        let short = comes_back(&json, 1_000);
        assert!(markers(&short).is_empty(), "{short}");
        comes_back(&json, 10);
    }
}

#[test]
fn a_value_that_is_gone_is_an_error_and_no_silence() {
    let (short, _) = shortened(&format!(r#"{{"a":"{}"}}"#, "x".repeat(100)), 50);
    let error = Restorer::default().restore(short).unwrap_err();
    assert!(error.to_string().contains("it is not there"), "{error}");
}

#[test]
fn what_packs_well_is_packed() {
    assert!(Packed::new(vec![b'x'; 10_000]).packed);
    assert!(!Packed::new(b"short".to_vec()).packed);
}

/// Names and texts that are markers, or nearly.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,40}",
        r#"[$]{0,3}held"#,
        r#"[\\"${}\[\],:]{0,12}"#,
        Just(format!(r#"{{"$held":"{}"}}"#, "0".repeat(64))),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..6).prop_map(|members| {
                let members = members.into_iter().map(|(k, v)| (k.into(), v));
                Value::from(members.collect::<easel_core::Object>())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_comes_back_whatever_is_taken_out(value in value(), limit in 0usize..200) {
        let json = value.to_json_text();
        let short = comes_back(&json, limit);
        if json.len() <= limit {
            prop_assert!(markers(&short).is_empty());
        }
        let (short, held) = shortened(&json, limit);
        let back = restorer(&held).restore(short).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&back).unwrap(), value);
    }

    #[test]
    fn no_text_can_make_the_scan_panic(json in ".{0,80}", limit in 0usize..40) {
        let (short, held) = shortened(&json, limit);
        let _ = restorer(&held).restore(short);
    }
}
