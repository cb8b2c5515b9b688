//! Big values: kept once by hash, beside the text that they were taken out of.
//!
//! What is stored is JSON text. Each text in it that is over [`LIMIT`] bytes, and each list or object that is still over it
//! after that, is taken out and replaced by a marker, `{"$held":"<SHA-256>"}`. A name of a member that looks like the
//! marker's (any number of `$`, then `held`) gets one more `$`, so that nothing that users store can be taken for one.
//! All of this happens to the text, so that what is read back is the same to the byte.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};

use easel_core::Value;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::sql::{Bound, Connection, Row, Statement, in_rows};

/// The longest JSON text, in bytes, of a value that stays where it is.
pub(crate) const LIMIT: usize = 16 * 1024;

/// What a marker begins with; its hash and `"}` follow.
const MARKER: &str = r#"{"$held":""#;
/// What the name of a marker's member ends with.
const NAME: &str = "held";
/// Characters of a hash.
const HASH: usize = 64;

/// The SHA-256 of bytes in hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(HASH);
    for byte in Sha256::digest(bytes) {
        text.push(char::from(b"0123456789abcdef"[usize::from(byte >> 4)]));
        text.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
    }
    text
}

/// Bytes as they are stored: packed where that makes them smaller.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    pub(crate) hash: String,
    pub(crate) size: u64,
    pub(crate) packed: bool,
    pub(crate) body: Vec<u8>,
}

impl Packed {
    pub(crate) fn new(bytes: Vec<u8>) -> Packed {
        let hash = hash(&bytes);
        let size = bytes.len() as u64;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        // Writing into memory does not fail; if it did, the bytes are stored as they are.
        let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        match packed {
            Ok(packed) if packed.len() < bytes.len() / 8 * 7 => Packed {
                hash,
                size,
                packed: true,
                body: packed,
            },
            _ => Packed {
                hash,
                size,
                packed: false,
                body: bytes,
            },
        }
    }

    /// The bytes of a row with the columns `packed` and `body`.
    pub(crate) fn unpack(row: &Row, what: &str) -> Result<Vec<u8>, StoreError> {
        let body = row.bytes("body")?;
        if !row.flag("packed")? {
            return Ok(body);
        }
        let mut bytes = Vec::new();
        ZlibDecoder::new(body.as_slice())
            .read_to_end(&mut bytes)
            .map_err(|error| StoreError::Corrupt {
                what: what.to_owned(),
                cause: error.to_string(),
            })?;
        Ok(bytes)
    }
}

/// Takes the big values out of JSON texts.
#[derive(Debug)]
pub(crate) struct Keeper {
    limit: usize,
    held: Vec<Packed>,
    hashes: HashSet<String>,
}

/// A list or an object that is being read.
struct Open {
    /// Where it begins in what was written.
    start: usize,
    is_object: bool,
}

impl Default for Keeper {
    fn default() -> Keeper {
        Keeper::with_limit(LIMIT)
    }
}

impl Keeper {
    pub(crate) fn with_limit(limit: usize) -> Keeper {
        Keeper {
            limit,
            held: Vec::new(),
            hashes: HashSet::new(),
        }
    }

    /// What was taken out so far, each value once.
    pub(crate) fn into_held(self) -> Vec<Packed> {
        self.held
    }

    /// The same JSON without its big values.
    pub(crate) fn shorten(&mut self, json: String) -> String {
        let looks_alike = json.contains(concat!("$", "held\""));
        if json.len() <= self.limit && !looks_alike {
            return json;
        }
        let mut out = String::with_capacity(json.len().min(4 * self.limit));
        let mut open: Vec<Open> = Vec::new();
        let mut scan = Scan::new(&json);
        while let Some(token) = scan.next() {
            match token {
                Token::Name(name) => match stands_for_marker(name) {
                    true => {
                        out.push_str("\"$");
                        out.push_str(&name[1..]);
                    }
                    false => out.push_str(name),
                },
                Token::Text(text) => match text.len() > self.limit {
                    true => self.hold(text.to_owned(), &mut out),
                    false => out.push_str(text),
                },
                Token::Open { is_object } => {
                    open.push(Open {
                        start: out.len(),
                        is_object,
                    });
                    out.push(if is_object { '{' } else { '[' });
                }
                Token::Close => {
                    let Some(closed) = open.pop() else { continue };
                    out.push(if closed.is_object { '}' } else { ']' });
                    // The whole stays in sight: it says in which version it was written.
                    if !open.is_empty() && out.len() - closed.start > self.limit {
                        let whole = out.split_off(closed.start);
                        self.hold(whole, &mut out);
                    }
                }
                Token::Other(text) => out.push_str(text),
            }
        }
        out
    }

    fn hold(&mut self, json: String, out: &mut String) {
        let hash = hash(json.as_bytes());
        out.push_str(MARKER);
        out.push_str(&hash);
        out.push_str("\"}");
        if self.hashes.insert(hash) {
            self.held.push(Packed::new(json.into_bytes()));
        }
    }
}

