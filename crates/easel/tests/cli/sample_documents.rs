//! Small documents of each format that can be read, with words of one's own in them.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::easel::Desk;

/// Twenty documents in the folder `docs`, two or three of each format. Each holds the word `subject` and its number.
pub fn twenty(desk: &Desk) {
    std::fs::create_dir_all(desk.path("docs")).unwrap();
    let formats = [
        "txt", "md", "html", "docx", "pptx", "xlsx", "csv", "json", "pdf",
    ];
    for number in 0..20 {
        let format = formats[number % formats.len()];
        let name = format!("docs/{number:02}.{format}");
        std::fs::write(desk.path(&name), of(format, &format!("subject {number}"))).unwrap();
    }
}

/// A document of a format that says something under a heading.
pub fn of(format: &str, words: &str) -> Vec<u8> {
    match format {
        "md" => format!("# Report\n\n## Part\n\nThis is about {words}.\n").into_bytes(),
        "html" => format!("<html><body><h1>Report</h1><p>This is about {words}.</p></body></html>")
            .into_bytes(),
        "csv" => format!("item,note\n1,This is about {words}.\n").into_bytes(),
        "json" => format!("{{\"report\": {{\"note\": \"This is about {words}.\"}}}}").into_bytes(),
        "docx" => docx(words),
        "pptx" => pptx(words),
        "xlsx" => xlsx(words),
        "pdf" => pdf(words),
        _ => format!("Report\n\nThis is about {words}.\n").into_bytes(),
    }
}

fn zip(parts: &[(&str, String)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn docx(words: &str) -> Vec<u8> {
    let body = format!(
        "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Report</w:t></w:r></w:p>\
         <w:p><w:r><w:t>This is about {words}.</w:t></w:r></w:p>"
    );
    let document = format!("<w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>");
    zip(&[("word/document.xml", document)])
}

fn pptx(words: &str) -> Vec<u8> {
    let slides = "<p:presentation xmlns:p=\"p\" xmlns:r=\"r\"><p:sldIdLst><p:sldId r:id=\"rId1\"/></p:sldIdLst></p:presentation>";
    let relations =
        "<Relationships><Relationship Id=\"rId1\" Target=\"slides/slide1.xml\"/></Relationships>";
    let slide = format!(
        "<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><p:sp><p:nvPr><p:ph type=\"title\"/></p:nvPr><p:txBody><a:p><a:r><a:t>Report</a:t></a:r></a:p>\
         </p:txBody></p:sp><p:sp><p:txBody><a:p><a:r><a:t>This is about {words}.</a:t></a:r></a:p></p:txBody></p:sp></p:sld>"
    );
    zip(&[
        ("ppt/presentation.xml", slides.to_owned()),
        ("ppt/_rels/presentation.xml.rels", relations.to_owned()),
        ("ppt/slides/slide1.xml", slide),
    ])
}

fn xlsx(words: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relations = |id: &str, kind: &str, target: &str| {
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
             <Relationship Id=\"{id}\" Type=\"{relation}/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    let workbook = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"{relation}\"><sheets><sheet name=\"Report\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
    );
    let cell = |place: &str, text: &str| {
        format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
    };
    let sheet = format!(
        "<worksheet xmlns=\"{main}\"><sheetData><row r=\"1\">{}{}</row><row r=\"2\">{}{}</row></sheetData></worksheet>",
        cell("A1", "item"),
        cell("B1", "note"),
        cell("A2", "1"),
        cell("B2", &format!("This is about {words}.")),
    );
    zip(&[
        (
            "_rels/.rels",
            relations("rId1", "officeDocument", "xl/workbook.xml"),
        ),
        ("xl/workbook.xml", workbook),
        (
            "xl/_rels/workbook.xml.rels",
            relations("rId1", "worksheet", "worksheets/sheet1.xml"),
        ),
        ("xl/worksheets/sheet1.xml", sheet),
    ])
}

fn pdf(words: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 20 150 Td (This is about {words}.) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let (mut file, mut places) = (String::from("%PDF-1.4\n"), Vec::new());
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table = file.len();
    file.push_str("xref\n0 6\n0000000000 65535 f \n");
    for place in places {
        file.push_str(&format!("{place:010} 00000 n \n"));
    }
    file.push_str(&format!(
        "trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"
    ));
    file.into_bytes()
}
