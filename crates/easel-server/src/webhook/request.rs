//! What a request brings: query, headers and a body of any of five kinds (spec/canvas-engine §7.4).

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use easel_runtime::core::value::from_text;
use easel_runtime::{Object, Value};
use http_body_util::BodyExt;
use url::form_urlencoded;

use super::schema::Cleaned;
use super::{Refusal, security};
use crate::files;
use crate::patience::TooSlow;

/// Files in one request.
const MAX_FILES: usize = 10;

/// Fields in a query, a form or a multipart body. Each costs far more memory than the bytes it came in.
const MAX_FIELDS: usize = 1_000;

/// A request, parsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The query: of a name that comes twice, the last.
    pub query: Object,
    /// The headers, with a capital at each word (`X-Hub-Signature`); of one that comes twice, all, joined by commas.
    pub headers: Object,
    /// The fields of the body; empty if it has none.
    pub body: Object,
    /// The body as it came, if it is not an object: JSON of another kind, or text, or bytes as base64.
    pub whole: Option<Value>,
    /// The content type, without its parameters and in small letters; blank if there is none.
    pub content_type: Arc<str>,
    /// The files, in the order in which they came.
    pub uploads: Vec<Upload>,
}

/// A file that came with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The field it came in.
    pub field: Arc<str>,
    /// The file name.
    pub name: String,
    /// The media type that the caller gave it; blank if none.
    pub media_type: String,
    /// The file.
    pub bytes: Bytes,
}

/// Reads a body, as far as it may go: what a header says about its length proves nothing.
///
/// # Errors
/// It has more bytes, or the connection broke.
pub async fn read_body(body: Body, limit: u64) -> Result<Bytes, Refusal> {
    let mut body = body;
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| unread(&error))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let bytes = read.len() as u64 + data.len() as u64;
        if bytes > limit {
            return Err(security::too_large(bytes, limit));
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

/// What a body is told that did not arrive.
fn unread(error: &axum::Error) -> Refusal {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(slow) = error.downcast_ref::<TooSlow>() {
            return Refusal::new(format!("The request's body could not be read: {slow}."));
        }
        cause = error.source();
    }
    Refusal::because("The request's body could not be read.", error.to_string())
}

/// The content type of a request, without its parameters and in small letters; blank if there is none.
pub fn content_type(headers: &HeaderMap) -> String {
    let header = headers.get(CONTENT_TYPE).and_then(|h| h.to_str().ok());
    let kind = header.unwrap_or_default().split(';').next();
    kind.unwrap_or_default().trim().to_ascii_lowercase()
}

impl Request {
    /// Parses a request. `proof` is the header that proved who calls; it is left out.
    ///
    /// # Errors
    /// It has too many fields or files, or a multipart body that cannot be read.
    pub async fn parse(
        query: &str,
        headers: &HeaderMap,
        proof: Option<&HeaderName>,
        body: Bytes,
    ) -> Result<Request, Refusal> {
        let content_type = content_type(headers);
        let mut request = Request {
            query: fields(form_urlencoded::parse(query.as_bytes()), "query")?,
            headers: header_fields(headers, proof),
            content_type: content_type.as_str().into(),
            ..Request::default()
        };
        match content_type.as_str() {
            "application/x-www-form-urlencoded" => {
                request.body = fields(form_urlencoded::parse(&body), "body")?;
            }
            "multipart/form-data" => request.read_multipart(headers, body).await?,
            _ => request.read_whole(&body),
        }
        Ok(request)
    }

    /// JSON, or whatever it is.
    fn read_whole(&mut self, body: &[u8]) {
        if body.is_empty() {
            return;
        }
        let text = std::str::from_utf8(body);
        let parsed = text.ok().and_then(|text| from_text(text).ok());
        match (parsed, text) {
            (Some(Value::Object(members)), _) => self.body = Arc::unwrap_or_clone(members),
            (Some(other), _) => self.whole = Some(other),
            (None, Ok(text)) => self.whole = Some(Value::from(text)),
            (None, Err(_)) => self.whole = Some(Value::from(STANDARD.encode(body))),
        }
    }

