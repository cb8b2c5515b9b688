//! Files that go with messages: in, and out again.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::multipart::Field;
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use easel_runtime::tools::ToolError;
use easel_runtime::tools::http::HttpRequest;
use easel_store::{FileRecord, NewFile};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::json;

use super::access::agent;
use super::envelope::{At, MOST, Problem, Query, Reply, Value, late, ok};
use crate::App;
use crate::auth::{Caller, Scope};

/// How long another server may take to send a file.
const FETCH: Duration = Duration::from_secs(60);
/// How often such a request is sent on.
const REDIRECTS: u8 = 5;
/// The longest name that is kept, in characters.
const LONGEST_NAME: usize = 255;

/// `POST /agents/{id}/upload`: files of a form, or the one that `?url=` names.
pub(super) async fn upload(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    query: Query,
    request: Request,
) -> Reply {
    agent(&app, &caller, Scope::Run, &id).await?;
    let mut kept = Vec::new();
    if let Some(url) = query.text("url") {
        kept.push(fetched(&app, &caller, url).await?);
    } else {
        let form = Multipart::from_request(request, &app).await;
        let mut form = form.map_err(|_| no_file())?;
        while let Some(field) = form.next_field().await.map_err(|error| broken(&error))? {
            if field.name() != Some("file") {
                continue;
            }
            if kept.len() == MOST as usize {
                return Err(Problem::argument(format!(
                    "At most {MOST} files are sent at once."
                )));
            }
            kept.push(sent(&app, &caller, field).await?);
        }
    }
    let mut kept: Vec<Value> = kept.iter().map(descriptor).collect();
    match kept.len() {
        0 => Err(no_file()),
        1 => ok(kept.remove(0)),
        _ => ok(kept),
    }
}

fn no_file() -> Problem {
    Problem::argument(
        "No file in request: send a form with one or more parts named `file`, or `?url=`.",
    )
}

fn broken(error: &axum::extract::multipart::MultipartError) -> Problem {
    if let Some(late) = late(error) {
        let status = StatusCode::REQUEST_TIMEOUT;
        return Problem::new(status.as_u16(), late).with_status(status);
    }
    let status = error.status();
    let mut problem = Problem::argument(error.body_text());
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        problem.code = status.as_u16();
        problem = problem.with_status(status);
    }
    problem
}

/// Keeps a file of a form.
async fn sent(app: &App, caller: &Caller, mut field: Field<'_>) -> Result<FileRecord, Problem> {
    let name = name_of(field.file_name().unwrap_or_default());
    let mime = field.content_type().unwrap_or_default().to_owned();
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
        bytes.extend_from_slice(&chunk);
    }
    keep(app, caller, name, &mime, bytes).await
}

/// Keeps a file that another server has. Which servers may be asked is what the guard of the tools says.
async fn fetched(app: &App, caller: &Caller, url: &str) -> Result<FileRecord, Problem> {
    let request = HttpRequest {
        timeout: FETCH,
        max_redirects: REDIRECTS,
        ..HttpRequest::new("GET", url)
    };
    let limit = app.settings.upload_limit as u64;
    let fetched = app.host.engine().world().http.fetch(request, limit).await;
    let fetched = fetched.map_err(|error: ToolError| {
        Problem::data(format!("The file cannot be fetched: {error}."))
    })?;
    if !(200..300).contains(&fetched.status) {
        return Err(Problem::data(format!(
            "The file cannot be fetched: the server answered with status {}.",
            fetched.status
        )));
    }
    let path = url::Url::parse(url).ok();
    let last = path
        .as_ref()
        .and_then(|url| url.path_segments()?.next_back());
    let name = percent_decode_str(last.unwrap_or_default()).decode_utf8_lossy();
    let mime = fetched.media_type.unwrap_or_default();
    keep(app, caller, name_of(&name), &mime, fetched.bytes).await
}

