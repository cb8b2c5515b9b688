use std::io::Read;

use easel_tools::documents::DocumentFormat;
use proptest::prelude::*;
use quick_xml::events::Event;

use super::*;

fn make(request: &DocumentRequest) -> Vec<u8> {
    let patience = Patience::endless();
    let blocks = crate::markdown::blocks(&request.markdown, &patience).unwrap();
    document(request, &blocks, &patience).unwrap()
}

fn parts(bytes: &[u8]) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut part = archive.by_index(at).unwrap();
            let mut text = String::new();
            part.read_to_string(&mut text).unwrap();
            (part.name().unwrap().into_owned(), text)
        })
        .collect()
}

fn part(parts: &[(String, String)], name: &str) -> String {
    parts
        .iter()
        .find(|(part, _)| part == name)
        .unwrap()
        .1
        .clone()
}

/// Reads XML to its end: every tag closes, every entity is known.
fn well_formed(xml: &str) -> Result<String, quick_xml::Error> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut text = String::new();
    loop {
        match reader.read_event()? {
            Event::Eof => return Ok(text),
            Event::Text(part) => text.push_str(&part),
            Event::Start(tag) | Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    attribute.map_err(quick_xml::Error::from)?;
                }
            }
            _ => {}
        }
    }
}

fn rich() -> DocumentRequest {
    DocumentRequest {
        title: "Report <1>".into(),
        header: "Above & over".into(),
        footer: "Below".into(),
        watermark: "DRAFT".into(),
        page_numbers: true,
        timestamp: Some("2026-01-02 03:04:05".into()),
        ..DocumentRequest::new(
            "# Title\n\nSome **bold** *it* `c` [l](https://e.com/?a=1&b=2) [n](javascript:x)\n\n3. three\n4. four\n   - [x] done\n\n\
             > said\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```\nx <y>\n```\n\n---\n\n1. again\n",
            DocumentFormat::Docx,
        )
    }
}

#[test]
fn a_document_has_its_styles_lists_links_and_frame() {
    let parts = parts(&make(&rich()));
    for (name, xml) in &parts {
        well_formed(xml).unwrap_or_else(|error| panic!("{name}: {error}\n{xml}"));
    }
    insta::assert_snapshot!(part(&parts, "word/document.xml").replace("</w:p>", "</w:p>\n"));
    let links = part(&parts, "word/_rels/document.xml.rels");
    assert!(
        links.contains("Target=\"https://e.com/?a=1&amp;b=2\" TargetMode=\"External\""),
        "{links}"
    );
    assert!(!links.contains("javascript"));
    let header = part(&parts, "word/header1.xml");
    assert!(
        header.contains("Above &amp; over") && header.contains("string=\"DRAFT\""),
        "{header}"
    );
    let footer = part(&parts, "word/footer1.xml");
    assert!(
        footer.contains("Below") && footer.contains(" PAGE ") && footer.contains("03:04:05"),
        "{footer}"
    );
    let numbering = part(&parts, "word/numbering.xml");
    assert!(numbering.contains("<w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"3\"/>"));
    assert!(
        numbering.contains("<w:num w:numId=\"3\">"),
        "each list counts for itself"
    );
}

#[test]
fn sizes_follow_from_that_of_the_text() {
    let request = DocumentRequest {
        font_size: 14.0,
        ..rich()
    };
    let styles = part(&parts(&make(&request)), "word/styles.xml");
    for half_points in [28, 40, 36, 32] {
        assert!(
            styles.contains(&format!("<w:sz w:val=\"{half_points}\"/>")),
            "{half_points}"
        );
    }
}

#[test]
fn nothing_stands_around_a_text_that_asks_for_nothing() {
    let parts = parts(&make(&DocumentRequest::new("x", DocumentFormat::Docx)));
    let (header, footer) = (
        part(&parts, "word/header1.xml"),
        part(&parts, "word/footer1.xml"),
    );
    assert!(!header.contains("v:shape") && !footer.contains("PAGE"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_makes_a_document_that_can_be_opened(text in crate::maker::markdown_like(), header in "\\PC{0,10}|\u{0}<&\u{fffe}") {
        let request = DocumentRequest {
            header: header.clone(),
            watermark: header,
            ..DocumentRequest::new(text, DocumentFormat::Docx)
        };
        for (name, xml) in parts(&make(&request)) {
            prop_assert!(well_formed(&xml).is_ok(), "{name}: {xml}");
        }
    }
}
