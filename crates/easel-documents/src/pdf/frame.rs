//! What stands around the text of each page: header, footer, time, number, watermark.

use easel_tools::documents::DocumentRequest;

use super::flow::{MARGIN, Mark, PAGE, Page, QUIET};
use super::line::{Line, Look, fitted};
use super::shape::Shaper;

/// The size of header and footer.
const SMALL: f32 = 9.0;
/// From the end of the page to the foot of a header's or a footer's letters.
const DISTANCE: f32 = 36.0;
/// How long a watermark is.
const ACROSS: f32 = 560.0;
/// The largest letters of a watermark.
const LARGEST: f32 = 110.0;
const PALE: (u8, u8, u8) = (150, 150, 150);

/// Adds it to the page with that number.
pub(super) fn add(
    shaper: &mut Shaper<'_>,
    request: &DocumentRequest,
    number: usize,
    page: &mut Page,
) {
    let small = Look {
        size: SMALL,
        color: QUIET,
        bold: false,
    };
    let width = PAGE.0 - 2.0 * MARGIN;
    let foot = PAGE.1 - DISTANCE;
    let mut put = |shaper: &mut Shaper<'_>, text: &str, room: f32, place: f32, y: f32| {
        if text.trim().is_empty() {
            return;
        }
        let line = fitted(shaper, text.trim(), small, room);
        let x = MARGIN + (width - line.width) * place;
        text_at(page, line, x, y);
    };
    put(shaper, &request.header, width, 0.0, DISTANCE);
    put(shaper, &request.footer, width * 0.36, 0.0, foot);
    put(
        shaper,
        request.timestamp.as_deref().unwrap_or_default(),
        width * 0.26,
        0.5,
        foot,
    );
    if request.page_numbers {
        put(shaper, &format!("Page {number}"), width * 0.3, 1.0, foot);
    }
    watermark(shaper, &request.watermark, page);
}

fn text_at(page: &mut Page, line: Line, mut x: f32, y: f32) {
    for run in line.runs {
        let width = run.width;
        page.push(Mark::Text { x, y, run });
        x += width;
    }
}

fn watermark(shaper: &mut Shaper<'_>, text: &str, page: &mut Page) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let mut look = Look {
        size: LARGEST,
        color: PALE,
        bold: true,
    };
    // Once to know how long it is, and once as large as it may be.
    let wide = fitted(shaper, text, look, ACROSS * LARGEST / SMALL)
        .width
        .max(1.0);
    look.size = (LARGEST * ACROSS / wide).clamp(SMALL, LARGEST);
    let line = fitted(shaper, text, look, ACROSS);
    page.insert(0, Mark::Watermark { line });
}
