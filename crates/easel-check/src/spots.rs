//! Where in a document a node, a parameter, an edge or a reference stands.

use std::collections::HashMap;
use std::sync::Arc;

use easel_canvas::component::Component;
use easel_canvas::document::{Document, Part, Wanted};
use easel_canvas::pointer::Pointer;
use easel_canvas::source::Position;
use easel_canvas::wiring::Edge;
use easel_catalog::Catalog;
use easel_core::{Object, Value};
use indexmap::IndexMap;

use crate::canvas::Canvas;
use crate::diagnostic::Place;

/// A place in a document whose line is not known yet.
#[derive(Clone, Debug)]
pub(crate) enum Spot {
    /// None.
    Nowhere,
    /// In the document as it is now.
    Now(Wanted),
    /// In the document as it was read.
    AsRead(Pointer),
    /// That position.
    Exactly(Position),
}

impl Spot {
    /// All of a value.
    pub fn whole(place: Pointer) -> Spot {
        Spot::of(place, Part::Whole)
    }

    /// A text in a value.
    pub fn text(place: Pointer, text: &str) -> Spot {
        Spot::of(place, Part::Text(text.into()))
    }

    fn of(place: Pointer, part: Part) -> Spot {
        Spot::Now(Wanted { place, part })
    }
}

/// The lines of many spots, in two walks over the text.
pub(crate) fn locate(document: &Document, spots: &[&Spot]) -> Vec<Option<Place>> {
    let (mut now, mut as_read) = (Vec::new(), Vec::new());
    for spot in spots {
        match spot {
            Spot::Nowhere | Spot::Exactly(_) => {}
            Spot::Now(wanted) => now.push(wanted.clone()),
            Spot::AsRead(place) => as_read.push(Wanted {
                place: place.clone(),
                part: Part::Whole,
            }),
        }
    }
    let look_up = |wanted: &[Wanted], all: &dyn Fn(&[Wanted]) -> Vec<Option<Position>>| match wanted
    {
        [] => Vec::new(),
        wanted => all(wanted),
    };
    let mut now = look_up(&now, &|wanted| document.locate_all(wanted)).into_iter();
    let mut as_read = look_up(&as_read, &|wanted| document.locate_all_as_read(wanted)).into_iter();
    let place = |spot: &&Spot| match spot {
        Spot::Nowhere => None,
        Spot::Exactly(position) => Some(*position),
        Spot::Now(_) => now.next().flatten(),
        Spot::AsRead(_) => as_read.next().flatten(),
    };
    spots
        .iter()
        .map(place)
        .map(|at| at.map(Place::from))
        .collect()
}

/// The ids of the nodes at both ends of an edge.
type Ends = (Arc<str>, Arc<str>);

/// Finds the places of things in a document. What it looks at it remembers, so asking is cheap however often it is done.
pub(crate) struct Spots<'a> {
    document: &'a Document,
    catalog: &'a Catalog,
    components: Option<IndexMap<Arc<str>, Component>>,
    edges: Option<HashMap<Ends, Edge>>,
    lines: Option<HashMap<Ends, usize>>,
    /// Where the references of a node stand, by what they say.
    references: HashMap<Arc<str>, HashMap<Arc<str>, Pointer>>,
}

