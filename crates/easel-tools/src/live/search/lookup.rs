//! How declarations find what they want in an answer: paths in data, selectors in markup, filters behind them.
//!
//! A path is made of names and numbers with dots between; `*` is each item of a list or member of an object, and `.`
//! alone the whole. Of paths with ` or ` between the first that says something counts. Filters follow a `|`.

use easel_core::Value;
use url::Url;

use super::markup::Markup;
use super::template::Template;
use crate::html::clean_html;

/// A place in an answer.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Data(&'a Value),
    /// An element, or the whole.
    Marked(&'a Markup, Option<usize>),
}

impl<'a> Place<'a> {
    /// The places of results: the items of a list, what a path with `*` or a selector finds, or one object.
    pub(super) fn items(&self, path: &str) -> Option<Vec<Place<'a>>> {
        match self {
            Place::Marked(markup, within) => {
                let found = markup.select(*within, path);
                Some(
                    found
                        .into_iter()
                        .map(|at| Place::Marked(markup, Some(at)))
                        .collect(),
                )
            }
            Place::Data(value) => {
                let found = at(value, path);
                let listed = match found.as_slice() {
                    [] if path.contains('*') => Vec::new(),
                    [Value::Array(items)] if !path.ends_with('*') => items.iter().collect(),
                    [Value::Object(_)] => found,
                    _ if path.contains('*') || path == "." => found,
                    _ => return None,
                };
                Some(listed.into_iter().map(Place::Data).collect())
            }
        }
    }

    /// The number at a path.
    pub(super) fn number(&self, path: &str) -> Option<i64> {
        self.texts(path).first()?.parse().ok()
    }

    /// What a place of a template says, filters applied. Nothing, if it is blank.
    pub(super) fn text(&self, lookup: &str) -> Option<String> {
        let mut parts = lookup.split('|').map(str::trim);
        let path = parts.next().unwrap_or_default();
        let filters: Vec<&str> = parts.collect();
        let children = filters
            .iter()
            .find_map(|filter| filter.strip_prefix("children "));
        let texts = path.split(" or ").map(|path| match children {
            Some(names) => self.children(path.trim(), names),
            None => self.texts(path.trim()),
        });
        let mut texts = texts.into_iter().find(|texts| !texts.is_empty())?;
        let all = filters.iter().find_map(|filter| filter.strip_prefix("all"));
        if all.is_none() {
            texts.truncate(1);
        }
        let separator = match all.map(str::trim) {
            None | Some("") => ", ",
            Some("line") => "\n",
            Some(given) => given,
        };
        let joined = texts.join(separator);
        let filtered = filters
            .iter()
            .try_fold(joined, |text, filter| apply(filter, text));
        filtered.filter(|text| !text.trim().is_empty())
    }

    /// A template over this place, line by line: a line of which a place says nothing is left out.
    pub(super) fn lines(&self, template: &Template) -> Option<String> {
        let lines = template.lines();
        let said = lines
            .iter()
            .filter_map(|line| line.render(|lookup| self.text(lookup)));
        let text = said.collect::<Vec<_>>().join("\n");
        (!text.trim().is_empty()).then(|| text.trim().to_owned())
    }

    fn texts(&self, path: &str) -> Vec<String> {
        match self {
            Place::Marked(markup, within) => markup.texts(*within, path),
            Place::Data(value) => {
                let found = at(value, path).into_iter().flat_map(|found| match found {
                    Value::Array(items) => items.iter().collect(),
                    single => vec![single],
                });
                let texts = found.filter(|value| !value.is_null()).map(Value::to_string);
                texts.filter(|text| !text.trim().is_empty()).collect()
            }
        }
    }

    /// For each element found the texts of some of its children, with blanks between.
    fn children(&self, path: &str, names: &str) -> Vec<String> {
        let found = self.items(path).unwrap_or_default();
        let texts = found.into_iter().map(|place| {
            let named = names.split_whitespace();
            let first = named.filter_map(|name| place.texts(name).into_iter().next());
            first.collect::<Vec<_>>().join(" ")
        });
        texts.filter(|text| !text.is_empty()).collect()
    }
}

