//! Files: those that people upload with a message, and those that runs make.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_core::Value;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Gives what is in files, and keeps those that runs make.
pub trait FileStore: Send + Sync {
    /// The content of one file in the form models take: an image as it is, anything else as text.
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>>;

    /// The bytes of one file, for whoever owns the run of that id. A file of somebody else is not there.
    fn bytes(&self, run: &str, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>>;

    /// Keeps a file for whoever owns the run. A file that comes again under the same key takes the place of the first.
    fn keep(&self, file: MadeFile) -> BoxFuture<'_, Result<KeptFile, ToolError>>;
}

/// A file that a run made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeFile {
    /// The run.
    pub run: String,
    /// What it is known by: the same for every attempt at making it, and for no other file.
    pub key: String,
    /// Its name; [`file_name`] makes one of any text.
    pub name: String,
    /// Its media type.
    pub mime_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Where a file is that was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptFile {
    /// Its id.
    pub id: String,
    /// Its name, which may be another if the first was taken.
    pub name: String,
    /// Where its owner gets it.
    pub url: String,
    /// Where its owner sees it; blank if there is no such place.
    pub preview_url: String,
}

/// The bytes that base64 text stands for; `None` if it is none.
pub fn decode(base64: &str) -> Option<Vec<u8>> {
    STANDARD.decode(base64.trim()).ok()
}

/// Whether a file is one of Excel (2007 and later): by its name, and by its bytes as far as those say it.
pub fn is_workbook(name: &str, bytes: &[u8]) -> bool {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    bytes.starts_with(b"PK\x03\x04") && matches!(ending.as_deref(), Some("xlsx" | "xlsm"))
}

/// Characters that a file's name has at most, its extension left aside.
const LONGEST_NAME: usize = 180;

/// A name under which a file can be kept anywhere: without the characters that systems give a meaning, and without the
/// extension, if it has that one already. `None`: nothing is left of it.
pub fn file_name(text: &str, extension: &str) -> Option<String> {
    let fit = |c: char| match c {
        // Unseen, and able to make a name read as another.
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => ' ',
        '\\' | '/' | '?' | '#' | '%' | '*' | ':' | '|' | '<' | '>' | '"' => ' ',
        c if c.is_control() => ' ',
        c => c,
    };
    let text: String = text.chars().map(fit).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let stem = match text.rsplit_once('.') {
        Some((stem, end)) if end.eq_ignore_ascii_case(extension) => stem,
        _ => &text,
    };
    let stem: String = stem.chars().take(LONGEST_NAME).collect();
    // Dots alone are folders, one in front hides a file, and one at the end is lost on some systems.
    let stem = stem.trim_matches([' ', '.']);
    (!stem.is_empty()).then(|| format!("{stem}.{extension}"))
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
    fn a_name_of_a_file_is_a_name_everywhere() {
        let name = |text: &str| file_name(text, "pdf");
        assert_eq!(name("Report 2026").as_deref(), Some("Report 2026.pdf"));
        assert_eq!(name("report.PDF").as_deref(), Some("report.pdf"));
        assert_eq!(name("report.docx").as_deref(), Some("report.docx.pdf"));
        assert_eq!(name("../../etc/passwd").as_deref(), Some("etc passwd.pdf"));
        assert_eq!(name("a\r\nb:c\u{0}").as_deref(), Some("a b c.pdf"));
        assert_eq!(
            name("cod\u{202e}fdp.exe").as_deref(),
            Some("cod fdp.exe.pdf")
        );
        assert_eq!(name("报告").as_deref(), Some("报告.pdf"));
        for nothing in ["", "  ", "..", "///", ".pdf", "\u{7}"] {
            assert_eq!(name(nothing), None, "{nothing:?}");
        }
        assert_eq!(name(&"x".repeat(500)).map(|name| name.len()), Some(184));
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
