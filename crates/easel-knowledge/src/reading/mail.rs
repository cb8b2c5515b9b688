//! Mails: who wrote what to whom, and what it says.

mod coded;

use encoding_rs::{Encoding, WINDOWS_1252};

use super::html;
use crate::error::ReadError;
use crate::text::{Full, Writer};

/// Parts inside one another.
const DEPTH: usize = 16;

/// Parts of a mail.
const PARTS: usize = 1_000;

/// The lines of the head that are shown.
const SHOWN: [&str; 5] = ["From", "To", "Cc", "Bcc", "Date"];

pub(super) fn read(bytes: &[u8], out: &mut Writer) -> Result<(), ReadError> {
    let mail = Part::of(bytes);
    if mail.header("from").or(mail.header("subject")).is_none() {
        return Err(ReadError::damaged(
            "eml",
            "it has neither a sender nor a subject",
        ));
    }
    out.heading(1, &mail.header("subject").unwrap_or_default())?;
    let lines = SHOWN.iter().filter_map(|name| {
        let value = mail.header(&name.to_lowercase())?;
        Some(format!("{name}: {value}"))
    });
    out.block(&lines.collect::<Vec<_>>().join("\n"))?;
    let mut reading = Reading {
        out,
        attachments: Vec::new(),
        parts: 0,
    };
    reading.part(&mail, 0)?;
    let attachments = reading.attachments;
    match attachments.is_empty() {
        true => Ok(()),
        false => Ok(out.block(&format!("Attachments: {}", attachments.join(", ")))?),
    }
}

/// A mail while it is read.
struct Reading<'o> {
    out: &'o mut Writer,
    /// Names of the files that came with it.
    attachments: Vec<String>,
    parts: usize,
}

impl Reading<'_> {
    fn part(&mut self, part: &Part<'_>, depth: usize) -> Result<(), Full> {
        self.parts += 1;
        if depth > DEPTH || self.parts > PARTS {
            return self.out.check_time();
        }
        if let Some(name) = part.attachment() {
            self.attachments.push(name);
            return Ok(());
        }
        let kind = part.kind();
        match (kind.as_str(), part.boundary()) {
            ("multipart/alternative", Some(boundary)) => {
                let parts: Vec<Part<'_>> = part.parts(&boundary).collect();
                // What stands later is richer; the plain text is what a reader needs.
                let plain = parts.iter().find(|part| part.kind() == "text/plain");
                match plain
                    .filter(|part| !part.text().trim().is_empty())
                    .or(parts.last())
                {
                    Some(chosen) => self.part(chosen, depth + 1),
                    None => Ok(()),
                }
            }
            (kind, Some(boundary)) if kind.starts_with("multipart/") => part
                .parts(&boundary)
                .try_for_each(|inner| self.part(&inner, depth + 1)),
            ("message/rfc822", _) => self.part(&Part::of(part.body), depth + 1),
            ("text/html", _) => html::read_page(&part.text(), self.out),
            (kind, _) if kind.starts_with("text/") => {
                let text = part.text().replace("\r\n", "\n").replace('\r', "\n");
                self.out.block(&text)
            }
            _ => Ok(()),
        }
    }
}

/// A mail, or a part of one: its head and its body.
struct Part<'m> {
    /// Names in lower case, and values on one line.
    headers: Vec<(String, String)>,
    body: &'m [u8],
}

impl<'m> Part<'m> {
    fn of(bytes: &'m [u8]) -> Part<'m> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut rest = bytes;
        while let Some((line, after)) = next_line(rest) {
            rest = after;
            if line.is_empty() {
                break;
            }
            let line = latin(line);
            if line.starts_with([' ', '\t']) {
                if let Some((_, value)) = headers.last_mut() {
                    value.push(' ');
                    value.push_str(line.trim());
                }
            } else if let Some((name, value)) = line.split_once(':') {
                headers.push((name.trim().to_lowercase(), value.trim().to_owned()));
            }
        }
        Part {
            headers,
            body: rest,
        }
    }

    fn raw(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A line of the head as people read it.
    fn header(&self, name: &str) -> Option<String> {
        let value = coded::words(self.raw(name)?);
        (!value.trim().is_empty()).then_some(value)
    }

    /// The media type in lower case; that of a part which does not say it is text.
    fn kind(&self) -> String {
        let kind = self.raw("content-type").unwrap_or("text/plain");
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().to_lowercase()
    }

    fn boundary(&self) -> Option<String> {
        parameter(self.raw("content-type")?, "boundary")
    }

    /// The name of a file that is attached.
    fn attachment(&self) -> Option<String> {
        let disposition = self.raw("content-disposition").unwrap_or_default();
        let kind = self.raw("content-type").unwrap_or_default();
        let name = parameter(disposition, "filename").or_else(|| parameter(kind, "name"));
        let attached = disposition.trim().to_lowercase().starts_with("attachment");
        let name = name.map(|name| coded::words(&name));
        match (attached, name) {
            (true, name) => Some(name.unwrap_or_else(|| "a file without a name".to_owned())),
            (false, Some(name)) if !self.kind().starts_with("text/") => Some(name),
            (false, _) => None,
        }
    }

    /// The parts between boundaries.
    fn parts(&self, boundary: &str) -> impl Iterator<Item = Part<'m>> + use<'m> {
        let mark = format!("--{boundary}");
        let mut parts = Vec::new();
        let (mut rest, mut begun) = (self.body, None);
        while let Some((line, after)) = next_line(rest) {
            if latin(line).starts_with(&mark) {
                let end = self.body.len() - rest.len();
                parts.extend(begun.map(|begun| Part::of(&self.body[begun..end])));
                begun = Some(self.body.len() - after.len());
                if latin(line)[mark.len()..].starts_with("--") {
                    return parts.into_iter();
                }
            }
            rest = after;
        }
        parts.extend(begun.map(|begun| Part::of(&self.body[begun..])));
        parts.into_iter()
    }

    /// The body as text.
    fn text(&self) -> String {
        let way = self.raw("content-transfer-encoding").unwrap_or_default();
        let bytes = match way.trim().to_lowercase().as_str() {
            "base64" => coded::base64(self.body),
            "quoted-printable" => coded::quoted(self.body, false),
            _ => self.body.to_vec(),
        };
        let kind = self.raw("content-type").unwrap_or_default();
        decoded(&bytes, parameter(kind, "charset").as_deref())
    }
}

/// A parameter of a line of the head: `boundary` of `multipart/mixed; boundary="x"`.
fn parameter(line: &str, name: &str) -> Option<String> {
    let mut parts = line.split(';').skip(1);
    parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let is_it = key.trim().eq_ignore_ascii_case(name);
        is_it.then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// Bytes as text in a character set, or in the one that is likely.
fn decoded(bytes: &[u8], charset: Option<&str>) -> String {
    let named = charset.and_then(|charset| Encoding::for_label(charset.as_bytes()));
    match (named, std::str::from_utf8(bytes)) {
        (Some(encoding), _) => encoding.decode(bytes).0.into_owned(),
        (None, Ok(text)) => text.to_owned(),
        (None, Err(_)) => WINDOWS_1252.decode(bytes).0.into_owned(),
    }
}

/// A line of a head, whose letters beyond ASCII are a guess.
fn latin(line: &[u8]) -> String {
    decoded(line, None)
}

/// The first line without its end, and what follows. `None` at the end.
fn next_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.is_empty() {
        return None;
    }
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (line, rest) = match end {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &bytes[bytes.len()..]),
    };
    Some((line.strip_suffix(b"\r").unwrap_or(line), rest))
}