/// Puts the big values back.
#[derive(Debug, Default)]
pub(crate) struct Restorer {
    held: HashMap<String, String>,
}

impl Restorer {
    /// Fetches all that the texts have markers for, at any depth.
    pub(crate) async fn fetch<'t>(
        connection: &mut Connection,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Restorer, StoreError> {
        let mut restorer = Restorer::default();
        let mut wanted: HashSet<String> = texts.into_iter().flat_map(markers).collect();
        while !wanted.is_empty() {
            let hashes: Vec<String> = wanted.drain().collect();
            for some in hashes.chunks(256) {
                let mut select =
                    Statement::new("SELECT hash, packed, body FROM held WHERE hash IN ");
                select.values(some);
                for row in connection.rows(select).await? {
                    let hash = row.text("hash")?;
                    let what = format!("the value {hash}");
                    let json = String::from_utf8(Packed::unpack(&row, &what)?);
                    let json = json.map_err(|error| StoreError::Corrupt {
                        what,
                        cause: error.to_string(),
                    })?;
                    let inner = markers(&json).into_iter();
                    wanted.extend(inner.filter(|inner| !restorer.held.contains_key(inner)));
                    restorer.held.insert(hash, json);
                }
            }
            wanted.retain(|hash| !restorer.held.contains_key(hash));
        }
        Ok(restorer)
    }

    /// The JSON as it was before [`Keeper::shorten`].
    pub(crate) fn restore(&self, json: String) -> Result<String, StoreError> {
        if !json.contains("$held\"") {
            return Ok(json);
        }
        let mut out = String::with_capacity(json.len());
        self.write(&json, &mut out)?;
        Ok(out)
    }

    fn write(&self, json: &str, out: &mut String) -> Result<(), StoreError> {
        let mut scan = Scan::new(json);
        let mut open = Vec::new();
        loop {
            if let Some(hash) = scan.marker() {
                let held = self.held.get(hash).ok_or_else(|| StoreError::Corrupt {
                    what: format!("the value {hash}"),
                    cause: "it is not there".to_owned(),
                })?;
                self.write(held, out)?;
                continue;
            }
            let Some(token) = scan.next() else {
                return Ok(());
            };
            match token {
                Token::Name(name) => match stands_for_marker(name) {
                    true => {
                        out.push('"');
                        out.push_str(&name[2..]);
                    }
                    false => out.push_str(name),
                },
                Token::Open { is_object } => {
                    open.push(is_object);
                    out.push(if is_object { '{' } else { '[' });
                }
                Token::Close => {
                    let is_object = open.pop().unwrap_or_default();
                    out.push(if is_object { '}' } else { ']' });
                }
                Token::Text(text) | Token::Other(text) => out.push_str(text),
            }
        }
    }

    /// Reads what was stored.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        json: String,
        what: &str,
    ) -> Result<T, StoreError> {
        parse(&self.restore(json)?, what)
    }
}

/// Reads JSON that holds no markers.
pub(crate) fn parse<T: DeserializeOwned>(json: &str, what: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::Corrupt {
        what: what.to_owned(),
        cause: error.to_string(),
    })
}

/// The JSON text of something.
pub(crate) fn to_json<T: Serialize>(value: &T) -> String {
    // All that is stored are texts, numbers, lists and maps with text keys: these always serialise.
    serde_json::to_string(value).unwrap_or_else(|_| Value::Null.to_json_text())
}

/// The hashes of all markers in a text.
fn markers(json: &str) -> Vec<String> {
    let mut hashes = Vec::new();
    if json.contains(MARKER) {
        let mut scan = Scan::new(json);
        loop {
            match scan.marker() {
                Some(hash) => hashes.push(hash.to_owned()),
                None if scan.next().is_none() => break,
                None => {}
            }
        }
    }
    hashes
}

/// Whether the name of a member, with its quotes, is `$held` with any number of `$`.
fn stands_for_marker(name: &str) -> bool {
    let inner = name.trim_matches('"');
    let rest = inner.trim_start_matches('$');
    rest.len() < inner.len() && rest == NAME
}

/// Reads JSON text piece by piece.
struct Scan<'j> {
    json: &'j str,
    at: usize,
    /// For each list or object that is open, whether it is an object.
    open: Vec<bool>,
    /// Whether the next text is the name of a member.
    names: bool,
}

