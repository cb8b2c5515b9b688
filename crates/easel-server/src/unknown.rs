//! What nobody serves.

use axum::Json;
use axum::http::{Method, StatusCode, Uri};
use serde_json::{Value, json};

/// There is no such path. In the form that every client understands: `code` and `message` for canvas clients, `error` for
/// others.
pub(crate) async fn path(uri: Uri) -> (StatusCode, Json<Value>) {
    let message = format!(
        "There is nothing at {}; /openapi.json lists what there is.",
        uri.path()
    );
    said(StatusCode::NOT_FOUND, "not_found", &message)
}

/// The path knows other methods.
pub(crate) async fn method(method: Method, uri: Uri) -> (StatusCode, Json<Value>) {
    let message = format!(
        "{method} is nothing that {} knows; /openapi.json lists what it does.",
        uri.path()
    );
    said(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        &message,
    )
}

fn said(status: StatusCode, code: &str, message: &str) -> (StatusCode, Json<Value>) {
    let body = json!({
        "code": status.as_u16(),
        "message": message,
        "data": null,
        "error": {"code": code, "message": message},
    });
    (status, Json(body))
}
