//! Files that were uploaded with a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_core::Value;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Gives the content of uploaded files.
pub trait FileStore: Send + Sync {
    /// The content of one file: an image as it is, anything else as text.
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>>;

    /// The bytes of one file as it was uploaded.
    fn bytes(&self, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>>;
}

/// A file and how to read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileRequest {
    /// The file.
    pub file: FileDescriptor,
    /// The layout recognition that Begin asks for (`layout_recognize`), for formats with pages.
    #[serde(default)]
    pub layout: Option<String>,
}

/// An uploaded file as requests and forms name it (`spec/canvas-engine §3.2`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileDescriptor {
    /// The id it was stored by.
    pub id: String,
    /// The file name.
    pub name: String,
    /// The media type. Form values often lack it.
    pub mime_type: Option<String>,
    /// Who uploaded it.
    pub created_by: Option<String>,
}

impl FileDescriptor {
    /// Reads a descriptor out of a request or a form value; other members are left aside.
    pub fn from_value(value: &Value) -> Result<FileDescriptor, ToolError> {
        let invalid = |problem: &str| ToolError::InvalidRequest {
            what: "file".into(),
            problem: problem.into(),
        };
        let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        if value.as_object().is_none() {
            return Err(invalid("it must be an object with id and name"));
        }
        Ok(FileDescriptor {
            id: member("id").ok_or_else(|| invalid("it has no id"))?,
            name: member("name").unwrap_or_default(),
            mime_type: member("mime_type"),
            created_by: member("created_by"),
        })
    }

    /// True if the file goes to models as an image.
    pub fn is_image(&self) -> bool {
        self.mime_type
            .as_deref()
            .is_some_and(|mime| mime.contains("image"))
    }
}

/// A file's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileContent {
    /// The text that was read out of the file.
    Text {
        /// The file name.
        name: String,
        /// The text.
        text: String,
    },
    /// The file itself.
    Image {
        /// The media type.
        mime_type: String,
        /// The bytes, in base64.
        content_b64: String,
    },
}

impl FileContent {
    /// An image's content from its bytes.
    pub fn image(mime_type: impl Into<String>, bytes: &[u8]) -> FileContent {
        FileContent::Image {
            mime_type: mime_type.into(),
            content_b64: STANDARD.encode(bytes),
        }
    }

    /// The form in which prompts and `sys.files` carry the file: a data URI, or the text under a heading that
    /// names the file. The heading is part of the canvas format.
    pub fn rendered(&self) -> String {
        match self {
            FileContent::Text { name, text } => {
                format!("File: {name}\nContent as following: \n{text}")
            }
            FileContent::Image {
                mime_type,
                content_b64,
            } => {
                format!("data:{mime_type};base64,{content_b64}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_value_names_a_file_without_a_media_type() {
        let value = Value::from(
            serde_json::json!({"id": "f1", "name": "a.txt", "created_by": "u", "size": 3}),
        );
        let file = FileDescriptor::from_value(&value).unwrap();
        assert_eq!((file.id.as_str(), file.is_image()), ("f1", false));
        let nameless = FileDescriptor::from_value(&Value::from(serde_json::json!({"name": "a"})));
        assert_eq!(
            nameless.unwrap_err().to_string(),
            "file cannot be used: it has no id"
        );
    }

    #[test]
    fn texts_come_under_their_name_and_images_as_data() {
        let text = FileContent::Text {
            name: "a.txt".into(),
            text: "body".into(),
        };
        assert_eq!(text.rendered(), "File: a.txt\nContent as following: \nbody");
        assert_eq!(
            FileContent::image("image/png", b"PNG").rendered(),
            "data:image/png;base64,UE5H"
        );
    }
}
