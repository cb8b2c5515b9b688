//! Styles and lists of a document of Word.

use super::NAMESPACES;
use super::body::List;
use super::xml::HEAD;
use crate::markdown::heading_size;

/// Depths that a list of Word can have.
pub(super) const DEPTHS: usize = 9;

/// The styles; sizes follow from that of the text.
pub(super) fn styles(font_size: f64) -> String {
    let half = |points: f64| (points * 2.0).round() as u32;
    let text = half(font_size);
    let mut out = format!(
        "{HEAD}<w:styles {NAMESPACES}><w:docDefaults><w:rPrDefault><w:rPr>\
         <w:rFonts w:ascii=\"Calibri\" w:hAnsi=\"Calibri\" w:eastAsia=\"Noto Sans CJK SC\" w:cs=\"Calibri\"/>\
         <w:sz w:val=\"{text}\"/><w:szCs w:val=\"{text}\"/></w:rPr></w:rPrDefault>\
         <w:pPrDefault><w:pPr><w:spacing w:after=\"120\" w:line=\"276\" w:lineRule=\"auto\"/></w:pPr></w:pPrDefault></w:docDefaults>"
    );
    let mut style = |id: &str, name: &str, paragraph: &str, run: &str| {
        let (default, based) = match id {
            "Normal" => (" w:default=\"1\"", ""),
            _ => ("", "<w:basedOn w:val=\"Normal\"/>"),
        };
        out.push_str(&format!(
            "<w:style w:type=\"paragraph\"{default} w:styleId=\"{id}\"><w:name w:val=\"{name}\"/>{based}<w:qFormat/>\
             <w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
        ));
    };
    style("Normal", "Normal", "", "");
    for level in 1..=6_u8 {
        let size = half(heading_size(level, font_size));
        style(
            &format!("Heading{level}"),
            &format!("heading {level}"),
            &format!(
                "<w:keepNext/><w:spacing w:before=\"240\" w:after=\"100\"/><w:outlineLvl w:val=\"{}\"/>",
                level - 1
            ),
            &format!(
                "<w:b/><w:bCs/><w:color w:val=\"1F3864\"/><w:sz w:val=\"{size}\"/><w:szCs w:val=\"{size}\"/>"
            ),
        );
    }
    style(
        "ListParagraph",
        "List Paragraph",
        "<w:spacing w:after=\"60\"/>",
        "",
    );
    style(
        "Quote",
        "Quote",
        "<w:pBdr><w:left w:val=\"single\" w:sz=\"18\" w:space=\"10\" w:color=\"C9CFD6\"/></w:pBdr>",
        "<w:color w:val=\"59636E\"/>",
    );
    style(
        "Code",
        "Code",
        "<w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"F3F5F8\"/><w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/>",
        &format!(
            "<w:rFonts w:ascii=\"Consolas\" w:hAnsi=\"Consolas\"/><w:sz w:val=\"{}\"/>",
            half(font_size - 2.0)
        ),
    );
    let small = "<w:color w:val=\"59636E\"/><w:sz w:val=\"18\"/><w:szCs w:val=\"18\"/>";
    style("Header", "header", "", small);
    style("Footer", "footer", "", small);
    out.push_str(
        "<w:style w:type=\"character\" w:styleId=\"Hyperlink\"><w:name w:val=\"Hyperlink\"/><w:rPr>\
         <w:color w:val=\"0563C1\"/><w:u w:val=\"single\"/></w:rPr></w:style>\
         <w:style w:type=\"table\" w:default=\"1\" w:styleId=\"TableNormal\"><w:name w:val=\"Normal Table\"/><w:tblPr>\
         <w:tblCellMar><w:left w:w=\"108\" w:type=\"dxa\"/><w:right w:w=\"108\" w:type=\"dxa\"/></w:tblCellMar></w:tblPr></w:style>\
         <w:style w:type=\"table\" w:styleId=\"TableGrid\"><w:name w:val=\"Table Grid\"/><w:basedOn w:val=\"TableNormal\"/><w:tblPr><w:tblBorders>",
    );
    for side in ["top", "left", "bottom", "right", "insideH", "insideV"] {
        out.push_str(&format!(
            "<w:{side} w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"C9CFD6\"/>"
        ));
    }
    out.push_str("</w:tblBorders></w:tblPr></w:style></w:styles>");
    out
}

/// The lists: one with bullets, and one with numbers for each that the text has.
pub(super) fn numbering(lists: &[List]) -> String {
    let mut out = format!("{HEAD}<w:numbering {NAMESPACES}>");
    for (id, kind) in [(0, "bullet"), (1, "decimal")] {
        out.push_str(&format!(
            "<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"hybridMultilevel\"/>"
        ));
        for depth in 0..DEPTHS {
            let mark = match kind {
                "bullet" => ["•", "◦", "▪"][depth % 3].to_owned(),
                _ => format!("%{}.", depth + 1),
            };
            out.push_str(&format!(
                "<w:lvl w:ilvl=\"{depth}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{kind}\"/><w:lvlText w:val=\"{mark}\"/>\
                 <w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"{}\" w:hanging=\"360\"/></w:pPr></w:lvl>",
                360 * (depth + 1)
            ));
        }
        out.push_str("</w:abstractNum>");
    }
    out.push_str("<w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>");
    for list in lists {
        out.push_str(&format!(
            "<w:num w:numId=\"{}\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"{}\"><w:startOverride w:val=\"{}\"/>\
             </w:lvlOverride></w:num>",
            list.id, list.depth, list.first
        ));
    }
    out.push_str("</w:numbering>");
    out
}
