//! Small files of each format.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive of these parts.
pub fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A Word document with this body, and with styles as a German Word names them.
pub fn docx(body: &str) -> Vec<u8> {
    let document = format!(
        "<?xml version=\"1.0\"?><w:document xmlns:w=\"w\" xmlns:mc=\"mc\"><w:body>{body}</w:body></w:document>"
    );
    let styles = r#"<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>"#;
    zip(&[
        ("word/document.xml", &document),
        ("word/styles.xml", styles),
    ])
}

/// Two slides whose parts are numbered the other way round.
pub fn pptx() -> Vec<u8> {
    let presentation = r#"<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId7"/><p:sldId id="257" r:id="rId3"/></p:sldIdLst></p:presentation>"#;
    let relations = r#"<Relationships><Relationship Id="rId3" Target="slides/slide1.xml"/><Relationship Id="rId7" Target="/ppt/slides/slide2.xml"/></Relationships>"#;
    let first = r#"<p:sld xmlns:p="p" xmlns:a="a"><p:sp><p:nvPr><p:ph type="body"/></p:nvPr><p:txBody><a:p><a:r><a:t>first</a:t></a:r></a:p><a:p><a:pPr lvl="1"/><a:r><a:t>deeper</a:t></a:r></a:p></p:txBody></p:sp>
        <p:sp><p:nvPr><p:ph type="ctrTitle"/></p:nvPr><p:txBody><a:p><a:r><a:t>Wel</a:t></a:r><a:r><a:t>come</a:t></a:r></a:p></p:txBody></p:sp></p:sld>"#;
    let second = r#"<p:sld xmlns:p="p" xmlns:a="a"><p:sp><p:txBody><a:p><a:r><a:t>Only text</a:t></a:r></a:p></p:txBody></p:sp><p:graphicFrame><a:tbl>
        <a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>b</a:t></a:r></a:p></a:txBody></a:tc></a:tr>
        <a:tr><a:tc><a:txBody><a:p><a:r><a:t>1</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>2</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame></p:sld>"#;
    zip(&[
        ("ppt/presentation.xml", presentation),
        ("ppt/_rels/presentation.xml.rels", relations),
        ("ppt/slides/slide2.xml", first),
        ("ppt/slides/slide1.xml", second),
    ])
}

/// A workbook with a sheet that has a date, and a cell in the last row and column that there are.
pub fn xlsx() -> Vec<u8> {
    xlsx_with(&[])
}

/// The same with further parts.
pub fn xlsx_with(more: &[(&str, &str)]) -> Vec<u8> {
    let workbook = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Prices" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
    let relations = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
    let strings = r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>item</t></si><si><t>price</t></si></sst>"#;
    let styles = r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#;
    let sheet = r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
        <row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="XFD1" t="inlineStr"><is><t>since</t></is></c></row>
        <row r="3"><c r="A3" t="inlineStr"><is><t>tea</t></is></c><c r="B3"><v>2.5</v></c><c r="XFD3" s="1"><v>46082</v></c></row>
        <row r="1048576"><c r="A1048576" t="inlineStr"><is><t>far</t></is></c><c r="B1048576" t="b"><v>1</v></c></row>
        </sheetData></worksheet>"#;
    let root = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    let mut parts = vec![
        ("_rels/.rels", root),
        ("xl/workbook.xml", workbook),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/sharedStrings.xml", strings),
        ("xl/styles.xml", styles),
        ("xl/worksheets/sheet1.xml", sheet),
    ];
    parts.extend_from_slice(more);
    zip(&parts)
}

/// A PDF with a line of text on each page.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<_> = (0..pages.len())
        .map(|n| format!("{} 0 R", 4 + 2 * n))
        .collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Kids [{}] /Count {} >>",
            kids.join(" "),
            pages.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
    ];
    for (n, text) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * n
        ));
        let content = format!("BT /F1 12 Tf 20 150 Td ({text}) Tj ET");
        objects.push(format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    let objects: Vec<_> = objects.iter().map(String::as_str).collect();
    pdf_of(&objects)
}

/// A PDF of these objects, numbered from 1; the first is the catalogue.
pub fn pdf_of(objects: &[&str]) -> Vec<u8> {
    let objects: Vec<_> = objects
        .iter()
        .map(|object| object.as_bytes().to_vec())
        .collect();
    assembled(&objects)
}

/// A PDF whose first page asks for a font that is not there.
pub fn pdf_with_a_bad_page() -> Vec<u8> {
    let page = |font, content| {
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents {content} 0 R /Resources << /Font << /{font} 6 0 R >> >> >>"
        )
    };
    let text = |words: &str| {
        let content = format!("BT /F1 12 Tf 2 5 Td ({words}) Tj ET");
        format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        )
    };
    pdf_of(&[
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
        &page("F9", 5),
        &page("F1", 7),
        &text("The bad page."),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        &text("The good page."),
    ])
}

/// A PDF with a packed stream that becomes `content`.
pub fn pdf_with_packed(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(content).unwrap();
    let packed = packer.finish().unwrap();
    let mut stream = format!(
        "<< /Filter /FlateDecode /Length {} >>\nstream\n",
        packed.len()
    )
    .into_bytes();
    stream.extend(packed);
    stream.extend(b"\nendstream");
    assembled(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>".to_vec(),
        stream,
    ])
}

fn assembled(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n", n + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").bytes());
    }
    let size = objects.len() + 1;
    file.extend(
        format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n").bytes(),
    );
    file
}
