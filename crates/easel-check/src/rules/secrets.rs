//! Secrets: where they are named, whether they are set, and keys that are written out.

use std::sync::Arc;

use easel_canvas::pointer::{Pointer, Step};
use easel_catalog::Role;
use easel_core::Value;

use super::parameters::short;
use crate::canvas::Surroundings;
use crate::code::Code;
use crate::findings::{Findings, Found};
use crate::shape::secret_in;
use crate::sites;
use crate::spots::Spot;

/// Reports secrets that are not set or stand where none goes, and keys in the file.
pub(crate) fn report(findings: &mut Findings<'_>, surroundings: &Surroundings<'_>) {
    let mut keys = Keys::default();
    named(findings, surroundings, &mut keys);
    keys.search(&findings.canvas.document.canvas(), &Pointer::root());
    keys.report(findings);
}

/// Something that a node's parameters have to do with a secret.
enum Use {
    /// A secret is named where one goes.
    Named(String),
    /// A secret is named where none goes.
    Misplaced(String),
    /// A credential is written out.
    WrittenOut(Arc<str>),
}

fn named(findings: &mut Findings<'_>, surroundings: &Surroundings<'_>, keys: &mut Keys) {
    let canvas = findings.canvas;
    for node in &canvas.workflow.nodes {
        let (Some(table), Some(params)) = (
            canvas.catalog.get(&node.draft.component),
            node.draft.params.as_object(),
        ) else {
            continue;
        };
        let id = &node.draft.id;
        let mut uses: Vec<(String, Use)> = Vec::new();
        sites::each_table(canvas.catalog, table, params, &mut |table, params, at| {
            for site in table.sites(params) {
                let Some(text) = site.value.as_str() else {
                    continue;
                };
                let path = || format!("{at}{}", site.path);
                let names = names(text);
                let credential = site.role == Role::Credential;
                if credential && names.is_empty() && !refers(text) {
                    uses.push((path(), Use::WrittenOut(text.into())));
                }
                let use_of = |name: &str| match site.secrets {
                    true => Use::Named(name.to_owned()),
                    false => Use::Misplaced(name.to_owned()),
                };
                uses.extend(names.iter().map(|name| (path(), use_of(name))));
            }
        });
        for (path, used) in uses {
            let spot = findings.spots.param(id, &path);
            let found = match used {
                Use::Named(name) if (surroundings.secret)(&name) => continue,
                Use::Named(name) => {
                    let message = format!("`{id}` needs the secret `{name}`, which is not set.");
                    Found::new(Code::SecretNotSet, message)
                        .fix(format!("Set `{name}` in the environment."))
                }
                Use::Misplaced(name) => {
                    let message = format!(
                        "`{id}`: `${{{name}}}` stands in `{path}`, where no secret is put in."
                    );
                    Found::new(Code::UndeclaredSecret, message)
                }
                Use::WrittenOut(text) => {
                    let what =
                        format!("The credential `{path}` of `{id}` is written out in the file.");
                    keys.add(text, what, spot, Some(id));
                    continue;
                }
            };
            findings.add(found.node(id).at(spot));
        }
    }
}

/// The names of secrets in a text: `${NAME}`, in capitals, as secrets are called. `$${` is no such.
fn names(text: &str) -> Vec<&str> {
    let found = text.match_indices("${").filter_map(|(at, mark)| {
        let escaped = text.get(..at).is_some_and(|before| before.ends_with('$'));
        let (name, _) = text.get(at + mark.len()..)?.split_once('}')?;
        let capital = |c: char| c.is_ascii_uppercase();
        let whole = name.starts_with(capital)
            && name
                .chars()
                .all(|c| capital(c) || c.is_ascii_digit() || c == '_');
        (whole && !escaped).then_some(name)
    });
    found.collect()
}

/// True if a credential comes from elsewhere.
fn refers(text: &str) -> bool {
    text.contains("${") || (text.contains('{') && text.contains('}'))
}

/// Keys that stand in the file, each once however often it does.
#[derive(Default)]
struct Keys {
    found: indexmap::IndexMap<Arc<str>, Key>,
}

struct Key {
    message: String,
    spot: Spot,
    node: Option<Arc<str>>,
    places: usize,
}

impl Keys {
    /// Adds a key. How often it stands in the file is counted by [`Keys::search`].
    fn add(&mut self, key: Arc<str>, message: String, spot: Spot, node: Option<&Arc<str>>) {
        self.found.entry(key).or_insert_with(|| Key {
            message,
            spot,
            node: node.cloned(),
            places: 0,
        });
    }

    /// Looks at every text of a value.
    fn search(&mut self, value: &Value, place: &Pointer) {
        match value {
            Value::String(text) => {
                let looks = secret_in(text);
                let key = looks
                    .as_ref()
                    .and_then(|(_, range)| text.get(range.clone()));
                if let Some((what, _)) = looks
                    && let Some(key) = key.filter(|key| !self.found.contains_key(*key))
                {
                    let spot = Spot::text(place.clone(), key);
                    let (message, node) = describe(what, place);
                    self.add(key.into(), message, spot, node);
                }
                let known = [Some(&**text), key]
                    .into_iter()
                    .flatten()
                    .find(|key| self.found.contains_key(*key));
                if let Some(key) = known.and_then(|key| self.found.get_mut(key)) {
                    key.places += 1;
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.search(item, &place.clone().index(at));
                }
            }
            Value::Object(members) => {
                for (name, member) in members.iter() {
                    self.search(member, &place.clone().key(name));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn report(self, findings: &mut Findings<'_>) {
        for key in self.found.into_values() {
            let mut found = Found::new(Code::SecretInFile, key.message).at(key.spot);
            if let Some(id) = &key.node {
                found = found.node(id);
            }
            if key.places > 1 {
                found = found.detail(format!("It stands at {} places of the file.", key.places));
            }
            findings.add(found);
        }
    }
}

/// What to say of a text that looks like a key, and whose it is.
fn describe<'p>(what: &str, place: &'p Pointer) -> (String, Option<&'p Arc<str>>) {
    match &place[..] {
        [Step::Key(components), Step::Key(id), .., last] if **components == *"components" => (
            format!("`{id}`: {} looks like {what}.", step(last)),
            Some(id),
        ),
        _ => (
            format!(
                "A text at `{}` looks like {what}.",
                short(&place.to_string())
            ),
            None,
        ),
    }
}

/// A step as words name it.
fn step(step: &Step) -> String {
    match step {
        Step::Key(name) => format!("`{name}`"),
        Step::Index(at) => format!("item {at}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_named_in_capitals() {
        assert_eq!(names("Bearer ${API_KEY_2} and ${X}"), ["API_KEY_2", "X"]);
        assert!(names("`${count}` $${API_KEY} ${} ${A b} ${A").is_empty());
    }
}
