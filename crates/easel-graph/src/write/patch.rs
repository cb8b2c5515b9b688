//! A changed value written into the text of the old one.

use std::ops::Range;
use std::sync::Arc;

use easel_core::{Object, Value};

use super::emit;
use crate::marked::{Data, Entry, Form, Map, Marked};

/// One change of a text.
struct Edit {
    range: Range<usize>,
    text: String,
}

/// The text of `old` changed so that it should say `new`; `None` if that needs more than changes in places. Whoever calls
/// reads it again: the layout may be one that this does not foresee.
pub(super) fn patch(text: &str, old: &Marked, new: &Value) -> Option<String> {
    let mut patch = Patch {
        text,
        edits: Vec::new(),
    };
    patch.value(old, new, Within::Block { indent: None })?;
    let mut edits = patch.edits;
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut written = String::with_capacity(text.len());
    let mut at = 0;
    for edit in &edits {
        written.push_str(text.get(at..edit.range.start)?);
        written.push_str(&edit.text);
        at = edit.range.end;
    }
    written.push_str(text.get(at..)?);
    Some(written)
}

/// What a value stands in.
#[derive(Clone, Copy)]
enum Within {
    /// Brackets or braces.
    Flow,
    /// Lines; a value below may be indented by that much at least, `None` at the top.
    Block { indent: Option<usize> },
}

struct Patch<'a> {
    text: &'a str,
    edits: Vec<Edit>,
}

