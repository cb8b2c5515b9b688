//! Documents as people have them, made here byte by byte, whole and damaged.

use std::time::Duration;

use easel_knowledge::{Format, KnowledgeError, Limits, Text, read};

use crate::files::{self, docx, pdf, pptx, xlsx, zip};

fn text_of(name: &str, bytes: &[u8]) -> (Format, Text) {
    read(name, bytes, &Limits::default()).unwrap()
}

fn markdown_of(name: &str, bytes: &[u8]) -> String {
    text_of(name, bytes).1.markdown
}

fn error_of(name: &str, bytes: &[u8]) -> String {
    let error = read(name, bytes, &Limits::default()).unwrap_err();
    assert!(
        matches!(error, KnowledgeError::Document { .. }),
        "{error:?}"
    );
    error.to_string()
}

#[test]
fn a_text_file_is_read_in_the_encodings_people_have() {
    assert_eq!(
        markdown_of("a.txt", "Grüße\r\nan alle".as_bytes()),
        "Grüße\nan alle"
    );
    assert_eq!(
        markdown_of("a.txt", b"\xef\xbb\xbfwith a mark"),
        "with a mark"
    );
    assert_eq!(markdown_of("a.txt", b"\xff\xfeh\0i\0"), "hi");
    assert_eq!(
        markdown_of("a.txt", b"Gr\xfc\xdfe aus K\xf6ln"),
        "Grüße aus Köln"
    );
    let chinese = b"\xd6\xaa\xca\xb6\xbf\xe2 \xbc\xec\xcb\xf7";
    assert_eq!(markdown_of("a.txt", chinese), "知识库 检索");
}

#[test]
fn a_name_without_an_ending_is_no_matter() {
    assert_eq!(text_of("README", b"plain").0, Format::Plain);
    assert_eq!(text_of("page", b"<!DOCTYPE html><p>x").0, Format::Html);
    assert_eq!(text_of("report", &pdf(&["A page."])).0, Format::Pdf);
    assert_eq!(
        text_of("letter.bin", &docx("<w:p><w:r><w:t>x</w:t></w:r></w:p>")).0,
        Format::Docx
    );
}

#[test]
fn a_web_page_keeps_its_headings_and_lists() {
    let page = "<html><head><title>no</title><script>if (a<h1>b) {}</script></head><body>\
        <h1 class='a>b'>Guide</h1><p>Read <b>this</b>.</p><H2>Steps</H2><ul><li>one</li><li>two</li></ul>\
        <table><tr><td>a</td><td>b</td></tr></table></body></html>";
    assert_eq!(
        markdown_of("page.html", page.as_bytes()),
        "# Guide\n\nRead this.\n\n## Steps\n- one\n- two\n\na | b"
    );
}

#[test]
fn tables_of_a_web_page_stay_tables() {
    let page = "<table>\n<tr> <th>item</th><th>price</th></tr>\n<tr><td>tea</td><td></td></tr></table><p>x | y</p>";
    assert_eq!(
        markdown_of("page.html", page.as_bytes()),
        "| item | price |\n| --- | --- |\n| tea |  |\n\nx | y"
    );
}

#[test]
fn a_book_is_read_chapter_by_chapter() {
    let container =
        r#"<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#;
    let book = r#"<package><manifest><item id="b" href="two.xhtml"/><item id="a" href="../text/one%201.xhtml"/>
        <item id="c" href="cover.png"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="z"/></spine></package>"#;
    let book = zip(&[
        ("META-INF/container.xml", container),
        ("OEBPS/book.opf", book),
        (
            "text/one 1.xhtml",
            "<html><body><h1>One</h1><p>It begins.</p></body></html>",
        ),
        (
            "OEBPS/two.xhtml",
            "<html><body><h1>Two</h1><p>It ends.</p></body></html>",
        ),
    ]);
    let (format, text) = text_of("book.epub", &book);
    assert_eq!(format, Format::Epub);
    assert_eq!(text.markdown, "# One\n\nIt begins.\n\n# Two\n\nIt ends.");
}

