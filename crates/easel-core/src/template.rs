//! Text with references in it, compiled to a list of pieces.

use std::fmt::Write;
use std::sync::Arc;

use crate::Value;
use crate::bind::{Inputs, ReadId, Resolved};

/// A text in which references were found when the workflow loaded. Rendering never scans text again, neither its own
/// nor what was inserted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// Literal text and references, in order.
    pub pieces: Vec<Piece>,
    /// True if the text holds Jinja statements or expressions beside its references. Its literal pieces are then Jinja
    /// source: see [`Template::jinja_source`].
    pub jinja: bool,
}

/// One piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Literal text.
    Text(Arc<str>),
    /// A reference to be inserted.
    Read(ReadId),
    /// A reference inside a Jinja block, where it stands for a typed value.
    Name(ReadId),
}

/// How values become text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// Texts as they are, `null` and what is missing as nothing, all else as JSON that keeps non-ASCII characters.
    Display,
    /// The same, but a list as its elements with commas between (the tips of a form, spec/canvas-engine §2.5e).
    Joined,
}

impl Rendering {
    /// Appends a value as text; what is missing or still arriving adds nothing.
    pub fn write(self, resolved: &Resolved, out: &mut String) {
        match (resolved.value(), self) {
            (Some(Value::String(text)), _) => out.push_str(text),
            (Some(Value::Array(items)), Rendering::Joined) => write_joined(items, ",", out),
            (Some(value), _) => write_value(value, out),
            (None, _) => {}
        }
    }
}

fn write_value(value: &Value, out: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(out, "{value}");
}

/// Appends the elements of a list as text, with the separator between them.
pub fn write_joined(items: &[Value], separator: &str, out: &mut String) {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push_str(separator);
        }
        write_value(item, out);
    }
}

impl Template {
    /// A template without references.
    pub fn literal(text: &str) -> Template {
        let mut template = Template::default();
        template.push_text(text);
        template
    }

    /// Appends literal text.
    pub(crate) fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(last)) => *last = format!("{last}{text}").into(),
            _ => self.pieces.push(Piece::Text(text.into())),
        }
    }

    /// The references in it, in order; one that stands twice comes twice.
    pub fn reads(&self) -> impl Iterator<Item = ReadId> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Read(read) | Piece::Name(read) => Some(*read),
        })
    }

    /// The reference that is the whole text. Where a value is wanted rather than text, it keeps its type.
    pub fn single(&self) -> Option<ReadId> {
        match self.pieces.as_slice() {
            [Piece::Read(read)] => Some(*read),
            _ => None,
        }
    }

    /// The references for which nothing is inserted because they are missing or `null`: worth a warning.
    pub fn blanks(&self, inputs: &Inputs) -> impl Iterator<Item = ReadId> {
        self.reads().filter(|read| {
            matches!(
                inputs.get(*read),
                Resolved::Missing | Resolved::Value(Value::Null)
            )
        })
    }

    /// The text with every reference replaced. A stream renders as nothing: who drains streams walks the pieces itself.
    ///
    /// Jinja stays as it was written: this is also what is shown when a text's Jinja fails.
    pub fn render(&self, inputs: &Inputs, rendering: Rendering) -> String {
        self.render_with(inputs, |resolved, out| rendering.write(resolved, out))
    }

    /// The same with a rendering of the caller's own, which appends the text of a value.
    pub fn render_with(
        &self,
        inputs: &Inputs,
        mut write: impl FnMut(&Resolved, &mut String),
    ) -> String {
        let mut out = String::with_capacity(self.expected_length(inputs));
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Read(read) | Piece::Name(read) => write(inputs.get(*read), &mut out),
            }
        }
        out
    }

    /// Exact for texts, a guess for all else.
    fn expected_length(&self, inputs: &Inputs) -> usize {
        let lengths = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Read(read) | Piece::Name(read) => match inputs.get(*read) {
                Resolved::Value(Value::String(text)) => text.len(),
                _ => 16,
            },
        });
        lengths.sum()
    }

    /// The template as source for a Jinja engine, to be compiled once.
    ///
    /// A read `n` is the variable [`jinja_name`]`(n)`, to be bound to its typed value. In running text it goes through
    /// the filter [`JINJA_TEXT`], which the engine must provide and which renders a value as [`Template::render`] would.
    pub fn jinja_source(&self) -> String {
        let mut source = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => source.push_str(text),
                Piece::Name(read) => source.push_str(&jinja_name(*read)),
                Piece::Read(read) => {
                    // A brace of the text must not run into those of the expression.
                    let end = source.trim_end_matches('{').len();
                    let braces = source.split_off(end);
                    if !braces.is_empty() {
                        source.push_str(&format!("{{{{ '{braces}' }}}}"));
                    }
                    let name = jinja_name(*read);
                    source.push_str(&format!("{{{{ {name}|{JINJA_TEXT} }}}}"));
                }
            }
        }
        source
    }
}

