//! Tables on pages.

use super::flow::{Flow, RULE, SHADE};
use super::line::{Line, Look, lines};
use crate::block::{Align, Span, Table};
use crate::error::DocumentError;

/// Height of a line, as a part of the size of its text.
const LEADING: f32 = 1.3;
/// Between the frame of a cell and its text.
const PADDING: f32 = 4.0;
/// Lines of the frame.
const FRAME: f32 = 0.6;
/// The smallest text of a table with many columns.
const SMALLEST: f32 = 6.0;

/// A row of cells, each as lines.
type Row = Vec<Vec<Line>>;

struct Grid {
    widths: Vec<f32>,
    aligns: Vec<Align>,
    look: Look,
}

/// Puts a table down. Its head stands on each page that it reaches.
pub(super) fn put(flow: &mut Flow<'_, '_>, table: &Table) -> Result<(), DocumentError> {
    let columns = table.columns.len();
    let limit = flow.limits.columns;
    if columns > limit {
        return Err(DocumentError::TooWide { columns, limit });
    }
    if columns == 0 {
        return Ok(());
    }
    let grid = Grid::of(flow, table);
    let mut rows = table.rows.iter();
    let head = rows
        .next()
        .map(|cells| grid.row(flow, cells, true))
        .unwrap_or_default();
    let small = height(&head) * grid.line() <= flow.bottom() / 4.0;
    // A head alone at the foot of a page says nothing.
    flow.room((height(&head) + 1.0) * grid.line() + 4.0 * PADDING)?;
    grid.put(flow, head.clone(), true, None)?;
    for cells in rows {
        let row = grid.row(flow, cells, false);
        grid.put(flow, row, false, Some(&head).filter(|_| small))?;
    }
    flow.space(grid.look.size);
    Ok(())
}

fn height(row: &Row) -> f32 {
    row.iter().map(Vec::len).max().unwrap_or(1).max(1) as f32
}

impl Grid {
    /// How wide each column is: as its text wants, if all fit; else words are kept whole where that is possible.
    fn of(flow: &mut Flow<'_, '_>, table: &Table) -> Grid {
        let mut look = flow.look();
        let columns = table.columns.len() as f32;
        look.size = (look.size * 0.95)
            .min(flow.width() / columns / 3.0)
            .max(SMALLEST);
        let (mut wanted, mut least) = (Vec::new(), Vec::new());
        for column in 0..table.columns.len() {
            let (mut widest, mut longest) = (0.0_f32, 0.0_f32);
            for (at, row) in table.rows.iter().enumerate() {
                let Some(spans) = row.get(column) else {
                    continue;
                };
                let look = Look {
                    bold: at == 0,
                    ..look
                };
                let widths =
                    |lines: Vec<Line>| lines.iter().map(|line| line.width).fold(0.0, f32::max);
                widest = widest.max(widths(lines(flow.shaper, spans, look, f32::INFINITY)));
                let words = crate::block::text_of(spans);
                let longer = words.split_whitespace().max_by_key(|word| word.len());
                let word = Span {
                    text: longer.unwrap_or_default().to_owned(),
                    ..Span::default()
                };
                longest = longest.max(widths(lines(flow.shaper, &[word], look, f32::INFINITY)));
            }
            wanted.push(widest + 2.0 * PADDING + 1.0);
            least.push(longest.min(150.0) + 2.0 * PADDING + 1.0);
        }
        Grid {
            widths: shares(&wanted, &least, flow.width()),
            aligns: table.columns.clone(),
            look,
        }
    }

    fn line(&self) -> f32 {
        self.look.size * LEADING
    }

    fn row(&self, flow: &mut Flow<'_, '_>, cells: &[Vec<Span>], head: bool) -> Row {
        let look = Look {
            bold: head,
            ..self.look
        };
        let cells = cells.iter().zip(&self.widths);
        let lines = cells.map(|(spans, width)| {
            let width = (width - 2.0 * PADDING).max(1.0);
            lines(flow.shaper, spans, look, width)
        });
        lines.collect()
    }

    /// Puts a row down. One that is higher than what is left of a page goes on the next; one that is higher than a page is parted.
    fn put(
        &self,
        flow: &mut Flow<'_, '_>,
        mut row: Row,
        shaded: bool,
        head: Option<&Row>,
    ) -> Result<(), DocumentError> {
        let full = |lines: f32| lines * self.line() + 2.0 * PADDING;
        loop {
            let before = flow.y;
            let lines = height(&row);
            flow.room(full(lines))?;
            if flow.y < before
                && let Some(head) = head
            {
                self.draw(flow, head.clone(), true);
            }
            let left = flow.bottom() - flow.y - 2.0 * PADDING;
            let fit = ((left / self.line()) as usize).max(1);
            if lines as usize <= fit {
                self.draw(flow, row, shaded);
                return Ok(());
            }
            let rest = row
                .iter_mut()
                .map(|cell| cell.split_off(cell.len().min(fit)));
            let rest: Row = rest.collect();
            self.draw(flow, row, shaded);
            flow.next_page()?;
            row = rest;
        }
    }

    fn draw(&self, flow: &mut Flow<'_, '_>, row: Row, shaded: bool) {
        let (top, left) = (flow.y, flow.left);
        let tall = height(&row) * self.line() + 2.0 * PADDING;
        let total: f32 = self.widths.iter().sum();
        if shaded {
            flow.fill(left, top, total, tall, SHADE);
        }
        let mut x = left;
        for ((cell, width), align) in row.into_iter().zip(&self.widths).zip(&self.aligns) {
            for (at, line) in cell.into_iter().enumerate() {
                let room = width - 2.0 * PADDING - line.width;
                let shift = match (align, line.from_right) {
                    (Align::Left, false) => 0.0,
                    (Align::Center, _) => room / 2.0,
                    _ => room,
                };
                let baseline = top + PADDING + at as f32 * self.line() + self.look.size;
                flow.runs(line, x + PADDING + shift.max(0.0), baseline);
            }
            flow.fill(x, top, FRAME, tall, RULE);
            x += width;
        }
        flow.fill(x, top, FRAME, tall, RULE);
        flow.fill(left, top, total, FRAME, RULE);
        flow.fill(left, top + tall, total + FRAME, FRAME, RULE);
        flow.y += tall;
    }
}

/// Shares a width out. Each column gets what it wants, if that is no more than its share; what those leave goes to the others.
fn shares(wanted: &[f32], least: &[f32], width: f32) -> Vec<f32> {
    let total: f32 = wanted.iter().sum();
    if total <= width {
        return wanted.to_vec();
    }
    let floor: f32 = least.iter().sum();
    if floor >= width {
        // Not even the longest words fit: they are broken.
        return least.iter().map(|least| least / floor * width).collect();
    }
    let over: f32 = wanted
        .iter()
        .zip(least)
        .map(|(wanted, least)| (wanted - least).max(0.0))
        .sum();
    let share = |(wanted, least): (&f32, &f32)| {
        least + (wanted - least).max(0.0) / over.max(1.0) * (width - floor)
    };
    wanted.iter().zip(least).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_share_the_width_of_the_page() {
        assert_eq!(shares(&[50.0, 60.0], &[10.0, 10.0], 200.0), [50.0, 60.0]);
        let shared = shares(&[50.0, 900.0], &[50.0, 100.0], 400.0);
        assert_eq!(shared, [50.0, 350.0]);
        let tight = shares(&[500.0, 500.0], &[300.0, 100.0], 200.0);
        assert_eq!(tight, [150.0, 50.0]);
    }
}
