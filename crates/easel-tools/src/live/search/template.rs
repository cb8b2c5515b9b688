//! Texts with places in them, as declarations of providers hold them: `/v7/weather/{time_period}`.

use easel_core::{Object, Value};
use serde::Deserialize;

/// A text with places. `{name}` is a place; there is no way to write a literal brace, and no provider needs one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Place(String),
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Template, String> {
        Template::parse(&text)
    }
}

impl Template {
    /// Errors: a brace that is open or stray, or a place without a name.
    pub(super) fn parse(text: &str) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(at);
            let inside = after
                .strip_prefix('{')
                .and_then(|after| after.split_once('}'));
            let Some((name, after)) = inside.filter(|(name, _)| !name.contains('{')) else {
                return Err(format!("the braces in \"{text}\" do not match"));
            };
            if name.trim().is_empty() {
                return Err(format!("\"{text}\" has braces without a name in them"));
            }
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(Piece::Place(name.trim().to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Template(pieces))
    }

    /// What its places name.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Place(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The name of the place, if the text is nothing else.
    fn whole(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Place(name)] => Some(name),
            _ => None,
        }
    }

    /// The same text as one template for each of its lines.
    pub(super) fn lines(&self) -> Vec<Template> {
        let mut lines = vec![Template(Vec::new())];
        for piece in &self.0 {
            let parts: Vec<Piece> = match piece {
                Piece::Text(text) => text
                    .split('\n')
                    .map(|part| Piece::Text(part.to_owned()))
                    .collect(),
                place => vec![place.clone()],
            };
            for (at, part) in parts.into_iter().enumerate() {
                if at > 0 {
                    lines.push(Template(Vec::new()));
                }
                if let Some(line) = lines.last_mut() {
                    line.0.push(part);
                }
            }
        }
        lines
    }

    /// The text with each place replaced; `None` if one of them has nothing to say.
    pub(super) fn render(&self, fill: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Place(name) => text.push_str(&fill(name)?),
            }
        }
        Some(text)
    }
}

/// A value with templates in it: the body of a request, a parameter of its query.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) enum Shape {
    Literal(Value),
    Text(Template),
    List(Vec<Shape>),
    Table(Vec<(String, Shape)>),
}

impl TryFrom<Value> for Shape {
    type Error = String;

    fn try_from(value: Value) -> Result<Shape, String> {
        Ok(match value {
            Value::String(text) => Shape::Text(Template::parse(&text)?),
            Value::Array(items) => {
                let shapes = items.iter().cloned().map(Shape::try_from);
                Shape::List(shapes.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let shapes = members
                    .iter()
                    .map(|(name, value)| Ok((name.to_string(), Shape::try_from(value.clone())?)));
                Shape::Table(shapes.collect::<Result<_, String>>()?)
            }
            other => Shape::Literal(other),
        })
    }
}

impl Shape {
    /// The value with each place replaced. A place that is all of a text keeps the type of what it names. What has
    /// nothing to say is left out, up to whole lists and tables.
    pub(super) fn render(&self, fill: &impl Fn(&str) -> Option<Value>) -> Option<Value> {
        match self {
            Shape::Literal(value) => Some(value.clone()),
            Shape::Text(template) => match template.whole() {
                Some(name) => fill(name),
                None => template
                    .render(|name| fill(name).map(|value| value.to_string()))
                    .map(Value::from),
            },
            Shape::List(shapes) => {
                let items: Vec<Value> = shapes.iter().filter_map(|s| s.render(fill)).collect();
                (!items.is_empty()).then(|| items.into())
            }
            Shape::Table(members) => {
                let rendered = members
                    .iter()
                    .filter_map(|(name, shape)| Some((name.as_str().into(), shape.render(fill)?)));
                let table: Object = rendered.collect();
                (!table.is_empty()).then(|| table.into())
            }
        }
    }

    /// What its places name, at any depth.
    pub(super) fn places(&self) -> Vec<&str> {
        match self {
            Shape::Literal(_) => Vec::new(),
            Shape::Text(template) => template.places().collect(),
            Shape::List(shapes) => shapes.iter().flat_map(Shape::places).collect(),
            Shape::Table(members) => members.iter().flat_map(|(_, s)| s.places()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_member_without_a_value_is_left_out() {
        let shape = json!({"query": "{subject}", "n": "{count}", "filters": {"site": ["{site}"]}, "q": "all:{subject}", "off": false});
        let shape = Shape::try_from(Value::from(shape)).unwrap();
        let fill = |name: &str| match name {
            "subject" => Some(Value::from("sun")),
            "count" => Some(Value::from(5)),
            _ => None,
        };
        assert_eq!(
            shape.render(&fill).unwrap().to_json(),
            json!({"query": "sun", "n": 5, "q": "all:sun", "off": false})
        );
    }

    #[test]
    fn braces_that_do_not_match_are_refused() {
        for text in ["a{b", "a}b", "{}", "{a{b}", "{a}}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        let places = Template::parse("/{a}/x-{b}").unwrap();
        assert_eq!(places.places().collect::<Vec<_>>(), ["a", "b"]);
    }
}