/// The name of the filter through which [`Template::jinja_source`] inserts values into running text.
pub const JINJA_TEXT: &str = "easel_text";

/// The variable that stands for a read in [`Template::jinja_source`].
pub fn jinja_name(read: ReadId) -> String {
    format!("easel_read_{}", read.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::json;

    fn inputs(values: &[&str]) -> Inputs {
        Inputs(
            values
                .iter()
                .map(|text| Resolved::Value(json(text)))
                .collect(),
        )
    }

    fn template(pieces: &[&str]) -> Template {
        let piece = |text: &&str| match text.strip_prefix('#') {
            Some(read) => Piece::Read(ReadId(read.parse().unwrap())),
            None => Piece::Text((*text).into()),
        };
        Template {
            pieces: pieces.iter().map(piece).collect(),
            jinja: false,
        }
    }

    #[test]
    fn values_are_inserted_as_people_read_them() {
        let template = template(&[
            "d=", "#0", " l=", "#1", " ", "#2", "|", "#3", "|", "#4", "|",
        ]);
        let inputs = inputs(&[r#"{"a": "é"}"#, r#"["x", 1, null]"#, "1.0", "true", "null"]);
        assert_eq!(
            template.render(&inputs, Rendering::Display),
            r#"d={"a": "é"} l=["x", 1, null] 1.0|true||"#
        );
    }

    #[test]
    fn an_inserted_value_is_never_read_as_a_template() {
        let template = template(&["<", "#0", "#1", ">"]);
        let inputs = inputs(&[r#""{env.x} {{ 1 }} \\1 $&""#, r#""{""#]);
        assert_eq!(
            template.render(&inputs, Rendering::Display),
            r"<{env.x} {{ 1 }} \1 $&{>"
        );
    }

    #[test]
    fn tips_join_the_elements_of_a_list() {
        let template = template(&["choose: ", "#0", " of ", "#1"]);
        let inputs = inputs(&[r#"["a", 1, {"k": null}]"#, r#"{"n": [1, 2]}"#]);
        assert_eq!(
            template.render(&inputs, Rendering::Joined),
            r#"choose: a,1,{"k": null} of {"n": [1, 2]}"#
        );
    }

    #[test]
    fn what_is_missing_or_null_is_reported_and_renders_as_nothing() {
        let template = template(&["[", "#0", "#1", "#2", "#3", "]", "#9"]);
        let inputs = Inputs(
            [
                Resolved::Missing,
                Resolved::Value(Value::Null),
                Resolved::Value(Value::from("")),
                Resolved::Value(Value::from("x")),
            ]
            .into(),
        );
        assert_eq!(template.render(&inputs, Rendering::Display), "[x]");
        let blanks: Vec<u32> = template.blanks(&inputs).map(|read| read.0).collect();
        assert_eq!(blanks, [0, 1, 9], "the empty text is no blank");
    }

    #[test]
    fn a_text_that_is_one_reference_keeps_the_type_of_its_value() {
        assert_eq!(template(&["#3"]).single(), Some(ReadId(3)));
        assert_eq!(template(&[" ", "#3"]).single(), None);
        assert_eq!(template(&["#3", "#3"]).single(), None);
        assert_eq!(Template::literal("x").single(), None);
        assert_eq!(Template::literal(""), Template::default());
    }

    #[test]
    fn a_caller_may_render_values_its_own_way() {
        let template = template(&["[", "#0", "]"]);
        let text = template.render_with(&inputs(&[r#"["x", "y"]"#]), |resolved, out| {
            if let Some(Value::Array(items)) = resolved.value() {
                write_joined(items, " / ", out);
            }
        });
        assert_eq!(text, "[x / y]");
    }

    #[test]
    fn jinja_source_names_the_values_and_keeps_the_braces_of_the_text() {
        let template = Template {
            pieces: vec![
                Piece::Text("{% if ".into()),
                Piece::Name(ReadId(0)),
                Piece::Text(" %}{".into()),
                Piece::Read(ReadId(1)),
                Piece::Text("}{% endif %}".into()),
            ],
            jinja: true,
        };
        assert_eq!(
            template.jinja_source(),
            "{% if easel_read_0 %}{{ '{' }}{{ easel_read_1|easel_text }}}{% endif %}"
        );
    }
}
