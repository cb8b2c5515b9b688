use proptest::prelude::*;

use super::*;
use crate::bind::Resolved;
use crate::value::tests::{any_value, json};

/// One test in words: a JSON value, an operator, a JSON value.
fn holds(table: Table, left: &str, operator: &str, right: &str) -> bool {
    table.test(
        &json(left),
        Operator::parse(operator).unwrap(),
        &json(right),
    )
}

fn check(table: Table, rows: &[(&str, &str, &str, bool)]) {
    for (left, operator, right, expected) in rows {
        let found = holds(table, left, operator, right);
        assert_eq!(found, *expected, "{table:?}: {left} {operator} {right}");
    }
}

/// Rows that hold for both tables.
fn check_both(rows: &[(&str, &str, &str, bool)]) {
    check(Table::Switch, rows);
    check(Table::Loop, rows);
}

#[test]
fn a_number_is_compared_with_the_number_a_text_spells() {
    check_both(&[
        ("5", "=", "\"5\"", true),
        ("5", "=", "\" 5.0 \"", true),
        ("5", "=", "5.0", true),
        ("5", "≠", "\"6\"", true),
        ("5", "≤", "\"4.9\"", false),
        ("2.5", "<", "\"2.6\"", true),
        ("3", "≥", "\"3\"", true),
        ("\"12\"", "=", "12", true),
        ("\"12\"", ">", "\"9\"", true),
        ("9007199254740993", ">", "\"9007199254740992\"", true),
    ]);
}

#[test]
fn a_number_against_a_text_that_is_none_is_false_whatever_is_asked() {
    for operator in ["=", "≠", ">", "<", "≥", "≤"] {
        for text in ["\"five\"", "\"\"", "\"nan\"", "\"1e999\""] {
            assert!(
                !holds(Table::Switch, "5", operator, text),
                "5 {operator} {text}"
            );
            assert!(
                !holds(Table::Loop, "5", operator, text),
                "5 {operator} {text}"
            );
        }
    }
}

#[test]
fn two_texts_are_equal_letter_by_letter() {
    check_both(&[
        ("\"12\"", "=", "\"12.0\"", false),
        ("\"12\"", "≠", "\"12.0\"", true),
        ("\"Hello\"", "=", "\"hello\"", false),
        ("\"a\"", "=", "\"a\"", true),
        ("\"a\"", "=", "\"a \"", false),
    ]);
}

#[test]
fn texts_that_are_no_numbers_are_ordered_by_code_point() {
    check_both(&[
        ("\"Hello World\"", ">", "\"Abc\"", true),
        ("\"a\"", ">", "\"Z\"", true),
        ("\"é\"", ">", "\"z\"", true),
        ("\"10\"", "<", "\"9a\"", true),
        ("\"a\"", "≥", "\"a\"", true),
    ]);
}

#[test]
fn booleans_accept_the_words_for_them() {
    check_both(&[
        ("true", "=", "\"true\"", true),
        ("true", "=", "\"True\"", true),
        ("true", "=", "\"1\"", true),
        ("false", "=", "\"false\"", true),
        ("false", "=", "0", true),
        ("true", "≠", "\"false\"", true),
        ("true", "≠", "\"maybe\"", false),
        ("true", "=", "\"maybe\"", false),
        ("true", "=", "\"2\"", false),
        ("true", ">", "\"0\"", false),
        ("\"true\"", "=", "true", true),
    ]);
}

#[test]
fn null_equals_null_and_differs_from_all_else() {
    check(
        Table::Switch,
        &[
            ("null", "=", "null", true),
            ("null", "≠", "\"\"", true),
            ("null", "=", "\"\"", false),
            ("null", "=", "0", false),
            ("5", "≠", "null", true),
            ("null", ">", "\"1\"", false),
            ("null", "<", "\"1\"", false),
        ],
    );
}

#[test]
fn lists_and_objects_are_equal_part_by_part_and_have_no_size() {
    check_both(&[
        ("[\"a\", 1]", "=", "[\"a\", 1.0]", true),
        ("[\"a\"]", "=", "\"['a']\"", false),
        ("[\"a\"]", "≠", "\"['a']\"", true),
        ("{\"k\": 1}", "=", "{\"k\": 1}", true),
        ("[2]", ">", "[1]", false),
        ("[2]", "≤", "\"z\"", false),
        ("{}", "≥", "{}", false),
    ]);
}

#[test]
fn switch_looks_into_texts_without_regard_to_case() {
    check(
        Table::Switch,
        &[
            ("\"Hello World\"", "contains", "\"WORLD\"", true),
            ("\"Hello World\"", "not contains", "\"world\"", false),
            ("\"Hello World\"", "start with", "\"hello\"", true),
            ("\"Hello World\"", "end with", "\"WORLD\"", true),
            ("\"Hello World\"", "contains", "\"\"", true),
            ("\"ÉTÉ\"", "start with", "\"ét\"", true),
        ],
    );
}

