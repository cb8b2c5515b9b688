use super::*;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;

fn masker(values: &[&str]) -> Masker {
    let secrets: Vec<Secret> = values.iter().copied().map(Secret::new).collect();
    Masker::new(&secrets).unwrap()
}

#[test]
fn a_value_is_masked_wherever_it_occurs() {
    let masker = masker(&["s3cr3t-value"]);
    assert_eq!(
        masker.mask("x s3cr3t-value, s3cr3t-value."),
        "x ••••••, ••••••."
    );
    assert!(matches!(masker.mask("nothing here"), Cow::Borrowed(_)));
}

#[test]
fn a_short_value_is_left_alone() {
    assert_eq!(masker(&["abc", "12345"]).mask("abc 12345"), "abc 12345");
    assert_eq!(masker(&["123456"]).mask("123456"), MASK);
    assert_eq!(masker(&["éééééé"]).mask("éééééé"), MASK);
}

#[test]
fn of_two_values_the_longer_goes_whole() {
    let masker = masker(&["s3cr3t-value", "s3cr3t-value-longer"]);
    assert_eq!(masker.mask("s3cr3t-value-longer"), MASK);
    assert_eq!(masker.mask("s3cr3t-value-long"), "••••••-long");
}

#[test]
fn nothing_remains_of_values_that_overlap() {
    assert_eq!(
        masker(&["abcdefgh", "fghijklmno"]).mask("-abcdefghijklmno-"),
        "-••••••-"
    );
}

#[test]
fn a_value_is_found_inside_json() {
    let masker = masker(&["pa\"ss\nwörd/x"]);
    assert_eq!(
        masker.mask(r#"{"a": "pa\"ss\nwörd/x"}"#),
        r#"{"a": "••••••"}"#
    );
    assert_eq!(
        masker.mask(r#"{"a": "pa\"ss\nw\u00f6rd\/x"}"#),
        r#"{"a": "••••••"}"#
    );
}

#[test]
fn a_value_is_found_inside_a_url() {
    let masker = masker(&["a b/c+d~e%(é)"]);
    for written in [
        "a%20b%2Fc%2Bd~e%25%28%C3%A9%29",
        "a%20b%2fc%2bd~e%25%28%c3%a9%29",
        "a%20b%2Fc%2Bd~e%25(%C3%A9)",
        "a+b%2Fc%2Bd%7Ee%25%28%C3%A9%29",
    ] {
        assert_eq!(
            masker.mask(&format!("?q={written}&r")),
            "?q=••••••&r",
            "{written}"
        );
    }
}

#[test]
fn a_basic_authorization_header_is_masked() {
    let header = format!("Basic {}", STANDARD.encode("ada:correct horse"));
    let masked = masker(&["correct horse"]).mask(&header).into_owned();
    assert!(masked.contains(MASK), "{masked}");
    assert!(!masked.contains("Y29ycmVj"), "{masked}");
}

#[test]
fn white_space_around_a_value_may_be_missing() {
    let masker = masker(&["s3cr3t-value\n"]);
    assert_eq!(
        masker.mask("Bearer s3cr3t-value, twice"),
        "Bearer ••••••, twice"
    );
    assert_eq!(
        masker.mask(r#"{"a": "s3cr3t-value\n"}"#),
        r#"{"a": "••••••"}"#
    );
}

#[test]
fn a_masker_that_knows_nothing_searches_nothing() {
    let mut tally = Tally::default();
    assert_eq!(
        masker(&["short"]).mask_counted("a short text", &mut tally),
        "a short text"
    );
    assert_eq!(tally, Tally::default());
    assert!(Masker::default().is_empty());
}

#[test]
fn what_is_searched_and_masked_is_counted() {
    let mut tally = Tally::default();
    masker(&["s3cr3t-value"]).mask_counted("s3cr3t-value s3cr3t-value", &mut tally);
    assert_eq!((tally.scanned, tally.masked), (25, 2));
}

#[test]
fn debug_shows_no_value() {
    assert_eq!(format!("{:?}", masker(&["s3cr3t-value"])), "Masker { .. }");
}

proptest! {
    #[test]
    fn no_form_of_a_value_gets_through(
        value in "[ -~]{8,24}|\\PC{8,16}",
        before in "[a-z]{0,5}",
        after in "[a-z]{0,5}",
    ) {
        let masker = masker(&[&value]);
        let whole = format!("{before}{value}{after}");
        for text in [
            whole.clone(),
            serde_json::to_string(&whole).unwrap(),
            STANDARD.encode(&whole),
            URL_SAFE.encode(&whole),
            utf8_percent_encode(&whole, NON_ALPHANUMERIC).to_string().replace("%2D", "-").replace("%5F", "_").replace("%2E", ".").replace("%7E", "~"),
        ] {
            prop_assert!(masker.mask(&text).contains(MASK), "{} in {}", value, text);
        }
    }

    #[test]
    fn a_text_without_the_value_stays_as_it_is(text in "[a-m ]{0,40}") {
        let masker = masker(&["nopqrstuvw"]);
        prop_assert_eq!(masker.mask(&text), text.clone());
    }

    #[test]
    fn whatever_the_text_masking_does_not_panic(value in "\\PC{6,8}", text in "\\PC{0,40}") {
        let _ = masker(&[&value]).mask(&format!("{text}{value}{text}"));
    }
}