#[test]
fn a_mail_is_read_with_who_wrote_it_and_what_came_with_it() {
    let mail = "From: =?utf-8?Q?Ad=C3=A9le?= <a@example.com>\r\nTo: b@example.com,\r\n c@example.com\r\nSubject: The\r\n plan\r\n\
        Content-Type: multipart/mixed; boundary=\"x\"\r\n\r\nnot shown\r\n--x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n\
        --y\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nMeet at the caf=E9=\r\n.\r\n\
        --y\r\nContent-Type: text/html\r\n\r\n<p>Meet <b>there</b>.</p>\r\n--y--\r\n\
        --x\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGgyPk1vcmU8L2gyPg==\r\n\
        --x\r\nContent-Type: application/pdf; name=plan.pdf\r\n\r\nJVBERi0=\r\n--x--\r\nbehind";
    assert_eq!(
        text_of("plan.eml", mail.as_bytes()),
        (
            Format::Mail,
            Text {
                markdown: "# The plan\n\nFrom: Adéle <a@example.com>\nTo: b@example.com, c@example.com\n\n\
                    Meet at the café.\n\n## More\n\nAttachments: plan.pdf"
                    .into(),
                ..Text::default()
            }
        )
    );
    let limits = Limits::default();
    let nothing = read("x.eml", b"just some text", &limits).unwrap_err();
    assert!(
        nothing
            .to_string()
            .contains("neither a sender nor a subject"),
        "{nothing}"
    );
}

#[test]
fn markdown_stays_as_it_is() {
    let text = "# A\n\n- b\n\n| c | d |\n| --- | --- |\n| 1 | 2 |";
    assert_eq!(
        text_of("a.md", text.as_bytes()),
        (
            Format::Markdown,
            Text {
                markdown: text.into(),
                ..Text::default()
            }
        )
    );
}

#[test]
fn a_table_of_text_becomes_a_table() {
    let csv = "name;note\r\n\"Ada; L.\";\"said \"\"yes\"\"\nand left\"\r\n\r\nBob;a|b\n";
    assert_eq!(
        markdown_of("people.csv", csv.as_bytes()),
        "| name | note |\n| --- | --- |\n| Ada; L. | said \"yes\" and left |\n| Bob | a\\|b |"
    );
    assert_eq!(
        markdown_of("a.tsv", b"a\tb\n1\t2"),
        "| a | b |\n| --- | --- |\n| 1 | 2 |"
    );
}

#[test]
fn json_becomes_lines_with_paths() {
    let json = r#"[{"name": "Ada", "tags": ["x", "y"], "at": {"city": "London"}}, {"name": "Bob", "gone": null}]"#;
    assert_eq!(
        markdown_of("people.json", json.as_bytes()),
        "name: Ada\ntags: x\ntags: y\nat.city: London\n\nname: Bob"
    );
    assert_eq!(
        markdown_of("log.jsonl", b"{\"a\": 1}\n{\"a\": 2}\n"),
        "a: 1\n\na: 2"
    );
}

#[test]
fn a_word_document_keeps_headings_lists_and_tables() {
    let body = r#"
        <w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Guide</w:t></w:r></w:p>
        <w:p><w:r><w:t xml:space="preserve">Tom &amp; </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>Ada</w:t></w:r></w:p>
        <w:p><w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr><w:r><w:t>one</w:t></w:r></w:p>
        <w:p><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr><w:r><w:t>two</w:t></w:r></w:p>
        <w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Prices</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr>
        <w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>
        <mc:AlternateContent><mc:Choice><w:p><w:r><w:t>once</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>once</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"#;
    assert_eq!(
        markdown_of("guide.docx", &docx(body)),
        "# Guide\n\nTom & Ada\n\n- one\n  - two\n\n## Prices\n\n| a | b |\n| --- | --- |\n| 1 2 |  |\n\nonce"
    );
}