#[test]
fn switch_looks_into_what_is_shown_of_other_values() {
    check(
        Table::Switch,
        &[
            ("5", "contains", "\"5\"", true),
            ("[1]", "contains", "\"1\"", true),
            ("[\"ab\"]", "contains", "\"a\"", true),
            ("{\"k\": 1}", "contains", "\"\\\"k\\\": 1\"", true),
            ("true", "start with", "\"T\"", true),
            ("null", "contains", "\"\"", true),
            ("null", "contains", "\"n\"", false),
            ("null", "not contains", "\"n\"", true),
            ("\"a1\"", "end with", "1", true),
        ],
    );
}

#[test]
fn for_switch_empty_is_what_python_calls_false() {
    for value in ["null", "\"\"", "0", "0.0", "false", "[]", "{}"] {
        assert!(holds(Table::Switch, value, "empty", "\"\""), "{value}");
        assert!(!holds(Table::Switch, value, "not empty", "\"\""), "{value}");
    }
    for value in ["\" \"", "\"0\"", "5", "true", "[0]", "{\"a\": null}"] {
        assert!(!holds(Table::Switch, value, "empty", "\"x\""), "{value}");
        assert!(holds(Table::Switch, value, "not empty", "\"x\""), "{value}");
    }
}

#[test]
fn loop_minds_case_in_texts() {
    check(
        Table::Loop,
        &[
            ("\"abb\"", "contains", "\"bb\"", true),
            ("\"abb\"", "contains", "\"BB\"", false),
            ("\"abb\"", "not contains", "\"BB\"", true),
            ("\"xxa\"", "start with", "\"xx\"", true),
            ("\"xxa\"", "start with", "\"XX\"", false),
            ("\"c!!\"", "end with", "\"!!\"", true),
            ("\"a1\"", "contains", "1", true),
            ("\"null\"", "contains", "null", false),
            ("\"null\"", "not contains", "null", false),
        ],
    );
}

#[test]
fn loop_looks_for_elements_in_lists() {
    check(
        Table::Loop,
        &[
            ("[\"hello\"]", "contains", "\"hello\"", true),
            ("[\"hello\"]", "contains", "\"hell\"", false),
            ("[\"hello\"]", "contains", "\"HELLO\"", false),
            ("[\"hello\"]", "not contains", "\"hell\"", true),
            ("[1, 2]", "contains", "\"2\"", true),
            ("[[1]]", "contains", "[1.0]", true),
        ],
    );
}

#[test]
fn loop_cannot_look_into_numbers_booleans_and_objects() {
    for value in ["15", "true", "{\"5\": 5}"] {
        for operator in ["contains", "not contains", "start with", "end with"] {
            assert!(
                !holds(Table::Loop, value, operator, "\"5\""),
                "{value} {operator}"
            );
        }
    }
}

#[test]
fn loop_asks_identity_of_texts_booleans_and_lists() {
    check(
        Table::Loop,
        &[
            ("\"stop\"", "is", "\"stop\"", true),
            ("\"stop\"", "is", "\"Stop\"", false),
            ("\"go\"", "is not", "\"stop\"", true),
            ("true", "is", "true", true),
            ("true", "is", "\"true\"", true),
            ("false", "is not", "true", true),
            ("[\"a\", \"a\"]", "is", "[\"a\", \"a\"]", true),
            ("[\"a\"]", "is not", "[]", true),
            ("3", "is", "3", false),
            ("3", "is not", "4", false),
            ("{}", "is", "{}", false),
        ],
    );
    assert!(holds(Table::Switch, "3", "is", "\"3\""));
}

#[test]
fn for_loop_numbers_and_booleans_are_never_empty() {
    check(
        Table::Loop,
        &[
            ("0", "empty", "\"\"", false),
            ("0", "not empty", "\"\"", true),
            ("false", "empty", "\"\"", false),
            ("false", "not empty", "\"\"", true),
            ("\"\"", "empty", "\"\"", true),
            ("\" \"", "not empty", "\"\"", true),
            ("[]", "empty", "\"\"", true),
            ("{}", "empty", "\"\"", true),
            ("{\"k\": 0}", "not empty", "\"\"", true),
        ],
    );
}

#[test]
fn for_loop_nothing_holds_of_null_but_empty() {
    for operator in Operator::ALL {
        let held = Table::Loop.test(&Value::Null, operator, &Value::Null);
        assert_eq!(held, operator == Operator::Empty, "{operator:?}");
    }
}

