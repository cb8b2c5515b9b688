//! Words as glyphs.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::{Direction, UnicodeBuffer};

use super::faces::{self, Bytes, Fonts};
use crate::block::Style;

/// A face of the document, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FaceId(usize);

struct Face {
    bytes: Bytes,
    font: Font,
}

/// Glyphs of a text of one face. Widths are parts of the font's size.
pub(super) struct Shaped {
    pub glyphs: Vec<KrillaGlyph>,
    pub width: f32,
}

/// Searches of the machine's fonts that one document may make: each opens many files.
const SEARCHES: usize = 400;
/// Words that are remembered.
const REMEMBERED: usize = 50_000;
/// Missing characters that are named.
const NAMED: usize = 12;

/// Makes glyphs, and remembers which face has which character.
pub(super) struct Shaper<'f> {
    fonts: &'f Fonts,
    faces: Vec<Face>,
    /// Faces that come with Easel, by where they are in memory.
    known: HashMap<usize, FaceId>,
    /// Faces of the machine that have had something.
    others: Vec<(bool, FaceId)>,
    by_char: HashMap<(Style, char), Option<FaceId>>,
    words: HashMap<FaceId, HashMap<String, Rc<Shaped>>>,
    remembered: usize,
    searches: usize,
    missing: BTreeSet<char>,
}

impl<'f> Shaper<'f> {
    pub fn new(fonts: &'f Fonts) -> Shaper<'f> {
        Shaper {
            fonts,
            faces: Vec::new(),
            known: HashMap::new(),
            others: Vec::new(),
            by_char: HashMap::new(),
            words: HashMap::new(),
            remembered: 0,
            searches: 0,
            missing: BTreeSet::new(),
        }
    }

    pub fn font(&self, face: FaceId) -> Option<Font> {
        self.faces.get(face.0).map(|face| face.font.clone())
    }

    /// The face that a character is set in. `None`: not even the text's own face can be read.
    pub fn face(&mut self, c: char, style: Style) -> Option<FaceId> {
        let style = Style {
            struck: false,
            ..style
        };
        if let Some(face) = self.by_char.get(&(style, c)) {
            return *face;
        }
        let face = self.search(c, style);
        self.by_char.insert((style, c), face);
        face
    }

    fn search(&mut self, c: char, style: Style) -> Option<FaceId> {
        let built_in: Vec<FaceId> = faces::built_in(style)
            .into_iter()
            .filter_map(|data| self.built_in(data))
            .collect();
        let has = |face: &&FaceId, faces: &[Face]| {
            faces.get(face.0).is_some_and(|face| face.bytes.has(c))
        };
        if let Some(face) = built_in.iter().find(|face| has(face, &self.faces)) {
            return Some(*face);
        }
        let of_weight = self.others.iter().filter(|(bold, _)| *bold == style.bold);
        if let Some((_, face)) = of_weight.clone().find(|(_, face)| has(&face, &self.faces)) {
            return Some(*face);
        }
        if self.searches < SEARCHES {
            self.searches += 1;
            let other = self.fonts.other_with(c, style.bold);
            if let Some(face) = other.and_then(|bytes| self.add(bytes)) {
                self.others.push((style.bold, face));
                return Some(face);
            }
        }
        self.missing.insert(c);
        built_in.first().copied()
    }

    fn built_in(&mut self, data: &'static [u8]) -> Option<FaceId> {
        let place = data.as_ptr() as usize;
        if let Some(face) = self.known.get(&place) {
            return Some(*face);
        }
        let face = self.add(Bytes {
            data: Arc::new(data),
            index: 0,
        })?;
        self.known.insert(place, face);
        Some(face)
    }

    fn add(&mut self, bytes: Bytes) -> Option<FaceId> {
        let font = Font::new(bytes.data.clone().into(), bytes.index)?;
        self.faces.push(Face { bytes, font });
        Some(FaceId(self.faces.len() - 1))
    }

    /// The glyphs of a text.
    pub fn shape(&mut self, face: FaceId, text: &str) -> Rc<Shaped> {
        if let Some(known) = self.words.get(&face).and_then(|words| words.get(text)) {
            return known.clone();
        }
        let shaped = Rc::new(
            self.faces
                .get(face.0)
                .map_or_else(Shaped::none, |face| shape(face, text)),
        );
        if self.remembered < REMEMBERED {
            self.remembered += 1;
            let words = self.words.entry(face).or_default();
            words.insert(text.to_owned(), shaped.clone());
        }
        shaped
    }

    /// What is to be told about characters that no face has.
    pub fn missing(&self) -> Option<String> {
        if self.missing.is_empty() {
            return None;
        }
        let named = self.missing.iter().take(NAMED).map(char::to_string);
        let named = named.collect::<Vec<_>>().join(" ");
        let more = match self.missing.len() > NAMED {
            true => " …",
            false => "",
        };
        let fix = if self.missing.iter().any(|c| is_cjk(*c)) {
            "Install a font for Chinese, Japanese and Korean on the machine (Debian's package `fonts-noto-cjk`)"
        } else if self.missing.iter().all(|c| *c >= '\u{1f000}') {
            "Fonts of coloured pictures are not used; install one that draws them in lines (Debian's package `fonts-symbola`)"
        } else {
            "Install a font on the machine that has them (Debian's package `fonts-noto-core` has most)"
        };
        Some(format!(
            "The PDF shows boxes for characters that no font has: {named}{more}. {fix}."
        ))
    }
}

impl Shaped {
    fn none() -> Shaped {
        Shaped {
            glyphs: Vec::new(),
            width: 0.0,
        }
    }
}

fn shape(face: &Face, text: &str) -> Shaped {
    let data = (*face.bytes.data).as_ref();
    let Some(with) = rustybuzz::Face::from_slice(data, face.bytes.index) else {
        return Shaped::none();
    };
    let mut buffer = UnicodeBuffer::new();
    buffer.push_str(text);
    buffer.guess_segment_properties();
    if !matches!(
        buffer.direction(),
        Direction::LeftToRight | Direction::RightToLeft
    ) {
        buffer.set_direction(Direction::LeftToRight);
    }
    let output = rustybuzz::shape(&with, &[], buffer);
    let starts: BTreeSet<usize> = output
        .glyph_infos()
        .iter()
        .map(|glyph| glyph.cluster as usize)
        .collect();
    let units = face.font.units_per_em().max(1.0);
    let mut width = 0.0;
    let glyphs = output.glyph_infos().iter().zip(output.glyph_positions());
    let glyphs = glyphs.map(|(glyph, position)| {
        let start = glyph.cluster as usize;
        let end = starts
            .range(start + 1..)
            .next()
            .copied()
            .unwrap_or(text.len());
        let part = |length: i32| length as f32 / units;
        width += part(position.x_advance);
        KrillaGlyph::new(
            GlyphId::new(glyph.glyph_id),
            part(position.x_advance),
            part(position.x_offset),
            part(position.y_offset),
            part(position.y_advance),
            start..end,
            None,
        )
    });
    Shaped {
        glyphs: glyphs.collect(),
        width,
    }
}

/// Whether a character belongs to Chinese, Japanese or Korean.
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x11ff | 0x2e80..=0x9fff | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0xff00..=0xffef | 0x20000..=0x3fffd)
}
