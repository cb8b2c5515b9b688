//! Secrets: declared, named, set; and keys that are written out in the file.

use std::sync::Arc;

use easel_catalog::Type;
use easel_core::draft::Field;
use easel_graph::document::Node;
use easel_graph::kind::Kind;
use easel_graph::marked::{Data, Marked};
use easel_graph::place::Place;
use indexmap::IndexMap;

use super::context::{Context, Findings, Here, at};
use super::tools::each_text;
use crate::canvas::Surroundings;
use crate::code::Code;
use crate::diagnostic;
use crate::findings::Found;
use crate::rules::secrets::{SecretUse, SecretUses, WrittenOut};
use crate::shape::secret_in;

/// Where secrets may stand.
const PLACES: [&str; 2] = ["tool_args", "tool_settings"];

/// What a graph does with secrets.
pub(super) fn uses(context: &Context<'_>) -> SecretUses {
    let mut asked = Vec::new();
    for node in &context.graph.workflow.nodes {
        for (path, field) in &node.draft.fields {
            let Field::Arguments(arguments) = field else {
                continue;
            };
            asked.extend(arguments.secrets().map(|name| SecretUse {
                name: name.clone(),
                node: node.draft.id.clone(),
                path: path.to_string(),
            }));
        }
    }
    let written_out = context.nodes().flat_map(|here| {
        let found = credentials(context, here.node).into_iter();
        found.map(move |found| WrittenOut {
            value: found.value,
            component: found.component,
            node: here.id.clone(),
            path: format!("tool_args.{}", found.argument),
        })
    });
    SecretUses::of(asked, written_out.collect())
}

/// A credential that is written out.
struct Credential {
    /// The argument.
    argument: Arc<str>,
    /// What stands there.
    value: Arc<str>,
    /// The tool's component.
    component: Arc<str>,
}

/// The arguments of a node that are credentials and written out.
fn credentials(context: &Context<'_>, node: &Node) -> Vec<Credential> {
    let Some(arguments) = &node.tool_args else {
        return Vec::new();
    };
    let tools = node.tools.iter().filter_map(|name| context.tool(name));
    let tools: Vec<_> = tools.collect();
    let taken_by = |name: &str| {
        let mut tools = tools.iter();
        tools.find(|(_, tool)| {
            let mut all = tool.arguments.iter();
            all.any(|it| *it.name == *name && it.kind == Type::Credential)
        })
    };
    let literal = arguments.iter().filter_map(|(name, value)| {
        let text = value.as_str()?;
        let literal = !text.trim().is_empty() && !text.contains('{');
        let (table, _) = taken_by(name).filter(|_| literal)?;
        Some(Credential {
            argument: name.clone(),
            value: text.into(),
            component: table.name.clone(),
        })
    });
    literal.collect()
}

/// Reports secrets without a value or a place, and keys in the file.
pub(super) fn report(
    context: &Context<'_>,
    surroundings: &Surroundings<'_>,
    findings: &mut Findings,
) {
    for here in context.nodes() {
        let node = here.node;
        let used = named(context, here);
        for (name, place) in &used {
            if (surroundings.secret)(name) {
                continue;
            }
            let message = format!("`{}` needs the secret `{name}`, which is not set.", node.id);
            let found = Found::new(Code::SecretNotSet, message).fix(format!(
                "Set it with `easel secrets set {name}`, in .env or in the environment."
            ));
            findings.add(*place, found.node(&node.id));
        }
        if !matches!(*node.kind, Kind::Base | Kind::React | Kind::Tool) {
            continue;
        }
        for name in node
            .secrets
            .iter()
            .filter(|name| !used.contains_key(&***name))
        {
            let message = format!(
                "`{}` declares the secret `{name}`, and no argument names it.",
                node.id
            );
            let found = Found::new(Code::SecretUnbound, message).fix(format!(
                "Write \"${{{name}}}\" where it belongs in `tool_args` or `tool_settings`, or leave the declaration out."
            ));
            findings.add(at(name), found.node(&node.id));
        }
    }
    keys(context, findings);
}

