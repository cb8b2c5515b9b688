use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

/// Numbers of every kind, with the edges between the kinds over-represented.
pub(crate) fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::Int),
        (-3_i64..=3).prop_map(Number::Int),
        (1_u64 << 63..=u64::MAX).prop_map(Number::Big),
        any::<f64>()
            .prop_filter("finite", |n| n.is_finite())
            .prop_map(Number::Float),
        (-6_i32..=6).prop_map(|n| Number::Float(f64::from(n) / 2.0)),
        (-2_i64..=2).prop_map(|n| Number::Int((1 << 53) + n)),
        Just(Number::Float(9_007_199_254_740_992.0)),
    ]
}

/// Any JSON value, small and up to four levels deep.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any_number().prop_map(Value::Number),
        any::<String>().prop_map(Value::from),
        "[a-c0-9]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-d\"é]{0,2}", inner), 0..4).prop_map(|members| {
                let members = members.into_iter();
                Value::from(Object::from_iter(members.map(|(k, v)| (Arc::from(k), v))))
            }),
        ]
    })
}

/// A value from JSON text.
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

proptest! {
    #[test]
    fn every_value_survives_json_text(value in any_value()) {
        let text = value.to_json_text();
        prop_assert_eq!(&json(&text), &value);
        prop_assert_eq!(json(&text).to_json_text(), text, "the order of members is kept");
    }

    #[test]
    fn every_value_survives_serde_json(value in any_value()) {
        prop_assert_eq!(Value::from(value.to_json()), value);
    }

    #[test]
    fn the_text_shown_for_a_list_is_json_of_it(value in any_value()) {
        let list = Value::from(vec![value]);
        prop_assert_eq!(json(&list.to_string()), list);
    }

    #[test]
    fn a_number_is_parsed_from_the_text_it_is_written_as(number in any_number()) {
        prop_assert_eq!(Number::parse(&format!(" {number}\n")), Some(number));
    }

    #[test]
    fn the_order_is_total_and_agrees_with_sameness(a in any_value(), b in any_value(), c in any_value()) {
        prop_assert_eq!(a.order(&b), b.order(&a).reverse());
        prop_assert_eq!(a.order(&b).is_eq(), a.same(&b));
        prop_assert!(a.same(&a));
        let mut sorted = [&a, &b, &c];
        sorted.sort_by(|a, b| a.order(b));
        let [first, second, third] = sorted;
        prop_assert!(first.order(second).is_le() && second.order(third).is_le() && first.order(third).is_le());
    }

    #[test]
    fn numbers_compare_exactly_whatever_their_kind(a in any_number(), b in any_number()) {
        let rounded = a.as_f64().partial_cmp(&b.as_f64()).unwrap();
        if rounded.is_ne() {
            prop_assert_eq!(a.order(b), rounded);
        }
    }
}

#[test]
fn whole_numbers_keep_every_digit() {
    for text in [
        "9007199254740993",
        "-9007199254740993",
        "9223372036854775808",
        "18446744073709551615",
    ] {
        assert_eq!(json(text).to_json_text(), text);
        assert_eq!(json(text).to_string(), text);
    }
}

#[test]
fn one_and_one_point_nought_are_written_apart() {
    let both = json("[1, 1.0]");
    assert_eq!(both.to_json_text(), "[1,1.0]");
    assert_eq!(both.to_string(), "[1, 1.0]");
}

#[test]
fn a_number_beyond_every_whole_one_is_a_float() {
    assert_eq!(
        json("18446744073709551616"),
        Value::from(18_446_744_073_709_551_616.0)
    );
}