/// A piece of JSON text.
enum Token<'j> {
    /// The name of a member, with its quotes.
    Name(&'j str),
    /// A text, with its quotes.
    Text(&'j str),
    Open {
        is_object: bool,
    },
    Close,
    /// Numbers, words, commas, colons, blanks.
    Other(&'j str),
}

impl<'j> Scan<'j> {
    fn new(json: &'j str) -> Scan<'j> {
        Scan {
            json,
            at: 0,
            open: Vec::new(),
            names: false,
        }
    }

    fn rest(&self) -> &'j str {
        &self.json[self.at..]
    }

    /// The hash of the marker that stands here; it is behind us then.
    fn marker(&mut self) -> Option<&'j str> {
        let rest = self.rest().strip_prefix(MARKER)?;
        let hash = rest.get(..HASH)?;
        rest[HASH..].strip_prefix("\"}")?;
        self.at += MARKER.len() + HASH + 2;
        Some(hash)
    }

    fn next(&mut self) -> Option<Token<'j>> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        match bytes.first()? {
            b'"' => {
                let text = &rest[..literal(bytes)];
                self.at += text.len();
                Some(match self.names {
                    true => Token::Name(text),
                    false => Token::Text(text),
                })
            }
            opening @ (b'{' | b'[') => {
                let is_object = *opening == b'{';
                self.open.push(is_object);
                self.names = is_object;
                self.at += 1;
                Some(Token::Open { is_object })
            }
            b'}' | b']' => {
                self.open.pop();
                self.names = false;
                self.at += 1;
                Some(Token::Close)
            }
            _ => {
                let structural = |byte: &u8| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']');
                let length = bytes.iter().position(structural).unwrap_or(bytes.len());
                let other = &rest[..length];
                self.at += length;
                // Between two texts stands either a colon, and then a value, or a comma, and then a name.
                match other.trim_end().as_bytes().last() {
                    Some(b':') => self.names = false,
                    Some(b',') => self.names = self.open.last().copied().unwrap_or_default(),
                    _ => {}
                }
                Some(Token::Other(other))
            }
        }
    }
}

/// How long the text is that begins here, with its quotes.
fn literal(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Who holds values: a run.
pub(crate) fn run(id: &str) -> String {
    format!("run/{id}")
}

/// Who holds values: what was said in a conversation.
pub(crate) fn session(id: &str) -> String {
    format!("session/{id}")
}

/// Who holds values: what lasts of a conversation from one turn to the next.
pub(crate) fn lasting(id: &str) -> String {
    format!("lasting/{id}")
}

/// Who holds values: a file.
pub(crate) fn file(id: &str) -> String {
    format!("file/{id}")
}

/// Statements that store values and say who holds them.
pub(crate) fn hold(held: Vec<(String, Packed)>) -> Vec<Statement> {
    if held.is_empty() {
        return Vec::new();
    }
    let mut uses = Vec::new();
    let mut values = HashMap::new();
    for (holder, packed) in held {
        uses.push((holder, packed.hash.clone()));
        values.entry(packed.hash.clone()).or_insert(packed);
    }
    // Always in the same order, so that two who write the same values do not wait for each other in a circle.
    let mut values: Vec<Packed> = values.into_values().collect();
    values.sort_by(|a, b| a.hash.cmp(&b.hash));
    uses.sort();
    let values = values.into_iter().map(|packed| {
        let Packed {
            hash,
            size,
            packed,
            body,
        } = packed;
        [hash.into(), size.into(), packed.into(), body.into()]
    });
    let uses = uses
        .into_iter()
        .map(|(holder, hash)| [Bound::from(holder), hash.into()]);
    // One row a statement: a value may have megabytes.
    let mut statements: Vec<Statement> = values
        .flat_map(|row| {
            in_rows(
                "INSERT INTO held (hash, size, packed, body) VALUES ",
                " ON CONFLICT (hash) DO NOTHING",
                vec![row],
            )
        })
        .collect();
    statements.extend(in_rows(
        "INSERT INTO uses (holder, hash) VALUES ",
        " ON CONFLICT (holder, hash) DO NOTHING",
        uses.collect(),
    ));
    statements
}

/// Lets go of all that the holders hold, except of the hashes in `keep`; what nobody holds any more is gone. How many values that were.
pub(crate) async fn let_go(
    connection: &mut Connection,
    holders: &[String],
    keep: &[String],
) -> Result<u64, StoreError> {
    let mut hashes = HashSet::new();
    for some in holders.chunks(256) {
        let mut delete = Statement::new("DELETE FROM uses WHERE holder IN ");
        delete.values(some);
        if !keep.is_empty() {
            delete.push(" AND hash NOT IN ").values(keep);
        }
        delete.push(" RETURNING hash");
        for row in connection.rows(delete).await? {
            hashes.insert(row.text("hash")?);
        }
    }
    let mut hashes: Vec<String> = hashes.into_iter().collect();
    hashes.sort();
    let mut freed = 0;
    for some in hashes.chunks(256) {
        let mut delete = Statement::new("DELETE FROM held WHERE hash IN ");
        delete
            .values(some)
            .push(" AND NOT EXISTS (SELECT 1 FROM uses WHERE uses.hash = held.hash)");
        freed += connection.execute(delete).await?;
    }
    Ok(freed)
}

#[cfg(test)]
mod tests;
