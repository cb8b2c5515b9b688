use super::*;
use crate::MASK;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use easel_core::argument::Part;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use std::collections::HashMap;

fn gate(secrets: &[(&str, &str)]) -> Gate {
    let secrets = secrets.iter();
    let secrets = secrets.map(|(name, value)| (name.to_string(), Secret::new(*value)));
    Gate::new("run-1", Resolver::from(secrets.collect::<HashMap<_, _>>()))
}

fn door(gate: &Gate) -> Door<'_> {
    gate.door(Sink {
        scope: "loop.2".into(),
        time: Timestamp(5),
        ..Sink::new(SinkKind::Tool, "http", "fetch")
    })
}

fn bearer() -> Argument {
    Argument::text(vec![
        Part::Text("Bearer ".into()),
        Part::Secret("TOKEN".into()),
    ])
}

#[test]
fn a_secret_that_a_tool_got_is_masked_and_on_the_receipt() {
    let gate = gate(&[("TOKEN", "s3cr3t-value"), ("OTHER", "0ther-value")]);
    assert_eq!(gate.mask("s3cr3t-value"), "s3cr3t-value");
    let opened = door(&gate).open(&bearer(), Unset::Refused).unwrap();
    assert_eq!(opened.expose().as_str(), Some("Bearer s3cr3t-value"));
    assert_eq!(gate.mask("s3cr3t-value 0ther-value"), "•••••• 0ther-value");
    let receipt = gate.receipt();
    let expected = ReceiptEntry {
        secret: "TOKEN".into(),
        provider: "memory".into(),
        kind: SinkKind::Tool,
        sink: "http".into(),
        node: "fetch".into(),
        scope: "loop.2".into(),
        time: 5,
    };
    assert_eq!(receipt.entries, [expected]);
    assert_eq!((receipt.bytes_scanned, receipt.masked), (24, 1));
}

#[test]
fn a_declared_secret_is_masked_before_it_is_used() {
    let gate = gate(&[("TOKEN", "s3cr3t-value")]);
    gate.declare(["TOKEN", "UNSET"]).unwrap();
    assert_eq!(gate.mask("s3cr3t-value"), MASK);
    assert!(gate.receipt().entries.is_empty());
}

#[test]
fn a_secret_that_is_not_set_closes_the_door_or_stays_as_written() {
    let gate = gate(&[]);
    let refused = door(&gate).open(&bearer(), Unset::Refused).unwrap_err();
    assert!(refused.to_string().contains("easel secrets set TOKEN"));
    let written = door(&gate).open(&bearer(), Unset::AsWritten).unwrap();
    assert_eq!(written.expose().as_str(), Some("Bearer ${TOKEN}"));
    assert!(gate.receipt().entries.is_empty());
}

#[test]
fn a_secret_inside_a_secret_is_data() {
    let gate = gate(&[("TOKEN", "${OTHER}-value"), ("OTHER", "0ther-value")]);
    let opened = door(&gate).open(&bearer(), Unset::Refused).unwrap();
    assert_eq!(opened.expose().as_str(), Some("Bearer ${OTHER}-value"));
}

#[test]
fn a_gate_without_secrets_does_nothing() {
    let gate = gate(&[("PIN", "1234")]);
    door(&gate).secret("PIN").unwrap().unwrap();
    assert!(!gate.is_armed());
    let text: Arc<str> = "1234".into();
    let mut same = text.clone();
    gate.mask_text(&mut same);
    assert!(Arc::ptr_eq(&text, &same));
    assert_eq!(gate.receipt().bytes_scanned, 0);
}

#[test]
fn a_secret_in_a_number_is_on_the_receipt() {
    let gate = gate(&[("PIN", "12345678")]);
    gate.declare(["PIN"]).unwrap();
    gate.mask_value(&mut Value::from(vec![
        Value::from(12345678),
        Value::from(12345678),
    ]));
    assert_eq!(gate.receipt().unmasked, ["PIN"]);
}

#[test]
fn a_stream_learns_the_secret_that_is_fetched_on_the_way() {
    let gate = gate(&[("TOKEN", "s3cr3t-value")]);
    let mut stream = gate.stream();
    assert_eq!(stream.push("s3cr3t"), "s3cr3t");
    door(&gate).secret("TOKEN").unwrap();
    assert_eq!(stream.push(" then s3cr"), " then ");
    assert_eq!(stream.push("3t-value."), "••••••.");
    assert_eq!(stream.finish(), "");
}

/// How a tool may say what it was given.
fn echoes(secret: &str) -> Vec<String> {
    let beside = format!("id={secret}&next=1");
    vec![
        secret.to_owned(),
        beside.clone(),
        serde_json::to_string(&beside).unwrap(),
        utf8_percent_encode(&beside, NON_ALPHANUMERIC).to_string(),
        beside.replace(' ', "+"),
        STANDARD.encode(format!("user:{secret}")),
        URL_SAFE_NO_PAD.encode(format!("{secret}:x")),
    ]
}

/// The texts of a value, and the names of its members.
fn texts(value: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, each)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            each(name);
            texts(member, each);
        }),
        _ => {}
    }
}

/// Whether a text still gives a secret away to somebody who decodes it.
fn gives_away(text: &str, secret: &str) -> bool {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    let json: String = serde_json::from_str(text).unwrap_or_default();
    let base64 = [
        STANDARD.decode(text).unwrap_or_default(),
        URL_SAFE_NO_PAD.decode(text).unwrap_or_default(),
    ];
    let base64 = base64.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    [text, &decoded, &json, &base64[0], &base64[1]]
        .iter()
        .any(|read| read.contains(secret))
}

proptest! {
    /// Tools that echo what they were given, in each form, in values of any shape and in pieces of any length.
    #[test]
    fn nothing_that_leaves_gives_a_secret_away(
        secrets in prop::collection::vec("[!-~]{6,20}|[a-zA-Z0-9/+ _-]{6,24}|[\\PC&&[^•]]{6,10}", 1..4),
        cuts in prop::collection::vec(1_usize..9, 1..8),
    ) {
        let names: Vec<String> = (0..secrets.len()).map(|n| format!("S{n}")).collect();
        let pairs: Vec<(&str, &str)> = names.iter().map(|n| &**n).zip(secrets.iter().map(|s| &**s)).collect();
        let gate = gate(&pairs);
        let mut left = Vec::new();
        for (name, secret) in &pairs {
            let Some(opened) = door(&gate).secret(name).unwrap() else {
                // Nothing but white space.
                continue;
            };
            for echo in echoes(opened.expose()) {
                left.push(gate.mask(&echo).into_owned());
                let nested = Value::from(vec![Value::from(Object::from_iter([
                    (Arc::from(echo.as_str()), Value::from(echo.as_str())),
                ]))]);
                let mut masked = nested.clone();
                gate.mask_value(&mut masked);
                texts(&masked, &mut |text| left.push(text.to_owned()));
                let mut stream = gate.stream();
                let (mut rest, mut out) = (echo.as_str(), String::new());
                for length in cuts.iter().cycle() {
                    let mut at = (*length).min(rest.len());
                    while !rest.is_char_boundary(at) {
                        at += 1;
                    }
                    let (piece, after) = rest.split_at(at);
                    out += &stream.push(piece);
                    rest = after;
                    if rest.is_empty() {
                        break;
                    }
                }
                out += &stream.finish();
                prop_assert_eq!(&out, &gate.mask(&echo));
                left.push(out);
            }
            for text in &left {
                prop_assert!(!gives_away(text, secret), "{} in {}", secret, text);
            }
            left.clear();
        }
    }
}
