use super::*;

fn read(text: &str) -> Document {
    Document::read(text.as_bytes()).unwrap()
}

#[test]
fn a_canvas_alone_in_a_wrapper_or_as_text_reads_the_same() {
    let canvas = r#"{"components":{"begin":{}},"extra":[1.0,1]}"#;
    let text = Value::from(canvas).to_json_text();
    for file in [
        canvas.to_owned(),
        text.clone(),
        format!(r#"{{"title":"T","dsl":{canvas},"id":7}}"#),
        format!(r#"{{"title":"T","dsl":{text},"id":7}}"#),
        Value::from(format!(r#"{{"dsl":{text}}}"#)).to_json_text(),
    ] {
        assert_eq!(read(&file).canvas().to_json_text(), canvas, "{file}");
    }
}

#[test]
fn what_is_no_canvas_is_refused_with_its_line() {
    for (file, message) in [
        (
            "\n 5",
            "line 2, column 2: a canvas is a JSON object, this is number",
        ),
        (
            "{}",
            "line 1, column 1: this object is no canvas: it has neither `components` nor `graph`, `nodes` or `dsl`",
        ),
        (
            "{\"dsl\":\n {\"a\":1}}",
            "line 2, column 2: this object is no canvas: it has neither `components` nor `graph`, `nodes` or `dsl`",
        ),
        (
            "{\"dsl\": \"{\"}",
            "line 1, column 9: the canvas stands here as text, and in that text: the file ends at line 1, column 2 where \
             a member's name in double quotes, or `}` should follow (open since line 1); it seems to be cut off",
        ),
    ] {
        assert_eq!(
            Document::read(file.as_bytes()).unwrap_err().to_string(),
            message
        );
    }
}

#[test]
fn a_place_in_a_wrapped_canvas_has_the_line_of_the_file() {
    let document = read("{\"title\": {},\n \"dsl\": {\n  \"components\": {\"a b:ü\": 1}}}");
    let place = document.locate(&Pointer::component("a b:ü")).unwrap();
    assert_eq!((place.line, place.column), (3, 27));
    let around = document.locate(&Pointer::param("a b:ü", "x")).unwrap();
    assert_eq!(around, place);
}

#[test]
fn a_canvas_in_a_text_has_the_place_of_the_text() {
    let document = read("{\n\"dsl\": \"{\\\"components\\\":{\\\"a\\\":1,\\\"a\\\":2}}\"}");
    let place = document.locate(&Pointer::component("a")).unwrap();
    assert_eq!((place.line, place.column), (2, 8));
    let duplicates = document.duplicate_keys();
    assert_eq!(duplicates.len(), 1);
    assert_eq!(duplicates[0].place, Pointer::component("a"));
    assert_eq!(duplicates[0].again, place);
}

#[test]
fn two_components_of_one_id_are_reported_with_both_lines() {
    let document = read("{\"dsl\":{\"components\":{\n\"x\":{},\n\"x\":{}}}}");
    let duplicates = document.duplicate_keys();
    assert_eq!(duplicates[0].place, Pointer::component("x"));
    assert_eq!((duplicates[0].first.line, duplicates[0].again.line), (2, 3));
}

#[test]
fn a_document_made_from_a_value_has_no_lines() {
    let value = serde_json::from_str(r#"{"title":"T","dsl":{"components":{}}}"#).unwrap();
    let document = Document::from_value(value).unwrap();
    assert_eq!(document.locate(&[]), None);
    assert_eq!(document.title(), Some(&Value::from("T")));
    assert!(document.duplicate_keys().is_empty());
}