    async fn read_multipart(&mut self, headers: &HeaderMap, body: Bytes) -> Result<(), Refusal> {
        let broken = |error: multer::Error| {
            Refusal::new(format!("The multipart body cannot be read: {error}."))
        };
        let header = headers.get(CONTENT_TYPE).and_then(|h| h.to_str().ok());
        let boundary = multer::parse_boundary(header.unwrap_or_default()).map_err(broken)?;
        let stream = futures::stream::once(async { Ok::<_, std::convert::Infallible>(body) });
        let mut parts = multer::Multipart::new(stream, boundary);
        let mut count = 0;
        while let Some(part) = parts.next_field().await.map_err(broken)? {
            count += 1;
            if count > MAX_FIELDS {
                return Err(too_many_fields("body"));
            }
            let Some(field) = part.name().map(Arc::<str>::from) else {
                continue;
            };
            match part.file_name().map(str::to_owned) {
                // What browsers send for an input in which no file was chosen.
                Some(name) if name.is_empty() => {}
                Some(name) => {
                    if self.uploads.len() == MAX_FILES {
                        return Err(Refusal::new(format!(
                            "Too many files: a request may bring {MAX_FILES}."
                        )));
                    }
                    let media_type = part.content_type().map(ToString::to_string);
                    self.uploads.push(Upload {
                        field,
                        name,
                        media_type: media_type.unwrap_or_default(),
                        bytes: part.bytes().await.map_err(broken)?,
                    });
                }
                None => {
                    let text = part.text().await.map_err(broken)?;
                    self.body.insert(field, Value::from(text));
                }
            }
        }
        let blanks = vec![Value::from(""); self.uploads.len()];
        put_files(&mut self.body, &self.uploads, &blanks);
        Ok(())
    }

    /// What a run gets of it: what was kept, and all of it as `input`. `files` has the content of each upload.
    pub fn into_turn(self, mut cleaned: Cleaned, files: &[Value]) -> Object {
        let mut body = self.body;
        let declared: Vec<&Upload> = self.uploads.iter().collect();
        put_files(&mut body, &self.uploads, files);
        for upload in declared {
            if let (Some(kept), Some(whole)) =
                (cleaned.body.get_mut(&upload.field), body.get(&upload.field))
            {
                *kept = whole.clone();
            }
        }
        let input = Object::from_iter([
            (Arc::from("query"), Value::from(self.query)),
            (Arc::from("headers"), Value::from(self.headers)),
            (Arc::from("body"), self.whole.unwrap_or_else(|| body.into())),
            (Arc::from("content_type"), Value::from(self.content_type)),
        ]);
        Object::from_iter([
            (Arc::from("query"), Value::from(cleaned.query)),
            (Arc::from("headers"), Value::from(cleaned.headers)),
            (Arc::from("body"), Value::from(cleaned.body)),
            (Arc::from("input"), Value::from(input)),
        ])
    }
}

/// What a run reads of a file: an image as it is, anything else as text.
///
/// # Errors
/// It is neither.
pub fn file_content(upload: &Upload) -> Result<Value, Refusal> {
    let content = files::content(&upload.name, &upload.media_type, upload.bytes.to_vec());
    let content = content
        .map_err(|why| Refusal::new(format!("The file {} can not be read: {why}", upload.name)))?;
    Ok(Value::from(content.rendered()))
}

/// Puts the content of files into their fields, a list each.
fn put_files(body: &mut Object, uploads: &[Upload], contents: &[Value]) {
    let mut lists = indexmap::IndexMap::<Arc<str>, Vec<Value>>::new();
    for (upload, content) in uploads.iter().zip(contents) {
        lists
            .entry(upload.field.clone())
            .or_default()
            .push(content.clone());
    }
    body.extend(lists.into_iter().map(|(field, list)| (field, list.into())));
}

fn too_many_fields(section: &str) -> Refusal {
    Refusal::new(format!(
        "Too many fields: the {section} of a request may have {MAX_FIELDS}."
    ))
}

fn fields(pairs: form_urlencoded::Parse<'_>, section: &str) -> Result<Object, Refusal> {
    let mut fields = Object::new();
    for (at, (name, value)) in pairs.enumerate() {
        if at == MAX_FIELDS {
            return Err(too_many_fields(section));
        }
        fields.insert(name.into(), Value::from(&*value));
    }
    Ok(fields)
}

fn header_fields(headers: &HeaderMap, proof: Option<&HeaderName>) -> Object {
    let names = headers.keys().filter(|name| Some(*name) != proof);
    let field = |name: &HeaderName| {
        let values = headers.get_all(name).iter();
        let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
        let value = Vec::from_iter(values).join(", ");
        (Arc::from(title_case(name.as_str())), Value::from(value))
    };
    names.map(field).collect()
}

/// A header's name as people write it.
fn title_case(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    Vec::from_iter(words).join("-")
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
