use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn section(properties: Json, required: Json) -> Section {
    let section = json!({"type": "object", "properties": properties, "required": required});
    Section::read("body", Some(&Value::from(section)))
}

fn project(section: &Section, data: Json) -> Result<Json, String> {
    let data = Value::from(data);
    let kept = section.project(|name| data.get(name));
    kept.map(|kept| Value::from(kept).to_json())
        .map_err(|refusal| refusal.to_string())
}

fn typed(kind: &str, value: Json) -> Result<Json, String> {
    let section = section(json!({"f": {"type": kind}}), json!([]));
    project(&section, json!({"f": value})).map(|kept| kept["f"].clone())
}

#[test]
fn only_declared_fields_are_kept() {
    let section = section(json!({"id": {"type": "number"}, "any": {}}), json!(["id"]));
    assert_eq!(
        project(&section, json!({"id": 1, "any": "x", "more": 2})),
        Ok(json!({"id": 1, "any": "x"}))
    );
    let none = Section::read("body", None);
    assert_eq!(project(&none, json!({"id": 1})), Ok(json!({})));
}

#[test]
fn a_required_field_has_to_be_there() {
    let section = section(
        json!({"id": {"type": "number"}}),
        json!(["id", "undeclared"]),
    );
    assert_eq!(
        project(&section, json!({})),
        Err("body missing required field: id".into())
    );
    assert_eq!(
        project(&section, json!({"id": 1})),
        Err("body missing required field: undeclared".into())
    );
}

#[test]
fn an_optional_field_that_did_not_come_is_blank() {
    let kinds = json!({
        "file": {"type": "file"}, "object": {"type": "object"}, "boolean": {"type": "boolean"},
        "number": {"type": "number"}, "string": {"type": "string"}, "array": {"type": "array<string>"}, "any": {"type": "date"}
    });
    let blank = json!({
        "file": [], "object": {}, "boolean": false, "number": 0, "string": "", "array": [], "any": null
    });
    assert_eq!(project(&section(kinds, json!([])), json!({})), Ok(blank));
}

#[test]
fn text_is_cast_to_the_type_of_its_field() {
    assert_eq!(typed("number", json!("12")), Ok(json!(12)));
    assert_eq!(typed("number", json!("-12")), Ok(json!(-12)));
    assert_eq!(typed("number", json!("1.5")), Ok(json!(1.5)));
    assert_eq!(
        typed("number", json!("18446744073709551615")),
        Ok(json!(u64::MAX))
    );
    assert_eq!(
        typed("number", json!("x")),
        Err("body.f auto-cast failed: 'x' is no number".into())
    );
    for wrong in ["", "nan", "inf", "0x10", "1 2"] {
        assert!(typed("number", json!(wrong)).is_err(), "{wrong}");
    }
    for (text, value) in [("true", true), ("FALSE", false), ("1", true), ("0", false)] {
        assert_eq!(typed("boolean", json!(text)), Ok(json!(value)));
    }
    assert!(typed("boolean", json!("maybe")).is_err());
    assert_eq!(typed("object", json!("{\"a\": 1}")), Ok(json!({"a": 1})));
    assert_eq!(typed("array<number>", json!("[1, 2]")), Ok(json!([1, 2])));
    let failed = typed("object", json!("{")).unwrap_err();
    assert!(failed.starts_with("body.f auto-cast failed: "), "{failed}");
    assert_eq!(typed("string", json!("12")), Ok(json!("12")));
}

#[test]
fn a_value_of_another_type_is_refused() {
    let mismatch = |kind: &str, value: Json, found: &str| {
        let expected = format!("body.f type mismatch: expected {kind}, got {found}");
        assert_eq!(typed(kind, value), Err(expected));
    };
    mismatch("string", json!(1), "int");
    mismatch("number", json!({}), "dict");
    mismatch("boolean", json!(1.5), "float");
    mismatch("object", json!([]), "list");
    mismatch("object", json!("[]"), "list");
    mismatch("array<number>", json!("{}"), "dict");
    mismatch("array<string>", json!(["a", 1]), "int at item 1");
    mismatch("file", json!("a.txt"), "str");
    mismatch("string", json!(null), "NoneType");
    mismatch(
        "array<array<number>>",
        json!([[1], [true], ["a"]]),
        "str at item 0 at item 2",
    );
    assert_eq!(typed("number", json!(true)), Ok(json!(true)));
    assert_eq!(typed("date", json!({"y": 1})), Ok(json!({"y": 1})));
}

#[test]
fn headers_are_found_whatever_their_case() {
    let schema = json!({"headers": {"properties": {"x-Request-ID": {"type": "number"}}, "required": ["x-Request-ID"]}});
    let schema = Schema::read(Some(&Value::from(schema)));
    let mut request = Request::default();
    assert_eq!(
        schema.project(&request).unwrap_err().to_string(),
        "headers missing required field: x-Request-ID"
    );
    request
        .headers
        .insert("X-Request-Id".into(), Value::from("7"));
    let cleaned = schema.project(&request).unwrap();
    assert_eq!(cleaned.headers["x-Request-ID"], Value::from(7_i64));
    assert!(cleaned.query.is_empty() && cleaned.body.is_empty());
}

fn anything() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        "\\PC{0,12}".prop_map(|s| json!(s)),
        "[-0-9.e\\[\\]{}\"]{0,8}".prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_kept_has_its_type(
        kind in prop::sample::select(vec!["file", "string", "number", "boolean", "object", "array", "array<number>", "array<object>", "else"]),
        value in anything(),
    ) {
        if let Ok(kept) = typed(kind, value.clone()) {
            let fits = match kind {
                "file" | "array" => kept.is_array(),
                "string" => kept.is_string(),
                "number" => kept.is_number() || kept.is_boolean(),
                "boolean" => kept.is_boolean(),
                "object" => kept.is_object(),
                "array<number>" => kept.as_array().unwrap().iter().all(|n| n.is_number() || n.is_boolean()),
                "array<object>" => kept.as_array().unwrap().iter().all(Json::is_object),
                _ => true,
            };
            prop_assert!(fits, "{} {} {}", kind, value, kept);
        }
    }

    #[test]
    fn any_text_can_name_a_type(kind in "(array<){0,40}[a-z<>]{0,8}>{0,40}", value in anything()) {
        let _ = typed(&kind, value);
    }
}