impl Patch<'_> {
    fn value(&mut self, old: &Marked, new: &Value, within: Within) -> Option<()> {
        if super::is_same(&old.to_value(), new) {
            return Some(());
        }
        let before = self.edits.len();
        let inside = match (&old.data, new, old.form) {
            (_, _, Form::Shared) => None,
            (Data::Map(map), Value::Object(members), form) => self.members(old, map, members, form),
            (Data::List(items), Value::Array(news), form) => self.items(old, items, news, form),
            _ => None,
        };
        if inside.is_some() {
            return inside;
        }
        self.edits.truncate(before);
        self.replace(old, new, within)
    }

    fn members(&mut self, old: &Marked, map: &Map, members: &Object, form: Form) -> Option<()> {
        let within = within(old, form);
        let kept = |entry: &&Entry| members.contains_key(&entry.key.name);
        let in_order = map.iter().filter(kept).map(|entry| &entry.key.name);
        let wanted = members.keys().filter(|name| map.get(name).is_some());
        if !in_order.eq(wanted) || map.iter().any(|entry| entry.key.not_text.is_some()) {
            return None;
        }
        let is_flow = form == Form::Flow;
        let removed: Vec<&Entry> = map.iter().filter(|entry| !kept(entry)).collect();
        if (is_flow && (map.len() != members.len() || !removed.is_empty()))
            || removed.len() == map.len()
        {
            return None;
        }
        let mut last: Option<&Entry> = None;
        for (name, new) in members {
            match map.get(name) {
                Some(entry) => {
                    self.value(&entry.value, new, within)?;
                    last = Some(entry);
                }
                None => {
                    let member = Object::from_iter([(name.clone(), new.clone())]);
                    let block = emit::block(&Value::Object(Arc::new(member)));
                    self.insert_behind(&last?.value, indent_of(old), &block)?;
                }
            }
        }
        for entry in removed {
            let start = self.line_start(entry.key.at.offset)?;
            self.remove_lines(start, &entry.value)?;
        }
        Some(())
    }

    fn items(&mut self, old: &Marked, items: &[Marked], news: &[Value], form: Form) -> Option<()> {
        let within = within(old, form);
        let is_flow = form == Form::Flow;
        if news.is_empty() || (is_flow && items.len() != news.len()) {
            return None;
        }
        let is_kept = |(old, new): &(&Marked, &Value)| super::is_same(&old.to_value(), new);
        let behind = |old: &[Marked], new: &[Value]| {
            let pairs = old.iter().rev().zip(new.iter().rev());
            pairs.take_while(is_kept).count()
        };
        let mut ahead = items.iter().zip(news).take_while(is_kept).count();
        let shorter = items.len().min(news.len());
        let same_behind = behind(items, news).min(shorter - ahead);
        // Items in the middle are paired up; what is left over comes or goes behind them.
        let (old_end, new_end) = (items.len() - same_behind, news.len() - same_behind);
        while ahead < old_end.min(new_end) {
            self.value(items.get(ahead)?, news.get(ahead)?, within)?;
            ahead += 1;
        }
        for gone in items.get(ahead..old_end)? {
            let start = self.line_start(self.dash(gone)?)?;
            self.remove_lines(start, gone)?;
        }
        if ahead < new_end {
            let last = items.get(ahead.checked_sub(1)?)?;
            let dash = self.dash(last)?;
            let line = self.text.get(..dash)?.rfind('\n').map_or(0, |end| end + 1);
            let mut block = String::new();
            for new in news.get(ahead..new_end)? {
                block.push_str("- ");
                block.push_str(&emit::indented(&emit::block(new), 2));
                block.push('\n');
            }
            self.insert_behind(last, dash - line, &block)?;
        }
        Some(())
    }

    /// Where the dash of an item stands.
    fn dash(&self, item: &Marked) -> Option<usize> {
        let before = self.text.get(..item.at.offset)?.trim_end();
        before.ends_with('-').then(|| before.len() - 1)
    }

    /// Adds lines behind the value's last one.
    fn insert_behind(&mut self, value: &Marked, indent: usize, block: &str) -> Option<()> {
        let end = self.line_end(self.end_of(value)?);
        let text = format!(
            "
{}{}",
            " ".repeat(indent),
            emit::indented(block, indent)
        );
        let range = end..end;
        self.edits.push(Edit { range, text });
        Some(())
    }

    /// Takes out everything from the line that begins at `start` to the end of the value's last line.
    fn remove_lines(&mut self, start: usize, value: &Marked) -> Option<()> {
        let end = self.line_end(self.end_of(value)?);
        let range = start..(end + 1).min(self.text.len());
        let text = String::new();
        self.edits.push(Edit { range, text });
        Some(())
    }

    /// The beginning of the line, if there are only blanks before `at`.
    fn line_start(&self, at: usize) -> Option<usize> {
        let before = self.text.get(..at)?;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        before.get(start..)?.trim().is_empty().then_some(start)
    }

    fn line_end(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let end = rest.find('\n').unwrap_or(rest.len());
        at + rest
            .get(..end)
            .unwrap_or_default()
            .trim_end_matches('\r')
            .len()
    }

    /// The end of a value, without blank lines that belong to it.
    fn end_of(&self, value: &Marked) -> Option<usize> {
        let whole = self.text.get(..value.at.end())?;
        Some(whole.trim_end().len().max(value.at.offset))
    }

    fn replace(&mut self, old: &Marked, new: &Value, within: Within) -> Option<()> {
        let is_text = matches!(old.data, Data::Text(_));
        let (range, text) = match (within, old.form) {
            (Within::Flow, _) => (old.at.offset..old.at.end(), emit::flow(new)),
            // A text behind `|` or `>`, which goes with it.
            (Within::Block { indent }, Form::Block) if is_text => {
                let before = self.text.get(..old.at.offset)?.trim_end();
                let line = before.rfind('\n').map_or(0, |end| end + 1);
                let header = line + before.get(line..)?.rfind(['|', '>'])?;
                let range = self.behind_colon(header)..self.end_of(old)?;
                (range, fresh(new, indent?))
            }
            (Within::Block { .. }, Form::Block) => {
                let block = emit::block(new);
                let text = emit::indented(&block, indent_of(old));
                (old.at.offset..self.end_of(old)?, text)
            }
            (Within::Block { indent }, Form::Flow | Form::Shared) => {
                let end = old.at.end();
                let on_one_line = match old.data {
                    Data::List(_) | Data::Map(_) => old.form == Form::Flow,
                    // Lines of a new text would take in a comment behind the old one.
                    _ => self.line_end(end) > end,
                };
                let text = match on_one_line {
                    true => format!(" {}", emit::flow(new)),
                    false => fresh(new, indent?),
                };
                (self.behind_colon(old.at.offset)..end, text)
            }
        };
        self.edits.push(Edit { range, text });
        Some(())
    }

    /// The place behind the colon or dash before `at`.
    fn behind_colon(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.trim_end_matches([' ', '\t']).len()
    }
}

/// A value behind a key or a dash that is indented by `indent`, with the blank before it.
fn fresh(new: &Value, indent: usize) -> String {
    let on_one_line = match new {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    };
    let (lead, indent) = match on_one_line {
        true => (" ".to_owned(), indent),
        false => (format!("\n{}", " ".repeat(indent + 2)), indent + 2),
    };
    lead + &emit::indented(&emit::block(new), indent)
}

/// By how much the parts of a collection are indented.
fn indent_of(collection: &Marked) -> usize {
    collection.at.column.saturating_sub(1)
}

/// What the parts of a collection stand in.
fn within(old: &Marked, form: Form) -> Within {
    match form {
        Form::Flow => Within::Flow,
        _ => Within::Block {
            indent: Some(indent_of(old)),
        },
    }
}
