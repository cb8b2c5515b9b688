//! PDF, page by page.
//!
//! The library behind it trusts its files: it panics on some damaged ones, which is caught, and it would run without end on
//! others, which nothing catches. Those are looked for first.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::read::ZlibDecoder;
use pdf_extract::{ConvertToFmt, Dictionary, Document, Object, ObjectId, PlainTextOutput, Stream};

use crate::error::ReadError;
use crate::limits::Limits;
use crate::text::Writer;

const FORMAT: &str = "pdf";

/// How deep the tree of pages may be, and how often a drawing may be inside of another.
const DEPTH: usize = 64;

pub(super) fn read(bytes: &[u8], limits: &Limits, out: &mut Writer) -> Result<(), ReadError> {
    check_unpacked(bytes, limits.unpacked_bytes, out)?;
    let mut document =
        Document::load_mem(bytes).map_err(|cause| ReadError::damaged(FORMAT, cause))?;
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(ReadError::new(
            "it is protected by a password",
            "Save it without a password",
        ));
    }
    let pages = document.get_pages();
    if pages.len() > limits.pages {
        return Err(ReadError::new(
            format!("it has more than {} pages", limits.pages),
            "Split it into smaller documents",
        ));
    }
    for page in pages.values() {
        check_ancestors(&document, *page)?;
    }
    check_drawings(&document)?;
    let mut first = None;
    for number in pages.keys() {
        out.check_time()?;
        // The library panics on what it does not expect. A page is read by itself, so the others are none the worse.
        let read = catch_unwind(AssertUnwindSafe(|| page_text(&document, *number, out)));
        let read = read.unwrap_or_else(|_| Err("its reader gave up".into()));
        if let Some(full) = out.full() {
            return Err(full.into());
        }
        match read {
            Ok(text) => {
                out.page();
                out.block(&tidy(&text))?;
            }
            Err(cause) => {
                out.unread_page();
                first.get_or_insert(format!("page {number}: {cause}"));
            }
        }
    }
    match first {
        Some(cause) if out.is_empty() => Err(ReadError::damaged(FORMAT, cause)),
        _ => Ok(()),
    }
}

/// The text of one page, as the library writes it; or what it says.
fn page_text(document: &Document, number: u32, out: &mut Writer) -> Result<String, String> {
    let mut text = PageText {
        text: String::new(),
        out,
    };
    pdf_extract::output_doc_page(document, &mut PlainTextOutput::new(&mut text), number)
        .map_err(|cause| cause.to_string())?;
    Ok(text.text)
}

/// The text of a page while the library writes it.
struct PageText<'w> {
    text: String,
    /// Whose limits hold.
    out: &'w mut Writer,
}

impl std::fmt::Write for PageText<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.out
            .room(self.text.len() + text.len())
            .map_err(|_| std::fmt::Error)?;
        self.text.push_str(text);
        Ok(())
    }
}

impl ConvertToFmt for &mut PageText<'_> {
    type Writer = Self;

    fn convert(self) -> Self {
        self
    }
}

/// Lines without blanks at their ends, a blank line at most between them, and words that were divided as one.
fn tidy(page: &str) -> String {
    let mut tidy = String::with_capacity(page.len());
    let mut blank = false;
    for line in page.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            blank = !tidy.is_empty();
            continue;
        }
        let divided = tidy.ends_with('-') && line.starts_with(char::is_lowercase);
        if divided && tidy[..tidy.len() - 1].ends_with(char::is_alphabetic) && !blank {
            tidy.pop();
        } else if !tidy.is_empty() {
            tidy.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        tidy.push_str(&line);
    }
    tidy
}

/// Unpacks every stream of the file once without keeping anything, to know that all of it stays within the limit.
fn check_unpacked(bytes: &[u8], limit: u64, out: &mut Writer) -> Result<(), ReadError> {
    const STREAM: &[u8] = b"stream";
    let mut left = limit;
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(STREAM.len()).position(|w| w == STREAM) {
        at += found + STREAM.len();
        let mut packed = &bytes[at..];
        while let [b'\r' | b'\n', rest @ ..] = packed {
            packed = rest;
        }
        // What isn't packed so, or is no stream, gives an error at once.
        let mut unpacked = ZlibDecoder::new(packed).take(left + 1);
        let mut buffer = [0; 16 << 10];
        while let Ok(read @ 1..) = unpacked.read(&mut buffer) {
            left = left.checked_sub(read as u64).ok_or_else(|| {
                ReadError::new(
                    format!("it is larger than {limit} bytes when unpacked"),
                    "Take pictures out of it, or split it into smaller documents",
                )
            })?;
            out.check_time()?;
        }
    }
    Ok(())
}

/// A page takes what it lacks from the nodes above it; there must be an uppermost one.
fn check_ancestors(document: &Document, page: ObjectId) -> Result<(), ReadError> {
    let mut above = page;
    for _ in 0..DEPTH {
        let parent = document.get_dictionary(above).ok();
        let parent = parent.and_then(|node| node.get(b"Parent").ok()?.as_reference().ok());
        match parent {
            Some(parent) => above = parent,
            None => return Ok(()),
        }
    }
    Err(ReadError::damaged(
        FORMAT,
        "its pages are nested without end",
    ))
}

/// A drawing may show others; none may show itself through them.
fn check_drawings(document: &Document) -> Result<(), ReadError> {
    let mut shows: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
    for (id, object) in &document.objects {
        let Ok(stream) = object.as_stream() else {
            continue;
        };
        let name = |key| stream.dict.get(key).and_then(Object::as_name).ok();
        if name(b"Subtype") != Some(b"Form") {
            continue;
        }
        let mut shown = drawings(document, &stream.dict);
        if !stream.dict.has(b"Resources") && shows_others(stream) {
            // It names them in the page's resources, where its own name stands, too.
            shown.push(*id);
        }
        shows.insert(*id, shown);
    }
    let mut done = HashSet::new();
    for id in shows.keys() {
        descend(*id, &shows, &mut done, &mut Vec::new())?;
    }
    Ok(())
}

/// Whether a drawing has the operator by which others are shown.
fn shows_others(drawing: &Stream) -> bool {
    let content = drawing.decompressed_content();
    let content = content.as_deref().unwrap_or(&drawing.content);
    content
        .split(|byte| byte.is_ascii_whitespace())
        .any(|word| word == b"Do")
}

/// What a drawing's own resources name.
fn drawings(document: &Document, drawing: &Dictionary) -> Vec<ObjectId> {
    let resolve = |object| document.dereference(object).ok()?.1.as_dict().ok();
    let named = drawing.get(b"Resources").ok().and_then(resolve);
    let named = named
        .and_then(|all| all.get(b"XObject").ok())
        .and_then(resolve);
    let named = named.into_iter().flat_map(|all| all.iter());
    named.filter_map(|(_, id)| id.as_reference().ok()).collect()
}

fn descend(
    id: ObjectId,
    shows: &HashMap<ObjectId, Vec<ObjectId>>,
    done: &mut HashSet<ObjectId>,
    open: &mut Vec<ObjectId>,
) -> Result<(), ReadError> {
    if done.contains(&id) {
        return Ok(());
    }
    if open.contains(&id) || open.len() >= DEPTH {
        return Err(ReadError::damaged(FORMAT, "a drawing in it shows itself"));
    }
    open.push(id);
    for next in shows.get(&id).into_iter().flatten() {
        descend(*next, shows, done, open)?;
    }
    open.pop();
    done.insert(id);
    Ok(())
}
