//! Uploaded files: kept in the store, read by runs, and never by another owner's.

use std::sync::Arc;

use easel_runtime::tools::files::{FileContent, FileDescriptor, FileRequest, FileStore};
use easel_runtime::tools::{ToolError, World};
use easel_runtime::{Input, Value};
use easel_store::{Store, StoreError};
use futures::FutureExt;
use futures::future::BoxFuture;

/// The files of the store, as runs read them.
pub struct StoredFiles(Store);

impl StoredFiles {
    /// A world whose files are those of the store.
    pub fn of(store: &Store, world: World) -> World {
        World {
            files: Arc::new(StoredFiles(store.clone())),
            ..world
        }
    }
}

impl FileStore for StoredFiles {
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        let (id, name) = (request.file.id, request.file.name);
        let failed = move |message: String| ToolError::Failed {
            what: name.clone(),
            message,
        };
        async move {
            let record = self.0.file(&id).await;
            let bytes = self.0.file_bytes(&id).await;
            let (record, bytes) = match (record, bytes) {
                (Ok(Some(record)), Ok(Some(bytes))) => (record, bytes),
                (Err(error), _) | (_, Err(error)) => return Err(failed(error.to_string())),
                _ => return Err(failed(format!("There is no file {id}; upload it first."))),
            };
            content(&record.name, &record.mime, bytes).map_err(|why| failed(why.to_owned()))
        }
        .boxed()
    }

    fn bytes(&self, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        async move {
            match self.0.file_bytes(&file.id).await {
                Ok(Some(bytes)) => Ok(bytes),
                Ok(None) => Err(ToolError::NotFound {
                    what: "file",
                    id: file.id,
                }),
                Err(error) => Err(ToolError::Failed {
                    what: file.name,
                    message: error.to_string(),
                }),
            }
        }
        .boxed()
    }
}

/// What models get of a file: an image as it is, anything else as text.
///
/// # Errors
/// It is neither; a sentence that says so.
pub(crate) fn content(name: &str, mime: &str, bytes: Vec<u8>) -> Result<FileContent, &'static str> {
    if mime.starts_with("image/") {
        return Ok(FileContent::image(mime, &bytes));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(FileContent::Text {
            name: name.to_owned(),
            text,
        }),
        Err(_) => Err("It is neither text nor an image; this version reads no other documents."),
    }
}

/// The first file in what a user brings that is not theirs, by its id. Whoever a request says made a file does not count.
pub(crate) async fn foreign(
    input: &Input,
    owner: &str,
    store: &Store,
) -> Result<Option<String>, StoreError> {
    let mut ids = Vec::new();
    // Begin takes its fields from a query that is an object.
    let given = input.files.iter().chain(input.inputs.values());
    let mut todo: Vec<&Value> = given.chain([&input.query]).collect();
    while let Some(value) = todo.pop() {
        match value {
            Value::Object(members) => {
                ids.extend(members.get("id").and_then(Value::as_str));
                todo.extend(members.values());
            }
            Value::Array(items) => todo.extend(items.iter()),
            _ => {}
        }
    }
    for id in ids {
        let file = store.file(id).await?;
        if file.is_some_and(|file| *file.owner != *owner) {
            return Ok(Some(id.to_owned()));
        }
    }
    Ok(None)
}