#[test]
fn slides_come_in_the_order_in_which_they_are_shown() {
    let (_, text) = text_of("talk.pptx", &pptx());
    assert_eq!(
        text.markdown,
        "## Welcome\n\n- first\n  - deeper\n\n## Slide 2\n\nOnly text\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    );
    assert_eq!(text.pages.len(), 2);
}

#[test]
fn each_sheet_of_a_workbook_becomes_a_table() {
    assert_eq!(
        markdown_of("prices.xlsx", &xlsx()),
        "## Prices\n\n| item | price | since |\n| --- | --- | --- |\n| tea | 2.5 | 2026-03-01 |\n| far | TRUE |  |"
    );
}

#[test]
fn a_pdf_is_read_page_by_page() {
    let (format, text) = text_of(
        "report.pdf",
        &pdf(&["The first page.", "And the second one."]),
    );
    assert_eq!(format, Format::Pdf);
    assert_eq!(text.markdown, "The first page.\n\nAnd the second one.");
    assert_eq!(text.pages.len(), 2);
}

#[test]
fn a_page_that_cannot_be_read_does_not_keep_the_others_out() {
    let (_, text) = text_of("report.pdf", &files::pdf_with_a_bad_page());
    assert_eq!(text.markdown, "The good page.");
    assert_eq!((text.pages, text.unread), (vec![0, 0], vec![1]));
}

#[test]
fn what_is_damaged_says_which_file_why_and_what_to_do() {
    let whole = [
        ("a.pdf", pdf(&["A page."])),
        ("a.docx", docx("<w:p><w:r><w:t>x</w:t></w:r></w:p>")),
        ("a.pptx", pptx()),
        ("a.xlsx", xlsx()),
    ];
    for (name, bytes) in whole {
        let error = error_of(name, &bytes[..bytes.len() / 2]);
        assert!(
            error.starts_with(&format!("{name} cannot be read: it is damaged as ")),
            "{error}"
        );
        assert!(error.ends_with("save it anew"), "{error}");
    }
    assert_eq!(
        error_of("a.docx", b"not a zip"),
        "a.docx cannot be read: it is called docx but does not begin like one. Check that the file is whole, or give it \
         the ending of what it is"
    );
    let broken = error_of("a.docx", &docx("<w:p><w:r></w:p>"));
    assert!(broken.contains("damaged as docx"), "{broken}");
    let broken = error_of("a.csv", b"a,b\n\"open,2\n");
    assert!(
        broken.contains("the quote that opens in line 2 never closes"),
        "{broken}"
    );
    let broken = error_of("a.json", b"{\"a\": ");
    assert!(broken.contains("damaged as json"), "{broken}");
    assert!(error_of("a.txt", b"a\0b").contains("neither text nor a format that is known"));
    assert!(error_of("a.doc", &[0xd0, 0xcf, 0x11, 0xe0, 0, 0]).contains("from before 2007"));
    assert!(
        error_of("a.zip", &zip(&[("readme.txt", "hi")])).contains("no docx, pptx, xlsx or epub")
    );
    assert!(error_of("a.md", b" \n ").contains("there is no text in it"));
    assert!(error_of("a.html", b"<script>x</script>").contains("there is no text in it"));
}

#[test]
fn damaged_bytes_anywhere_are_an_error_or_a_text_and_nothing_else() {
    let whole = [
        ("a.pdf", pdf(&["A page.", "Another."])),
        ("a.docx", docx("<w:p><w:r><w:t>x</w:t></w:r></w:p>")),
        ("a.pptx", pptx()),
        ("a.xlsx", xlsx()),
    ];
    for (name, bytes) in whole {
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x15;
            let read = read(name, &damaged, &Limits::default());
            assert!(
                matches!(read, Ok(_) | Err(KnowledgeError::Document { .. })),
                "{name} {at}"
            );
        }
    }
}

