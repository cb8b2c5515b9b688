//! Files that a node makes: kept for the owner of the run, and described for messages.

use easel_core::{Object, Value};
use easel_tools::ToolError;
use easel_tools::files::{KeptFile, MadeFile};

use crate::behaviour::Call;

/// A file that was made and kept.
pub(crate) struct Kept {
    pub file: KeptFile,
    pub mime_type: String,
    pub size: usize,
}

impl Kept {
    /// Keeps a file. A node that makes it again keeps it in the same place.
    pub(crate) async fn keep(
        call: &Call,
        name: String,
        mime_type: &str,
        bytes: Vec<u8>,
    ) -> Result<Kept, ToolError> {
        let size = bytes.len();
        let made = MadeFile {
            run: call.run.id.to_string(),
            key: call.idempotency_key(),
            name,
            mime_type: mime_type.to_owned(),
            bytes,
        };
        Ok(Kept {
            file: call.run.services.world.files.keep(made).await?,
            mime_type: mime_type.to_owned(),
            size,
        })
    }

    /// What a message makes a download of.
    pub(crate) fn descriptor(&self) -> Object {
        let members = [
            ("doc_id", Value::from(self.file.id.as_str())),
            ("filename", self.file.name.as_str().into()),
            ("mime_type", self.mime_type.as_str().into()),
            ("size", Value::from(self.size as i64)),
            ("url", self.file.url.as_str().into()),
            ("preview_url", self.file.preview_url.as_str().into()),
        ];
        members
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect()
    }

    /// The same as the port `attachment` has it.
    pub(crate) fn attachment(&self, format: &str) -> Object {
        let mut members = self.descriptor();
        members.insert("format".into(), format.into());
        members.insert("file_name".into(), self.file.name.as_str().into());
        members
    }
}
