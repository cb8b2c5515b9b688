use super::*;

fn source(text: &str) -> Source {
    Source::read(text.as_bytes(), Limits::default()).unwrap().0
}

fn refused(text: &str) -> ReadError {
    Source::read(text.as_bytes(), Limits::default()).unwrap_err()
}

fn at(place: Position) -> (usize, usize) {
    (place.line, place.column)
}

const SMALL: &str = "{\n  \"é\": {\"b\": [1, {\"c\": \"x\"}]},\n  \"d\": null\n}\n";

#[test]
fn a_value_is_found_by_line_column_and_bytes() {
    let source = source(SMALL);
    let place = Pointer::root().key("é").key("b").index(1).key("c");
    let found = source.locate(&place).unwrap();
    assert_eq!((found.line, found.column), (2, 24));
    assert_eq!(&SMALL[found.offset..found.offset + found.len], "\"x\"");
    let key = source.locate_key(&place).unwrap();
    assert_eq!(&SMALL[key.offset..key.offset + key.len], "\"c\"");
}

#[test]
fn an_object_is_found_whole() {
    let found = source(SMALL).locate(&Pointer::root().key("é")).unwrap();
    assert_eq!(
        &SMALL[found.offset..found.offset + found.len],
        "{\"b\": [1, {\"c\": \"x\"}]}"
    );
}

#[test]
fn what_is_not_there_has_no_place_but_something_around_it_has() {
    let source = source(SMALL);
    let missing = Pointer::root().key("é").key("b").index(7).key("c");
    assert_eq!(source.locate(&missing), None);
    assert_eq!(source.locate_key(&missing), None);
    assert_eq!(
        source.locate_nearest(&missing),
        source.locate(&Pointer::root().key("é").key("b"))
    );
    assert_eq!(source.locate_key(&Pointer::root()), None);
}

#[test]
fn of_two_members_with_one_name_the_last_is_found() {
    let text = r#"{"a":{"b":1},"x":2,"a":{"c":3}}"#;
    let source = source(text);
    let a = Pointer::root().key("a");
    assert_eq!(source.locate(&a.clone().key("c")).unwrap().offset, 28);
    assert_eq!(source.locate(&a.clone().key("b")), None);
    let duplicates = source.duplicate_keys();
    assert_eq!(duplicates.len(), 1);
    assert_eq!(duplicates[0].place, a);
    assert_eq!(
        (duplicates[0].first.column, duplicates[0].again.column),
        (2, 20)
    );
}

#[test]
fn one_name_written_in_two_ways_is_a_duplicate() {
    let duplicates = source(r#"[{"é":1,"\u00e9":2},{"é":3}]"#).duplicate_keys();
    assert_eq!(duplicates.len(), 1);
    assert_eq!(duplicates[0].place, Pointer::root().index(0).key("é"));
}

#[test]
fn a_byte_order_mark_takes_no_column() {
    let text = format!("\u{feff}{SMALL}");
    let source = Source::read(text.as_bytes(), Limits::default()).unwrap().0;
    let found = source.locate(&Pointer::root()).unwrap();
    assert_eq!((found.line, found.column, found.offset), (1, 1, 3));
    assert_eq!(source.text(), SMALL);
}

#[test]
fn a_file_that_is_too_large_is_not_looked_into() {
    let limits = Limits {
        bytes: 4,
        ..Limits::default()
    };
    let error = Source::read(b"[[[[[", limits).unwrap_err();
    assert_eq!(error, ReadError::TooLarge { bytes: 5, limit: 4 });
}

#[test]
fn brackets_without_end_are_an_error_with_a_place_and_no_overflow() {
    for text in ["[".repeat(9_999_999), "{\"a\":".repeat(1_999_999)] {
        let error = refused(&text);
        assert!(
            matches!(error, ReadError::TooDeep { limit: 100, .. }),
            "{error}"
        );
        assert_eq!(error.position().unwrap().line, 1);
    }
    let nested = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
    assert_eq!(at(refused(&nested).position().unwrap()), (1, 101));
    let limit = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    source(&limit);
}

#[test]
fn a_file_cut_off_tells_what_was_open() {
    let error = refused("{\n \"components\": {\n  \"begin\": {\"obj\": [1,");
    let ReadError::Unfinished {
        at: end,
        inside,
        opened,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(at(*end), (3, 23));
    assert_eq!(inside.to_string(), "/components/begin/obj");
    assert_eq!(at(opened.unwrap()), (3, 20));
    assert_eq!(
        error.to_string(),
        "the file ends at line 3, column 23 where a value should follow (`/components/begin/obj` is open since line 3); \
         it seems to be cut off"
    );
}

#[test]
fn half_a_character_behind_the_canvas_is_not_passed_over() {
    let error = Source::read(b"{}\n\xeb", Limits::default()).unwrap_err();
    assert!(
        matches!(error, ReadError::NotUtf8 { at } if (at.line, at.column) == (2, 1)),
        "{error}"
    );
}

#[test]
fn a_character_cut_in_half_is_a_file_cut_off() {
    let error = Source::read(&"{\"é".as_bytes()[..3], Limits::default()).unwrap_err();
    assert!(matches!(error, ReadError::Unfinished { .. }), "{error}");
    let error = Source::read(b"{\"a\": \"\xff\"}", Limits::default()).unwrap_err();
    assert_eq!(at(error.position().unwrap()), (1, 8));
}

#[test]
fn a_misplaced_character_is_named_with_its_surroundings() {
    assert_eq!(
        refused("{\"a\": [1,\n 2 oops]}").to_string(),
        "line 2, column 4: found `oops` where `,` or `]` should stand, in `/a`"
    );
    assert_eq!(
        refused("{\"a\": 1,\n}").to_string(),
        "line 2, column 1: found `}` where a member's name in double quotes should stand"
    );
}
