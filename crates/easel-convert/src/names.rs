//! Ids of nodes: `Agent:poet` in a canvas, `poet` in a graph.

use indexmap::{IndexMap, IndexSet};

use crate::Losses;

/// Names that mean something else in templates of graphs.
const RESERVED: [&str; 8] = [
    "inputs", "nodes", "vars", "state", "item", "index", "query", "feedback",
];

/// Ids of a graph for the nodes of a canvas, by their ids there. `taken`: names of inputs.
pub(crate) fn in_graph<'a>(
    nodes: impl Iterator<Item = (&'a str, &'a str)>,
    taken: impl Iterator<Item = &'a str>,
    losses: &mut Losses,
) -> IndexMap<String, String> {
    let mut used: IndexSet<String> = RESERVED.iter().map(|&name| name.to_owned()).collect();
    used.extend(taken.map(str::to_owned));
    let mut names = IndexMap::new();
    for (id, class) in nodes {
        let own = id
            .strip_prefix(class)
            .and_then(|rest| rest.strip_prefix(':'));
        let wanted = match own.filter(|own| is_identifier(own)) {
            Some(own) => own.to_owned(),
            None => identifier(id),
        };
        let mut name = wanted.clone();
        let mut count = 2;
        while !used.insert(name.clone()) {
            name = format!("{wanted}_{count}");
            count += 1;
        }
        if own != Some(&name) {
            losses.say(
                id,
                "id",
                format!("It is called `{name}`: a graph's ids are plain names, each once."),
            );
        }
        names.insert(id.to_owned(), name);
    }
    names
}

/// Whether a text is a name that templates and expressions of graphs can spell.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters
        .next()
        .is_some_and(|c| c == '_' || c.is_ascii_alphabetic());
    first && letters.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

fn identifier(text: &str) -> String {
    let mut name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !is_identifier(&name) {
        name.insert(0, 'n');
    }
    name
}
