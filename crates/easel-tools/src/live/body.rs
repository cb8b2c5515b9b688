//! Bodies and parameters on their way out, bodies on their way in.

use easel_core::{Object, Value};
use encoding_rs::{Encoding, UTF_8};
use reqwest::Response;

use crate::error::ToolError;
use crate::http::HttpBody;

/// Name and value pairs as a query or a form carries them; the rule stands at [`crate::http::HttpRequest::query`].
pub(super) fn pairs(fields: &Object) -> Vec<(&str, String)> {
    let mut pairs = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Array(items) => pairs.extend(items.iter().filter_map(|item| pair(name, item))),
            single => pairs.extend(pair(name, single)),
        }
    }
    pairs
}

fn pair<'a>(name: &'a str, value: &Value) -> Option<(&'a str, String)> {
    match value {
        Value::Null => None,
        Value::String(text) => Some((name, text.to_string())),
        other => Some((name, other.to_json_text())),
    }
}

/// What is written after the headers, and the media type it has.
pub(super) fn written(body: &HttpBody) -> Option<(String, &str)> {
    match body {
        HttpBody::Empty => None,
        HttpBody::Json(value) => Some((value.to_json_text(), "application/json")),
        HttpBody::Form(fields) => {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            form.extend_pairs(pairs(fields));
            Some((form.finish(), "application/x-www-form-urlencoded"))
        }
        HttpBody::Text { content_type, text } => Some((text.clone(), content_type)),
    }
}

/// Reads a body up to `limit` bytes. `interrupted` tells what a break on the way is.
pub(super) async fn read(
    mut response: Response,
    what: &str,
    limit: u64,
    interrupted: impl Fn(reqwest::Error) -> ToolError,
) -> Result<String, ToolError> {
    let encoding = declared_encoding(&response);
    let bytes = bytes(&mut response, what, limit, interrupted).await?;
    Ok(encoding.decode(&bytes).0.into_owned())
}

/// The same, as it came.
pub(super) async fn bytes(
    response: &mut Response,
    what: &str,
    limit: u64,
    interrupted: impl Fn(reqwest::Error) -> ToolError,
) -> Result<Vec<u8>, ToolError> {
    let too_large = || ToolError::TooLarge {
        what: what.to_owned(),
        limit,
    };
    if response
        .content_length()
        .is_some_and(|length| length > limit)
    {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(&interrupted)? {
        if (bytes.len() + chunk.len()) as u64 > limit {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn declared_encoding(response: &Response) -> &'static Encoding {
    let content_type = response.headers().get(reqwest::header::CONTENT_TYPE);
    let charset = content_type
        .and_then(|value| value.to_str().ok())
        .and_then(|value| {
            value.split(';').skip(1).find_map(|parameter| {
                let (name, value) = parameter.split_once('=')?;
                name.trim()
                    .eq_ignore_ascii_case("charset")
                    .then(|| value.trim().trim_matches('"'))
            })
        });
    charset
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .unwrap_or(UTF_8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(json: serde_json::Value) -> Object {
        Value::from(json).as_object().unwrap().clone()
    }

    #[test]
    fn parameters_are_written_by_their_type() {
        let fields = object(
            json!({"q": "a b&c", "n": 5, "on": true, "no": null, "tag": ["x", null, 2], "o": {"k": "ä"}}),
        );
        let (form, content_type) = written(&HttpBody::Form(fields))
            .map(|(f, c)| (f, c.to_owned()))
            .unwrap();
        assert_eq!(
            form,
            "q=a+b%26c&n=5&on=true&tag=x&tag=2&o=%7B%22k%22%3A%22%C3%A4%22%7D"
        );
        assert_eq!(content_type, "application/x-www-form-urlencoded");
    }

    #[test]
    fn a_body_carries_its_media_type() {
        let json = HttpBody::Json(Value::from(json!({"a": "ä"})));
        assert_eq!(
            written(&json),
            Some(("{\"a\":\"ä\"}".to_owned(), "application/json"))
        );
        let text = HttpBody::Text {
            content_type: "text/csv".into(),
            text: "a,b".into(),
        };
        assert_eq!(written(&text), Some(("a,b".to_owned(), "text/csv")));
        assert_eq!(written(&HttpBody::Empty), None);
    }
}
