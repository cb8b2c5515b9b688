//! DocGenerator: makes a document of a text and keeps it (spec/canvas-components §5.2).

use std::sync::Arc;

use easel_core::Value;
use easel_core::event::{Completion, Fault, Ports};
use easel_core::template::{Rendering, Template};
use easel_tools::ToolError;
use easel_tools::documents::{DocumentFormat, DocumentRequest};
use easel_tools::files::file_name;

use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::made_file::Kept;
use crate::site::Site;
use crate::thoughts::without_thoughts;

/// The size of the text where the node does not say, in points.
const FONT_SIZE: f64 = 12.0;

struct DocGenerator {
    content: Template,
    filename: Template,
    header: Template,
    footer: Template,
    watermark: Template,
    format: DocumentFormat,
    page_numbers: bool,
    timestamp: bool,
    /// Whether a message that names it shows what is known of the file.
    shown: bool,
    font_size: f64,
}

/// Reads the parameters.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let format = DocumentFormat::named(site.text("output_format"));
    let format = format.ok_or_else(|| {
        let fix = "Choose pdf, docx, txt, markdown or html";
        site.wrong("output_format", "is no format of documents", fix)
    })?;
    Ok(Arc::new(DocGenerator {
        content: node.template("content"),
        filename: node.template("filename"),
        header: node.template("header_text"),
        footer: node.template("footer_text"),
        watermark: node.template("watermark_text"),
        format,
        page_numbers: site.flag("add_page_numbers"),
        timestamp: site.flag("add_timestamp"),
        shown: site.flag("include_download_info_in_content"),
        font_size: site.number("font_size")?.unwrap_or(FONT_SIZE),
    }))
}

impl Behaviour for DocGenerator {
    fn run(self: Arc<Self>, call: Call) -> Run {
        call.warn_of_blanks(&self.content);
        Run::later(async move {
            let made = self.make(&call).await;
            made.map_err(|error| failed(&call, &error))
        })
    }
}

impl DocGenerator {
    async fn make(&self, call: &Call) -> Result<Completion, ToolError> {
        let text = |template: &Template| {
            let text = template.render(call.inputs(), Rendering::Display);
            // A file leaves the run like everything that is shown.
            call.run.gate.mask(&text).into_owned()
        };
        let time = call.run.services.clock.shown(call.now);
        let name = self.name(call, &text(&self.filename), &time);
        let request = DocumentRequest {
            markdown: without_thoughts(&text(&self.content)),
            format: self.format,
            title: name
                .rsplit_once('.')
                .map_or("", |(stem, _)| stem)
                .to_owned(),
            header: text(&self.header),
            footer: text(&self.footer),
            watermark: text(&self.watermark),
            page_numbers: self.page_numbers,
            timestamp: self.timestamp.then_some(time),
            font_size: self.font_size,
        };
        let made = call.run.services.world.documents.make(request).await?;
        for sentence in made.warnings {
            call.warn(sentence);
        }
        let kept = Kept::keep(call, name, self.format.mime_type(), made.bytes).await?;
        Ok(Completion {
            ports: self.ports(&kept),
            ..Completion::default()
        })
    }

    /// What the file is called: as the node says, or by the time and a number that no other attempt has.
    fn name(&self, call: &Call, wanted: &str, time: &str) -> String {
        let extension = self.format.extension();
        file_name(wanted, extension).unwrap_or_else(|| {
            let digits: String = time.chars().filter(char::is_ascii_digit).collect();
            let random = call.execute.random as u32;
            format!("document_{digits}_{random:08x}.{extension}")
        })
    }

    fn ports(&self, kept: &Kept) -> Ports {
        let mut download = kept.descriptor();
        download.insert("include_download_info_in_content".into(), self.shown.into());
        let ports = [
            ("doc_id", Value::from(kept.file.id.as_str())),
            ("filename", kept.file.name.as_str().into()),
            ("mime_type", kept.mime_type.as_str().into()),
            ("size", Value::from(kept.size as i64)),
            ("url", kept.file.url.as_str().into()),
            ("download", Value::from(download).to_json_text().into()),
        ];
        ports
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect()
    }
}

fn failed(call: &Call, error: &ToolError) -> Failure {
    let name = &call.node().draft.name;
    let message = format!("Document generation failed in \"{name}\": {error}.");
    Fault::new(error.code(), message).into()
}

#[cfg(test)]
mod tests;
