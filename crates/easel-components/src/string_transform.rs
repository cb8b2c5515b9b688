//! StringTransform: splits a text into a list, or merges values into a text (spec/canvas-components §4.1).

use std::fmt::Write;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use easel_core::Value;
use easel_core::bind::{ReadId, Resolved};
use easel_core::event::{Completion, Fault, Ports};
use easel_core::template::{Piece, write_joined};
use easel_core::workflow::Node;

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::parameters::{bad_input, written};
use crate::site::Site;
use crate::text::Text;

/// Joins lists where the file names no delimiter.
const DELIMITER: &str = ",";

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let result: Arc<str> = "result".into();
    let site = Site::of_node(node);
    let delimiters: Vec<&str> = site
        .items("delimiters")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    match site.text("method") {
        "split" => Ok(Arc::new(Split {
            text: site.reference("split_ref", site.get("split_ref"))?,
            at: Cut::of(&site, &delimiters)?,
            result,
        })),
        "merge" => {
            let text = site.template("script", site.get("script"));
            let delimiter = delimiters.first().copied().unwrap_or(DELIMITER).to_owned();
            Ok(Arc::new(Merge {
                text: Text::new(text, move |value, out| write(value, &delimiter, out)),
                result,
            }))
        }
        _ => Err(site.wrong(
            "method",
            "is neither `split` nor `merge`",
            "Choose one of them",
        )),
    }
}

/// The method `split`.
struct Split {
    text: Option<ReadId>,
    at: Cut,
    result: Arc<str>,
}

/// Where a text is cut.
enum Cut {
    /// At each of these; of several at one place the first in the list.
    At(AhoCorasick),
    /// Between all characters: there are only empty delimiters.
    Everywhere,
}

impl Cut {
    fn of(site: &Site<'_>, delimiters: &[&str]) -> Result<Cut, Fault> {
        if delimiters.is_empty() {
            return Err(site.wrong("delimiters", "is empty", "Name at least one delimiter"));
        }
        let delimiters: Vec<&&str> = delimiters.iter().filter(|d| !d.is_empty()).collect();
        if delimiters.is_empty() {
            return Ok(Cut::Everywhere);
        }
        let built = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(delimiters);
        built.map(Cut::At).map_err(|error| {
            site.wrong(
                "delimiters",
                &format!("cannot be used ({error})"),
                "Shorten it",
            )
        })
    }

    fn pieces(&self, text: &str) -> Vec<Value> {
        match self {
            Cut::Everywhere => text
                .chars()
                .map(|c| Value::from(c.encode_utf8(&mut [0; 4]) as &str))
                .collect(),
            Cut::At(delimiters) => {
                let mut pieces = Vec::new();
                let mut start = 0;
                for found in delimiters.find_iter(text) {
                    pieces.push(Value::from(
                        text.get(start..found.start()).unwrap_or_default(),
                    ));
                    start = found.end();
                }
                pieces.push(Value::from(text.get(start..).unwrap_or_default()));
                pieces
            }
        }
    }
}

impl Split {
    fn split(&self, node: &Node, value: Option<&Value>) -> Result<Vec<Value>, Fault> {
        match value {
            None | Some(Value::Null) => Ok(self.at.pieces("")),
            Some(Value::String(text)) => Ok(self.at.pieces(text)),
            Some(other) => {
                let name = self.text.map_or("it", |read| written(node, read));
                let problem = format!(
                    "can split text only, and {name} is of type {}",
                    other.type_name()
                );
                Err(bad_input(
                    node,
                    &problem,
                    "Name a text, or use `merge` to make one",
                ))
            }
        }
    }
}

impl Behaviour for Split {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let value = self.text.and_then(|read| call.inputs().get(read).value());
        let pieces = self.split(call.node(), value);
        Run::Done(pieces.map_err(Into::into).map(|pieces| Completion {
            ports: Ports::one(self.result.clone(), pieces),
            ..Completion::default()
        }))
    }
}

/// The method `merge`.
struct Merge {
    text: Text,
    result: Arc<str>,
}

impl Merge {
    fn merge(&self, call: &Call) -> Value {
        // A text that is there already is shared.
        match self.text.template.pieces.as_slice() {
            _ if self.text.has_jinja() => {}
            [Piece::Text(text)] => return Value::String(text.clone()),
            [Piece::Read(read)] => {
                if let Resolved::Value(Value::String(text)) = call.inputs().get(*read) {
                    return Value::String(text.clone());
                }
            }
            _ => {}
        }
        Value::from(self.text.render(call, call.inputs()))
    }
}