#[test]
fn the_last_of_two_equal_keys_wins_and_stands_where_the_first_stood() {
    assert_eq!(
        json(r#"{"a": 1, "b": 2, "a": 3}"#).to_json_text(),
        r#"{"a":3,"b":2}"#
    );
}

#[test]
fn an_object_is_shown_with_blanks_and_with_its_own_letters() {
    let value = json(r#"{"k": 1, "é": [true, null, "a\"b\\\n\u0001"]}"#);
    assert_eq!(
        value.to_string(),
        r#"{"k": 1, "é": [true, null, "a\"b\\\n\u0001"]}"#
    );
}

#[test]
fn a_text_is_shown_as_it_is_and_null_as_nothing() {
    assert_eq!(Value::from("a \"b\"\n").to_string(), "a \"b\"\n");
    assert_eq!(Value::Null.to_string(), "");
    assert_eq!(Value::from(false).to_string(), "false");
    assert_eq!(Value::empty_object().to_string(), "{}");
}

#[test]
fn floats_are_shown_the_way_python_shows_them() {
    let shown = [
        (1.0, "1.0"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-07"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (5e-324, "5e-324"),
    ];
    for (number, text) in shown {
        assert_eq!(Value::from(number).to_string(), text);
    }
}

#[test]
fn a_float_that_json_cannot_write_is_null() {
    assert_eq!(Value::from(f64::NAN), Value::Null);
    assert_eq!(Number::Float(f64::INFINITY).to_string(), "null");
}

#[test]
fn numbers_in_text_are_read_as_people_write_them() {
    assert_eq!(Number::parse("12"), Some(Number::Int(12)));
    assert_eq!(Number::parse(" -3.5 "), Some(Number::Float(-3.5)));
    assert_eq!(Number::parse("1e3"), Some(Number::Float(1000.0)));
    assert_eq!(Number::parse(".5"), Some(Number::Float(0.5)));
    for text in [
        "", " ", "five", "1 2", "0x10", "nan", "inf", "1e999", "1,5", "-",
    ] {
        assert_eq!(Number::parse(text), None, "{text:?}");
    }
}

#[test]
fn sameness_knows_numbers_but_no_other_likeness() {
    for (a, b) in [
        ("1", "1.0"),
        ("[1, {\"a\": 2.0}]", "[1.0, {\"a\": 2}]"),
        ("{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}"),
        ("0.0", "-0.0"),
    ] {
        assert!(json(a).same(&json(b)), "{a} {b}");
    }
    for (a, b) in [
        ("true", "1"),
        ("\"1\"", "1"),
        ("null", "0"),
        ("null", "\"\""),
        ("[1]", "[1, 2]"),
        ("9007199254740993", "9007199254740992.0"),
        ("{\"a\": null}", "{\"b\": null}"),
    ] {
        assert!(!json(a).same(&json(b)), "{a} {b}");
    }
}

#[test]
fn values_of_every_type_sort() {
    let sorted = json(
        r#"[null, false, true, -1, 0.5, 1, "", "Z", "a", "é", [], [1], [1, 2], [2], {}, {"a": 1}, {"a": 1, "b": 0}, {"a": 2}, {"b": 0}]"#,
    );
    let mut shuffled: Vec<Value> = sorted.as_array().unwrap().iter().rev().cloned().collect();
    shuffled.sort_by(Value::order);
    assert_eq!(Value::from(shuffled), sorted);
    assert_eq!(json("1").order(&json("1.0")), Ordering::Equal);
}

#[test]
fn a_value_nested_too_deep_is_refused_with_the_limit() {
    let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(json(&nested(MAX_DEPTH)).depth(), MAX_DEPTH);
    let refused = serde_json::from_str::<Value>(&nested(MAX_DEPTH + 1)).unwrap_err();
    assert!(
        refused.to_string().contains("deeper than 100 levels"),
        "{refused}"
    );
}

#[test]
fn depth_counts_lists_and_objects() {
    for (text, depth) in [("1", 0), ("[]", 1), ("{}", 1), ("[1, {\"a\": [2]}]", 3)] {
        assert_eq!(json(text).depth(), depth, "{text}");
    }
}

#[test]
fn floats_have_the_digits_that_python_gives_them() {
    let halves = (1_u64 << 52..1_u64 << 53, -60_i32..=12, any::<bool>());
    let halves = halves.prop_map(|(digits, exponent, negative)| {
        let n = digits as f64 * 2_f64.powi(exponent);
        if negative { -n } else { n }
    });
    let any = any::<f64>().prop_filter("finite", |n| n.is_finite());
    let few = (1_u32..1 << 20, 0_i32..=60).prop_map(|(n, by)| f64::from(n) / 2_f64.powi(by));
    let floats = prop_oneof![6 => halves, 2 => any, 1 => few];
    let mut floats = crate::testing::python::samples(20_000, &floats);
    let halfway = -(685_408_957_411_734.0 + 0.25);
    floats.push(halfway);
    let bits = floats.iter().map(|n| Value::from(n.to_bits().to_string()));
    let bits = Value::from(bits.collect::<Vec<_>>());
    let script = "import json, struct, sys\n\
        print(json.dumps([repr(struct.unpack('<d', struct.pack('<Q', int(n)))[0]) for n in json.load(sys.stdin)]))";
    let Some(theirs) = crate::testing::python::answer(script, &bits) else {
        return;
    };
    for (n, theirs) in floats.iter().zip(theirs.as_array().unwrap()) {
        let ours = Number::Float(*n);
        assert_eq!(Some(&*ours.to_string()), theirs.as_str());
        // What is sent as JSON is the same number.
        let json = Value::Number(ours).to_json_text();
        assert_eq!(serde_json::from_str::<f64>(&json).ok(), Some(*n), "{json}");
    }
    assert_eq!(Number::Float(halfway).to_string(), "-685408957411734.2");
}
