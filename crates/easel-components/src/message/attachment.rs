//! The file that a message offers beside its text (spec/canvas-components §2.3).

use easel_core::Value;
use easel_tools::ToolError;
use easel_tools::documents::{DocumentFormat, DocumentRequest};
use easel_tools::files::file_name;

use crate::behaviour::Call;
use crate::made_file::Kept;
use crate::thoughts::without_thoughts;

/// Characters of a text that name its file.
const NAMING: usize = 60;

/// A file that was made of a message.
#[derive(Default)]
pub(super) struct Attached {
    /// Its description among the downloads.
    pub download: Option<Value>,
    /// The same as clients of the old API know it.
    pub attachment: Option<Value>,
}

impl Attached {
    /// Makes a file of what was said. That it cannot be made is no reason to fail: the user has the text.
    pub async fn make(call: &Call, format: DocumentFormat, said: &str) -> Option<Attached> {
        match kept(call, format, said).await {
            Ok(kept) => Some(Attached {
                download: Some(kept.descriptor().into()),
                attachment: Some(kept.attachment(format.name()).into()),
            }),
            Err(error) => {
                let (name, format) = (&call.node().draft.name, format.name());
                call.warn(format!(
                    "\"{name}\" offers no {format} file: {error}. The text is said."
                ));
                None
            }
        }
    }
}

async fn kept(call: &Call, format: DocumentFormat, said: &str) -> Result<Kept, ToolError> {
    // A file leaves the run like everything that is shown.
    let text = without_thoughts(&call.run.gate.mask(said));
    let title = title(&text);
    let name = file_name(&title, format.extension());
    let name = name.unwrap_or_else(|| format!("message.{}", format.extension()));
    let request = DocumentRequest {
        title,
        ..DocumentRequest::new(text, format)
    };
    let made = call.run.services.world.documents.make(request).await?;
    for sentence in made.warnings {
        call.warn(sentence);
    }
    Kept::keep(call, name, format.mime_type(), made.bytes).await
}

/// What the text is about: its first line, without marks of Markdown.
fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let words = line
        .unwrap_or_default()
        .trim_start_matches(['#', '>', '-', ' ']);
    let words = words.replace(['*', '`', '_'], "");
    words.trim().chars().take(NAMING).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_its_first_line() {
        assert_eq!(title("\n\n# The **plan**\n\nWe"), "The plan");
        assert_eq!(title(""), "");
        assert_eq!(title(&"x".repeat(100)).len(), NAMING);
    }
}
