//! Blocks as a web page that stands by itself: no script, nothing fetched.

use easel_tools::documents::DocumentRequest;

use crate::block::{Align, Block, Item, Span, Table};
use crate::markdown::harmless;

const STYLE: &str = "\
body{font-family:system-ui,\"Noto Sans\",\"Noto Sans CJK SC\",sans-serif;line-height:1.5;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1f2328}
table{border-collapse:collapse;margin:1rem 0}th,td{border:1px solid #d0d7de;padding:.3rem .7rem;vertical-align:top}th{background:#f3f5f8}
pre{background:#f3f5f8;padding:.8rem;overflow-x:auto}code{font-family:ui-monospace,monospace;font-size:.9em}
blockquote{border-left:.25rem solid #d0d7de;margin:1rem 0;padding:0 1rem;color:#59636e}
header,footer,.made{color:#59636e;font-size:.85em}li>p{margin:.2rem 0}li.task{list-style:none}
.watermark{position:fixed;top:45%;left:0;right:0;text-align:center;font-size:5rem;color:#000;opacity:.08;transform:rotate(-35deg);pointer-events:none}
";

/// The page.
pub(crate) fn page(request: &DocumentRequest, blocks: &[Block]) -> String {
    let mut out = String::from("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str(
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
    );
    escape(&request.title, &mut out);
    out.push_str("</title>\n<style>\n");
    out.push_str(STYLE);
    out.push_str(&format!(
        "body{{font-size:{}pt}}\n</style>\n</head>\n<body>\n",
        request.font_size
    ));
    if let Some(time) = &request.timestamp {
        around(&mut out, "p class=\"made\"", &format!("Generated: {time}"));
    }
    around(&mut out, "div class=\"watermark\"", &request.watermark);
    around(&mut out, "header", &request.header);
    write(blocks, &mut out);
    around(&mut out, "footer", &request.footer);
    out.push_str("</body>\n</html>\n");
    out
}

/// A text in an element; nothing if it is blank.
fn around(out: &mut String, element: &str, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let name = element.split(' ').next().unwrap_or(element);
    out.push_str(&format!("<{element}>"));
    escape(text, out);
    out.push_str(&format!("</{name}>\n"));
}

fn write(blocks: &[Block], out: &mut String) {
    for block in blocks {
        match block {
            Block::Heading { level, spans } => {
                out.push_str(&format!("<h{level}>"));
                inline(spans, out);
                out.push_str(&format!("</h{level}>\n"));
            }
            Block::Paragraph(spans) => {
                out.push_str("<p>");
                inline(spans, out);
                out.push_str("</p>\n");
            }
            Block::Code(code) => {
                out.push_str("<pre><code>");
                escape(code, out);
                out.push_str("</code></pre>\n");
            }
            Block::Quote(blocks) => {
                out.push_str("<blockquote>\n");
                write(blocks, out);
                out.push_str("</blockquote>\n");
            }
            Block::List { first, items } => list(*first, items, out),
            Block::Table(rows) => table(rows, out),
            Block::Rule => out.push_str("<hr>\n"),
        }
    }
}

fn list(first: Option<u64>, items: &[Item], out: &mut String) {
    match first {
        Some(first) => out.push_str(&format!("<ol start=\"{first}\">\n")),
        None => out.push_str("<ul>\n"),
    }
    for item in items {
        out.push_str(match item.done {
            None => "<li>",
            Some(true) => "<li class=\"task\"><input type=\"checkbox\" disabled checked> ",
            Some(false) => "<li class=\"task\"><input type=\"checkbox\" disabled> ",
        });
        match item.blocks.split_first() {
            Some((Block::Paragraph(spans), rest)) => {
                inline(spans, out);
                write(rest, out);
            }
            _ => write(&item.blocks, out),
        }
        out.push_str("</li>\n");
    }
    out.push_str(if first.is_some() {
        "</ol>\n"
    } else {
        "</ul>\n"
    });
}

fn table(table: &Table, out: &mut String) {
    out.push_str("<table>\n");
    for (at, row) in table.rows.iter().enumerate() {
        let cell = if at == 0 { "th" } else { "td" };
        out.push_str("<tr>");
        for (column, spans) in row.iter().enumerate() {
            let align = match table.columns.get(column) {
                Some(Align::Right) => " style=\"text-align:right\"",
                Some(Align::Center) => " style=\"text-align:center\"",
                _ => "",
            };
            out.push_str(&format!("<{cell}{align}>"));
            inline(spans, out);
            out.push_str(&format!("</{cell}>"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
}

fn inline(spans: &[Span], out: &mut String) {
    for span in spans {
        let link = span.link.as_deref().filter(|link| harmless(link));
        let style = span.style;
        let marks = [
            (style.bold, "strong"),
            (style.italic, "em"),
            (style.struck, "del"),
            (style.code, "code"),
        ];
        if let Some(link) = link {
            out.push_str("<a rel=\"noopener noreferrer\" href=\"");
            escape(link.trim(), out);
            out.push_str("\">");
        }
        let marks = marks.iter().filter(|(on, _)| *on);
        for (_, mark) in marks.clone() {
            out.push_str(&format!("<{mark}>"));
        }
        for (at, line) in span.text.split('\n').enumerate() {
            if at > 0 {
                out.push_str("<br>\n");
            }
            escape(line, out);
        }
        for (_, mark) in marks.rev() {
            out.push_str(&format!("</{mark}>"));
        }
        if link.is_some() {
            out.push_str("</a>");
        }
    }
}

/// Text between tags and in attributes.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use easel_tools::documents::DocumentFormat;
    use proptest::prelude::*;

    use super::*;
    use crate::limits::Patience;
    use crate::markdown;

    fn body_of(text: &str) -> String {
        let mut out = String::new();
        write(
            &markdown::blocks(text, &Patience::endless()).unwrap(),
            &mut out,
        );
        out
    }

    #[test]
    fn a_page_stands_by_itself() {
        let request = DocumentRequest {
            title: "A & B".into(),
            header: "Above".into(),
            footer: "Below".into(),
            watermark: "DRAFT".into(),
            timestamp: Some("2026-01-02 03:04:05".into()),
            ..DocumentRequest::new("", DocumentFormat::Html)
        };
        let text = "# T\n\n1. a\n2. b\n   - [x] c\n\n| n | v |\n|---|--:|\n| x | **1** |\n\n> q `c`\n\n```\n<b>\n```\n";
        let blocks = markdown::blocks(text, &Patience::endless()).unwrap();
        insta::assert_snapshot!(page(&request, &blocks));
    }

    #[test]
    fn what_a_model_writes_cannot_run_in_the_page() {
        let evil = "<script>alert(1)</script> [x](javascript:alert(1)) <img src=x onerror=alert(1)> [y](https://e.com/\"onclick=\"a)";
        let body = body_of(evil);
        assert!(
            !body.contains("<script") && !body.contains("<img") && !body.contains("<a "),
            "{body}"
        );
        let linked = body_of("[x](<javascript:alert(1)>) [y](<https://e.com/\"onclick=\"a>)");
        assert_eq!(
            linked,
            "<p>x <a rel=\"noopener noreferrer\" href=\"https://e.com/&quot;onclick=&quot;a\">y</a></p>\n"
        );
    }

    proptest! {
        #[test]
        fn only_tags_of_our_own_are_in_a_page(text in r#"[<>a-z"'=/&;!\[\]()`*_#|\n -]{0,80}"#) {
            const OURS: [&str; 20] = ["h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "code", "blockquote", "ol", "ul", "li", "table",
                "tr", "th", "td", "hr", "br", "del"];
            let body = body_of(&text);
            for tag in body.split('<').skip(1) {
                let name: String = tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
                prop_assert!(OURS.contains(&&*name) || ["a", "em", "strong", "input"].contains(&&*name), "{name} in {body}");
            }
        }
    }
}
