//! Jinja in the texts of Message and StringTransform: compiled once, with typed values, within limits.
//!
//! A text that holds Jinja is compiled from its pieces ([`Template::jinja_source`]): references in statements and
//! expressions stand for typed values, references in running text are inserted as everywhere else. What is inserted is
//! never read as Jinja.
//!
//! What an expression prints is spelled as an inserted value would be: `null` and what is undefined as nothing, lists
//! and objects as JSON. Nothing is escaped, no other text can be included, and undefined members may be asked for
//! further members.

use std::sync::Arc;

use easel_core::bind::{Inputs, ReadId, Resolved};
use easel_core::template::{JINJA_TEXT, Template, jinja_name};
use easel_core::value::MAX_DEPTH;
use easel_core::{Number, Object, Value};
use minijinja::value::{
    Enumerator, Kwargs, Object as Dynamic, ObjectRepr, Value as Jinjan, ValueKind,
};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use minijinja_contrib::pycompat::unknown_method_callback;

/// Steps a rendering may take; 64 bytes of output are one as well.
const FUEL: u64 = 100_000;

/// Bytes of statements and expressions a text may have. What is written between them counts for nothing.
const MOST_JINJA: usize = 16 * 1024;

/// Room for compiling and rendering. The engine goes down into chains of operators and into values without counting, and
/// with the limits above needs at most half of this.
const STACK: usize = 64 * 1024 * 1024;

/// The name of the text in error messages.
const NAME: &str = "text";

/// A text with Jinja, compiled.
pub(crate) struct Jinja {
    environment: Environment<'static>,
    /// The references in it, each with the name of its variable.
    variables: Vec<(String, ReadId)>,
}

impl Jinja {
    /// Compiles a text. `insert` renders a value in running text.
    ///
    /// Errors: what is wrong with it, as a phrase.
    pub(crate) fn compile(
        text: &Template,
        insert: impl Fn(&Value, &mut String) + Send + Sync + 'static,
    ) -> Result<Jinja, String> {
        let source = text.jinja_source();
        let jinja = bytes_between(&source, "{%", "%}") + bytes_between(&source, "{{", "}}");
        if jinja > MOST_JINJA {
            return Err(format!(
                "its statements and expressions are {jinja} bytes long, {MOST_JINJA} are the most"
            ));
        }
        let mut environment = environment(insert);
        stacker::grow(STACK, || environment.add_template_owned(NAME, source))
            .map_err(|error| error.to_string())?;
        let mut reads: Vec<ReadId> = text.reads().collect();
        reads.sort_unstable();
        reads.dedup();
        Ok(Jinja {
            environment,
            variables: reads
                .into_iter()
                .map(|read| (jinja_name(read), read))
                .collect(),
        })
    }

    /// Renders the text.
    ///
    /// Errors: why it cannot be rendered, as a phrase.
    pub(crate) fn render(&self, inputs: &Inputs) -> Result<String, String> {
        let render = || {
            let template = self.environment.get_template(NAME)?;
            let variables = self.variables.iter().map(|(name, read)| {
                let value = match inputs.get(*read) {
                    Resolved::Value(value) => to_jinja(value),
                    Resolved::Missing | Resolved::Stream(_) => Jinjan::UNDEFINED,
                };
                (name.as_str(), value)
            });
            template.render(Jinjan::from_pairs(variables))
        };
        stacker::grow(STACK, render).map_err(|error: Error| match error.kind() {
            ErrorKind::OutOfFuel => "it takes too many steps, or makes too long a text".to_owned(),
            _ => error.to_string(),
        })
    }
}

fn environment(
    insert: impl Fn(&Value, &mut String) + Send + Sync + 'static,
) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(unknown_method_callback);
    environment.set_formatter(|out, _, value| match value.as_str() {
        Some(text) => Ok(out.write_str(text)?),
        None => Ok(write!(out, "{}", from_jinja(value)?)?),
    });
    environment.add_filter("tojson", to_json);
    environment.add_filter(JINJA_TEXT, move |value: Jinjan| -> Result<String, Error> {
        let mut text = String::new();
        insert(&from_jinja(&value)?, &mut text);
        Ok(text)
    });
    environment
}

/// How many bytes stand between such marks.
fn bytes_between(source: &str, open: &str, close: &str) -> usize {
    let parts = source.split(open).skip(1);
    parts
        .map(|part| part.find(close).unwrap_or(part.len()))
        .sum()
}

/// The filter `tojson`: members in their order, non-ASCII characters as they are.
fn to_json(value: Jinjan, indent: Option<usize>, arguments: Kwargs) -> Result<String, Error> {
    /// Blanks a level at most.
    const WIDEST: usize = 8;
    let named: Option<usize> = arguments.get("indent")?;
    arguments.assert_all_used()?;
    let value = from_jinja(&value)?;
    if let Some(width) = indent.or(named) {
        let blanks = [b' '; WIDEST];
        let blanks = blanks.get(..width).unwrap_or(&blanks);
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(blanks);
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
        return match serde::Serialize::serialize(&value, &mut serializer) {
            Ok(()) => Ok(String::from_utf8_lossy(&out).into_owned()),
            Err(error) => Err(Error::new(ErrorKind::BadSerialization, error.to_string())),
        };
    }
    Ok(match value {
        Value::Null | Value::String(_) => value.to_json_text(),
        other => other.to_string(),
    })
}

