//! Files of this machine that a user hands in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use easel_runtime::Value;
use easel_runtime::tools::files::{FileContent, FileDescriptor, FileRequest, FileStore};
use easel_runtime::tools::{ToolError, World};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::json;

/// The files that were handed in, by the id their descriptors have. No other file of the machine can be read.
#[derive(Debug, Default)]
pub struct LocalFiles {
    paths: Mutex<HashMap<String, PathBuf>>,
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
}

impl FileStore for Both {
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        match self.local.path(&request.file.id) {
            Some(path) => ready(content(&path, &request.file.name)).boxed(),
            None => self.other.read(request),
        }
    }

    fn bytes(&self, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        match self.local.path(&file.id) {
            Some(path) => ready(bytes(&path, &file.name)).boxed(),
            None => self.other.bytes(file),
        }
    }
}

/// The kind of image a file is by its name.
fn image(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_lowercase();
    let (_, kind) = IMAGES.iter().find(|(image, _)| *image == ending)?;
    Some(kind)
}

fn bytes(path: &Path, name: &str) -> Result<Vec<u8>, ToolError> {
    std::fs::read(path).map_err(|error| ToolError::Failed {
        what: name.to_owned(),
        message: error.to_string(),
    })
}

fn content(path: &Path, name: &str) -> Result<FileContent, ToolError> {
    let bytes = bytes(path, name)?;
    if let Some(kind) = image(path) {
        return Ok(FileContent::image(kind, &bytes));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(FileContent::Text {
            name: name.to_owned(),
            text,
        }),
        Err(_) => Err(ToolError::Failed {
            what: name.to_owned(),
            message: "It is neither text nor an image; this version reads no other documents."
                .to_owned(),
        }),
    }
}

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
        let files = Arc::new(LocalFiles::default());
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
