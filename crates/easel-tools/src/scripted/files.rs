//! Files of a script, and those that runs made beside it.

use easel_core::Value;
use futures::future::BoxFuture;

use super::{ScriptedWorld, State, done, entry};
use crate::error::ToolError;
use crate::files::{FileContent, FileDescriptor, FileRequest, FileStore, KeptFile, MadeFile};

impl State {
    fn read(&self, request: FileRequest) -> Result<FileContent, ToolError> {
        let file = request.file;
        let image = file.is_image();
        match (self.files.get(&file.id), file.mime_type) {
            (None, _) => Err(not_found(file.id)),
            (Some(text), Some(mime)) if image => Ok(FileContent::image(mime, text.as_bytes())),
            (Some(text), _) => Ok(FileContent::Text {
                name: file.name,
                text: text.clone(),
            }),
        }
    }

    fn bytes(&self, file: FileDescriptor) -> Result<Vec<u8>, ToolError> {
        let number = file
            .id
            .strip_prefix(MADE)
            .and_then(|n| n.parse::<usize>().ok());
        let made = number.and_then(|n| self.kept.get_index(n.checked_sub(1)?));
        match (self.files.get(&file.id), made) {
            (Some(text), _) => Ok(text.clone().into_bytes()),
            (None, Some((_, bytes))) => Ok(bytes.clone()),
            (None, None) => Err(not_found(file.id)),
        }
    }

    fn keep(&mut self, file: MadeFile) -> KeptFile {
        self.calls.push(entry([
            ("keep_file", Value::from(file.name.as_str())),
            ("mime_type", Value::from(file.mime_type)),
        ]));
        let (at, _) = self.kept.insert_full(file.key, file.bytes);
        let id = format!("{MADE}{}", at + 1);
        KeptFile {
            url: format!("/files/{id}"),
            preview_url: String::new(),
            name: file.name,
            id,
        }
    }
}

/// What the ids of files begin with that runs made; their number follows.
const MADE: &str = "made-";

fn not_found(id: String) -> ToolError {
    ToolError::NotFound { what: "file", id }
}

impl FileStore for ScriptedWorld {
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        done(self.state().read(request))
    }

    fn bytes(&self, _: &str, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        done(self.state().bytes(file))
    }

    fn keep(&self, file: MadeFile) -> BoxFuture<'_, Result<KeptFile, ToolError>> {
        done(Ok(self.state().keep(file)))
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn a_file_that_comes_again_takes_the_place_of_the_first() {
        let scripted = ScriptedWorld::new(crate::Script::default());
        let files = scripted.world().files;
        let file = |key: &str, bytes: &[u8]| MadeFile {
            run: "r".into(),
            key: key.into(),
            name: "a.txt".into(),
            mime_type: "text/plain".into(),
            bytes: bytes.to_vec(),
        };
        let keep = |key: &str, bytes: &[u8]| block_on(files.keep(file(key, bytes))).unwrap().id;
        let (first, other, again) = (keep("k", b"1"), keep("l", b"2"), keep("k", b"3"));
        assert_eq!(first, again);
        assert_ne!(first, other);
        let bytes = |id: String| {
            let file = FileDescriptor {
                id,
                ..FileDescriptor::default()
            };
            block_on(files.bytes("r", file))
        };
        assert_eq!(bytes(first).unwrap(), b"3");
        assert_eq!(bytes(other).unwrap(), b"2");
        assert!(bytes("made-3".into()).is_err());
        assert_eq!(scripted.take_calls().len(), 3);
    }
}