/// A list or an object, shared with the engine instead of copied.
#[derive(Debug)]
struct Shared(Value);

impl Dynamic for Shared {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        match self.0 {
            Value::Array(_) => ObjectRepr::Seq,
            _ => ObjectRepr::Map,
        }
    }

    fn get_value(self: &Arc<Self>, key: &Jinjan) -> Option<Jinjan> {
        let found = match &self.0 {
            Value::Array(items) => items.get(key.as_usize()?),
            Value::Object(members) => members.get(key.as_str()?),
            _ => None,
        };
        found.map(to_jinja)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match &self.0 {
            Value::Array(items) => Enumerator::Seq(items.len()),
            Value::Object(members) => {
                let keys = members.keys().cloned();
                Enumerator::Values(keys.map(Jinjan::from).collect())
            }
            _ => Enumerator::Empty,
        }
    }

    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.0, f)
    }
}

fn to_jinja(value: &Value) -> Jinjan {
    match value {
        Value::Null => Jinjan::from(()),
        Value::Bool(b) => Jinjan::from(*b),
        Value::Number(Number::Int(n)) => Jinjan::from(*n),
        Value::Number(Number::Big(n)) => Jinjan::from(*n),
        Value::Number(Number::Float(n)) => Jinjan::from(*n),
        Value::String(text) => Jinjan::from(text.clone()),
        Value::Array(_) | Value::Object(_) => Jinjan::from_object(Shared(value.clone())),
    }
}

/// A value that Jinja made, as one of ours. A number beyond ours becomes a float.
fn from_jinja(value: &Jinjan) -> Result<Value, Error> {
    from_jinja_within(value, MAX_DEPTH)
}

fn from_jinja_within(value: &Jinjan, levels: usize) -> Result<Value, Error> {
    if let Some(shared) = value.downcast_object_ref::<Shared>() {
        return Ok(shared.0.clone());
    }
    let inside = || {
        levels.checked_sub(1).ok_or_else(|| {
            let detail = format!("a value is nested deeper than {MAX_DEPTH} levels");
            Error::new(ErrorKind::InvalidOperation, detail)
        })
    };
    Ok(match value.kind() {
        ValueKind::Undefined | ValueKind::None => Value::Null,
        ValueKind::Bool => Value::from(value.is_true()),
        ValueKind::Number => number(value),
        ValueKind::Seq | ValueKind::Iterable => {
            let levels = inside()?;
            let items = value.try_iter()?.checked();
            let items = items.map(|item| from_jinja_within(&item?, levels));
            items.collect::<Result<Vec<Value>, Error>>()?.into()
        }
        ValueKind::Map => {
            let levels = inside()?;
            let mut members = Object::new();
            for key in value.try_iter()?.checked() {
                let key = key?;
                let member = from_jinja_within(&value.get_item(&key)?, levels)?;
                members.insert(key.to_string().into(), member);
            }
            members.into()
        }
        ValueKind::Invalid => {
            return Err(Error::new(ErrorKind::InvalidOperation, value.to_string()));
        }
        _ => Value::from(value.to_string()),
    })
}