#[test]
fn in_asks_a_list_a_comma_list_or_a_text() {
    check_both(&[
        ("\"a\"", "in", "[\"a\", \"b\"]", true),
        ("1", "in", "[1.0]", true),
        ("\"a\"", "in", "\"[\\\"a\\\", \\\"b\\\"]\"", true),
        ("\"b\"", "in", "\"a, b ,c\"", true),
        ("\"a b\"", "in", "\"a, b\"", false),
        ("\"a\"", "in", "\"apple, banana\"", false),
        ("\"a\"", "not in", "\"apple, banana\"", true),
        ("5", "in", "\"1, 5.0\"", true),
        ("\"app\"", "in", "\"apple\"", true),
        ("\"x\"", "in", "5", false),
        ("\"x\"", "not in", "5", false),
        ("\"x\"", "not in", "\"abc\"", true),
    ]);
    check(
        Table::Switch,
        &[
            ("\"YES\"", "in", "\"yes, no\"", true),
            ("\"YES\"", "in", "[\"yes\"]", true),
            ("\"APP\"", "in", "\"apple\"", true),
            ("null", "in", "\"abc\"", false),
            ("null", "not in", "\"a,b\"", true),
            ("null", "in", "[null]", true),
        ],
    );
    check(
        Table::Loop,
        &[
            ("\"YES\"", "in", "\"yes, no\"", false),
            ("\"APP\"", "in", "\"apple\"", false),
        ],
    );
}

#[test]
fn operators_are_read_in_every_spelling() {
    for operator in Operator::ALL {
        assert_eq!(Operator::parse(operator.as_str()), Some(operator));
        assert_eq!(
            Operator::parse(&operator.as_str().replace(' ', "_").to_uppercase()),
            Some(operator)
        );
    }
    for (text, operator) in [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<>", Operator::NotEqual),
        (">=", Operator::GreaterOrEqual),
        (" <= ", Operator::LessOrEqual),
        ("starts with", Operator::StartWith),
        ("ends_with", Operator::EndWith),
    ] {
        assert_eq!(Operator::parse(text), Some(operator));
    }
    for text in ["", "matches", "not", "=="[1..].repeat(3).as_str()] {
        assert_eq!(Operator::parse(text), None, "{text:?}");
    }
}

fn condition(all: bool, tests: &[(u32, &str, &str)]) -> Condition {
    let test = |(left, operator, right): &(u32, &str, &str)| Test {
        left: ReadId(*left),
        operator: Operator::parse(operator).unwrap(),
        right: match right.strip_prefix('#') {
            Some(read) => Operand::Read(ReadId(read.parse().unwrap())),
            None => Operand::Constant(json(right)),
        },
    };
    Condition {
        all,
        tests: tests.iter().map(test).collect(),
        table: Table::Switch,
    }
}

#[test]
fn all_tests_or_one_of_them_must_hold() {
    let inputs = Inputs([Resolved::Value(json("5")), Resolved::Value(json("\"5\""))].into());
    let tests = [(0, "=", "\"5\""), (0, ">", "\"9\"")];
    assert!(!condition(true, &tests).holds(&inputs));
    assert!(condition(false, &tests).holds(&inputs));
    assert!(condition(true, &[(0, "=", "#1")]).holds(&inputs));
    let reads: Vec<u32> = condition(true, &[(0, "=", "#1"), (0, "empty", "null")])
        .reads()
        .map(|read| read.0)
        .collect();
    assert_eq!(reads, [0, 1, 0]);
}

#[test]
fn a_condition_without_tests_never_holds() {
    assert!(!condition(true, &[]).holds(&Inputs::default()));
    assert!(!condition(false, &[]).holds(&Inputs::default()));
}

#[test]
fn what_is_missing_is_tested_as_null() {
    let inputs = Inputs([Resolved::Missing].into());
    assert!(condition(true, &[(0, "empty", "null")]).holds(&inputs));
    assert!(condition(true, &[(0, "≠", "\"\"")]).holds(&inputs));
    assert!(!condition(true, &[(0, ">", "1")]).holds(&inputs));
}

proptest! {
    #[test]
    fn an_operator_and_its_negation_never_both_hold(left in any_value(), right in any_value()) {
        for table in [Table::Switch, Table::Loop] {
            for (operator, negation) in [
                (Operator::Contains, Operator::NotContains),
                (Operator::Empty, Operator::NotEmpty),
                (Operator::Equal, Operator::NotEqual),
                (Operator::Greater, Operator::LessOrEqual),
                (Operator::Less, Operator::GreaterOrEqual),
                (Operator::In, Operator::NotIn),
                (Operator::Is, Operator::IsNot),
            ] {
                prop_assert!(!(table.test(&left, operator, &right) && table.test(&left, negation, &right)));
            }
        }
    }

    #[test]
    fn equality_does_not_depend_on_sides(left in any_value(), right in any_value()) {
        prop_assert_eq!(equal(&left, &right), equal(&right, &left));
        prop_assert_eq!(order(&left, &right), order(&right, &left).map(Ordering::reverse));
    }
}