async fn keep(
    app: &App,
    caller: &Caller,
    name: String,
    mime: &str,
    bytes: Vec<u8>,
) -> Result<FileRecord, Problem> {
    let mime = mime.split(';').next().unwrap_or_default().trim();
    let mime = match mime.is_empty() || mime == "application/octet-stream" {
        true => kind_of(&name),
        false => mime,
    };
    let new = NewFile {
        owner: caller.owner.to_string(),
        session: None,
        mime: mime.to_ascii_lowercase(),
        name,
    };
    let limit = app.settings.upload_limit as u64;
    Ok(app.host.store().put_file(new, bytes, limit).await?)
}

/// A name that is a name, and no path.
fn name_of(sent: &str) -> String {
    let last = sent.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let name: String = last
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST_NAME)
        .collect();
    match name.as_str() {
        "" | "." | ".." => "file".to_owned(),
        _ => name,
    }
}

fn extension(name: &str) -> &str {
    let parts = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    parts.map_or("", |(_, extension)| extension)
}

/// What a file is by its name.
fn kind_of(name: &str) -> &'static str {
    match extension(name).to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        _ => "application/octet-stream",
    }
}

/// What clients know of a file.
fn descriptor(file: &FileRecord) -> Value {
    json!({
        "id": file.id,
        "name": file.name,
        "size": file.size,
        "extension": extension(&file.name),
        "mime_type": file.mime,
        "created_by": file.owner,
        "created_at": file.created as f64 / 1000.0,
        "preview_url": format!("/api/v1/agents/attachments/{}/preview", file.id),
    })
}

/// `GET /agents/download?id=`
pub(super) async fn download(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Reply {
    let id = query
        .text("id")
        .ok_or_else(|| Problem::argument("`id` is required."))?;
    given(&app, &caller, id, None, false).await
}

/// `GET /agents/attachments/{id}/download`. What a client says that a file is does not count, but for its name.
pub(super) async fn attachment(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    query: Query,
) -> Reply {
    given(&app, &caller, &id, query.text("filename"), false).await
}

/// `GET /agents/attachments/{id}/preview`: shown by the browser, if that is harmless.
pub(super) async fn preview(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    query: Query,
) -> Reply {
    given(&app, &caller, &id, query.text("filename"), true).await
}

/// Kinds of files that browsers show without running anything in them.
const HARMLESS: [&str; 6] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "text/plain",
    "application/pdf",
];

/// What stands in a header as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A file, for whoever sent it.
async fn given(app: &App, caller: &Caller, id: &str, name: Option<&str>, shown: bool) -> Reply {
    caller.may(Scope::Read)?;
    let store = app.host.store();
    let file = store
        .file(id)
        .await?
        .filter(|file| caller.owns(&file.owner));
    let not_there = || Problem::data("File not found!");
    let file = file.ok_or_else(not_there)?;
    let bytes = store.file_bytes(&file.id).await?.ok_or_else(not_there)?;
    let harmless = shown && HARMLESS.contains(&&*file.mime);
    let mime = match (harmless, HeaderValue::from_str(&file.mime)) {
        (true, Ok(mime)) => mime,
        _ => HeaderValue::from_static("application/octet-stream"),
    };
    let name = name.map_or_else(|| file.name.to_string(), name_of);
    let how = if harmless { "inline" } else { "attachment" };
    let name = utf8_percent_encode(&name, PLAIN);
    let disposition = format!("{how}; filename*=UTF-8''{name}");
    let disposition = HeaderValue::from_str(&disposition);
    let mut response = Response::new(axum::body::Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, mime);
    if let Ok(disposition) = disposition {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        ),
        (header::CACHE_CONTROL, "private, no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        assert_eq!(name_of("../../etc/passwd"), "passwd");
        assert_eq!(name_of("C:\\temp\\a b.txt"), "a b.txt");
        assert_eq!(name_of(".."), "file");
        assert_eq!(name_of("a\r\nb"), "ab");
        assert_eq!(extension("a.tar.gz"), "gz");
        assert_eq!(extension(".env"), "");
    }
}
