//! An event as a line of JSON.
//!
//! A run has a few events a node, and most of what they say are plain texts and times. A general serialiser looks at
//! each byte of each key and text to see whether it must be escaped; here that is asked once for a whole text.

use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::Inputs;
use easel_core::event::Ports;
use easel_core::workflow::Node;
use serde::Serialize;

use super::{Key, Members, RunEvent, Subject};

/// Writes an event.
pub(super) fn write(event: &RunEvent, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"event\":\"");
    out.extend_from_slice(event.kind.name().as_bytes());
    out.extend_from_slice(b"\",\"data\":{");
    let mut line = Line { out, first: true };
    // Nothing that an event holds has keys that are no texts, which is all that could go wrong.
    let written = event.kind.write(&mut line);
    debug_assert!(written.is_ok(), "{written:?}");
    out.extend_from_slice(b"}}");
}

/// An object in the making.
struct Line<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl Line<'_> {
    fn key(&mut self, key: Key) {
        let comma = usize::from(std::mem::take(&mut self.first));
        self.out.extend_from_slice(&key.json.as_bytes()[comma..]);
    }
}

impl Members for Line<'_> {
    type Error = serde_json::Error;

    fn value(&mut self, key: Key, value: &impl Serialize) -> Result<(), serde_json::Error> {
        self.key(key);
        serde_json::to_writer(&mut *self.out, value)
    }

    fn text(&mut self, key: Key, value: &str) -> Result<(), serde_json::Error> {
        self.key(key);
        text(value, self.out);
        Ok(())
    }

    fn ports(&mut self, key: Key, ports: &Ports) -> Result<(), serde_json::Error> {
        self.key(key);
        members(ports.iter(), self.out)
    }

    fn read(
        &mut self,
        key: Key,
        subject: &Subject,
        inputs: &Inputs,
    ) -> Result<(), serde_json::Error> {
        self.key(key);
        members(subject.read_values(inputs), self.out)
    }

    fn subject(&mut self, subject: &Subject) -> Result<(), serde_json::Error> {
        let comma = usize::from(std::mem::take(&mut self.first));
        let label = subject.workflow.label(subject.node, label);
        self.out
            .extend_from_slice(label.get(comma..).unwrap_or_default());
        Ok(())
    }

    fn seconds(&mut self, key: Key, milliseconds: i64) -> Result<(), serde_json::Error> {
        // So that these have few enough digits to be floats without loss.
        if !(0..1_000_000_000_000_000).contains(&milliseconds) {
            return self.value(key, &(milliseconds as f64 / 1000.0));
        }
        self.key(key);
        let (whole, mut rest) = (milliseconds / 1000, milliseconds % 1000);
        serde_json::to_writer(&mut *self.out, &whole)?;
        self.out.push(b'.');
        let mut unit = 100;
        loop {
            self.out.push(b'0' + (rest / unit) as u8);
            rest %= unit;
            if rest == 0 {
                return Ok(());
            }
            unit /= 10;
        }
    }
}

/// The members that name a node, with a comma before them.
fn label(node: &Node) -> Vec<u8> {
    let mut out = Vec::new();
    let names = [
        (key!("component_id"), &node.draft.id),
        (key!("component_name"), &node.draft.name),
        (key!("component_type"), &node.draft.component),
    ];
    for (key, name) in names {
        out.extend_from_slice(key.json.as_bytes());
        text(name, &mut out);
    }
    out
}

/// An object with these members.
fn members<'a>(
    members: impl Iterator<Item = (&'a Arc<str>, &'a Value)>,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    out.push(b'{');
    for (at, (name, value)) in members.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        text(name, out);
        out.push(b':');
        match value {
            Value::String(said) => text(said, out),
            other => serde_json::to_writer(&mut *out, other)?,
        }
    }
    out.push(b'}');
    Ok(())
}

/// A text in quotes.
fn text(text: &str, out: &mut Vec<u8>) {
    if has_special(text.as_bytes()) {
        // Writing a text into memory cannot fail.
        let written = serde_json::to_writer(out, text);
        debug_assert!(written.is_ok(), "{written:?}");
        return;
    }
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Whether something must be escaped. Takes sixteen bytes at once, which a processor can.
fn has_special(bytes: &[u8]) -> bool {
    let special = |&byte: &u8| (byte < 0x20) | (byte == b'"') | (byte == b'\\');
    let (blocks, rest) = bytes.as_chunks::<16>();
    let in_block = |block: &[u8; 16]| {
        block
            .iter()
            .fold(false, |found, byte| found | special(byte))
    };
    blocks.iter().any(in_block) || rest.iter().any(special)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key {
        name: "k",
        json: ",\"k\":",
    };

    fn line(write: impl FnOnce(&mut Line<'_>)) -> String {
        let mut out = Vec::new();
        write(&mut Line {
            out: &mut out,
            first: true,
        });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_are_written_as_floats_are() {
        for milliseconds in [
            0,
            1,
            10,
            100,
            1_000,
            1_500,
            1_050,
            -1,
            -1_500,
            1_767_323_045_123,
            1_767_323_045_000,
            999_999_999_999_999,
            i64::MAX,
        ] {
            let expected = serde_json::to_string(&(milliseconds as f64 / 1000.0)).unwrap();
            let written = line(|line| line.seconds(KEY, milliseconds).unwrap());
            assert_eq!(written, format!("\"k\":{expected}"));
        }
    }

    #[test]
    fn texts_are_escaped() {
        for said in [
            "",
            "plain",
            "a \"quote\"",
            "back\\slash",
            "new\nline",
            "\u{1}",
            "é😀",
            "\u{7f}",
        ] {
            let expected = serde_json::to_string(said).unwrap();
            let written = line(|line| line.text(KEY, said).unwrap());
            assert_eq!(written, format!("\"k\":{expected}"));
        }
    }

    #[test]
    fn members_are_kept_apart() {
        let written = line(|line| {
            line.text(KEY, "x").unwrap();
            line.value(KEY, &[1, 2]).unwrap();
        });
        assert_eq!(written, r#""k":"x","k":[1,2]"#);
    }
}