/// The secrets that arguments and settings of a node are given, each with where it is named first.
fn named(
    context: &Context<'_>,
    here: Here<'_, '_>,
) -> IndexMap<Arc<str>, Option<diagnostic::Place>> {
    let workflow = context.graph.workflow;
    let draft = workflow.find(here.id).map(|id| &workflow.node(id).draft);
    let mut used: IndexMap<Arc<str>, Option<diagnostic::Place>> = IndexMap::new();
    for (_, field) in draft.iter().flat_map(|draft| &draft.fields) {
        if let Field::Arguments(arguments) = field {
            used.extend(arguments.secrets().map(|name| (name.clone(), None)));
        }
    }
    if used.is_empty() {
        return used;
    }
    let node = here.node;
    let arguments = [&node.tool_args, &node.tool_settings];
    for (key, arguments) in PLACES.into_iter().zip(arguments) {
        for (name, argument) in arguments.iter().flat_map(|arguments| arguments.iter()) {
            let place = node.key(key).key(name);
            each_text(argument, &place, &mut |place, text| {
                for (start, mark) in text.match_indices("${") {
                    let rest = text.get(start + mark.len()..).unwrap_or_default();
                    let name = rest.split_once('}').map_or("", |(name, _)| name);
                    if let Some(found) = used.get_mut(name).filter(|found| found.is_none()) {
                        let end = start + mark.len() + name.len() + 1;
                        *found = context.within(place, &(start..end));
                    }
                }
            });
        }
    }
    used
}

/// A key in the file, said once however often it stands there.
struct Key {
    at: Option<diagnostic::Place>,
    found: Found,
    places: usize,
}

fn keys(context: &Context<'_>, findings: &mut Findings) {
    let mut keys: IndexMap<Arc<str>, Key> = IndexMap::new();
    for here in context.nodes() {
        let node = here.node;
        for Credential {
            argument: name,
            value,
            ..
        } in credentials(context, node)
        {
            let place = node.key("tool_args").key(&name);
            let message = format!(
                "The credential `{name}` of `{}` is written out in the file.",
                node.id
            );
            keys.entry(value).or_insert_with(|| Key {
                at: context.within(&place, &(0..0)),
                found: Found::new(Code::SecretInFile, message).node(&node.id),
                places: 0,
            });
        }
    }
    search(context, context.document.root(), &Place::top(), &mut keys);
    for (_, key) in keys {
        let found = match key.places {
            0 | 1 => key.found,
            places => key
                .found
                .detail(format!("It stands at {places} places of the file.")),
        };
        findings.add(key.at, found);
    }
}

/// Looks at every text of a value.
fn search(
    context: &Context<'_>,
    value: &Marked,
    place: &Place,
    keys: &mut IndexMap<Arc<str>, Key>,
) {
    match &value.data {
        Data::Text(text) => {
            let looks = secret_in(text);
            let key = looks
                .as_ref()
                .and_then(|(_, range)| text.get(range.clone()));
            if let (Some((what, range)), Some(key)) = (&looks, key)
                && !keys.contains_key(key)
            {
                let message = format!("A text at `{place}` looks like {what}.");
                let at = context.within(place, range);
                let found = Found::new(Code::SecretInFile, message);
                keys.insert(
                    key.into(),
                    Key {
                        at,
                        found,
                        places: 0,
                    },
                );
            }
            let mut known = [Some(&**text), key].into_iter().flatten();
            let known = known
                .find(|key| keys.contains_key(*key))
                .map(Arc::<str>::from);
            if let Some(key) = known.and_then(|key| keys.get_mut(&key)) {
                key.places += 1;
            }
        }
        Data::List(items) => {
            for (at, item) in items.iter().enumerate() {
                search(context, item, &place.index(at), keys);
            }
        }
        Data::Map(map) => {
            for entry in map.iter() {
                search(context, &entry.value, &place.key(&entry.key.name), keys);
            }
        }
        Data::Null | Data::Bool(_) | Data::Number(_) => {}
    }
}
