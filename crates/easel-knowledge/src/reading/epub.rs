//! E-books: their chapters, in the order in which they are read.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use super::html;
use super::package::Package;
use super::xml::{self, Node};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::text::Writer;

const FORMAT: &str = "epub";

pub(super) fn read(bytes: &[u8], limits: &Limits, out: &mut Writer) -> Result<(), ReadError> {
    let mut package = Package::open(bytes, FORMAT, limits)?;
    let chapters = chapters(&mut package)?;
    if chapters.len() > limits.pages {
        return Err(ReadError::new(
            format!("it has more than {} chapters", limits.pages),
            "Split it into smaller documents",
        ));
    }
    for chapter in chapters {
        let page = package.needed(&chapter)?;
        html::read_page(&page, out)?;
    }
    Ok(())
}

/// The parts with the chapters, in order.
fn chapters(package: &mut Package<'_>) -> Result<Vec<String>, ReadError> {
    let book = book(package)?;
    let folder = book.rsplit_once('/').map_or("", |(folder, _)| folder);
    let described = package.needed(&book)?;
    let mut parts: HashMap<String, String> = HashMap::new();
    let mut chapters = Vec::new();
    xml::walk(&described, FORMAT, |node| {
        match node {
            Node::Open("item", tag) => {
                let id = xml::attribute(tag, "id");
                let place = xml::attribute(tag, "href");
                parts.extend(id.zip(place));
            }
            Node::Open("itemref", tag) => chapters.extend(xml::attribute(tag, "idref")),
            _ => {}
        }
        Ok(())
    })?;
    let part = |id: &String| Some(within(folder, parts.get(id)?));
    Ok(chapters.iter().filter_map(part).collect())
}

/// The part that describes the book.
fn book(package: &mut Package<'_>) -> Result<String, ReadError> {
    let container = package.needed("META-INF/container.xml")?;
    let mut book = None;
    xml::walk(&container, FORMAT, |node| {
        if let Node::Open("rootfile", tag) = node {
            book = book.take().or_else(|| xml::attribute(tag, "full-path"));
        }
        Ok(())
    })?;
    book.ok_or_else(|| ReadError::damaged(FORMAT, "it does not say where its book is"))
}

/// The name of the part at a place that is given from a folder: `../text/one%201.xhtml`.
fn within(folder: &str, place: &str) -> String {
    let place = place.split('#').next().unwrap_or(place);
    let mut steps: Vec<String> = folder.split('/').map(str::to_owned).collect();
    for step in place.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(percent_decode_str(step).decode_utf8_lossy().into_owned()),
        }
    }
    steps.retain(|step| !step.is_empty());
    steps.join("/")
}
