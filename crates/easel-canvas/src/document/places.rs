//! The lines of many things at once, in one walk over the text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::Document;
use crate::pointer::{Pointer, Step};
use crate::scan::{At, Open, Scanner, Token};
use crate::source::{Position, Source};

/// Something whose line is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The place of a value.
    pub place: Pointer,
    /// What of it.
    pub part: Part,
}

/// A part of a value, as far as its line goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    #[default]
    Whole,
    /// The name under which it stands in its object.
    Name,
    /// A text that stands in it as it is written in the file: its first occurrence, or all of the value if there is none.
    Text(Arc<str>),
}

/// The longest value in which a text is looked for, in bytes: looking for many texts in one value takes the product.
const LONGEST_SEARCHED: usize = 200_000;

impl Document {
    /// Where each of these, or else the innermost value around it, stands in the file. As [`Document::locate`], but
    /// however many are wanted the text is walked over once.
    pub fn locate_all(&self, wanted: &[Wanted]) -> Vec<Option<Position>> {
        let as_read = wanted.iter().map(|wanted| Wanted {
            place: self.place_as_read(&wanted.place),
            part: wanted.part.clone(),
        });
        self.locate_all_as_read(&as_read.collect::<Vec<_>>())
    }

    /// The same for places in the canvas as it was read, such as those of [notes](crate::normalise::Note).
    pub fn locate_all_as_read(&self, wanted: &[Wanted]) -> Vec<Option<Position>> {
        let Some(source) = &self.origin.source else {
            return vec![None; wanted.len()];
        };
        if self.origin.inner.is_some() {
            // Nothing inside the canvas's own text has a line of the file.
            return vec![source.locate_nearest(&self.origin.base); wanted.len()];
        }
        let places: Vec<Pointer> = wanted
            .iter()
            .map(|wanted| self.origin.base.clone().join(&wanted.place))
            .collect();
        let found = Walk::over(source, &places);
        let ranges = wanted
            .iter()
            .zip(found)
            .map(|(wanted, found)| match &wanted.part {
                Part::Whole => found.value,
                Part::Name => found.name.unwrap_or(found.value),
                Part::Text(text) => within(source, &found.value, text).unwrap_or(found.value),
            });
        let ranges: Vec<Range<usize>> = ranges.collect();
        source.positions(&ranges).into_iter().map(Some).collect()
    }
}

/// Where a text stands in a value, as it is written there.
fn within(source: &Source, value: &Range<usize>, text: &str) -> Option<Range<usize>> {
    if text.is_empty() || value.len() > LONGEST_SEARCHED {
        return None;
    }
    let at = value.start + source.text().get(value.clone())?.find(text)?;
    Some(at..at + text.len())
}

/// A walk over a text that looks for many values: a tree of the steps that lead to them.
struct Walk {
    places: Vec<Place>,
}

/// A value on the way to one that is wanted.
#[derive(Default)]
struct Place {
    next: HashMap<Step, usize>,
    /// Where it stands, of several members of one name the last, and where the value around it begins.
    found: Option<(Found, usize)>,
}

/// Where a value stands.
#[derive(Clone, Default)]
struct Found {
    value: Range<usize>,
    /// Its name, if it is a member of an object. `None` for a value around the one that was looked for.
    name: Option<Range<usize>>,
}

impl Walk {
    /// Each value, or the innermost one around it.
    fn over(source: &Source, wanted: &[Pointer]) -> Vec<Found> {
        let mut walk = Walk {
            places: vec![Place::default()],
        };
        let ends: Vec<Vec<usize>> = wanted.iter().map(|place| walk.add(place)).collect();
        walk.go(source);
        ends.iter().map(|way| walk.nearest(way)).collect()
    }

    /// Adds a place to look for. Gives the way to it.
    fn add(&mut self, place: &Pointer) -> Vec<usize> {
        let mut way = vec![0];
        let mut at = 0;
        for step in place.iter() {
            let fresh = self.places.len();
            let Some(here) = self.places.get_mut(at) else {
                break;
            };
            at = *here.next.entry(step.clone()).or_insert(fresh);
            if at == fresh {
                self.places.push(Place::default());
            }
            way.push(at);
        }
        way
    }

    fn go(&mut self, source: &Source) {
        let mut scanner = Scanner::new(source.text(), usize::MAX);
        // For each open object or list: the place it is, and where it begins.
        let mut around: Vec<(Option<Entered>, usize)> = Vec::new();
        while let Ok(Some(token)) = scanner.token() {
            match token {
                Token::Key(_) => {}
                Token::Scalar(range) => {
                    let place = self.enter(&scanner, scanner.open().last(), &around);
                    self.found(place, range, &around);
                }
                Token::Open(start) => {
                    let outer = scanner.open().len().checked_sub(2);
                    let outer = outer.and_then(|at| scanner.open().get(at));
                    let place = self.enter(&scanner, outer, &around);
                    self.found(place.clone(), start..start + 1, &around);
                    around.push((place, start));
                }
                Token::Close(range) => {
                    if let Some((place, _)) = around.pop() {
                        self.found(place, range, &around);
                    }
                }
            }
        }
    }

