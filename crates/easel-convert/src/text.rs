//! Texts with references, in the spelling of either dialect.

use easel_core::format::{Secrets, parse};
use easel_core::reference::Reference;
use easel_core::reference::canvas::Grammar;

/// What a reference reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub source: Source,
    /// Members and indices on the way into the value.
    pub path: Vec<String>,
}

/// Where a value comes from. Nodes have the ids of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// What the user says.
    Query,
    /// A declared input.
    Input(String),
    /// The value of a node.
    Node(String),
    /// The error of a node.
    Error(String),
    /// The item of a pass.
    Item,
    /// Its number.
    Index,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Read(Read),
}

/// Why a text is not carried over.
pub(crate) type Why = String;

/// Reads a text of a canvas. `resolve` says what a reference reads.
pub(crate) fn of_canvas(
    text: &str,
    jinja: bool,
    mut resolve: impl FnMut(&Reference) -> Result<Read, Why>,
) -> Result<Vec<Piece>, Why> {
    let grammar = Grammar {
        known: &|_| false,
        in_iteration: false,
        jinja,
    };
    let scan = grammar.scan(text);
    if scan.jinja {
        return Err("It holds Jinja, which a graph does not have.".to_owned());
    }
    let mut pieces = Vec::new();
    let mut written = 0;
    for token in scan.tokens {
        push_text(
            &mut pieces,
            text.get(written..token.range.start).unwrap_or_default(),
        );
        pieces.push(Piece::Read(resolve(&token.reference)?));
        written = token.range.end;
    }
    push_text(&mut pieces, text.get(written..).unwrap_or_default());
    Ok(pieces)
}

/// Writes a text of a canvas. `spell` writes a reference without braces.
pub(crate) fn to_canvas(
    pieces: &[Piece],
    jinja: bool,
    spell: impl Fn(&Read) -> String,
) -> Result<String, Why> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Read(read) => text.push_str(&format!("{{{}}}", spell(read))),
        }
    }
    // What is text must not become a reference, or the braces around one.
    let mut wanted = reads(pieces);
    let mut strange = false;
    let back = of_canvas(&text, jinja, |reference| match wanted.next() {
        Some(read) if spell(read) == *reference.text => Ok(read.clone()),
        _ => {
            strange = true;
            Err(Why::new())
        }
    });
    match back {
        Ok(back) if !strange && back == pieces => Ok(text),
        _ => Err("Some of its text would be read as references or Jinja in a canvas.".to_owned()),
    }
}

/// Reads a text of a graph. `resolve` says what the steps of a placeholder read.
pub(crate) fn of_graph(
    text: &str,
    mut resolve: impl FnMut(&[String]) -> Result<Read, Why>,
) -> Result<Vec<Piece>, Why> {
    let parsed = parse(text, Secrets::None);
    if !parsed.findings().is_empty() || text.contains("${") {
        return Err("It has braces or dollars that a canvas would read otherwise.".to_owned());
    }
    let mut pieces = Vec::new();
    let mut written = 0;
    for chain in parsed.chains() {
        push_literal(
            &mut pieces,
            text.get(written..chain.span.start).unwrap_or_default(),
        );
        let spelt = text.get(chain.span.clone()).unwrap_or_default();
        let mut steps = vec![chain.root.to_string()];
        steps.extend(chain.steps.iter().map(|step| step.name.to_string()));
        if spelt != format!("{{{}}}", steps.join(".")) {
            return Err(format!("A canvas has no placeholder such as {spelt}."));
        }
        pieces.push(Piece::Read(resolve(&steps)?));
        written = chain.span.end;
    }
    push_literal(&mut pieces, text.get(written..).unwrap_or_default());
    Ok(pieces)
}

/// Writes a text of a graph. `spell` writes a placeholder without braces.
pub(crate) fn to_graph(
    pieces: &[Piece],
    mut spell: impl FnMut(&Read) -> String,
) -> Result<String, Why> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(literal) => {
                text.push_str(&literal.replace('{', "{{").replace('}', "}}"));
            }
            Piece::Read(read) => text.push_str(&format!("{{{}}}", spell(read))),
        }
    }
    match text.contains("${") {
        true => Err("A graph reads a dollar before a brace as a secret.".to_owned()),
        false => Ok(text),
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
}

fn push_literal(pieces: &mut Vec<Piece>, text: &str) {
    push_text(pieces, &text.replace("{{", "{").replace("}}", "}"));
}

/// The reads in a text.
pub(crate) fn reads(pieces: &[Piece]) -> impl Iterator<Item = &Read> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Read(read) => Some(read),
        Piece::Text(_) => None,
    })
}
