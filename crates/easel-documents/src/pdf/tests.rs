use easel_tools::documents::DocumentFormat;
use proptest::prelude::*;

use super::*;

fn make_with(
    request: &DocumentRequest,
    fonts: &Fonts,
    limits: &Limits,
) -> Result<(Vec<u8>, Vec<String>), DocumentError> {
    let patience = Patience::endless();
    let blocks = crate::markdown::blocks(&request.markdown, &patience).unwrap();
    document(request, &blocks, fonts, limits, &patience)
}

fn make(request: &DocumentRequest) -> (Vec<u8>, Vec<String>) {
    make_with(request, &Fonts::built_in(), &Limits::default()).unwrap()
}

fn request(markdown: &str) -> DocumentRequest {
    DocumentRequest::new(markdown, DocumentFormat::Pdf)
}

/// The text of each page, its blanks made one.
fn pages(bytes: &[u8]) -> Vec<String> {
    let pages = pdf_extract::extract_text_from_mem_by_pages(bytes).unwrap();
    let words = |page: &String| page.split_whitespace().collect::<Vec<_>>().join(" ");
    pages.iter().map(words).collect()
}

#[test]
fn a_page_says_what_the_text_says() {
    let markdown = "# Title\n\nSome **bold** and *slanted* `code`, ~~gone~~ and [a link](https://e.com/ä).\n\n\
                    - one\n- two\n  1. inner\n\n> said\n\n| Name | n |\n|---|--:|\n| pear | 12 |\n\n```\nlet x = 1;\n```\n\n---\n\n- [x] done\n";
    let whole = DocumentRequest {
        title: "A report".into(),
        header: "Above".into(),
        footer: "Below".into(),
        watermark: "DRAFT".into(),
        page_numbers: true,
        timestamp: Some("2026-01-02 03:04:05".into()),
        ..request(markdown)
    };
    let (bytes, told) = make(&whole);
    assert!(told.is_empty(), "{told:?}");
    let pages = pages(&bytes);
    let [page] = pages.as_slice() else {
        panic!("{pages:?}")
    };
    for said in [
        "DRAFT",
        "Title",
        "Some bold and slanted",
        "gone and a link",
        "• one",
        "1. inner",
        "said",
        "Name",
        "pear",
        "12",
        "let x = 1;",
        "☑ done",
        "Above",
        "Below",
        "2026-01-02 03:04:05",
        "Page 1",
    ] {
        assert!(page.contains(said), "{said} is not in {page}");
    }
    let raw = String::from_utf8_lossy(&bytes);
    assert!(
        raw.contains("(https://e.com/%C3%A4)"),
        "the link leads nowhere"
    );
    assert!(raw.contains("/Outlines"), "no heading is listed");
}

#[test]
fn pages_are_numbered_and_a_table_repeats_its_head() {
    let rows: String = (1..=120)
        .map(|n| format!("| row {n} | {} |\n", n * n))
        .collect();
    let numbered = DocumentRequest {
        page_numbers: true,
        ..request(&format!("| Name of it | Square |\n|---|--:|\n{rows}"))
    };
    let pages = pages(&make(&numbered).0);
    assert!(pages.len() >= 3, "{}", pages.len());
    for (at, page) in pages.iter().enumerate() {
        assert!(
            page.contains("Name of it") && page.contains("Square"),
            "{page}"
        );
        assert!(page.contains(&format!("Page {}", at + 1)), "{page}");
    }
    let all = pages.concat();
    assert!((1..=120).all(|n| all.contains(&format!("row {n} "))));
}

