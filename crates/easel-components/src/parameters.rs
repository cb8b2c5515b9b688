//! Parameters that name values or hold texts, and how nodes speak of what is wrong with them.

use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::ReadId;
use easel_core::draft::Field;
use easel_core::event::Fault;
use easel_core::template::{Piece, Template};
use easel_core::workflow::Node;

use crate::behaviour::{Call, Note};
use crate::site::Site;

impl Site<'_> {
    /// The reference at that path. `None` where the parameter is blank.
    ///
    /// Errors: something stands there that is no reference.
    pub(crate) fn reference(
        &self,
        path: &str,
        written: Option<&Value>,
    ) -> Result<Option<ReadId>, Fault> {
        match self.field(path) {
            Some(Field::Reference(read)) => Ok(Some(*read)),
            Some(Field::Template(template)) if template.single().is_some() => Ok(template.single()),
            _ if written.is_none_or(is_blank) => Ok(None),
            _ => Err(self.wrong(
                path,
                "is no reference",
                "Name a value, such as `sys.query` or `Agent:Name@content`",
            )),
        }
    }

    /// The text at that path, with the references in it.
    pub(crate) fn template(&self, path: &str, written: Option<&Value>) -> Template {
        match self.field(path) {
            Some(Field::Template(template)) => template.clone(),
            Some(Field::Reference(read)) => Template {
                pieces: vec![Piece::Read(*read)],
                jinja: false,
            },
            _ => written.map_or_else(Template::default, |text| {
                Template::literal(&text.to_string())
            }),
        }
    }
}

/// True for what counts as not set: `null` and blank text.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// The node cannot use a value it was given: what about it (to be read after its name), and what to do.
pub(crate) fn bad_input(node: &Node, problem: &str, fix: &str) -> Fault {
    let name = &node.draft.name;
    Fault::new("bad_input", format!("\"{name}\" {problem}. {fix}."))
}

/// The reference as it was written, for messages to people.
pub(crate) fn written(node: &Node, read: ReadId) -> &str {
    let reference = node.draft.reads.get(read.0 as usize);
    reference.map_or("a reference", |reference| &reference.text)
}

impl Call {
    /// Leaves a warning for the record and for people: a sentence.
    pub(crate) fn warn(&self, sentence: impl Into<Arc<str>>) {
        self.run
            .wire
            .note(self.execute.node, Note::Warning(sentence.into()));
    }

    /// Warns of each reference of a text that shows nothing because there is no value (design.md §4).
    pub(crate) fn warn_of_blanks(&self, text: &Template) {
        for read in text.blanks(self.inputs()) {
            let (name, reference) = (&self.node().draft.name, written(self.node(), read));
            self.warn(format!(
                "\"{name}\" shows nothing for {reference}, which has no value."
            ));
        }
    }
}
