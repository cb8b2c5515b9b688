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
        match (self.files.get(&file.id), self.kept.get(&file.id)) {
            (Some(text), _) => Ok(text.clone().into_bytes()),
            (None, Some(bytes)) => Ok(bytes.clone()),
            (None, None) => Err(not_found(file.id)),
        }
    }

    fn keep(&mut self, file: MadeFile) -> KeptFile {
        self.calls.push(entry([
            ("keep_file", Value::from(file.name.as_str())),
            ("mime_type", Value::from(file.mime_type)),
        ]));
        let id = made_id(&file.key);
        self.kept.insert(id.clone(), file.bytes);
        KeptFile {
            url: format!("/files/{id}"),
            preview_url: String::new(),
            name: file.name,
            id,
        }
    }
}

/// The id of a file that a run made: by who made it. The run is left out, so that each run of a script tells the same.
fn made_id(key: &str) -> String {
    let made_by = key.split_once('/').map_or(key, |(_, made_by)| made_by);
    format!("made-{made_by}")
}

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
        let (first, other, again) = (
            keep("r/k/1", b"1"),
            keep("r/l/1", b"2"),
            keep("r/k/1", b"3"),
        );
        assert_eq!((first.as_str(), again.as_str()), ("made-k/1", "made-k/1"));
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
        assert!(bytes("made-m/1".into()).is_err());
        assert_eq!(scripted.take_calls().len(), 3);
    }
}
