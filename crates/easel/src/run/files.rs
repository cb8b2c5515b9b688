//! Files of this machine: those that a user hands in, and those that the run makes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use easel_runtime::Value;
use easel_runtime::tools::documents::{Documents, WorkbookFile, workbook_text};
use easel_runtime::tools::files::{
    FileContent, FileDescriptor, FileRequest, FileStore, KeptFile, MadeFile, is_workbook,
};
use easel_runtime::tools::{ToolError, World};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::json;

use super::downloads::Downloads;

/// The files that were handed in, by the id their descriptors have, and those that the run makes. No other file of the machine
/// can be read.
#[derive(Debug)]
pub struct LocalFiles {
    paths: Mutex<HashMap<String, PathBuf>>,
    /// What the run makes.
    pub downloads: Downloads,
}

/// The largest file that is read, in bytes.
const LARGEST: u64 = 20_000_000;

/// Kinds of images that models take, by the end of the file's name.
const IMAGES: [(&str, &str); 5] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
];

impl LocalFiles {
    /// What the run makes goes into that folder.
    pub fn new(downloads: &Path) -> LocalFiles {
        LocalFiles {
            paths: Mutex::default(),
            downloads: Downloads::into_folder(downloads),
        }
    }

    /// Takes a file in and gives its descriptor.
    ///
    /// # Errors
    /// It is not there, is no file, or is too large.
    pub fn hand_in(&self, path: &Path) -> std::io::Result<Value> {
        let about = std::fs::metadata(path)?;
        if !about.is_file() {
            return Err(std::io::Error::other("it is no file"));
        }
        if about.len() > LARGEST {
            return Err(std::io::Error::other(format!(
                "it is larger than {LARGEST} bytes"
            )));
        }
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy();
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let id = format!("file-{}", paths.len() + 1);
        paths.insert(id.clone(), path.to_owned());
        let mime_type = image(path).unwrap_or("text/plain");
        let size = about.len();
        Ok(Value::from(
            json!({"id": id, "name": name, "mime_type": mime_type, "size": size, "created_by": "local"}),
        ))
    }

    /// The world with these files before its own.
    pub fn before(files: &Arc<LocalFiles>, world: World) -> World {
        let store = Both {
            local: files.clone(),
            other: world.files.clone(),
            documents: world.documents.clone(),
        };
        World {
            files: Arc::new(store),
            ..world
        }
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        self.paths
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned()
    }
}

/// Local files, then those of a world.
struct Both {
    local: Arc<LocalFiles>,
    other: Arc<dyn FileStore>,
    documents: Arc<dyn Documents>,
}

impl FileStore for Both {
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        match self.local.path(&request.file.id) {
            Some(path) => async move { self.content(&path, &request.file.name).await }.boxed(),
            None => self.other.read(request),
        }
    }

    fn bytes(&self, run: &str, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        let made = || self.local.downloads.path(&file.id);
        match self.local.path(&file.id).or_else(made) {
            Some(path) => ready(std::fs::read(path).map_err(failed(&file.name))).boxed(),
            None => self.other.bytes(run, file),
        }
    }

    fn keep(&self, file: MadeFile) -> BoxFuture<'_, Result<KeptFile, ToolError>> {
        let kept = self.local.downloads.keep(&file).map_err(failed(&file.name));
        ready(kept).boxed()
    }
}

fn failed<E: ToString>(what: &str) -> impl FnOnce(E) -> ToolError {
    let what = what.to_owned();
    move |error| ToolError::Failed {
        what,
        message: error.to_string(),
    }
}

/// The kind of image a file is by its name.
fn image(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_lowercase();
    let (_, kind) = IMAGES.iter().find(|(image, _)| *image == ending)?;
    Some(kind)
}

impl Both {
    async fn content(&self, path: &Path, name: &str) -> Result<FileContent, ToolError> {
        let bytes = std::fs::read(path).map_err(failed(name))?;
        if let Some(kind) = image(path) {
            return Ok(FileContent::image(kind, &bytes));
        }
        let text = match is_workbook(name, &bytes) {
            true => {
                let file = WorkbookFile {
                    name: name.to_owned(),
                    bytes,
                };
                workbook_text(&self.documents.read_workbook(file).await?)
            }
            false => String::from_utf8(bytes).map_err(|_| failed(name)(NO_TEXT))?,
        };
        Ok(FileContent::Text {
            name: name.to_owned(),
            text,
        })
    }
}

const NO_TEXT: &str =
    "It is neither text, an image nor an Excel file; this version reads no other documents.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_handed_in_is_not_read() {
        let folder = std::env::temp_dir().join(format!("easel-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (text, image) = (folder.join("a.txt"), folder.join("b.PNG"));
        std::fs::write(&text, "hello").unwrap();
        std::fs::write(&image, b"PNG").unwrap();
        let files = Arc::new(LocalFiles::new(&folder.join("downloads")));
        let world = LocalFiles::before(&files, World::none());
        let read = |file: &Value| {
            let file = FileDescriptor::from_value(file).unwrap();
            futures::executor::block_on(world.files.read(FileRequest { file, layout: None }))
        };
        let rendered = |file: &Value| read(file).unwrap().rendered();
        assert!(rendered(&files.hand_in(&text).unwrap()).ends_with("hello"));
        assert!(rendered(&files.hand_in(&image).unwrap()).starts_with("data:image/png;base64,"));
        let foreign = Value::from(json!({"id": text.to_str(), "name": "a.txt"}));
        assert!(read(&foreign).is_err());
        assert!(files.hand_in(&folder).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
