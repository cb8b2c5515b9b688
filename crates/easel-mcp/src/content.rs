//! What servers send, in the words of tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_core::Value;
use easel_tools::code::Artifact;
use easel_tools::mcp::{McpAnswer, McpTool};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents, Tool};

/// Bytes of text that are taken from one answer.
const MOST_TEXT: usize = 1 << 20;

/// A tool as its server describes it.
pub(crate) fn tool(tool: &Tool) -> McpTool {
    let annotations = tool.annotations.as_ref();
    let schema = serde_json::Value::Object((*tool.input_schema).clone());
    McpTool {
        name: (&*tool.name).into(),
        description: tool.description.as_deref().unwrap_or_default().into(),
        parameters: Value::from(schema),
        reads_only: annotations.and_then(|a| a.read_only_hint) == Some(true),
    }
}

/// An answer with everything in it that can be read or kept.
pub(crate) fn answer(result: CallToolResult) -> McpAnswer {
    let mut answer = McpAnswer {
        failed: result.is_error == Some(true),
        ..McpAnswer::default()
    };
    let mut parts = Vec::new();
    for block in result.content {
        read(block, &mut parts, &mut answer.files);
    }
    // A server that speaks by structure alone.
    if let (true, Some(structure)) = (parts.is_empty(), result.structured_content) {
        parts.push(structure.to_string());
    }
    answer.text = cut(parts.join("\n\n"));
    answer
}

fn read(block: ContentBlock, parts: &mut Vec<String>, files: &mut Vec<Artifact>) {
    match block {
        ContentBlock::Text(text) => parts.push(text.text),
        ContentBlock::Image(image) => keep(None, image.mime_type, image.data, parts, files),
        ContentBlock::Audio(audio) => keep(None, audio.mime_type, audio.data, parts, files),
        ContentBlock::ResourceLink(link) => {
            let about = link.description.map(|text| format!(": {text}"));
            let about = about.unwrap_or_default();
            parts.push(format!("[{}]({}){about}", link.name, link.uri));
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                parts.push(format!("{uri}:\n{text}"));
            }
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let name = uri.rsplit('/').next().filter(|name| !name.is_empty());
                let kind = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                keep(name.map(str::to_owned), kind, blob, parts, files);
            }
            _ => parts.push(unknown()),
        },
        _ => parts.push(unknown()),
    }
}

fn unknown() -> String {
    "[a part of the answer is of a kind that cannot be shown]".to_owned()
}

/// Keeps a file, and names it in the text.
fn keep(
    name: Option<String>,
    mime_type: String,
    content: String,
    parts: &mut Vec<String>,
    files: &mut Vec<Artifact>,
) {
    let Ok(bytes) = STANDARD.decode(content.as_bytes()) else {
        parts.push(format!("[a file of the type {mime_type} that is damaged]"));
        return;
    };
    let kind = mime_type.split(['/', ';']).next().unwrap_or("file");
    let suffix = mime_type.split(['/', ';']).nth(1).unwrap_or("bin");
    let name = name.unwrap_or_else(|| format!("{kind}-{}.{suffix}", files.len() + 1));
    parts.push(format!("[{name}: {mime_type}, {} bytes]", bytes.len()));
    files.push(Artifact {
        name,
        mime_type,
        size: bytes.len() as u64,
        content_b64: content,
    });
}

fn cut(mut text: String) -> String {
    if text.len() <= MOST_TEXT {
        return text;
    }
    let whole = text.len();
    let end = text.floor_char_boundary(MOST_TEXT);
    text.truncate(end);
    text.push_str(&format!("\n[cut here: the answer has {whole} bytes]"));
    text
}

#[cfg(test)]
mod tests {
    use rmcp::model::CallToolResult;
    use serde_json::json;

    use super::*;

    fn read(result: serde_json::Value) -> McpAnswer {
        answer(serde_json::from_value::<CallToolResult>(result).unwrap())
    }

    #[test]
    fn texts_links_and_resources_are_read_in_their_order() {
        let answer = read(json!({"content": [
            {"type": "text", "text": "One."},
            {"type": "resource_link", "uri": "file:///a.md", "name": "a.md", "description": "Notes"},
            {"type": "resource", "resource": {"uri": "demo://x", "text": "inside", "mimeType": "text/plain"}},
        ]}));
        assert_eq!(
            answer.text,
            "One.\n\n[a.md](file:///a.md): Notes\n\ndemo://x:\ninside"
        );
        assert!(!answer.failed && answer.files.is_empty());
    }

    #[test]
    fn images_sounds_and_blobs_are_kept_and_named() {
        let answer = read(json!({"isError": true, "content": [
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "demo://x/y.bin", "blob": "aGk="}},
            {"type": "image", "data": "not base64", "mimeType": "image/png"},
        ]}));
        let names: Vec<&str> = answer.files.iter().map(|file| &*file.name).collect();
        assert_eq!(names, ["image-1.png", "audio-2.wav", "y.bin"]);
        assert_eq!(
            answer.text,
            "[image-1.png: image/png, 2 bytes]\n\n[audio-2.wav: audio/wav, 2 bytes]\n\n[y.bin: application/octet-stream, 2 bytes]\n\n\
             [a file of the type image/png that is damaged]"
        );
        assert!(answer.failed);
    }

    #[test]
    fn structure_is_the_answer_where_nothing_else_is() {
        let only = read(json!({"content": [], "structuredContent": {"a": 1}}));
        assert_eq!(only.text, r#"{"a":1}"#);
        let both = read(
            json!({"content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1}}),
        );
        assert_eq!(both.text, "t");
    }

    #[test]
    fn a_text_beyond_measure_is_cut_between_characters() {
        let answer = read(json!({"content": [{"type": "text", "text": "ä".repeat(600_000)}]}));
        assert!(
            answer
                .text
                .ends_with("\n[cut here: the answer has 1200000 bytes]")
        );
        assert!(answer.text.len() < MOST_TEXT + 100);
    }
}