fn number(value: &Jinjan) -> Value {
    if value.is_integer() {
        if let Ok(n) = i64::try_from(value.clone()) {
            return Value::from(n);
        }
        if let Ok(n) = u64::try_from(value.clone()) {
            return Value::from(n);
        }
    }
    f64::try_from(value.clone()).map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use easel_core::template::Piece;
    use serde_json::{Value as Json, json};

    use super::*;

    fn shown(value: &Value, out: &mut String) {
        out.push_str(&value.to_string());
    }

    fn compile(source: &str) -> Result<Jinja, String> {
        Jinja::compile(&Template::literal(source), shown)
    }

    fn rendered(source: &str) -> Result<String, String> {
        compile(source)?.render(&Inputs::default())
    }

    /// Renders with one reference, which stands at each `#`.
    fn with(source: &str, value: Json) -> String {
        let mut pieces = Vec::new();
        for (at, text) in source.split('#').enumerate() {
            if at > 0 {
                pieces.push(Piece::Name(ReadId(0)));
            }
            pieces.push(Piece::Text(text.into()));
        }
        let template = Template {
            pieces,
            jinja: true,
        };
        let inputs = Inputs([Resolved::Value(Value::from(value))].into());
        Jinja::compile(&template, shown)
            .unwrap()
            .render(&inputs)
            .unwrap()
    }

    #[test]
    fn numbers_keep_every_digit() {
        let numbers = json!([
            9_007_199_254_740_993_i64,
            -9_223_372_036_854_775_808_i64,
            18_446_744_073_709_551_615_u64,
            1.0,
            0.1
        ]);
        let text = "[9007199254740993, -9223372036854775808, 18446744073709551615, 1.0, 0.1]";
        assert_eq!(with("{{ # }}", numbers.clone()), text);
        assert_eq!(
            with("{{ #|list }}", numbers.clone()),
            text,
            "through a list that Jinja made"
        );
        assert_eq!(with("{{ #|tojson }}", numbers.clone()), text);
        assert_eq!(
            with("{{ #[0] + 1 }} {{ #[0] == #[0] + 0 }}", numbers),
            "9007199254740994 true"
        );
    }

    #[test]
    fn members_keep_their_order_and_characters_theirs() {
        let value = json!({"z": "é", "a": {"y": 1, "b": "</x>\""}});
        assert_eq!(
            with("{{ #|tojson }}", value.clone()),
            r#"{"z": "é", "a": {"y": 1, "b": "</x>\""}}"#
        );
        assert_eq!(
            with(
                "{% for k, v in #|items %}{{ k }}{% endfor %}",
                value.clone()
            ),
            "za"
        );
        assert_eq!(
            with("{{ #|tojson(indent=2) }}", json!({"z": [1]})),
            "{\n  \"z\": [\n    1\n  ]\n}"
        );
        assert_eq!(
            with("{{ #|tojson(1) }}", json!({"z": 1})),
            "{\n \"z\": 1\n}"
        );
        assert_eq!(
            with("{{ #.a.y }} {{ #['z'] }} {{ #.keys()|list }}", value),
            r#"1 é ["z", "a"]"#
        );
        assert_eq!(
            rendered("{{ {'z': 1, 'a': [true, none]} }}").unwrap(),
            r#"{"z": 1, "a": [true, null]}"#
        );
        assert_eq!(
            rendered("{{ 'é\"'|tojson }} {{ none|tojson }}").unwrap(),
            r#""é\"" null"#
        );
    }

    #[test]
    fn lists_work_as_in_python() {
        let list = json!([3, 1, 2]);
        assert_eq!(
            with(
                "{{ #[-1] }} {{ #[1:] }} {{ #|sort }} {{ 2 in # }}",
                list.clone()
            ),
            "2 [1, 2] [1, 2, 3] true"
        );
        assert_eq!(
            with(
                "{{ # == [3, 1, 2] }} {{ #|length }} {{ #|join('-') }}",
                list.clone()
            ),
            "true 3 3-1-2"
        );
        assert_eq!(
            with("{% if # %}yes{% endif %}{% if #[7] %}no{% endif %}", list),
            "yes"
        );
    }

    #[test]
    fn what_is_not_there_is_nothing() {
        assert_eq!(
            rendered("[{{ nobody }}{{ nobody.at.all[1] }}{{ none }}]").unwrap(),
            "[]"
        );
        assert_eq!(
            with("{{ # is none }} {{ nobody is defined }}", Json::Null),
            "true false"
        );
    }

    #[test]
    fn nothing_is_escaped_and_nothing_else_is_read() {
        assert_eq!(with("{{ # }}", json!("<b> & {{ 1 }}")), "<b> & {{ 1 }}");
        for other in [
            "{% include 'x' %}",
            "{% extends 'x' %}",
            "{% import 'x' as y %}",
        ] {
            assert!(rendered(other).is_err());
        }
    }

    #[test]
    fn work_without_end_is_stopped() {
        for endless in [
            "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
            "{% for i in range(100000) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}",
            "{{ 'x' * 100000000 }}",
            "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
            "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}",
            "{% set ns = namespace(x=[], y=[]) %}{% for i in range(8000) %}{% set ns.x = [ns.x] %}\
             {% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}{{ ns.x }}",
        ] {
            assert!(rendered(endless).is_err(), "{endless}");
        }
    }

    #[test]
    fn a_value_nested_too_deep_is_an_error() {
        let nested = |times: usize| {
            let source = "{% set ns = namespace(x=[]) %}{% for i in range(TIMES) %}{% set ns.x = [ns.x] %}{% endfor %}\
                          {{ ns.x }}";
            rendered(&source.replace("TIMES", &times.to_string()))
        };
        assert!(nested(50).is_ok());
        assert!(nested(500).unwrap_err().contains("deeper than 100 levels"));
    }

    #[test]
    fn chains_as_long_as_they_may_be_are_survived() {
        for link in ["()", "|list", " if 1 else 1"] {
            let chain = link.repeat(MOST_JINJA / link.len() - 4);
            let _ = rendered(&format!("{{{{ x{chain} }}}}"));
            assert!(
                compile(&format!("{{{{ x{chain}{chain} }}}}")).is_err(),
                "{link}"
            );
        }
        for (tag, rest) in [("{% elif a %}", "{% endif %}"), ("{% if a %}", "")] {
            let tags = tag.repeat(MOST_JINJA / (tag.len() - 4) - 4);
            let _ = rendered(&format!("{{% if a %}}{tags}{rest}"));
        }
    }

    #[test]
    fn a_long_text_with_little_jinja_is_fine() {
        let text = "words and words ".repeat(10_000);
        assert_eq!(
            rendered(&format!("{text}{{{{ 1 + 1 }}}}")).unwrap(),
            format!("{text}2")
        );
    }
}
