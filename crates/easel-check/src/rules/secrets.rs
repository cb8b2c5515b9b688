//! Secrets: where they are named, whether they are set, and keys that are written out.

use std::sync::Arc;

use easel_canvas::pointer::{Pointer, Step};
use easel_catalog::Role;
use easel_core::Value;

use super::parameters::short;
use crate::canvas::{Canvas, Surroundings};
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

/// What a workflow does with secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretUses {
    asked: Vec<SecretUse>,
    misplaced: Vec<SecretUse>,
    written_out: Vec<WrittenOut>,
}

/// A secret is named in a parameter of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretUse {
    /// The secret's name.
    pub name: Arc<str>,
    /// The node's id.
    pub node: Arc<str>,
    /// Where in its parameters.
    pub path: String,
}

/// A credential is written out in a parameter of a node.
#[derive(Clone, PartialEq, Eq)]
pub struct WrittenOut {
    /// What stands there. A secret, although it is not kept as one.
    pub value: Arc<str>,
    /// The component whose parameter it is: the node's, or that of a tool in it.
    pub component: Arc<str>,
    /// The node's id.
    pub node: Arc<str>,
    /// Where in its parameters.
    pub path: String,
}

impl std::fmt::Debug for WrittenOut {
    /// Hides what stands there.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("WrittenOut").field(&self.place()).finish()
    }
}

impl WrittenOut {
    /// The node and the parameter in one word.
    pub fn place(&self) -> Arc<str> {
        format!("{}.{}", self.node, self.path).into()
    }
}

impl SecretUses {
    /// Of a workflow that asks for some and writes others out.
    pub(crate) fn of(asked: Vec<SecretUse>, written_out: Vec<WrittenOut>) -> SecretUses {
        SecretUses {
            asked,
            misplaced: Vec::new(),
            written_out,
        }
    }

    /// The secrets that are named where one goes, in the order of the nodes.
    pub fn asked(&self) -> impl Iterator<Item = &SecretUse> {
        self.asked.iter()
    }

    /// The credentials that are written out, in the order of the nodes.
    pub fn written_out(&self) -> impl Iterator<Item = &WrittenOut> {
        self.written_out.iter()
    }
}

/// What a workflow does with secrets: those it names, and the credentials that are written out in it.
pub fn secret_uses(canvas: &Canvas<'_>) -> SecretUses {
    let mut uses = SecretUses::default();
    for node in &canvas.workflow.nodes {
        let (Some(table), Some(params)) = (
            canvas.catalog.get(&node.draft.component),
            node.draft.params.as_object(),
        ) else {
            continue;
        };
        let id = &node.draft.id;
        sites::each_table(canvas.catalog, table, params, &mut |table, params, at| {
            for site in table.sites(params) {
                let Some(text) = site.value.as_str() else {
                    continue;
                };
                let path = || format!("{at}{}", site.path);
                if site.role == Role::Credential && names(text).is_empty() && !refers(text) {
                    uses.written_out.push(WrittenOut {
                        value: text.into(),
                        component: table.name.clone(),
                        node: id.clone(),
                        path: path(),
                    });
                }
                let used = names(text).into_iter().map(|name| SecretUse {
                    name: name.into(),
                    node: id.clone(),
                    path: path(),
                });
                match site.secrets {
                    true => uses.asked.extend(used),
                    // Other texts have `${name}` for other reasons; secrets are called in capitals.
                    false => uses
                        .misplaced
                        .extend(used.filter(|used| in_capitals(&used.name))),
                }
            }
        });
    }
    uses
}

fn named(findings: &mut Findings<'_>, surroundings: &Surroundings<'_>, keys: &mut Keys) {
    let uses = secret_uses(&findings.canvas);
    for SecretUse { name, node, path } in uses.asked {
        if (surroundings.secret)(&name) {
            continue;
        }
        let message = format!("`{node}` needs the secret `{name}`, which is not set.");
        let found = Found::new(Code::SecretNotSet, message).fix(format!(
            "Set it with `easel secrets set {name}`, in .env or in the environment."
        ));
        let spot = findings.spots.param(&node, &path);
        findings.add(found.node(&node).at(spot));
    }
    for SecretUse { name, node, path } in uses.misplaced {
        let message =
            format!("`{node}`: `${{{name}}}` stands in `{path}`, where no secret is put in.");
        let spot = findings.spots.param(&node, &path);
        let found = Found::new(Code::UndeclaredSecret, message);
        findings.add(found.node(&node).at(spot));
    }
    for WrittenOut {
        value, node, path, ..
    } in uses.written_out
    {
        let what = format!("The credential `{path}` of `{node}` is written out in the file.");
        let spot = findings.spots.param(&node, &path);
        keys.add(value, what, spot, Some(&node));
    }
}

/// The names of secrets in a text, each `${NAME}`. `$${` is no such.
fn names(text: &str) -> Vec<&str> {
    let found = text.match_indices("${").filter_map(|(at, mark)| {
        let escaped = text.get(..at).is_some_and(|before| before.ends_with('$'));
        let (name, _) = text.get(at + mark.len()..)?.split_once('}')?;
        let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let whole =
            name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit());
        (whole && !escaped).then_some(name)
    });
    found.collect()
}

/// Whether a name is one as secrets have it.
fn in_capitals(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && !name.contains(|c: char| c.is_ascii_lowercase())
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
    fn secrets_are_found_where_they_are_named() {
        assert_eq!(names("Bearer ${API_KEY_2} and ${x}"), ["API_KEY_2", "x"]);
        assert!(names("$${API_KEY} ${} ${A b} ${A").is_empty());
        assert!(in_capitals("API_KEY_2") && !in_capitals("count") && !in_capitals("_"));
    }
}