#[test]
fn a_pdf_that_leads_in_circles_is_refused() {
    let circle = files::pdf_of(&[
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 /Parent 2 0 R >>",
        "<< /Type /Page /Parent 2 0 R >>",
    ]);
    assert!(error_of("a.pdf", &circle).contains("nested without end"));
    let form = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>\n\
                stream\n/X Do\nendstream";
    let shows_itself = files::pdf_of(&[
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
        "<< /Length 5 >>\nstream\n/X Do\nendstream",
        form,
    ]);
    assert!(error_of("a.pdf", &shows_itself).contains("a drawing in it shows itself"));
    let unnamed = form.replace("/Resources << /XObject << /X 5 0 R >> >> ", "");
    let through_the_page = files::pdf_of(&[
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
        "<< /Length 5 >>\nstream\n/X Do\nendstream",
        &unnamed,
    ]);
    assert!(error_of("a.pdf", &through_the_page).contains("a drawing in it shows itself"));
}

#[test]
fn limits_hold_for_what_is_packed_too() {
    let limited = |limits: Limits, name: &str, bytes: &[u8]| {
        read(name, bytes, &limits).unwrap_err().to_string()
    };
    let small = Limits {
        unpacked_bytes: 100_000,
        ..Limits::default()
    };
    let bomb = "<w:p/>".repeat(100_000);
    let packed = docx(&bomb);
    assert!(packed.len() < 20_000, "it is no bomb: {}", packed.len());
    let error = limited(small.clone(), "a.docx", &packed);
    assert!(
        error.contains("larger than 100000 bytes when unpacked"),
        "{error}"
    );
    let picture = "x".repeat(200_000);
    let workbook = files::xlsx_with(&[("xl/media/image1.png", &picture)]);
    let error = limited(small.clone(), "a.xlsx", &workbook);
    assert!(error.contains("when unpacked"), "{error}");
    let error = limited(
        small,
        "a.pdf",
        &files::pdf_with_packed(&vec![b' '; 200_000]),
    );
    assert!(error.contains("when unpacked"), "{error}");

    let pages = Limits {
        pages: 1,
        ..Limits::default()
    };
    assert!(limited(pages.clone(), "a.pdf", &pdf(&["a", "b"])).contains("more than 1 pages"));
    assert!(limited(pages, "a.pptx", &pptx()).contains("more than 1 slides"));
    let bytes = Limits {
        file_bytes: 3,
        ..Limits::default()
    };
    assert!(limited(bytes, "a.md", b"four").contains("larger than 3 bytes"));
    let text = Limits {
        text_bytes: 10,
        ..Limits::default()
    };
    for (name, bytes) in [
        ("a.md", b"more than that".to_vec()),
        ("a.pdf", pdf(&["more than that"])),
    ] {
        assert!(limited(text.clone(), name, &bytes).contains("text is larger than 10 bytes"));
    }
    let time = Limits {
        time: Duration::ZERO,
        ..Limits::default()
    };
    assert!(limited(time, "a.md", b"late").contains("took longer than 0 s"));
}

#[test]
fn a_cell_far_away_costs_no_more_than_its_text() {
    // The workbook of this test has one in the last row and column that there are.
    let text = markdown_of("prices.xlsx", &xlsx());
    assert!(text.len() < 200);
}

proptest::proptest! {
    #[test]
    fn any_mail_is_read_or_refused(lines in proptest::collection::vec("From: a|Content-Type: multipart/mixed; boundary=b|Content-Transfer-Encoding: base64||--b|--b--|[ -~]{0,20}", 0..30)) {
        let mail = format!("Subject: s\n{}", lines.join("\n"));
        let read = read("a.eml", mail.as_bytes(), &Limits::default());
        proptest::prop_assert!(read.unwrap().1.markdown.starts_with("# s"));
    }
}
