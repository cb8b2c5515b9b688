//! The files that a browser may upload: uploaded ones by their ids, and addresses, which are fetched.

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

async fn uploaded(source: Value, call: &Call) -> Result<UploadFile, ToolError> {
    let file = match &source {
        Value::Object(_) => FileDescriptor::from_value(&source)?,
        id => FileDescriptor {
            id: id.to_string(),
            name: id.to_string(),
            ..FileDescriptor::default()
        },
    };
    let name = file.name.clone();
    let request = FileRequest { file, layout: None };
    let content = call.run.services.world.files.read(request).await?;
    Ok(match content {
        FileContent::Text {
            name: of_store,
            text,
        } => UploadFile {
            name: if of_store.is_empty() { name } else { of_store },
            bytes: text.into_bytes(),
        },
        FileContent::Image { content_b64, .. } => UploadFile {
            bytes: STANDARD
                .decode(content_b64)
                .map_err(|error| ToolError::Malformed {
                    what: "the file to be uploaded".to_owned(),
                    cause: error.to_string(),
                })?,
            name,
        },
    })
}