#[test]
fn what_no_font_has_is_a_box_and_is_told() {
    let (_, told) = make(&request("价格 and more"));
    assert_eq!(
        told,
        [
            "The PDF shows boxes for characters that no font has: 价 格. Install a font for Chinese, Japanese and Korean on the \
          machine (Debian's package `fonts-noto-cjk`)."
        ]
    );
    let (_, told) = make(&request("نص عربي, עברית, Ελλάδα, Россия, ← ∑ ☑ é"));
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn chinese_is_set_in_a_font_of_the_machine() {
    let (bytes, told) = make_with(
        &request("# 销售报告\n\n价格上涨了 **百分之七**。"),
        &Fonts::of_machine(),
        &Limits::default(),
    )
    .unwrap();
    if told.iter().any(|told| told.contains("fonts-noto-cjk")) {
        println!("skipped: no font for Chinese on this machine; install fonts-noto-cjk");
        return;
    }
    let page = pages(&bytes).concat();
    assert!(
        page.contains("销售报告") && page.contains("百分之七"),
        "{page}"
    );
}

#[test]
fn text_from_the_right_is_in_order() {
    // What is read from the right is drawn from the left, so the last word of a line comes first.
    let mut shaper = Shaper::new(&FONTS);
    let look = line::Look {
        size: 12.0,
        color: (0, 0, 0),
        bold: false,
    };
    let mut seen = |text: &str| {
        let span = crate::block::Span {
            text: text.into(),
            ..Default::default()
        };
        let lines = line::lines(&mut shaper, &[span], look, 500.0);
        let runs = lines[0].runs.iter().map(|run| run.text.trim().to_owned());
        (
            lines[0].from_right,
            runs.filter(|text| !text.is_empty()).collect::<Vec<_>>(),
        )
    };
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| word.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(seen("אחת שתיים"), (true, words(&["שתיים", "אחת"])));
    assert_eq!(
        seen("see אחת שתיים now"),
        (false, words(&["see", "שתיים", "אחת", "now"]))
    );
    assert_eq!(
        seen("אחת two three ארבע"),
        (true, words(&["ארבע", "two three", "אחת"]))
    );
}

static FONTS: std::sync::LazyLock<Fonts> = std::sync::LazyLock::new(Fonts::built_in);

#[test]
fn a_word_wider_than_a_line_is_broken() {
    let word = "x".repeat(2_000);
    let pages = pages(
        &make(&request(&format!(
            "{word}\n\n| a | b |\n|---|---|\n| {word} | {word} |"
        )))
        .0,
    );
    let letters = pages.concat().matches('x').count();
    assert_eq!(letters, 6_000);
}

#[test]
fn a_paragraph_of_many_looks_is_one_paragraph() {
    // Were the time that a word takes to grow with the number of looks, this would be given up.
    let text = "**a** b ".repeat(20_000);
    let limits = Limits::default();
    let patience = Patience::new(limits.time, crate::worker::Wanted::default());
    let blocks = crate::markdown::blocks(&text, &patience).unwrap();
    let (bytes, _) = document(&request(&text), &blocks, &FONTS, &limits, &patience).unwrap();
    let letters = pages(&bytes).concat().matches(['a', 'b']).count();
    assert_eq!(letters, 40_000);
}

#[test]
fn a_document_has_as_many_pages_as_the_limit_says() {
    let few = Limits {
        pages: 3,
        columns: 4,
        ..Limits::default()
    };
    let make = |markdown: &str| make_with(&request(markdown), &FONTS, &few);
    assert!(make(&"line\n\n".repeat(60)).is_ok());
    assert_eq!(
        make(&"line\n\n".repeat(400)).unwrap_err(),
        DocumentError::TooManyPages(3)
    );
    let wide = format!("|{}\n|{}\n", "a|".repeat(5), "-|".repeat(5));
    assert_eq!(
        make(&wide).unwrap_err(),
        DocumentError::TooWide {
            columns: 5,
            limit: 4
        }
    );
}

#[test]
fn a_line_of_a_footer_that_is_too_long_is_cut() {
    let long = DocumentRequest {
        footer: "word ".repeat(200),
        header: "word ".repeat(200),
        watermark: "W".repeat(300),
        page_numbers: true,
        ..request("x")
    };
    let page = pages(&make(&long).0).concat();
    assert!(page.contains('…') && page.contains("Page 1"), "{page}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text_makes_a_document_that_can_be_opened(text in crate::maker::markdown_like(), size in 4.0..72.0_f64) {
        let sized = DocumentRequest {
            font_size: size,
            watermark: text.chars().take(20).collect(),
            ..request(&text)
        };
        let (bytes, _) = make_with(&sized, &FONTS, &Limits::default()).unwrap();
        prop_assert!(bytes.starts_with(b"%PDF-"));
        prop_assert!(bytes.ends_with(b"%%EOF") || bytes.ends_with(b"%%EOF\n"));
    }
}
