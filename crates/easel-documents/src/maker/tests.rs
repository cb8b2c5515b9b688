use std::time::Duration;

use futures::executor::block_on;
use proptest::prelude::*;

use super::*;

fn maker(limits: Limits) -> DocumentMaker {
    DocumentMaker::new(limits).with_built_in_fonts()
}

fn made(request: DocumentRequest) -> MadeDocument {
    block_on(maker(Limits::default()).make(request)).unwrap()
}

const ALL: [DocumentFormat; 6] = [
    DocumentFormat::Pdf,
    DocumentFormat::Docx,
    DocumentFormat::Xlsx,
    DocumentFormat::Html,
    DocumentFormat::Txt,
    DocumentFormat::Markdown,
];

#[test]
fn a_text_that_says_when_it_was_made_says_so_first() {
    let text = |format| {
        let request = DocumentRequest {
            timestamp: Some("2026-01-02".into()),
            ..DocumentRequest::new("# T\n\n**a**", format)
        };
        String::from_utf8(made(request).bytes).unwrap()
    };
    assert_eq!(
        text(DocumentFormat::Markdown),
        "Generated: 2026-01-02\n\n# T\n\n**a**"
    );
    assert_eq!(
        text(DocumentFormat::Txt),
        "Generated: 2026-01-02\n\nT\n\na\n"
    );
    assert!(
        text(DocumentFormat::Html)
            .contains("<p class=\"made\">Generated: 2026-01-02</p>\n<h1>T</h1>")
    );
}

#[test]
fn a_text_is_made_within_limits() {
    let refused = |limits: Limits, request: DocumentRequest| {
        let refused = block_on(maker(limits).make(request)).unwrap_err();
        (refused.code(), refused.to_string())
    };
    let few = || Limits {
        text_bytes: 10,
        ..Limits::default()
    };
    for format in ALL {
        let (code, told) = refused(few(), DocumentRequest::new("eleven byte", format));
        assert_eq!(code, "tool.failed");
        assert!(
            told.contains("the text has 11 bytes, and 10 are the limit"),
            "{told}"
        );
        let no_time = Limits {
            time: Duration::ZERO,
            ..Limits::default()
        };
        if format != DocumentFormat::Markdown {
            assert_eq!(
                refused(no_time, DocumentRequest::new("x", format)).0,
                "tool.timeout"
            );
        }
        for font_size in [0.0, 3.9, 72.1, f64::NAN, f64::INFINITY] {
            let request = DocumentRequest {
                font_size,
                ..DocumentRequest::new("x", format)
            };
            assert_eq!(
                refused(Limits::default(), request).0,
                "tool.invalid_request"
            );
        }
    }
}

#[test]
fn tables_of_a_text_are_sheets() {
    let text = "## Sales\n\n| item | n |\n|---|--:|\n| pear | 1,200 |\n";
    let made = made(DocumentRequest::new(text, DocumentFormat::Xlsx));
    let file = WorkbookFile {
        name: "a.xlsx".into(),
        bytes: made.bytes,
    };
    let sheets = block_on(maker(Limits::default()).read_workbook(file)).unwrap();
    assert_eq!(sheets[0].name, "Sales");
    let rows: Vec<String> = sheets[0]
        .rows
        .iter()
        .map(|row| format!("{row:?}"))
        .collect();
    assert!(
        rows[1].contains("pear") && rows[1].contains("1200"),
        "{rows:?}"
    );
}

#[test]
fn a_document_nobody_waits_for_is_given_up() {
    let maker = maker(Limits {
        at_once: 1,
        ..Limits::default()
    });
    let long = "word and word and word. ".repeat(100_000);
    let mut first = maker.make(DocumentRequest::new(long, DocumentFormat::Pdf));
    assert!(block_on(futures::future::poll_immediate(&mut first)).is_none());
    drop(first);
    // There is one place, so this is made only once the first is given up.
    let second = block_on(maker.make(DocumentRequest::new("x", DocumentFormat::Pdf)));
    assert!(second.unwrap().bytes.starts_with(b"%PDF-"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_text_makes_it_fail(text in markdown_like()) {
        for format in ALL {
            let made = maker(Limits::default()).make_now(&DocumentRequest::new(text.clone(), format));
            prop_assert!(made.is_ok(), "{format:?}: {:?}", made.err());
        }
    }
}