/// What stands at a path.
fn at<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    if path == "." {
        return vec![value];
    }
    path.split('.').fold(vec![value], |found, name| {
        let step = |value: &'v Value| -> Vec<&'v Value> {
            match (value, name) {
                (Value::Array(items), "*") => items.iter().collect(),
                (Value::Object(members), "*") => members.values().collect(),
                (Value::Array(items), _) => {
                    let index = name.parse::<usize>().ok();
                    index
                        .and_then(|index| items.get(index))
                        .into_iter()
                        .collect()
                }
                (value, name) => value.get(name).into_iter().collect(),
            }
        };
        found.into_iter().flat_map(step).collect()
    })
}

/// A filter on a text: `parameter NAME` of an address, `between START END`, `plain` text of HTML.
fn apply(filter: &str, text: String) -> Option<String> {
    let (name, rest) = filter.split_once(' ').unwrap_or((filter, ""));
    match name {
        "parameter" => {
            let absolute = match text.starts_with("//") {
                true => format!("https:{text}"),
                false => text.clone(),
            };
            // An address that is not wrapped in another is what is wanted already.
            let found = Url::parse(&absolute).ok().and_then(|url| {
                let mut pairs = url.query_pairs();
                pairs
                    .find(|(key, _)| key == rest)
                    .map(|(_, value)| value.into_owned())
            });
            Some(found.unwrap_or(text))
        }
        "between" => {
            let (start, end) = rest.split_once(' ')?;
            let (_, after) = text.split_once(start)?;
            after.split_once(end).map(|(inside, _)| inside.to_owned())
        }
        "plain" => Some(clean_html(&text)),
        "all" | "children" => Some(text),
        _ => None,
    }
}

/// Whether the filters of a lookup are all known.
pub(super) fn is_lookup(lookup: &str) -> bool {
    let mut filters = lookup.split('|').skip(1).map(str::trim);
    filters.all(|filter| {
        let (name, rest) = filter.split_once(' ').unwrap_or((filter, ""));
        match name {
            "parameter" | "children" => !rest.trim().is_empty(),
            "between" => rest.trim().contains(' '),
            "plain" | "all" => true,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(value: serde_json::Value, lookup: &str) -> Option<String> {
        assert!(is_lookup(lookup), "{lookup}");
        Place::Data(&Value::from(value)).text(lookup)
    }

    #[test]
    fn paths_find_members_items_and_all_of_them() {
        let value = || json!({"a": [{"b": 1}, {"b": 2}], "o": {"x": {"n": "q"}, "y": {"n": "r"}}, "l": ["u", null, "v"]});
        assert_eq!(text(value(), "a.1.b"), Some("2".into()));
        assert_eq!(text(value(), "a.*.b|all"), Some("1, 2".into()));
        assert_eq!(text(value(), "o.*.n|all ;"), Some("q;r".into()));
        assert_eq!(text(value(), "l|all"), Some("u, v".into()));
        assert_eq!(text(value(), "a.7.b"), None);
        assert_eq!(text(value(), "o.z.n"), None);
    }

    #[test]
    fn filters_take_out_what_is_wanted() {
        let wrapped = json!("//duck.example/l/?uddg=https%3A%2F%2Fa.example%2F%3Fx%3D1&rut=9");
        assert_eq!(
            text(wrapped, ".|parameter uddg"),
            Some("https://a.example/?x=1".into())
        );
        assert_eq!(
            text(json!("https://a.example/"), ".|parameter uddg"),
            Some("https://a.example/".into())
        );
        assert_eq!(
            text(json!("x vqd=\"4-12\" y"), ".|between vqd=\" \""),
            Some("4-12".into())
        );
        assert_eq!(text(json!("x"), ".|between vqd=\" \""), None);
        assert_eq!(text(json!("a <em>b</em>"), ".|plain"), Some("a b".into()));
        assert!(!is_lookup("a|shout") && !is_lookup("a|between x"));
    }

    #[test]
    fn a_line_that_says_nothing_is_left_out() {
        let template = Template::parse("Title: {t}\nYear: {y}\n{c}").unwrap();
        let value = Value::from(json!({"t": "T", "y": null, "c": "body"}));
        let lines = Place::Data(&value).lines(&template);
        assert_eq!(lines, Some("Title: T\nbody".into()));
    }
}
