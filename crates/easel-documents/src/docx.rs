//! Blocks as a document of Word: the parts of the package.

mod body;
mod frame;
mod styles;
mod xml;

use std::io::{Cursor, Write};

use easel_tools::documents::DocumentRequest;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::block::Block;
use crate::error::DocumentError;
use crate::limits::Patience;
use body::Body;
use xml::{HEAD, escaped};

/// The namespaces that the parts use.
const NAMESPACES: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
    xmlns:v=\"urn:schemas-microsoft-com:vml\" xmlns:o=\"urn:schemas-microsoft-com:office:office\"";
/// What the types of relations begin with.
const RELATION: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
/// What the types of parts begin with.
const PART: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";

/// The document.
pub(crate) fn document(
    request: &DocumentRequest,
    blocks: &[Block],
    patience: &Patience,
) -> Result<Vec<u8>, DocumentError> {
    let mut body = Body::new(patience);
    body.blocks(blocks)?;
    let parts = [
        ("[Content_Types].xml", content_types()),
        ("_rels/.rels", package_relations()),
        ("docProps/core.xml", properties(&request.title)),
        ("word/document.xml", text(&body.xml)),
        ("word/styles.xml", styles::styles(request.font_size)),
        ("word/numbering.xml", styles::numbering(&body.lists)),
        ("word/settings.xml", settings()),
        ("word/header1.xml", frame::header(request)),
        ("word/footer1.xml", frame::footer(request)),
        ("word/_rels/document.xml.rels", relations(&body.links)),
    ];
    pack(&parts).map_err(|cause| DocumentError::Unwritable {
        what: "The document",
        cause: cause.to_string(),
    })
}

fn pack(parts: &[(&str, String)]) -> zip::result::ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in parts {
        archive.start_file(*name, options)?;
        archive.write_all(content.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

fn content_types() -> String {
    let mut out = format!(
        "{HEAD}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"/docProps/core.xml\" ContentType=\"application/vnd.openxmlformats-package.core-properties+xml\"/>"
    );
    let parts = [
        ("document", "document.main"),
        ("styles", "styles"),
        ("numbering", "numbering"),
        ("settings", "settings"),
        ("header1", "header"),
        ("footer1", "footer"),
    ];
    for (name, kind) in parts {
        out.push_str(&format!(
            "<Override PartName=\"/word/{name}.xml\" ContentType=\"{PART}.{kind}+xml\"/>"
        ));
    }
    out.push_str("</Types>");
    out
}

fn package_relations() -> String {
    format!(
        "{HEAD}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"rId1\" Type=\"{RELATION}/officeDocument\" Target=\"word/document.xml\"/>\
         <Relationship Id=\"rId2\" \
         Type=\"http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties\" \
         Target=\"docProps/core.xml\"/></Relationships>"
    )
}

fn properties(title: &str) -> String {
    format!(
        "{HEAD}<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>{}</dc:title></cp:coreProperties>",
        escaped(title)
    )
}

fn settings() -> String {
    format!(
        "{HEAD}<w:settings {NAMESPACES}><w:compat><w:compatSetting w:name=\"compatibilityMode\" \
         w:uri=\"http://schemas.microsoft.com/office/word\" w:val=\"15\"/></w:compat></w:settings>"
    )
}

/// The text on pages of A4 with two centimetres around it.
fn text(body: &str) -> String {
    format!(
        "{HEAD}<w:document {NAMESPACES}><w:body>{body}<w:sectPr>\
         <w:headerReference w:type=\"default\" r:id=\"header\"/><w:footerReference w:type=\"default\" r:id=\"footer\"/>\
         <w:pgSz w:w=\"11906\" w:h=\"16838\"/>\
         <w:pgMar w:top=\"1304\" w:right=\"1134\" w:bottom=\"1304\" w:left=\"1134\" w:header=\"567\" w:footer=\"567\" w:gutter=\"0\"/>\
         </w:sectPr></w:body></w:document>"
    )
}

fn relations(links: &[String]) -> String {
    let mut out = format!(
        "{HEAD}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
    );
    for (id, kind, target) in [
        ("styles", "styles", "styles.xml"),
        ("numbering", "numbering", "numbering.xml"),
        ("settings", "settings", "settings.xml"),
        ("header", "header", "header1.xml"),
        ("footer", "footer", "footer1.xml"),
    ] {
        out.push_str(&format!(
            "<Relationship Id=\"{id}\" Type=\"{RELATION}/{kind}\" Target=\"{target}\"/>"
        ));
    }
    for (at, link) in links.iter().enumerate() {
        out.push_str(&format!(
            "<Relationship Id=\"link{at}\" Type=\"{RELATION}/hyperlink\" Target=\"{}\" TargetMode=\"External\"/>",
            escaped(link)
        ));
    }
    out.push_str("</Relationships>");
    out
}

#[cfg(test)]
mod tests;
