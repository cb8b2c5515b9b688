//! Texts as lines of a width.

use std::sync::Arc;

use krilla::text::KrillaGlyph;
use unicode_linebreak::{BreakOpportunity, linebreaks};

use super::shape::{FaceId, Shaper};
use crate::block::{Span, Style};

/// A colour: red, green, blue.
pub(super) type Color = (u8, u8, u8);

/// How a text looks where nothing else is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub size: f32,
    pub color: Color,
    pub bold: bool,
}

/// Text of one look on a line.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub face: FaceId,
    pub size: f32,
    pub color: Color,
    pub text: String,
    pub glyphs: Vec<KrillaGlyph>,
    pub width: f32,
    pub style: Style,
    pub link: Option<Arc<str>>,
    right_to_left: bool,
}

/// A line.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub runs: Vec<Run>,
    /// Its width without the blanks at its end.
    pub width: f32,
    /// Whether it belongs to a text that is read from the right.
    pub from_right: bool,
}

/// A part of a text that is not broken, unless it is wider than a line.
struct Piece {
    runs: Vec<Run>,
    width: f32,
    /// The width without the blanks at its end.
    visible: f32,
}

/// Where links lead the eye.
pub(super) const LINK: Color = (5, 99, 193);

/// The lines of a text; at least one.
pub(super) fn lines(shaper: &mut Shaper<'_>, spans: &[Span], look: Look, width: f32) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut rest: Vec<Span> = Vec::new();
    for span in spans {
        let mut parts = span.text.split('\n');
        let part = |text: &str| Span {
            text: clean(text),
            ..span.clone()
        };
        if let Some(first) = parts.next() {
            rest.push(part(first));
        }
        for next in parts {
            fill(shaper, &rest, look, width, &mut lines);
            rest = vec![part(next)];
        }
    }
    fill(shaper, &rest, look, width, &mut lines);
    lines
}

/// A text that fits on one line of a width, with dots where it was cut.
pub(super) fn fitted(shaper: &mut Shaper<'_>, text: &str, look: Look, width: f32) -> Line {
    let words = clean(text);
    let mut whole = one_line(shaper, &words, look);
    let mut cut: Vec<char> = words.chars().take(400).collect();
    while whole.width > width && !cut.is_empty() {
        cut.truncate(cut.len() * 9 / 10);
        let text: String = cut.iter().collect();
        whole = one_line(shaper, &format!("{}…", text.trim_end()), look);
    }
    whole
}

fn one_line(shaper: &mut Shaper<'_>, text: &str, look: Look) -> Line {
    let span = Span {
        text: text.to_owned(),
        ..Span::default()
    };
    let mut lines = Vec::new();
    fill(shaper, &[span], look, f32::INFINITY, &mut lines);
    lines.into_iter().next().unwrap_or_default()
}

/// A text without what is not seen: controls, joiners, marks of direction.
fn clean(text: &str) -> String {
    let seen = |c: char| {
        let unseen = matches!(u32::from(c), 0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfe00..=0xfe0f | 0xfeff
            | 0xfff9..=0xfffb | 0xe0000..=0xe0fff);
        !unseen && (c == '\t' || !c.is_control())
    };
    text.replace('\t', "    ")
        .chars()
        .filter(|c| seen(*c))
        .collect()
}

/// Fills lines with a text that has no breaks of its own.
fn fill(shaper: &mut Shaper<'_>, spans: &[Span], look: Look, width: f32, lines: &mut Vec<Line>) {
    let text: String = spans.iter().map(|span| span.text.as_str()).collect();
    let from_right = text
        .chars()
        .find(|c| c.is_alphabetic())
        .is_some_and(reads_from_right);
    let mut line = Line {
        from_right,
        ..Line::default()
    };
    let mut x = 0.0;
    let mut start = 0;
    let mut source = Source { spans, taken: 0 };
    let breaks: Vec<(usize, BreakOpportunity)> = linebreaks(&text).collect();
    for (end, _) in breaks {
        let piece = source.piece(shaper, end - start, look);
        start = end;
        if x + piece.visible > width && !line.runs.is_empty() {
            lines.push(finished(&mut line));
            x = 0.0;
        }
        if piece.visible > width {
            x = broken(shaper, piece, width, &mut line, lines);
            continue;
        }
        line.width = x + piece.visible;
        x += piece.width;
        piece
            .runs
            .into_iter()
            .for_each(|run| push(&mut line.runs, run));
    }
    lines.push(finished(&mut line));
}

/// Breaks a piece wherever a line is full; gives where the last line ends.
fn broken(
    shaper: &mut Shaper<'_>,
    piece: Piece,
    width: f32,
    line: &mut Line,
    lines: &mut Vec<Line>,
) -> f32 {
    let mut x = 0.0;
    for run in piece.runs {
        for text in clusters(&run.text) {
            let part = reshaped(shaper, &run, text);
            if x + part.width > width && !line.runs.is_empty() {
                lines.push(finished(line));
                x = 0.0;
            }
            x += part.width;
            line.width = x;
            push(&mut line.runs, part);
        }
    }
    x
}

