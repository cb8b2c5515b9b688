use serde_json::{Value as Json, json};

use crate::testing::{Trial, Tried};

fn assign(rows: Json) -> Trial {
    Trial::new("VariableAssigner", json!({"variables": rows}))
        .given("env.w", json!("other"))
        .given("env.num", json!(4))
        .given("env.list", json!(["p", "q"]))
        .given("env.object", json!({"k": {"d": 1}}))
}

/// One row on a variable with that value.
fn one(current: Json, operator: &str, parameter: Json) -> Tried {
    let rows = json!([{"variable": "env.v", "operator": operator, "parameter": parameter}]);
    assign(rows).given("env.v", current).run()
}

fn value(current: Json, operator: &str, parameter: Json) -> Json {
    let tried = one(current, operator, parameter);
    assert_eq!(tried.ports(), json!({}));
    let (target, value) = tried.writes().pop().unwrap();
    assert_eq!(target, 0);
    value
}

fn error(current: Json, operator: &str, parameter: Json) -> String {
    let tried = one(current, operator, parameter);
    assert_eq!(tried.writes(), [], "a failure changes nothing");
    let errors = tried.port("errors");
    assert_eq!(
        (&errors[0]["variable"], &errors[0]["operator"]),
        (&json!("env.v"), &json!(operator))
    );
    errors[0]["error"].as_str().unwrap().to_owned()
}

#[test]
fn overwrite_takes_a_reference_with_its_type_or_a_literal() {
    assert_eq!(
        value(json!(1), "overwrite", json!("env.list")),
        json!(["p", "q"])
    );
    assert_eq!(value(json!(1), "overwrite", json!("{env.num}")), json!(4));
    assert_eq!(
        value(json!(1), "overwrite", json!("<{env.w}>")),
        json!("<other>")
    );
    assert_eq!(
        value(json!("old"), "overwrite", json!("plain text")),
        json!("plain text")
    );
    assert_eq!(value(json!("old"), "overwrite", json!([1])), json!([1]));
}

#[test]
fn clear_keeps_the_type() {
    for (current, empty) in [
        (json!([1]), json!([])),
        (json!("x"), json!("")),
        (json!({"a": 1}), json!({})),
        (json!(true), json!(false)),
        (json!(5), json!(0)),
        (json!(5.5), json!(0.0)),
        (Json::Null, Json::Null),
    ] {
        assert_eq!(value(current, "clear", Json::Null), empty);
    }
}

#[test]
fn set_keeps_the_type_of_the_variable_where_it_can() {
    assert_eq!(
        value(json!("x"), "set", json!("a {env.w}")),
        json!("a other")
    );
    assert_eq!(
        value(json!("x"), "set", json!("env.object")),
        json!("{\"k\": {\"d\": 1}}")
    );
    assert_eq!(value(json!("x"), "set", json!(5)), json!("5"));
    assert_eq!(value(json!(1), "set", json!(7)), json!(7));
    assert_eq!(value(json!(1), "set", json!("7")), json!(7));
    assert_eq!(value(json!(1), "set", json!("seven")), json!("seven"));
    assert_eq!(value(json!(false), "set", json!(true)), json!(true));
    assert_eq!(
        value(json!({"a": 1}), "set", json!("{\"b\": 2}")),
        json!({"b": 2})
    );
    assert_eq!(
        value(Json::Null, "set", json!("env.list")),
        json!(["p", "q"])
    );
}

#[test]
fn append_adds_one_item_and_extend_those_of_a_list() {
    assert_eq!(
        value(json!(["a"]), "append", json!("env.w")),
        json!(["a", "other"])
    );
    assert_eq!(value(Json::Null, "append", json!("env.num")), json!([4]));
    assert_eq!(value(json!([1]), "append", json!(2.5)), json!([1, 2.5]));
    assert_eq!(
        value(json!(["a"]), "extend", json!("env.list")),
        json!(["a", "p", "q"])
    );
    assert_eq!(value(json!([]), "extend", json!([1, 2])), json!([1, 2]));
    assert_eq!(
        error(json!("text"), "append", json!(1)),
        "env.v stays as it is: it is no list but of type string."
    );
    assert_eq!(
        error(json!([1]), "append", json!(true)),
        "env.v stays as it is: its items are of type number, and the new one is of type boolean."
    );
    assert_eq!(
        error(json!([]), "extend", json!("env.w")),
        "env.v stays as it is: the parameter is no list but of type string."
    );
    assert!(error(json!([1]), "extend", json!([2, "x"])).contains("the new one is of type string"));
}

