use axum::http::HeaderValue;
use futures::executor::block_on;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::webhook::Schema;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let value = HeaderValue::from_str(value).unwrap();
        headers.append(HeaderName::from_static(name), value);
    }
    headers
}

fn parse(kind: &str, body: impl Into<Bytes>) -> Result<Request, Refusal> {
    let headers = match kind {
        "" => headers(&[]),
        kind => headers(&[("content-type", kind)]),
    };
    block_on(Request::parse("", &headers, None, body.into()))
}

fn body(kind: &str, body: &str) -> (Json, Option<Json>) {
    let request = parse(kind, body.to_owned()).unwrap();
    let whole = request.whole.map(|whole| whole.to_json());
    (Value::from(request.body).to_json(), whole)
}

#[test]
fn a_body_is_read_by_its_content_type() {
    let json = "application/json; charset=utf-8";
    assert_eq!(body(json, "{\"a\": 1}"), (json!({"a": 1}), None));
    assert_eq!(body("", "{\"a\": 1}"), (json!({"a": 1}), None));
    assert_eq!(body("text/plain", "{\"a\": 1}"), (json!({"a": 1}), None));
    assert_eq!(body(json, "[1]"), (json!({}), Some(json!([1]))));
    assert_eq!(body(json, "{"), (json!({}), Some(json!("{"))));
    assert_eq!(body("text/plain", "hi"), (json!({}), Some(json!("hi"))));
    assert_eq!(body(json, ""), (json!({}), None));
    let form = "Application/X-WWW-Form-URLencoded";
    assert_eq!(
        body(form, "a=1&b=x+y&a=%C3%A4&c"),
        (json!({"a": "ä", "b": "x y", "c": ""}), None)
    );
    let octets = parse("application/octet-stream", vec![0xff, 0]).unwrap();
    assert_eq!(octets.whole, Some(Value::from("/wA=")));
    // Nested so deep that nobody could walk it.
    let deep = "[".repeat(100_000);
    assert!(body(json, &deep).1.unwrap().is_string());
}

#[test]
fn of_a_query_the_last_value_counts() {
    let request = block_on(Request::parse(
        "a=1&a=2&b=%20",
        &headers(&[]),
        None,
        Bytes::new(),
    ));
    let query = Value::from(request.unwrap().query).to_json();
    assert_eq!(query, json!({"a": "2", "b": " "}));
}

#[test]
fn headers_are_written_as_people_write_them() {
    let headers = headers(&[
        ("x-hub-signature", "s"),
        ("accept", "a"),
        ("accept", "b"),
        ("authorization", "Bearer x"),
    ]);
    let proof = HeaderName::from_static("authorization");
    let request = block_on(Request::parse("", &headers, Some(&proof), Bytes::new())).unwrap();
    assert_eq!(
        Value::from(request.headers).to_json(),
        json!({"X-Hub-Signature": "s", "Accept": "a, b"})
    );
}

fn multipart(parts: &[(&str, Option<&str>, &str)]) -> String {
    let mut text = String::new();
    for (name, file, content) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"\r\nContent-Type: text/plain"));
        let file = file.unwrap_or_default();
        text += &format!(
            "--b\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n"
        );
    }
    text + "--b--\r\n"
}

const MULTIPART: &str = "multipart/form-data; boundary=b";

