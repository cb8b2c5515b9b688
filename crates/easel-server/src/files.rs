//! Files: those that people upload and those that runs make, kept in the store and never shown to another owner's run.

use std::sync::Arc;

use easel_runtime::tools::documents::{Documents, WorkbookFile, workbook_text};
use easel_runtime::tools::files::{
    FileContent, FileDescriptor, FileRequest, FileStore, KeptFile, MadeFile,
};
use easel_runtime::tools::{ToolError, World};
use easel_runtime::{Input, Value};
use easel_store::{FileRecord, NewFile, RunRecord, Store, StoreError};
use futures::FutureExt;
use futures::future::BoxFuture;
use sha2::{Digest, Sha256};

/// Bytes that a file has at most that a run makes.
pub const LARGEST_MADE: u64 = 64 << 20;

/// The files of the store, as runs see them.
pub struct StoredFiles {
    store: Store,
    documents: Arc<dyn Documents>,
}

impl StoredFiles {
    /// A world whose files are those of the store.
    pub fn of(store: &Store, world: World) -> World {
        World {
            files: Arc::new(StoredFiles {
                store: store.clone(),
                documents: world.documents.clone(),
            }),
            ..world
        }
    }

    async fn record_and_bytes(&self, id: &str) -> Result<(FileRecord, Vec<u8>), String> {
        let record = self
            .store
            .file(id)
            .await
            .map_err(|error| error.to_string())?;
        let bytes = self
            .store
            .file_bytes(id)
            .await
            .map_err(|error| error.to_string())?;
        record.zip(bytes).ok_or_else(|| not_there(id))
    }

    async fn run(&self, id: &str) -> Result<RunRecord, String> {
        let run = self
            .store
            .run(id)
            .await
            .map_err(|error| error.to_string())?;
        run.ok_or_else(|| format!("The run {id} is not in the store, so nobody owns its files."))
    }

    async fn content(&self, id: &str) -> Result<FileContent, String> {
        let (record, bytes) = self.record_and_bytes(id).await?;
        let is_workbook = easel_runtime::tools::files::is_workbook(&record.name, &bytes);
        if !is_workbook {
            return content(&record.name, &record.mime, bytes).map_err(str::to_owned);
        }
        let name = record.name.to_string();
        let file = WorkbookFile {
            name: name.clone(),
            bytes,
        };
        let sheets = self.documents.read_workbook(file).await;
        let sheets = sheets.map_err(|error| error.to_string())?;
        Ok(FileContent::Text {
            name,
            text: workbook_text(&sheets),
        })
    }

    async fn bytes_for(&self, run: &str, id: &str) -> Result<Vec<u8>, String> {
        let (record, bytes) = self.record_and_bytes(id).await?;
        // What is read may name any file: a model could have written it.
        match *record.owner == *self.run(run).await?.origin.owner {
            true => Ok(bytes),
            false => Err(not_there(id)),
        }
    }

    async fn kept(&self, file: MadeFile) -> Result<KeptFile, String> {
        let run = self.run(&file.run).await?;
        let new = NewFile {
            owner: run.origin.owner.to_string(),
            session: run.origin.session.as_deref().map(str::to_owned),
            name: file.name,
            mime: file.mime_type,
        };
        let id = made_id(&file.key);
        let kept = self
            .store
            .put_file_as(&id, new, file.bytes, LARGEST_MADE)
            .await;
        let kept = kept.map_err(|error| error.to_string())?;
        let place = format!("/api/v1/agents/attachments/{id}");
        Ok(KeptFile {
            url: format!("{place}/download"),
            preview_url: format!("{place}/preview"),
            name: kept.name.to_string(),
            id,
        })
    }
}

/// The id of a file that a run makes: the same whenever it is made again.
fn made_id(key: &str) -> String {
    let digest = Sha256::digest(key.as_bytes());
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn not_there(id: &str) -> String {
    format!("There is no file {id}; upload it first.")
}

fn failed(what: String) -> impl FnOnce(String) -> ToolError {
    move |message| ToolError::Failed { what, message }
}

impl FileStore for StoredFiles {
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        let (id, name) = (request.file.id, request.file.name);
        async move { self.content(&id).await.map_err(failed(name)) }.boxed()
    }

    fn bytes(&self, run: &str, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        let run = run.to_owned();
        async move {
            self.bytes_for(&run, &file.id)
                .await
                .map_err(failed(file.name))
        }
        .boxed()
    }

    fn keep(&self, file: MadeFile) -> BoxFuture<'_, Result<KeptFile, ToolError>> {
        let name = file.name.clone();
        async move { self.kept(file).await.map_err(failed(name)) }.boxed()
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
        Err(_) => Err(
            "It is neither text, an image nor an Excel file; this version reads no other documents.",
        ),
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
