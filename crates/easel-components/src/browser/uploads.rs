//! The files that a browser may upload: those of the turn by their ids or names, and addresses, which are fetched.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_core::Value;
use easel_tools::ToolError;
use easel_tools::browser::UploadFile;
use easel_tools::files::{FileContent, FileDescriptor, FileRequest};
use easel_tools::http::HttpRequest;

use crate::behaviour::Call;

/// Files that may be handed in.
const FILES: usize = 10;

/// The largest file that is fetched, in bytes.
const BYTES: u64 = 20 << 20;

/// Time that fetching one may take.
const TIME: Duration = Duration::from_secs(30);

/// Redirects that are followed.
const REDIRECTS: u8 = 5;

/// Has the files that a parameter names: ids, addresses, descriptors, or lists of such, also as JSON or with commas between.
pub(super) async fn fetch(sources: &Value, call: &Call) -> Result<Vec<UploadFile>, ToolError> {
    let mut named = Vec::new();
    flatten(sources, &mut named);
    if named.len() > FILES {
        return Err(ToolError::InvalidRequest {
            what: "upload_sources".to_owned(),
            problem: format!("it names {} files, and {FILES} are allowed", named.len()),
        });
    }
    let mut files = Vec::new();
    for source in named {
        files.push(match source.as_str().filter(|text| text.contains("://")) {
            Some(address) => from_the_web(address, call).await?,
            None => uploaded(source, call).await?,
        });
    }
    Ok(files)
}

fn flatten(value: &Value, into: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, into)),
        Value::Object(_) => into.push(value.clone()),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(read @ (Value::Array(_) | Value::Object(_))) => flatten(&read, into),
            _ => {
                let parts = text.split(',').map(str::trim);
                into.extend(parts.filter(|part| !part.is_empty()).map(Value::from));
            }
        },
        _ => {}
    }
}

async fn from_the_web(address: &str, call: &Call) -> Result<UploadFile, ToolError> {
    let request = HttpRequest {
        timeout: TIME,
        max_redirects: REDIRECTS,
        ..HttpRequest::new("GET", address)
    };
    let what = request.host().unwrap_or_default();
    let fetched = call.run.services.world.http.fetch(request, BYTES).await?;
    if fetched.status >= 300 {
        return Err(ToolError::Status {
            what,
            status: fetched.status,
            message: "the file to be uploaded was not given".to_owned(),
        });
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    Ok(UploadFile {
        name: name.to_owned(),
        bytes: fetched.bytes,
    })
}

/// A file that the user handed in with this turn, by its id or its name. No other: ids of others' files may be known.
async fn uploaded(source: Value, call: &Call) -> Result<UploadFile, ToolError> {
    let wanted = source.get("id").unwrap_or(&source).to_string();
    let handed_in = call.run.turn.files.iter().find(|file| {
        let is = |name: &str| file.get(name).and_then(Value::as_str) == Some(&*wanted);
        is("id") || is("name")
    });
    let file = handed_in.ok_or(ToolError::NotFound {
        what: "file of this turn",
        id: wanted,
    })?;
    let file = FileDescriptor::from_value(file)?;
    let name = file.name.clone();
    let request = FileRequest { file, layout: None };
    let content = call.run.services.world.files.read(request).await?;
    let bytes = match content {
        FileContent::Text { text, .. } => text.into_bytes(),
        FileContent::Image { content_b64, .. } => {
            let read = STANDARD.decode(content_b64);
            read.map_err(|error| ToolError::Malformed {
                what: "the file to be uploaded".to_owned(),
                cause: error.to_string(),
            })?
        }
    };
    Ok(UploadFile { name, bytes })
}
