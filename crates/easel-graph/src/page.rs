//! The reference page of keys, in Markdown.

use std::fmt::Write;

use crate::field::{self, Field};
use crate::kind::Kind;

/// The whole page: the keys of a graph, of an input, of a node; then each kind with the keys that it reads of its own.
pub fn all() -> String {
    let mut page = String::from(
        "# Keys of a graph\n\n\
         What may stand in `graph.yaml`. A key that is `null` counts as not set. Numbers may be written as text, `true` \
         and `false` as the words that YAML knows for them; nothing else becomes a text by itself, so a `5` that is \
         meant as text belongs in quotes. A key that nothing reads is kept, and the check says so.\n\n\
         This page is made from the tables by which graphs are read.\n\n\
         ## A graph\n\n",
    );
    table(&mut page, field::GRAPH.iter());
    page.push_str(
        "\n## A declared input\n\n\
         `inputs` is a mapping of names to types (`topic: string`), or to mappings with the keys below; or a list of \
         such pairs, or of mappings that have their `name` in them.\n\n",
    );
    table(&mut page, field::INPUT.iter());
    page.push_str("\n## A node\n\nThe keys that every kind reads.\n\n");
    let everybodys = |field: &&Field| field.read_by.len() == Kind::ALL.len();
    table(&mut page, field::NODE.iter().filter(everybodys));
    page.push_str("\n### `policy`\n\n");
    table(&mut page, field::POLICY.iter());
    let inert: Vec<String> = field::INERT_POLICY
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "\nOld files also have {}: nothing reads them.\n",
        inert.join(", ")
    );
    page.push_str("\n## Kinds\n");
    for kind in Kind::ALL {
        let _ = write!(page, "\n### {kind}\n\n{}\n\n", kind.summary());
        let own = field::NODE
            .iter()
            .filter(|field| !everybodys(field) && field.is_read_by(kind));
        kind_table(&mut page, kind, own);
        if kind == Kind::Router {
            page.push_str("\nA case has these keys:\n\n");
            table(&mut page, field::CASE.iter());
        }
    }
    page.push_str("\n## Keys that nothing reads\n\n");
    table(
        &mut page,
        field::NODE.iter().filter(|field| field.read_by.is_empty()),
    );
    page
}

fn table<'a>(page: &mut String, fields: impl Iterator<Item = &'a Field>) {
    rows(page, fields, |field| !field.required_by.is_empty());
}

fn kind_table<'a>(page: &mut String, kind: Kind, fields: impl Iterator<Item = &'a Field>) {
    rows(page, fields, |field| field.is_required_by(kind));
}

fn rows<'a>(
    page: &mut String,
    fields: impl Iterator<Item = &'a Field>,
    required: impl Fn(&Field) -> bool,
) {
    page.push_str("| key | value | default | what it means |\n|---|---|---|---|\n");
    for field in fields {
        let default = match field.default {
            _ if required(field) => "required".to_owned(),
            Some(json) => format!("`{json}`"),
            None => String::new(),
        };
        let mut name = format!("`{}`", field.name);
        if let Some(alias) = field.alias {
            let _ = write!(name, ", `{alias}`");
        }
        let expected = field.holds.expected().replace('|', "\\|");
        let doc = field.doc.replace('|', "\\|");
        let _ = writeln!(page, "| {name} | {expected} | {default} | {doc} |");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_kind_is_on_the_page() {
        let page = all();
        for kind in Kind::ALL {
            assert!(page.contains(&format!("\n### {kind}\n\n{}\n", kind.summary())));
        }
        let tables = [
            field::GRAPH,
            field::INPUT,
            field::NODE,
            field::POLICY,
            field::CASE,
        ];
        for field in tables.into_iter().flatten() {
            assert!(
                page.contains(&format!("| `{}`", field.name)),
                "{}",
                field.name
            );
            assert!(page.contains(field.doc));
        }
    }

    #[test]
    fn rows_have_as_many_cells_as_their_head() {
        for line in all().lines().filter(|line| line.starts_with('|')) {
            assert_eq!(line.replace("\\|", "").matches('|').count(), 5, "{line}");
        }
    }
}
