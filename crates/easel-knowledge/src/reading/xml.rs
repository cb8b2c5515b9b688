//! XML as a walk over its nodes, without building a tree: depth costs nothing.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::ReadError;

/// What the walk meets. Names are without their prefix.
pub(super) enum Node<'a> {
    /// An element begins.
    Open(&'a str, &'a BytesStart<'a>),
    /// An element ends.
    Close(&'a str),
    /// Text, a piece of it.
    Text(&'a str),
}

/// Goes through a document. Entities that are not XML's own are left out: none is ever fetched or expanded.
pub(super) fn walk(
    text: &str,
    format: &str,
    mut visit: impl FnMut(Node<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let damaged = |cause: quick_xml::Error| ReadError::damaged(format, cause);
    let mut reader = Reader::from_str(text);
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(damaged)? {
            Event::Start(tag) => {
                depth += 1;
                visit(Node::Open(tag.local_name().as_ref(), &tag))?;
            }
            Event::Empty(tag) => {
                visit(Node::Open(tag.local_name().as_ref(), &tag))?;
                visit(Node::Close(tag.local_name().as_ref()))?;
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                visit(Node::Close(tag.local_name().as_ref()))?;
            }
            Event::Text(text) => visit(Node::Text(&text.xml10_content()))?,
            Event::CData(text) => visit(Node::Text(&text.xml10_content()))?,
            Event::GeneralRef(name) => {
                if let Some(c) = name.resolve_char_ref().map_err(damaged)? {
                    visit(Node::Text(c.encode_utf8(&mut [0; 4])))?;
                } else if let Some(text) = quick_xml::escape::resolve_predefined_entity(&name) {
                    visit(Node::Text(text))?;
                }
            }
            Event::Eof if depth > 0 => {
                return Err(ReadError::damaged(format, "its XML breaks off"));
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// An attribute by its name, prefix or not.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let mut attributes = attributes.with_checks(false).flatten();
    let attribute = attributes.find(|a| a.key.local_name().as_ref() == name)?;
    let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
    Some(value.into_owned())
}