/// Characters with the marks that stand on them.
fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| matches!(u32::from(c), 0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f);
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends = rest.char_indices().skip(1).filter(|(_, c)| !is_mark(*c));
        let end = ends.next().map_or(rest.len(), |(at, _)| at);
        let (first, behind) = rest.split_at(end);
        rest = behind;
        (!first.is_empty()).then_some(first)
    })
}

/// Takes a line that is full, with its runs as they are seen from left to right.
fn finished(line: &mut Line) -> Line {
    let from_right = line.from_right;
    let mut line = std::mem::replace(
        line,
        Line {
            from_right,
            ..Line::default()
        },
    );
    if from_right {
        line.runs.reverse();
    }
    // What reads against the line's direction is in order among itself.
    let against = |run: &Run| run.right_to_left != from_right;
    for group in line.runs.chunk_by_mut(|a, b| against(a) && against(b)) {
        if group.first().is_some_and(against) {
            group.reverse();
        }
    }
    line
}

/// Adds a run; one that looks like the last becomes part of it.
fn push(runs: &mut Vec<Run>, run: Run) {
    let same = |last: &Run| {
        let looks = |run: &Run| (run.face, run.size.to_bits(), run.color, run.style);
        looks(last) == looks(&run)
            && last.link == run.link
            && !last.right_to_left
            && !run.right_to_left
    };
    match runs.last_mut() {
        Some(last) if same(last) => {
            let offset = last.text.len();
            last.text.push_str(&run.text);
            last.width += run.width;
            last.glyphs.extend(run.glyphs.into_iter().map(|mut glyph| {
                glyph.text_range = glyph.text_range.start + offset..glyph.text_range.end + offset;
                glyph
            }));
        }
        _ => runs.push(run),
    }
}

/// Spans that are taken piece by piece, from the first to the last.
struct Source<'s> {
    spans: &'s [Span],
    /// What of the first span was taken.
    taken: usize,
}

impl Source<'_> {
    /// The next bytes of the text as runs: a new one where the look, the face or the direction changes.
    fn piece(&mut self, shaper: &mut Shaper<'_>, mut length: usize, look: Look) -> Piece {
        let mut piece = Piece {
            runs: Vec::new(),
            width: 0.0,
            visible: 0.0,
        };
        while length > 0
            && let Some((span, rest)) = self.spans.split_first()
        {
            let left = span.text.get(self.taken..).unwrap_or_default();
            let text = left.get(..length).unwrap_or(left);
            if !text.is_empty() {
                of_span(shaper, span, text, look, &mut piece);
            }
            length -= text.len();
            self.taken += text.len();
            if self.taken >= span.text.len() {
                (self.spans, self.taken) = (rest, 0);
            } else if text.is_empty() {
                break;
            }
        }
        piece
    }
}

fn of_span(shaper: &mut Shaper<'_>, span: &Span, text: &str, look: Look, piece: &mut Piece) {
    let style = Style {
        bold: span.style.bold || look.bold,
        ..span.style
    };
    let mut current: Option<(FaceId, bool, String)> = None;
    for c in text.chars() {
        // Blanks belong to what is before them, digits and signs to what is read from the left.
        let found = match (&current, c.is_whitespace()) {
            (Some((face, right, _)), true) => Some((*face, *right)),
            _ => shaper
                .face(c, style)
                .map(|face| (face, reads_from_right(c))),
        };
        let Some((face, right)) = found else {
            continue;
        };
        match &mut current {
            Some((of, was, text)) if *of == face && *was == right => text.push(c),
            _ => {
                if let Some((face, right, text)) = current.take() {
                    put(shaper, span, style, look, (face, right, text), piece);
                }
                current = Some((face, right, c.to_string()));
            }
        }
    }
    if let Some(last) = current {
        put(shaper, span, style, look, last, piece);
    }
}

fn put(
    shaper: &mut Shaper<'_>,
    span: &Span,
    style: Style,
    look: Look,
    (face, right_to_left, text): (FaceId, bool, String),
    piece: &mut Piece,
) {
    let link = span
        .link
        .clone()
        .filter(|link| crate::markdown::harmless(link));
    // A face for code looks larger than the others.
    let size = if style.code {
        look.size * 0.9
    } else {
        look.size
    };
    let run = Run {
        face,
        size,
        color: if link.is_some() { LINK } else { look.color },
        text: String::new(),
        glyphs: Vec::new(),
        width: 0.0,
        style,
        link,
        right_to_left,
    };
    let run = reshaped(shaper, &run, &text);
    let seen = text.trim_end();
    let visible = match seen.len() == text.len() {
        true => run.width,
        false => reshaped(shaper, &run, seen).width,
    };
    if !seen.is_empty() {
        piece.visible = piece.width + visible;
    }
    piece.width += run.width;
    piece.runs.push(run);
}

/// Another text that looks the same.
fn reshaped(shaper: &mut Shaper<'_>, run: &Run, text: &str) -> Run {
    let shaped = shaper.shape(run.face, text);
    Run {
        text: text.to_owned(),
        glyphs: shaped.glyphs.clone(),
        width: shaped.width * run.size,
        ..run.clone()
    }
}

/// Whether a character is of a script that is read from right to left.
fn reads_from_right(c: char) -> bool {
    matches!(u32::from(c), 0x590..=0x65f | 0x66a..=0x6ef | 0x6fa..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefe | 0x10800..=0x10fff | 0x1e800..=0x1efff)
}