#[test]
fn items_are_removed_at_either_end() {
    assert_eq!(
        value(json!(["a", "b"]), "remove_first", Json::Null),
        json!(["b"])
    );
    assert_eq!(
        value(json!(["a", "b"]), "remove_last", Json::Null),
        json!(["a"])
    );
    assert_eq!(value(json!([]), "remove_first", Json::Null), json!([]));
    assert_eq!(value(json!([]), "remove_last", Json::Null), json!([]));
    assert!(error(json!(1), "remove_last", Json::Null).contains("no list"));
}

#[test]
fn whole_numbers_stay_whole_but_for_division() {
    assert_eq!(value(json!(5), "+=", json!(2)), json!(7));
    assert_eq!(value(json!(5), "-=", json!(2)), json!(3));
    assert_eq!(value(json!(5), "*=", json!(3)), json!(15));
    assert_eq!(value(json!(4), "/=", json!(2)), json!(2.0));
    assert_eq!(value(json!(5), "+=", json!(0.5)), json!(5.5));
    assert_eq!(value(json!(5), "+=", json!("env.num")), json!(9));
    assert_eq!(value(json!(5), "+=", json!("2")), json!(7));
    assert_eq!(
        value(json!(i64::MAX), "+=", json!(1)),
        json!(i64::MAX as u64 + 1)
    );
    assert_eq!(
        value(json!(i64::MAX), "*=", json!(4)),
        json!(i64::MAX as f64 * 4.0)
    );
}

#[test]
fn what_cannot_be_computed_is_an_error() {
    assert!(error(json!(true), "+=", json!(1)).contains("it is no number but of type boolean"));
    assert!(
        error(json!(1), "+=", json!(true))
            .contains("the parameter is no number but of type boolean")
    );
    assert!(error(json!(1), "-=", json!("env.w")).contains("the parameter is no number"));
    assert!(error(json!(1), "/=", json!(0)).contains("divided by zero"));
    assert!(error(json!(1e308), "*=", json!(1e308)).contains("too large"));
    assert!(error(Json::Null, "+=", json!(1)).contains("of type null"));
    assert!(error(json!(1), "pow", json!(2)).contains("there is no operator \"pow\""));
    assert!(error(json!(1), "set", Json::Null).contains("the parameter is not set"));
}

#[test]
fn a_row_sees_what_the_rows_before_it_did() {
    let rows = json!([
        {"variable": "env.v", "operator": "overwrite", "parameter": "env.list"},
        {"variable": "env.v", "operator": "append", "parameter": "env.w"},
        {"variable": "env.copy", "operator": "overwrite", "parameter": "{env.v}"},
        {"variable": "env.num", "operator": "+=", "parameter": 1},
        {"variable": "env.text", "operator": "set", "parameter": "n={env.num}"},
    ]);
    let trial = assign(rows)
        .given("env.v", json!([]))
        .given("env.copy", Json::Null);
    let tried = trial.given("env.text", json!("")).run();
    let list = json!(["p", "q", "other"]);
    let expected = [
        (0, json!(["p", "q"])),
        (1, list.clone()),
        (2, list),
        (3, json!(5)),
        (4, json!("n=5")),
    ];
    assert_eq!(tried.writes(), expected);
}

#[test]
fn a_row_sees_assignments_to_parts_and_to_the_whole() {
    let rows = json!([
        {"variable": "env.object.k.d", "operator": "+=", "parameter": 1},
        {"variable": "env.copy", "operator": "overwrite", "parameter": "env.object"},
        {"variable": "env.object", "operator": "overwrite", "parameter": {"k": {"d": 7}}},
        {"variable": "env.object.k.d", "operator": "+=", "parameter": 1},
    ]);
    let tried = assign(rows).given("env.copy", Json::Null).run();
    let expected = [
        (0, json!(2)),
        (1, json!({"k": {"d": 2}})),
        (2, json!({"k": {"d": 7}})),
        (3, json!(8)),
    ];
    assert_eq!(tried.writes(), expected);
}

#[test]
fn a_row_without_a_name_is_ignored_and_a_bad_one_holds_up_no_other() {
    let rows = json!([
        {"variable": "", "operator": "set", "parameter": 1},
        {"variable": "env.w", "operator": "/=", "parameter": 1},
        {"variable": "env.num", "operator": "+=", "parameter": 1},
    ]);
    let tried = assign(rows).run();
    assert_eq!(tried.writes(), [(1, json!(5))]);
    assert_eq!(tried.port("errors").as_array().unwrap().len(), 1);
}

#[test]
fn changes_that_are_no_list_are_an_error() {
    let tried = Trial::new("VariableAssigner", json!({"variables": {"a": 1}})).run();
    assert_eq!(&*tried.fault().code, "bad_parameter");
}
