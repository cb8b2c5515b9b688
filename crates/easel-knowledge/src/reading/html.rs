//! Web pages: readable text, with headings and lists as in Markdown.

use easel_tools::html::clean_html;

use super::plain;
use crate::error::ReadError;
use crate::text::Writer;

pub(super) fn read(bytes: &[u8], out: &mut Writer) -> Result<(), ReadError> {
    let page = plain::decode(bytes)?;
    for line in clean_html(&marked(&page)).lines() {
        match line.starts_with("- ") {
            true => out.push(&format!("\n{line}"))?,
            false => out.block(line)?,
        }
    }
    Ok(())
}

/// The page with Markdown's marks behind the tags of headings and list items; where a tag is no tag (in a script, in a
/// comment) the reader leaves the mark out with what is around it.
fn marked(page: &str) -> String {
    let mut marked = String::with_capacity(page.len() + page.len() / 16);
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        marked.push_str(before);
        let Some(mark) = mark(tag) else {
            marked.push('<');
            rest = &tag[1..];
            continue;
        };
        let end = end_of_tag(tag);
        marked.push_str(&tag[..end]);
        if tag[..end].ends_with('>') {
            marked.push_str(mark);
        }
        rest = &tag[end..];
    }
    marked + rest
}

/// The mark that belongs behind the start tag that the text begins with.
fn mark(tag: &str) -> Option<&'static str> {
    let name_end = tag[1..].find(|c: char| !c.is_ascii_alphanumeric())? + 1;
    Some(match tag[1..name_end].to_ascii_lowercase().as_str() {
        "h1" => "# ",
        "h2" => "## ",
        "h3" => "### ",
        "h4" => "#### ",
        "h5" => "##### ",
        "h6" => "###### ",
        "li" => "- ",
        _ => return None,
    })
}

/// Where the tag ends that the text begins with; a `>` in quotes ends none.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    tag.len()
}
