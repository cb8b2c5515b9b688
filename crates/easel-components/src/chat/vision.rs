//! Images among the values that a prompt refers to: they go to the model as images, not as text.

use std::borrow::Cow;
use std::sync::Arc;

use easel_core::bind::{Inputs, Resolved};
use easel_core::template::{Rendering, Template};
use easel_core::{Object, Value};
use easel_models::{Content, Message, Part};
use indexmap::IndexSet;

/// Images as data URIs, each once, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Images(IndexSet<Arc<str>>);

impl Images {
    /// The text of a template, without the images in what it refers to: these are kept.
    pub(crate) fn render(&mut self, template: &Template, inputs: &Inputs) -> String {
        template.render_with(inputs, |resolved, out| match resolved {
            Resolved::Value(value) => {
                let value = self.taken_from(value).into_owned();
                Rendering::Display.write(&Resolved::Value(value), out);
            }
            Resolved::Missing | Resolved::Stream(_) => {}
        })
    }

    /// Keeps every image in a value, at any depth, and gives what is left of it.
    pub(crate) fn taken_from<'v>(&mut self, value: &'v Value) -> Cow<'v, Value> {
        if !holds_image(value) {
            return Cow::Borrowed(value);
        }
        Cow::Owned(match value {
            Value::String(image) => {
                self.0.insert(image.clone());
                Value::from("")
            }
            Value::Array(items) => {
                let mut left = Vec::with_capacity(items.len());
                for item in items.iter() {
                    let rest = self.taken_from(item);
                    if !is_image(item) {
                        left.push(rest.into_owned());
                    }
                }
                left.into()
            }
            Value::Object(members) => {
                let mut left = Object::with_capacity(members.len());
                for (name, member) in members.iter() {
                    let rest = self.taken_from(member);
                    if !is_image(member) {
                        left.insert(name.clone(), rest.into_owned());
                    }
                }
                left.into()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    /// True if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the images to a message, after its text.
    pub(crate) fn add_to(&self, message: &mut Message) {
        let text = message.content.text();
        let text = (!text.trim().is_empty()).then(|| Part::text(text));
        let images = self.0.iter().map(|image| Part::image(image.clone()));
        message.content = Content::Parts(text.into_iter().chain(images).collect());
    }
}

fn is_image(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.starts_with("data:image/"))
}

fn holds_image(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_image),
        Value::Object(members) => members.values().any(holds_image),
        other => is_image(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn images_are_taken_out_at_any_depth_and_kept_once() {
        let image = "data:image/png;base64,AA==";
        let value = Value::from(json!({"a": [image, "text", {"b": image, "c": 1}], "d": image}));
        let mut images = Images::default();
        let left = images.taken_from(&value);
        assert_eq!(left.to_json(), json!({"a": ["text", {"c": 1}]}));
        assert_eq!(images.0.len(), 1);

        let mut message = Message::user(" ");
        images.add_to(&mut message);
        assert_eq!(message.content, Content::Parts(vec![Part::image(image)]));
    }

    #[test]
    fn a_value_without_images_is_not_copied() {
        let value = Value::from(json!(["data:text/plain,a", 1, null]));
        assert!(matches!(
            Images::default().taken_from(&value),
            Cow::Borrowed(_)
        ));
    }
}
