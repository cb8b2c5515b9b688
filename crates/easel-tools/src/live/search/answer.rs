//! Answers of providers, read by what their declarations say.

use easel_core::{Object, Value};

use super::declaration::{Format, Step};
use super::lookup::Place;
use super::markup::Markup;
use super::section;

/// A body that could be read.
pub(super) enum Document {
    Data(Value),
    Marked(Markup),
}

impl Document {
    /// Errors: what is wrong with the body, in a few words that do not quote it.
    pub(super) fn read(format: Format, body: &str) -> Result<Document, String> {
        let json = |text: &str| {
            let parsed = serde_json::from_str::<Value>(text);
            parsed
                .map(Document::Data)
                .map_err(|error| format!("it is no JSON ({error})"))
        };
        match format {
            Format::Json => json(body),
            Format::Jsonp => {
                let inside = body
                    .split_once('(')
                    .and_then(|(_, rest)| rest.rsplit_once(')'));
                json(inside.map_or(body, |(inside, _)| inside))
            }
            Format::Text => Ok(Document::Data(Value::from(body))),
            Format::Xml | Format::Html => {
                let markup = match format {
                    Format::Html => Markup::html(body),
                    _ => Markup::xml(body),
                };
                match markup.is_empty() {
                    true => Err("it has no markup".to_owned()),
                    false => Ok(Document::Marked(markup)),
                }
            }
        }
    }

    /// The whole.
    pub(super) fn whole(&self) -> Place<'_> {
        match self {
            Document::Data(value) => Place::Data(value),
            Document::Marked(markup) => Place::Marked(markup, None),
        }
    }

    /// The results in it, as the declaration has them.
    ///
    /// Errors: there is no list where it should be.
    pub(super) fn results(&self, step: &Step) -> Result<Vec<Value>, String> {
        let Some(path) = &step.items else {
            return Ok(Vec::new());
        };
        let mut places = match self.whole().items(path) {
            Some(places) => places,
            None if step.may_be_missing => Vec::new(),
            None => return Err(format!("it has no list of results at `{path}`")),
        };
        if let Some(order) = &step.order {
            // What has no number comes last.
            places.sort_by_key(|place| place.number(order).unwrap_or(i64::MAX));
        }
        let results: Vec<Value> = places.iter().map(|place| result(place, step)).collect();
        Ok(match &step.section {
            Some(section) => section::of(section, &results).into_iter().collect(),
            None => results,
        })
    }
}

/// A result: what the provider gave, and the fields that the declaration adds.
fn result(place: &Place<'_>, step: &Step) -> Value {
    let given = match place {
        Place::Data(value) => (*value).clone(),
        Place::Marked(..) => Value::empty_object(),
    };
    if step.fields.is_empty() {
        return given;
    }
    let mut members: Object = given.as_object().cloned().unwrap_or_default();
    for (name, template) in &step.fields {
        if let Some(text) = place.lines(template) {
            members.insert(name.as_str().into(), Value::from(text));
        }
    }
    members.into()
}
