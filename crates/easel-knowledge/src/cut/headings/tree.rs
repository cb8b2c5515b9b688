//! The sections of a text, each with the headings above it.

use easel_tools::ingestion::HeadingCut;

use super::Line;
use crate::error::KnowledgeError;

/// A section: its heading, what stands right below it, and the section around it.
#[derive(Default)]
struct Section<'l> {
    level: usize,
    heading: Vec<Line<'l>>,
    own: Vec<Line<'l>>,
    parent: Option<usize>,
    has_children: bool,
}

/// Calls `piece` with the lines of each piece, in order: a section that has none under it, below the headings above it. What
/// stands right below those goes with each piece, or is a piece of its own if the cut says so.
pub(super) fn each_path<'l>(
    lines: &[Line<'l>],
    depth: usize,
    cut: &HeadingCut,
    mut piece: impl FnMut(&[Line<'l>]) -> Result<(), KnowledgeError>,
) -> Result<(), KnowledgeError> {
    let sections = sections(lines, depth);
    let root: &[Line<'l>] = sections.first().map_or(&[], |root| &root.own);
    let heads = cut.root_heads && sections.len() > 1;
    if !heads {
        piece(root)?;
    }
    for (at, section) in sections.iter().enumerate().skip(1) {
        let ends_here = match cut.own_text_apart {
            true => !section.own.is_empty() || !section.has_children,
            false => !section.has_children,
        };
        if !ends_here {
            continue;
        }
        let mut path = if heads { root.to_vec() } else { Vec::new() };
        for above in above(&sections, at) {
            path.extend(&above.heading);
            if !cut.own_text_apart {
                path.extend(&above.own);
            }
        }
        path.extend(&section.heading);
        path.extend(&section.own);
        piece(&path)?;
    }
    Ok(())
}

/// The sections around one, outermost first, without the root.
fn above<'s, 'l>(sections: &'s [Section<'l>], of: usize) -> Vec<&'s Section<'l>> {
    let mut above = Vec::new();
    let mut at = sections.get(of).and_then(|section| section.parent);
    while let Some(section) = at.filter(|at| *at > 0).and_then(|at| sections.get(at)) {
        above.push(section);
        at = section.parent;
    }
    above.reverse();
    above
}

/// The sections in order; the first is the root, which has no heading. Headings below `depth` are text.
fn sections<'l>(lines: &[Line<'l>], depth: usize) -> Vec<Section<'l>> {
    let mut sections = vec![Section::default()];
    let mut open = 0;
    for line in lines {
        let Some(level) = line.level.filter(|level| *level <= depth) else {
            sections[open].own.push(*line);
            continue;
        };
        while sections[open].level >= level {
            open = sections[open].parent.unwrap_or(0);
        }
        sections[open].has_children = true;
        sections.push(Section {
            level,
            heading: vec![*line],
            parent: Some(open),
            ..Section::default()
        });
        open = sections.len() - 1;
    }
    sections
}