    /// The place of the value that begins inside `outer`, if it lies on a way.
    fn enter(
        &self,
        scanner: &Scanner<'_>,
        outer: Option<&Open>,
        around: &[(Option<Entered>, usize)],
    ) -> Option<Entered> {
        let (Some((parent, _)), Some(outer)) = (around.last(), outer) else {
            return Some(Entered {
                place: 0,
                name: None,
            });
        };
        let next = &self.places.get(parent.as_ref()?.place)?.next;
        if next.is_empty() {
            return None;
        }
        let (step, name) = match &outer.at {
            At::NoMember => return None,
            At::Member(name) => (
                Step::Key(scanner.text_at(name).as_ref().into()),
                Some(name.clone()),
            ),
            At::Item(index) => (Step::Index(*index), None),
        };
        let place = *next.get(&step)?;
        Some(Entered { place, name })
    }

    fn found(
        &mut self,
        entered: Option<Entered>,
        value: Range<usize>,
        around: &[(Option<Entered>, usize)],
    ) {
        let Some(Entered { place, name }) = entered else {
            return;
        };
        if let Some(place) = self.places.get_mut(place) {
            let outer = around.last().map_or(0, |(_, start)| *start);
            place.found = Some((Found { value, name }, outer));
        }
    }

    /// The last value on a way. One that stands in an object whose name came again doesn't count.
    fn nearest(&self, way: &[usize]) -> Found {
        let mut nearest = Found::default();
        for (step, at) in way.iter().enumerate() {
            match self.places.get(*at).and_then(|place| place.found.as_ref()) {
                Some((found, outer)) if step == 0 || *outer == nearest.value.start => {
                    nearest = found.clone()
                }
                _ => {
                    nearest.name = None;
                    break;
                }
            }
        }
        nearest
    }
}

/// A value on a way at which the walk has come.
#[derive(Clone)]
struct Entered {
    /// Which, among [`Walk::places`].
    place: usize,
    /// Its name, if it is a member of an object.
    name: Option<Range<usize>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Document {
        Document::read(text.as_bytes()).unwrap()
    }

    fn wanted(place: Pointer) -> Wanted {
        Wanted {
            place,
            part: Part::Whole,
        }
    }

    #[test]
    fn many_places_are_found_as_each_alone_is() {
        let document = read(
            "{\"components\": {\n \"a\": {\"x\": [1,\n 2, {\"y\": 3}]}, \"b\": 1, \"a\": {\n\"z\": 4}, \"ü\": \"é\"}}",
        );
        let a = Pointer::component("a");
        let places = [
            Pointer::root(),
            a.clone(),
            a.clone().key("x").index(2).key("y"),
            a.key("z"),
            Pointer::component("b").key("none"),
            Pointer::component("ü"),
            Pointer::root().key("graph"),
        ];
        let all = document.locate_all(&places.clone().map(wanted));
        for (place, found) in places.iter().zip(all) {
            assert_eq!(found, document.locate(place), "{place}");
        }
    }

    #[test]
    fn a_text_inside_a_value_is_pointed_at() {
        let document = read("{\"components\": {\n \"a\": \"é say {b@c} twice {b@c}\"}}");
        let place = Pointer::component("a");
        let part = |part: Part| {
            let place = place.clone();
            document.locate_all(&[Wanted { place, part }])[0].unwrap()
        };
        let at = |text: &str| part(Part::Text(text.into()));
        assert_eq!(
            (at("b@c").line, at("b@c").column, at("b@c").len),
            (2, 15, 3)
        );
        assert_eq!(Some(at("nowhere")), document.locate(&place));
        let name = part(Part::Name);
        assert_eq!((name.line, name.column, name.len), (2, 2, 3));
    }

    #[test]
    fn what_normalising_moved_is_found_where_it_was() {
        let text = r#"{"components": {
            "begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Splitter:A"], "upstream": []},
            "Splitter:A": {"obj": {"component_name": "Splitter", "params": {"delimiters": ["x"]}},
                           "downstream": [], "upstream": ["begin"]}}}"#;
        let document = crate::normalise::normalise(&read(text)).document;
        let ids: Vec<_> = document.components().keys().cloned().collect();
        assert_eq!(ids[1].as_ref(), "TokenChunker:A");
        let places = [
            Pointer::component("TokenChunker:A"),
            Pointer::param("TokenChunker:A", "delimiters"),
        ];
        let all = document.locate_all(&places.clone().map(wanted));
        for (place, found) in places.iter().zip(all) {
            assert_eq!(found, document.locate(place), "{place}");
        }
        assert_eq!(document.locate(&places[0]).map(|at| at.line), Some(3));
    }

    proptest! {
        #[test]
        fn one_walk_and_many_agree(
            text in "\\{\"components\": ?[\\{\\[\"ab:, 1\\]\\}\n]{0,40}",
            steps in proptest::collection::vec(proptest::collection::vec("[ab01]", 0..4), 1..4),
        ) {
            let Ok(document) = Document::read(text.as_bytes()) else { return Ok(()) };
            let places: Vec<Pointer> = steps.iter().map(|steps| {
                steps.iter().fold(Pointer::root().key("components"), |place, step| match step.parse() {
                    Ok(index) => place.index(index),
                    Err(_) => place.key(step),
                })
            }).collect();
            let all = document.locate_all(&places.iter().cloned().map(wanted).collect::<Vec<_>>());
            for (place, found) in places.iter().zip(all) {
                prop_assert_eq!(found, document.locate(place), "{}", place);
            }
        }
    }
}
