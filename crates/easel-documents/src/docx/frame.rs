//! What stands around the text of each page: header with watermark, footer.

use easel_tools::documents::DocumentRequest;

use super::NAMESPACES;
use super::xml::{HEAD, escaped};

/// Width of the text in twentieths of a point.
pub(super) const WIDTH: u32 = 9_638;

fn run(text: &str) -> String {
    format!(
        "<w:r><w:t xml:space=\"preserve\">{}</w:t></w:r>",
        escaped(text.trim())
    )
}

/// The header: its text at the left, the watermark behind everything.
pub(super) fn header(request: &DocumentRequest) -> String {
    let text = run(&request.header);
    let watermark = watermark(&request.watermark);
    format!(
        "{HEAD}<w:hdr {NAMESPACES}><w:p><w:pPr><w:pStyle w:val=\"Header\"/></w:pPr>{text}{watermark}</w:p></w:hdr>"
    )
}

/// The text across the page, as Word itself writes it.
fn watermark(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    // The shape is stretched to its box: wide for long texts, and never wider than the page.
    let letters = text.chars().count().clamp(1, 30) as f64;
    let width = (letters * 55.0).min(480.0);
    let height = (width / letters * 1.6).min(120.0);
    format!(
        "<w:r><w:pict><v:shapetype id=\"_x0000_t136\" coordsize=\"21600,21600\" o:spt=\"136\" adj=\"10800\" \
         path=\"m@7,l@8,m@5,21600l@6,21600e\"><v:formulas><v:f eqn=\"sum #0 0 10800\"/><v:f eqn=\"prod #0 2 1\"/>\
         <v:f eqn=\"sum 21600 0 @1\"/><v:f eqn=\"sum 0 0 @2\"/><v:f eqn=\"sum 21600 0 @3\"/><v:f eqn=\"if @0 @3 0\"/>\
         <v:f eqn=\"if @0 21600 @1\"/><v:f eqn=\"if @0 0 @2\"/><v:f eqn=\"if @0 @4 21600\"/></v:formulas>\
         <v:path textpathok=\"t\" o:connecttype=\"custom\"/><v:textpath on=\"t\" fitshape=\"t\"/></v:shapetype>\
         <v:shape id=\"Watermark\" o:spid=\"_x0000_s2049\" type=\"#_x0000_t136\" \
         style=\"position:absolute;margin-left:0;margin-top:0;width:{width:.0}pt;height:{height:.0}pt;rotation:315;\
         z-index:-251658752;mso-position-horizontal:center;mso-position-horizontal-relative:margin;\
         mso-position-vertical:center;mso-position-vertical-relative:margin\" o:allowincell=\"f\" fillcolor=\"silver\" \
         stroked=\"f\"><v:fill opacity=\".5\"/><v:textpath style=\"font-family:&quot;Calibri&quot;;font-size:1pt\" \
         string=\"{}\"/></v:shape></w:pict></w:r>",
        escaped(text)
    )
}

/// The footer: its text at the left, the time in the middle, the number of the page at the right.
pub(super) fn footer(request: &DocumentRequest) -> String {
    let tab = "<w:r><w:tab/></w:r>";
    let time = request.timestamp.as_deref().map(run).unwrap_or_default();
    let number = match request.page_numbers {
        true => format!(
            "{}<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText xml:space=\"preserve\"> PAGE </w:instrText></w:r>\
             <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>1</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>",
            "<w:r><w:t xml:space=\"preserve\">Page </w:t></w:r>"
        ),
        false => String::new(),
    };
    let text = run(&request.footer);
    let middle = WIDTH / 2;
    format!(
        "{HEAD}<w:ftr {NAMESPACES}><w:p><w:pPr><w:pStyle w:val=\"Footer\"/><w:tabs><w:tab w:val=\"center\" w:pos=\"{middle}\"/>\
         <w:tab w:val=\"right\" w:pos=\"{WIDTH}\"/></w:tabs></w:pPr>{text}{tab}{time}{tab}{number}</w:p></w:ftr>"
    )
}