#[test]
fn files_come_as_lists_in_their_fields() {
    let text = multipart(&[
        ("title", None, "Two"),
        ("docs", Some("a.txt"), "first"),
        ("docs", Some("b.txt"), "second"),
        ("none", Some(""), ""),
        ("other", Some("c.txt"), "third"),
    ]);
    let request = parse(MULTIPART, text).unwrap();
    let uploads: Vec<(&str, &str, &str)> = request
        .uploads
        .iter()
        .map(|u| (&*u.field, u.name.as_str(), u.media_type.as_str()))
        .collect();
    let expected = [
        ("docs", "a.txt", "text/plain"),
        ("docs", "b.txt", "text/plain"),
        ("other", "c.txt", "text/plain"),
    ];
    assert_eq!(uploads, expected);
    assert_eq!(&request.uploads[1].bytes[..], b"second");
    let schema = json!({"body": {"properties": {"title": {"type": "string"}, "docs": {"type": "file"}}, "required": ["docs"]}});
    let cleaned = Schema::read(Some(&Value::from(schema)))
        .project(&request)
        .unwrap();
    let contents = ["1", "2", "3"].map(Value::from);
    let turn = Value::from(request.into_turn(cleaned, &contents)).to_json();
    assert_eq!(turn["body"], json!({"title": "Two", "docs": ["1", "2"]}));
    let all = json!({"title": "Two", "docs": ["1", "2"], "other": ["3"]});
    assert_eq!(turn["input"]["body"], all);
    assert_eq!(turn["input"]["content_type"], "multipart/form-data");
}

#[test]
fn a_multipart_body_that_cannot_be_read_is_refused() {
    for (kind, text) in [
        ("multipart/form-data", "x"),
        (MULTIPART, "x"),
        (MULTIPART, "--b\r\nx"),
        (MULTIPART, ""),
    ] {
        let told = parse(kind, text.to_owned()).unwrap_err().to_string();
        assert!(
            told.starts_with("The multipart body cannot be read: "),
            "{told}"
        );
    }
    let many = vec![("f", Some("a.txt"), "x"); MAX_FILES + 1];
    let told = parse(MULTIPART, multipart(&many)).unwrap_err().to_string();
    assert_eq!(told, "Too many files: a request may bring 10.");
}

#[test]
fn a_request_with_a_flood_of_fields_is_refused() {
    let form = "application/x-www-form-urlencoded";
    let fields = |n: usize| Vec::from_iter((0..n).map(|i| format!("f{i}="))).join("&");
    assert!(parse(form, fields(MAX_FIELDS)).is_ok());
    let told = parse(form, fields(MAX_FIELDS + 1)).unwrap_err().to_string();
    assert_eq!(
        told,
        "Too many fields: the body of a request may have 1000."
    );
    let many = vec![("f", None, "x"); MAX_FIELDS + 1];
    assert!(parse(MULTIPART, multipart(&many)).is_err());
}

#[test]
fn a_body_is_counted_by_what_arrives() {
    let chunks = |n: usize| {
        let chunks = vec![Ok::<_, std::convert::Infallible>(Bytes::from_static(b"0123456789")); n];
        Body::from_stream(futures::stream::iter(chunks))
    };
    assert_eq!(block_on(read_body(chunks(3), 30)).unwrap().len(), 30);
    let told = block_on(read_body(chunks(9), 30)).unwrap_err().to_string();
    assert_eq!(told, "Request body too large: 40 > 30");
}

#[test]
fn what_is_no_object_is_still_in_the_whole_request() {
    let request = parse("text/plain", "a line".to_owned()).unwrap();
    let turn = Value::from(request.into_turn(Cleaned::default(), &[])).to_json();
    assert_eq!(turn["body"], json!({}));
    assert_eq!(turn["input"]["body"], "a line");
}

proptest! {
    #[test]
    fn no_body_breaks_the_parser(
        kind in prop::sample::select(vec![
            "", "application/json", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded", MULTIPART, "multipart/form-data; boundary=\"", "\u{e4}"
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = parse(kind, bytes);
    }

    #[test]
    fn no_multipart_body_breaks_the_parser(pieces in prop::collection::vec(
        prop::sample::select(vec!["--b", "--", "\r\n", "Content-Disposition: form-data; name=\"a\"", "; filename=\"x\"", "\r\n\r\n", "x", "\u{0}", "Content-Type: ;"]), 0..30
    )) {
        let _ = parse(MULTIPART, pieces.concat());
    }

    #[test]
    fn a_form_gives_back_what_was_put_in(pairs in prop::collection::btree_map("\\PC{0,8}", "\\PC{0,8}", 0..8)) {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(&pairs);
        let request = parse("application/x-www-form-urlencoded", form.finish()).unwrap();
        prop_assert_eq!(Value::from(request.body).to_json(), json!(pairs));
    }
}
