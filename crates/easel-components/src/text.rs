//! A text with references, and perhaps Jinja, that is rendered as a whole.

use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::{Inputs, Resolved};
use easel_core::template::Template;

use crate::behaviour::Call;
use crate::jinja::Jinja;

/// How a value becomes text: appends it.
type Insert = Arc<dyn Fn(&Value, &mut String) + Send + Sync>;

/// A text, ready to be rendered.
pub(crate) struct Text {
    /// What it is made of.
    pub template: Template,
    /// Its Jinja, if it holds any, or why that cannot be used.
    jinja: Option<Result<Jinja, String>>,
    insert: Insert,
}

impl Text {
    /// A text in which values are rendered by `insert`.
    pub(crate) fn new(
        template: Template,
        insert: impl Fn(&Value, &mut String) + Send + Sync + 'static,
    ) -> Text {
        let insert: Insert = Arc::new(insert);
        let jinja = template.jinja.then(|| {
            let insert = insert.clone();
            Jinja::compile(&template, move |value, out| insert(value, out))
        });
        Text {
            template,
            jinja,
            insert,
        }
    }

    /// True if Jinja is in it, so that it cannot be said piece by piece.
    pub(crate) fn has_jinja(&self) -> bool {
        self.jinja.is_some()
    }

    /// The whole text. Jinja that cannot be used is left as it is written, with a warning.
    pub(crate) fn render(&self, call: &Call, inputs: &Inputs) -> String {
        let rendered = match &self.jinja {
            None => return self.render_plainly(inputs),
            Some(Ok(jinja)) => jinja.render(inputs),
            Some(Err(problem)) => Err(problem.clone()),
        };
        rendered.unwrap_or_else(|problem| {
            let name = &call.node().draft.name;
            call.warn(format!(
                "\"{name}\" leaves its Jinja as it is written: {problem}."
            ));
            self.render_plainly(inputs)
        })
    }

    fn render_plainly(&self, inputs: &Inputs) -> String {
        self.template.render_with(inputs, |resolved, out| {
            if let Resolved::Value(value) = resolved {
                (self.insert)(value, out);
            }
        })
    }
}
