use serde_json::json;

use super::*;

fn object(json: serde_json::Value) -> Object {
    Value::from(json).as_object().unwrap().clone()
}

fn search() -> ToolSpec {
    ToolSpec {
        name: "search".into(),
        description: "Searches.".into(),
        parameters: Value::from(json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "maxLength": 20},
                "limit": {"type": "integer", "minimum": 1},
                "deep": {"type": "boolean"},
                "domains": {"type": "array", "items": {"type": "string"}},
                "api_key": {"type": "string"},
            },
            "required": ["query", "api_key"],
            "additionalProperties": false,
        })),
        effect: EffectClass::Reads,
        credentials: vec!["api_key".into()],
    }
}

fn check(arguments: serde_json::Value) -> Result<Object, String> {
    let spec = search();
    let offered = spec.offered_parameters(&Object::new());
    ArgumentCheck::new(&spec.name, &offered)
        .unwrap()
        .check(object(arguments))
}

#[test]
fn a_model_is_never_asked_for_credentials_or_bound_arguments() {
    let bound = object(json!({"limit": 3}));
    let offered = search().offered_parameters(&bound).to_json();
    let names: Vec<&String> = offered["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["query", "deep", "domains"]);
    assert_eq!(offered["required"], json!(["query"]));
    assert_eq!(offered["additionalProperties"], json!(false));
}

#[test]
fn a_bound_argument_overrules_what_the_model_sends() {
    let arguments = with_bound(
        object(json!({"query": "x", "limit": 99})),
        &object(json!({"limit": 3})),
    );
    assert_eq!(arguments, object(json!({"query": "x", "limit": 3})));
}

#[test]
fn good_arguments_pass_unchanged_and_quoted_ones_are_read() {
    let good = json!({"query": "7", "limit": 7, "deep": true, "domains": ["a"]});
    assert_eq!(check(good.clone()), Ok(object(good.clone())));
    let quoted = json!({"query": "7", "limit": " 7 ", "deep": "Yes", "domains": "[\"a\"]"});
    assert_eq!(check(quoted), Ok(object(good)));
}

#[test]
fn null_for_an_argument_that_may_be_left_out_leaves_it_out() {
    let left = check(json!({"query": "x", "limit": null, "deep": null}));
    assert_eq!(left, Ok(object(json!({"query": "x"}))));
    assert!(check(json!({"query": null})).is_err());
}

#[test]
fn bad_arguments_are_explained_to_the_model() {
    assert_eq!(
        check(json!({})).unwrap_err(),
        "\"query\" is a required property"
    );
    assert_eq!(
        check(json!({"query": "x", "limit": 0})).unwrap_err(),
        "argument limit: 0 is less than the minimum of 1"
    );
    assert_eq!(
        check(json!({"query": "x", "domains": ["a", 1]})).unwrap_err(),
        "argument domains.1: 1 is not of type \"string\""
    );
    assert_eq!(
        check(json!({"query": "x", "limit": "many"})).unwrap_err(),
        "argument limit: this value is not of type \"integer\""
    );
    let unknown = check(json!({"query": "x", "colour": "red"})).unwrap_err();
    assert!(unknown.contains("'colour'"), "{unknown}");
    let all = check(json!({"query": "x", "domains": [1, 2, 3, 4, 5, 6, 7]})).unwrap_err();
    assert!(all.ends_with("\nand 2 more"), "{all}");
}

#[test]
fn a_long_value_is_not_quoted_back() {
    let error = check(json!({"query": "x".repeat(1000)})).unwrap_err();
    assert_eq!(
        error,
        "argument query: this value is longer than 20 characters"
    );
}

#[test]
fn a_schema_that_is_none_is_refused() {
    let error = ArgumentCheck::new("t", &Value::from(json!({"type": 5}))).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the parameter schema of t cannot be used: ")
    );
    let remote = json!({"$ref": "http://schemas.example/x.json"});
    assert!(ArgumentCheck::new("t", &Value::from(remote)).is_err());
}
