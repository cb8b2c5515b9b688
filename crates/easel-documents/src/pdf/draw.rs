//! Pages as the bytes of a PDF.

use krilla::Document;
use krilla::action::LinkAction;
use krilla::annotation::{LinkAnnotation, Target};
use krilla::color::rgb;
use krilla::destination::XyzDestination;
use krilla::error::KrillaError;
use krilla::geom::{PathBuilder, Point, Rect, Transform};
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;

use super::flow::{Heading, MARGIN, Mark, PAGE, Page, Rectangle};
use super::line::{Color, Run};
use super::shape::Shaper;
use crate::error::DocumentError;
use crate::limits::Patience;

/// Why pages were not written.
pub(super) enum Undrawn {
    /// A font cannot be part of a document: the cause.
    Font(String),
    /// Anything else.
    Failed(DocumentError),
}

/// How much of the page is seen through a watermark.
const FAINT: f32 = 0.22;
/// The angle of a watermark, in degrees.
const ANGLE: f32 = -50.0;
/// Headings that a viewer lists at most.
const LISTED: usize = 2_000;

/// The document.
pub(super) fn draw(
    title: &str,
    pages: &[Page],
    headings: Vec<Heading>,
    shaper: &Shaper<'_>,
    patience: &Patience,
) -> Result<Vec<u8>, Undrawn> {
    let mut document = Document::new();
    let settings = || {
        PageSettings::from_wh(PAGE.0, PAGE.1)
            .ok_or_else(|| Undrawn::Failed(unwritable("a page has no size".into())))
    };
    for page in pages {
        patience.check().map_err(Undrawn::Failed)?;
        let mut drawn = document.start_page_with(settings()?);
        let mut surface = drawn.surface();
        for mark in page {
            put(&mut surface, mark, shaper);
        }
        surface.finish();
        for link in page.iter().filter_map(link) {
            drawn.add_annotation(link.into());
        }
        drawn.finish();
    }
    document.set_outline(outline(headings));
    let metadata = Metadata::new().creator("Easel".to_owned());
    document.set_metadata(match title.trim().is_empty() {
        true => metadata,
        false => metadata.title(title.trim().to_owned()),
    });
    document.finish().map_err(|error| match error {
        KrillaError::Font(_, cause) => Undrawn::Font(cause),
        other => Undrawn::Failed(unwritable(other.to_string())),
    })
}

fn unwritable(cause: String) -> DocumentError {
    DocumentError::Unwritable {
        what: "The PDF",
        cause,
    }
}

fn paint((red, green, blue): Color, opacity: f32) -> Fill {
    Fill {
        paint: rgb::Color::new(red, green, blue).into(),
        opacity: NormalizedF32::new(opacity).unwrap_or(NormalizedF32::ONE),
        ..Fill::default()
    }
}

fn put(surface: &mut Surface<'_>, mark: &Mark, shaper: &Shaper<'_>) {
    match mark {
        Mark::Fill { at, color } => fill(surface, *at, *color),
        Mark::Text { x, y, run } => text(surface, shaper, run, (*x, *y), 1.0),
        Mark::Watermark { line } => {
            let (x, y) = (PAGE.0 / 2.0, PAGE.1 / 2.0);
            surface.push_transform(&Transform::from_rotate_at(ANGLE, x, y));
            let mut left = x - line.width / 2.0;
            for run in &line.runs {
                text(surface, shaper, run, (left, y + run.size * 0.35), FAINT);
                left += run.width;
            }
            surface.pop();
        }
    }
}

fn fill(surface: &mut Surface<'_>, at: Rectangle, color: Color) {
    let Some(rect) = Rect::from_xywh(at.x, at.y, at.width, at.height) else {
        return;
    };
    let mut path = PathBuilder::new();
    path.push_rect(rect);
    if let Some(path) = path.finish() {
        surface.set_fill(Some(paint(color, 1.0)));
        surface.draw_path(&path);
    }
}

fn text(
    surface: &mut Surface<'_>,
    shaper: &Shaper<'_>,
    run: &Run,
    (x, y): (f32, f32),
    opacity: f32,
) {
    let Some(font) = shaper.font(run.face).filter(|_| !run.glyphs.is_empty()) else {
        return;
    };
    surface.set_fill(Some(paint(run.color, opacity)));
    let at = Point::from_xy(x, y);
    surface.draw_glyphs(at, &run.glyphs, font, &run.text, run.size, false);
    let under = run.link.is_some().then_some(run.size * 0.12);
    let through = run.style.struck.then_some(-run.size * 0.3);
    for shift in [under, through].into_iter().flatten() {
        let at = Rectangle {
            x,
            y: y + shift,
            width: run.width,
            height: run.size * 0.06,
        };
        fill(surface, at, run.color);
    }
}

/// Where a click on a text leads.
fn link(mark: &Mark) -> Option<LinkAnnotation> {
    let Mark::Text { x, y, run } = mark else {
        return None;
    };
    let link = run.link.as_deref()?;
    let rect = Rect::from_xywh(*x, y - run.size, run.width, run.size * 1.3)?;
    let action = LinkAction::new(encoded(link.trim()));
    Some(LinkAnnotation::new(rect, Target::Action(action.into())))
}

/// An address as PDF takes it: in ASCII.
fn encoded(link: &str) -> String {
    let mut out = String::with_capacity(link.len());
    for byte in link.bytes() {
        match byte {
            b'!'..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The headings as viewers list them, each under the one above it.
fn outline(headings: Vec<Heading>) -> Outline {
    let mut outline = Outline::new();
    let mut open: Vec<(u8, OutlineNode)> = Vec::new();
    let close = |open: &mut Vec<(u8, OutlineNode)>, outline: &mut Outline| {
        if let Some((_, node)) = open.pop() {
            match open.last_mut() {
                Some((_, parent)) => parent.push_child(node),
                None => outline.push_child(node),
            }
        }
    };
    for heading in headings.into_iter().take(LISTED) {
        while open
            .last()
            .is_some_and(|(level, _)| *level >= heading.level)
        {
            close(&mut open, &mut outline);
        }
        let place = Point::from_xy(MARGIN, heading.y);
        let node = OutlineNode::new(heading.title, XyzDestination::new(heading.page, place));
        open.push((heading.level, node));
    }
    while !open.is_empty() {
        close(&mut open, &mut outline);
    }
    outline
}