impl<'a> Spots<'a> {
    pub fn new(canvas: &Canvas<'a>) -> Spots<'a> {
        Spots {
            document: canvas.document,
            catalog: canvas.catalog,
            components: None,
            edges: None,
            lines: None,
            references: HashMap::new(),
        }
    }

    /// The components of the document, by id.
    pub fn components(&mut self) -> &IndexMap<Arc<str>, Component> {
        let document = self.document;
        self.components.get_or_insert_with(|| document.components())
    }

    /// The id of a node where it stands.
    pub fn node(&self, id: &str) -> Spot {
        Spot::of(Pointer::component(id), Part::Name)
    }

    /// A parameter, by the dotted path that findings have.
    pub fn param(&mut self, id: &str, path: &str) -> Spot {
        Spot::whole(self.param_place(id, path))
    }

    fn param_place(&mut self, id: &str, path: &str) -> Pointer {
        let catalog = self.catalog;
        let start = Pointer::component(id).key("obj").key("params");
        let Some(component) = self.components().get(id) else {
            return start;
        };
        let table = catalog.get(&component.class);
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        // The file may have an older name of the parameter.
        let older = || {
            let aliases = &table?.find_param(first)?.aliases;
            aliases
                .iter()
                .find(|alias| component.params.contains_key(*alias))
        };
        let name = match component.params.contains_key(first) {
            true => first,
            false => older().map_or(first, |alias| &**alias),
        };
        let place = start.key(name);
        match component.params.get(name) {
            Some(value) => along(place, value, rest),
            None => place,
        }
    }

    /// An edge, on the side that has it.
    pub fn edge(&mut self, from: &Arc<str>, to: &Arc<str>) -> Spot {
        let document = self.document;
        let components = self.components.get_or_insert_with(|| document.components());
        let edges = self.edges.get_or_insert_with(|| {
            let edges = document.edges_between(components).into_iter();
            edges
                .map(|edge| ((edge.from.clone(), edge.to.clone()), edge))
                .collect()
        });
        let quoted = |id: &str| Value::from(id).to_json_text();
        match edges.get(&(from.clone(), to.clone())) {
            Some(edge) if edge.downstream => {
                Spot::text(Pointer::component(from).key("downstream"), &quoted(to))
            }
            Some(edge) if edge.upstream => {
                Spot::text(Pointer::component(to).key("upstream"), &quoted(from))
            }
            Some(_) => self.line(from, to),
            // A target in the parameters of a branch, or of the handling of failures.
            None => Spot::text(
                Pointer::component(from).key("obj").key("params"),
                &quoted(to),
            ),
        }
    }

    fn line(&mut self, from: &Arc<str>, to: &Arc<str>) -> Spot {
        let document = self.document;
        let lines = self.lines.get_or_insert_with(|| {
            let lines = document.graph().edges.into_iter().rev();
            lines
                .map(|line| ((line.source, line.target), line.index))
                .collect()
        });
        let index = lines.get(&(from.clone(), to.clone())).copied();
        let edges = Pointer::root().key("graph").key("edges");
        Spot::whole(index.map_or(edges.clone(), |index| edges.index(index)))
    }

    /// A reference of a node, where it stands first.
    pub fn reference(&mut self, id: &Arc<str>, text: &Arc<str>) -> Spot {
        if !self.references.contains_key(id) {
            let mut places = HashMap::new();
            if let Some(component) = self.components().get(id) {
                let start = Pointer::component(id).key("obj").key("params");
                references(
                    &Value::Object(component.params.clone()),
                    &start,
                    &mut places,
                );
            }
            self.references.insert(id.clone(), places);
        }
        let place = self.references.get(id).and_then(|places| places.get(text));
        match place {
            Some(place) => Spot::text(place.clone(), text),
            None => self.node(id),
        }
    }
}

/// The place at the end of a dotted path, as far as it exists. Names of members may hold dots themselves.
fn along(mut place: Pointer, value: &Value, path: &str) -> Pointer {
    let (mut value, mut rest) = (value, path);
    while !rest.is_empty() {
        let next = match value {
            Value::Array(items) => {
                let (step, rest) = rest.split_once('.').unwrap_or((rest, ""));
                let index: Option<usize> = step.parse().ok();
                index.and_then(|index| Some((place.clone().index(index), items.get(index)?, rest)))
            }
            Value::Object(members) => member(members, rest)
                .map(|(name, value, rest)| (place.clone().key(name), value, rest)),
            _ => None,
        };
        let Some((inner, found, after)) = next else {
            return place;
        };
        (place, value, rest) = (inner, found, after);
    }
    place
}

/// The member that a dotted path begins with: the longest name that fits.
fn member<'v, 'p>(members: &'v Object, path: &'p str) -> Option<(&'p str, &'v Value, &'p str)> {
    let ends = path.rmatch_indices('.').map(|(at, _)| at);
    std::iter::once(path.len()).chain(ends).find_map(|end| {
        let (name, rest) = path.split_at(end);
        let value = members.get(name)?;
        Some((name, value, rest.strip_prefix('.').unwrap_or(rest)))
    })
}

/// Everything in the texts of a value that may be a reference, with the place of the text it stands in first.
fn references(value: &Value, place: &Pointer, places: &mut HashMap<Arc<str>, Pointer>) {
    match value {
        Value::String(text) => {
            let mut add = |key: &str| {
                let key = key.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}'));
                if !key.is_empty() && !places.contains_key(key) {
                    places.insert(key.into(), place.clone());
                }
            };
            // The whole text, what stands in braces, and in those every word: Jinja refers without braces of its own.
            add(text);
            for inside in text.split('{').skip(1) {
                let inside = inside.split_once('}').map_or(inside, |(inside, _)| inside);
                add(inside);
                let word =
                    |c: char| c.is_alphanumeric() || matches!(c, '@' | '.' | ':' | '_' | '-');
                inside.split(|c| !word(c)).for_each(&mut add);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                references(item, &place.clone().index(at), places);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter() {
                references(member, &place.clone().key(name), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