impl Behaviour for Merge {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::Done(Ok(Completion {
            ports: Ports::one(self.result.clone(), self.merge(&call)),
            ..Completion::default()
        }))
    }
}

/// Appends a value as `merge` inserts it: a list as its elements with the delimiter between them.
fn write(value: &Value, delimiter: &str, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(text),
        Value::Array(items) => write_joined(items, delimiter, out),
        other => {
            // Writing to a string does not fail.
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::testing::Trial;

    fn split(text: Json, delimiters: Json) -> Json {
        let params = json!({"method": "split", "split_ref": "env.t", "delimiters": delimiters});
        Trial::new("StringTransform", params)
            .given("env.t", text)
            .run()
            .port("result")
    }

    fn merge(script: &str, delimiter: &str) -> Json {
        let params = json!({"method": "merge", "script": script, "delimiters": [delimiter]});
        let trial = Trial::new("StringTransform", params).given("env.s", json!("text"));
        let trial = trial
            .given("env.l", json!(["x", 1, null, {"k": true}]))
            .given("env.d", json!({"é": 1.0}));
        trial.given("env.none", Json::Null).run().port("result")
    }

    #[test]
    fn a_text_is_cut_at_every_delimiter_and_empty_pieces_stay() {
        assert_eq!(
            split(json!("a,b;c,"), json!([",", ";"])),
            json!(["a", "b", "c", ""])
        );
        assert_eq!(
            split(json!("a--b-c"), json!(["--", "-"])),
            json!(["a", "b", "c"])
        );
        assert_eq!(
            split(json!("a--b"), json!(["-", "--"])),
            json!(["a", "", "b"]),
            "the first in the list wins"
        );
        assert_eq!(split(json!("日,本"), json!([","])), json!(["日", "本"]));
    }

    #[test]
    fn nothing_is_one_empty_piece() {
        assert_eq!(split(json!(""), json!([","])), json!([""]));
        assert_eq!(split(Json::Null, json!([","])), json!([""]));
    }

    #[test]
    fn an_empty_delimiter_cuts_between_characters() {
        assert_eq!(split(json!("añb"), json!([""])), json!(["a", "ñ", "b"]));
        assert_eq!(
            split(json!("a,b"), json!(["", ","])),
            json!(["a", "b"]),
            "unless there is another one"
        );
    }

    #[test]
    fn what_is_no_text_cannot_be_split() {
        let params = json!({"method": "split", "split_ref": "env.t", "delimiters": [","]});
        let tried = Trial::new("StringTransform", params)
            .given("env.t", json!([1]))
            .run();
        assert_eq!(&*tried.fault().code, "bad_input");
        assert_eq!(
            tried.fault().to_string(),
            "\"X\" can split text only, and env.t is of type array. Name a text, or use `merge` to make one."
        );
    }

    #[test]
    fn values_are_merged_into_a_text() {
        assert_eq!(
            merge("<{env.s}> {env.d} {env.none}|{env.gone}|", ","),
            json!("<text> {\"é\": 1.0} ||")
        );
        assert_eq!(merge("no references", ","), json!("no references"));
    }

    #[test]
    fn a_merged_list_is_joined_with_the_first_delimiter() {
        assert_eq!(
            merge("[{env.l}]", " / "),
            json!("[x / 1 /  / {\"k\": true}]")
        );
        assert_eq!(
            merge("{% if true %}[{env.l}]{% endif %}", "+"),
            json!("[x+1++{\"k\": true}]")
        );
    }

    #[test]
    fn jinja_sees_typed_values() {
        let script =
            "{% for x in env.l %}<{{ x }}>{% endfor %} {{ env.s | upper }} {{ {env.d}['é'] + 1 }}";
        assert_eq!(
            merge(script, ","),
            json!("<x><1><><{\"k\": true}> TEXT 2.0")
        );
    }

    #[test]
    fn jinja_that_cannot_be_read_stays_as_it_is_written() {
        let params = json!({"method": "merge", "script": "{% if %}{env.s}{% endif %}"});
        let tried = Trial::new("StringTransform", params)
            .given("env.s", json!("text"))
            .run();
        assert_eq!(tried.port("result"), json!("{% if %}text{% endif %}"));
        assert_eq!(tried.warnings.len(), 1, "{:?}", tried.warnings);
    }

    #[test]
    fn a_method_nobody_knows_is_named() {
        let tried = Trial::new("StringTransform", json!({"method": "upper"})).run();
        assert_eq!(
            tried.fault().to_string(),
            "\"X\" cannot run: its parameter `method` is neither `split` nor `merge`. Choose one of them."
        );
    }
}
