//! What one step of a pipeline hands to the next.

use std::sync::Arc;

use easel_core::event::{Fault, Ports};
use easel_core::{Object, Value};
use easel_tools::files::FileDescriptor;
use easel_tools::ingestion::{Block, ReadRequest};

use super::pieces;
use crate::behaviour::Call;
use crate::parameters::bad_input;

/// What is handed on: the document and what has become of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Handed {
    /// The document's name.
    pub name: Arc<str>,
    /// What is known of its file.
    pub file: Value,
    /// What it says.
    pub content: Content,
}

/// What a document says, in the form a step chose.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Nothing yet: the document itself.
    Document,
    /// Its pieces.
    Chunks(Vec<Object>),
    /// Its blocks.
    Blocks(Vec<Object>),
    /// Markdown.
    Markdown(Arc<str>),
    /// Text.
    Text(Arc<str>),
    /// HTML.
    Html(Arc<str>),
}

impl Handed {
    /// Reads the ports of the step before.
    ///
    /// Errors: it put out nothing that a step can go on with.
    pub(super) fn of(ports: &Object, call: &Call) -> Result<Handed, Fault> {
        let text = |name: &str| ports.get(name).and_then(Value::as_str).map(Arc::from);
        let objects = |name: &str| {
            let items = ports.get(name)?.as_array()?;
            let objects = items.iter().filter_map(Value::as_object).cloned();
            Some(objects.collect::<Vec<_>>())
        };
        let format: Option<Arc<str>> = text("output_format");
        let content = match format.as_deref() {
            None => Some(Content::Document),
            Some("chunks") => objects("chunks").map(Content::Chunks),
            Some("json") => objects("json").map(Content::Blocks),
            Some("markdown") => text("markdown").map(Content::Markdown),
            Some("text") => text("text").map(Content::Text),
            Some("html") => text("html").map(Content::Html),
            Some(_) => None,
        };
        let (Some(content), Some(name)) = (content, text("name")) else {
            let fix = "Put it behind File, Parser or another step of the pipeline";
            return Err(bad_input(call.node(), "was handed no document", fix));
        };
        Ok(Handed {
            name,
            file: ports.get("file").cloned().unwrap_or_default(),
            content,
        })
    }

    /// The same document with other content.
    pub(super) fn with(self, content: Content) -> Handed {
        Handed { content, ..self }
    }

    /// The ports of the step that hands it on.
    pub(super) fn ports(self) -> Ports {
        let (format, value) = match self.content {
            Content::Document => (None, Value::Null),
            Content::Chunks(chunks) => (Some("chunks"), list(chunks)),
            Content::Blocks(blocks) => (Some("json"), list(blocks)),
            Content::Markdown(text) => (Some("markdown"), Value::from(text)),
            Content::Text(text) => (Some("text"), Value::from(text)),
            Content::Html(text) => (Some("html"), Value::from(text)),
        };
        let mut ports = Ports::one("name", self.name);
        ports.set("file", self.file);
        if let Some(format) = format {
            ports.set("output_format", format);
            ports.set(format, value);
        }
        ports
    }

    /// The document's descriptor.
    pub(super) fn document(&self) -> FileDescriptor {
        FileDescriptor::from_value(&self.file).unwrap_or_else(|_| FileDescriptor {
            name: self.name.to_string(),
            ..FileDescriptor::default()
        })
    }

    /// A member of what is known of the file.
    pub(super) fn known(&self, member: &str) -> Option<String> {
        let known = self.file.get(member).and_then(Value::as_str);
        known.map(str::to_owned)
    }

    /// What the document says as pieces: those there are, else all of it as one.
    pub(super) fn chunks(&self) -> Vec<Object> {
        let whole = |text: &Arc<str>| vec![pieces::text_chunk(text)];
        match &self.content {
            Content::Document => Vec::new(),
            Content::Chunks(chunks) | Content::Blocks(chunks) => chunks.clone(),
            Content::Markdown(text) | Content::Text(text) | Content::Html(text) => whole(text),
        }
    }

    /// What the document says block by block.
    ///
    /// Errors: there is nothing yet, or a text cannot be read.
    pub(super) async fn blocks(&self, call: &Call) -> Result<Vec<Block>, Fault> {
        let (ending, text) = match &self.content {
            Content::Document => {
                let fix = "Put a Parser before it";
                return Err(bad_input(
                    call.node(),
                    "cannot cut a document that was not read",
                    fix,
                ));
            }
            Content::Chunks(items) | Content::Blocks(items) => {
                return Ok(items.iter().map(pieces::block).collect());
            }
            Content::Markdown(text) => ("md", text),
            Content::Text(text) => ("txt", text),
            Content::Html(text) => ("html", text),
        };
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let request = ReadRequest {
            name: format!("{}.{ending}", self.name),
            bytes: text.as_bytes().to_vec(),
            ..ReadRequest::default()
        };
        let read = call.run.services.world.ingestion.read(request).await;
        let read = read.map_err(|error| super::stage::unable(call, &error))?;
        Ok(read.blocks)
    }
}

fn list(objects: Vec<Object>) -> Value {
    Value::from(Vec::from_iter(objects.into_iter().map(Value::from)))
}
