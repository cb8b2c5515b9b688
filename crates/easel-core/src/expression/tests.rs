use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::Value;
use crate::bind::Resolved;
use crate::value::tests::json;

mod differential;

/// The values that the expressions here read: spec/graph-engine §21.2.
pub(super) const INPUTS: &str = r#"{"n": 7, "s": "Report.PDF", "l": [1, 2, 3], "z": 0, "f": 2.5, "d": {"a": 1, "b": [true, null]},
    "texts": ["b", "a", "c"], "json": "{\"k\": [1, {\"x\": \"y\"}]}", "empty": ""}"#;
const NODES: &str =
    r#"{"c": {"label": "urgent", "items": 4}, "txt": "Yes.", "my-id": {"title": "T"}}"#;
const VARS: &str = r#"{"score": 8}"#;

/// Names stand for values as a graph's do: `inputs`, `nodes` and `vars` by their members, the scope bare.
pub(super) fn bound(parsed: Parsed) -> (Expression, Inputs) {
    let mut values = Vec::new();
    let expression = parsed.bind(|chain| {
        let (value, used) = match &*chain.root {
            "inputs" => (json(INPUTS), 0),
            "nodes" => match chain.steps.first() {
                Some(step) => (json(NODES).get(&step.name).cloned().unwrap_or_default(), 1),
                None => (json(NODES), 0),
            },
            "vars" => (json(VARS), 0),
            "state" => (json(&format!(r#"{{"vars": {VARS}}}"#)), 0),
            "item" => (json(r#"{"x": 1}"#), 0),
            "index" if chain.steps.is_empty() => return Binding::Constant(json("2")),
            "index" => return Binding::Constant(Value::Null),
            other => return Binding::Unknown(format!("\"{other}\" is no name here").into()),
        };
        values.push(Resolved::Value(value));
        Binding::Read {
            read: ReadId(values.len() as u32 - 1),
            used,
        }
    });
    (expression, Inputs(values.into()))
}

pub(super) fn evaluate(text: &str) -> Result<Value, EvaluationError> {
    let (expression, inputs) = bound(parse(text).unwrap_or_else(|error| panic!("{text}: {error}")));
    expression.evaluate(&inputs)
}

#[track_caller]
fn gives(table: &[(&str, &str)]) {
    for (text, value) in table {
        let outcome = evaluate(text).map(|value| value.to_json_text());
        assert_eq!(outcome.as_deref(), Ok(*value), "{text}");
    }
}

#[track_caller]
fn fails(table: &[(&str, ErrorKind, &str)]) {
    for (text, kind, part) in table {
        let error = evaluate(text).expect_err(text);
        assert_eq!(error.kind, *kind, "{text}: {error}");
        assert_eq!(text.get(error.span.clone()), Some(*part), "{text}: {error}");
    }
}

#[track_caller]
fn refuses(table: &[(&str, &str, &str)]) {
    for (text, part, message) in table {
        let error = parse(text).expect_err(text);
        assert_eq!(text.get(error.span.clone()), Some(*part), "{text}: {error}");
        assert!(error.to_string().contains(message), "{text}: {error}");
    }
}

#[test]
fn values_are_read_by_name() {
    gives(&[
        ("nodes.c.items", "4"),
        ("nodes.c['nope']", "null"),
        ("nodes['my-id'].title", "\"T\""),
        ("inputs.l[9]", "null"),
        ("inputs.l[-1]", "3"),
        ("inputs.l[inputs.z + 1]", "2"),
        ("inputs['l'][True]", "2"),
        ("inputs.l['0']", "null"),
        ("inputs.d[vars.nope]", "null"),
        ("(inputs.l + [4])[-1]", "4"),
        ("{'a': 1}.a", "1"),
        ("index == 2", "true"),
        ("item.x", "1"),
        ("state.vars.score", "8"),
        ("inputs._x", "null"),
        ("inputs.n\n", "7"),
        ("inputs.n # the number", "7"),
    ]);
}

#[test]
fn what_is_missing_reads_as_none() {
    gives(&[
        ("inputs.missing == None", "true"),
        ("inputs.missing.deeper[0].still", "null"),
        ("nodes.ghost.label == 'x'", "false"),
        ("inputs.n.x", "null"),
        ("inputs.missing is None", "true"),
        ("inputs.missing or 'd'", "\"d\""),
    ]);
}

#[test]
fn a_step_into_a_text_reads_what_it_is_as_json() {
    gives(&[
        ("inputs.json.k[0]", "1"),
        ("inputs.json.k[1].x", "\"y\""),
        ("inputs.json['k'][index - 1].x", "\"y\""),
        ("inputs.s.x", "null"),
        ("inputs.s[0]", "null"),
        ("'[1, 2]'[1]", "2"),
    ]);
}

#[test]
fn a_comparison_that_cannot_be_made_is_false() {
    gives(&[
        ("inputs.missing > 5", "false"),
        ("inputs.missing <= 5", "false"),
        ("not inputs.missing > 5", "true"),
        ("1 < 'a'", "false"),
        ("'a' < 1", "false"),
        ("1 in inputs.missing", "false"),
        ("1 not in inputs.missing", "false"),
        ("1 in 'text'", "false"),
        ("[1] in {'a': 1}", "false"),
        ("[1, 'a'] < [1, 2]", "false"),
        ("{'a': 1} < {'a': 2}", "false"),
    ]);
}

#[test]
fn comparisons_are_pythons() {
    gives(&[
        ("1 < inputs.n < 9", "true"),
        ("1 < 2 > 3", "false"),
        ("1 == True", "true"),
        ("1 == '1'", "false"),
        ("1 == 1.0", "true"),
        ("[1, {'a': True}] == [1.0, {'a': 1}]", "true"),
        ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "true"),
        ("9007199254740993 == 9007199254740992.0", "false"),
        ("not inputs.n == 7", "false"),
        ("'B' < 'a'", "true"),
        ("[1, 2] < [1, 2, 0]", "true"),
        ("2 in inputs.l", "true"),
        ("4 not in inputs.l", "true"),
        ("'a' in inputs.d", "true"),
        ("1 in inputs.d", "false"),
        ("'port' in inputs.s", "true"),
        ("inputs.s is not None", "true"),
        ("1 is True", "false"),
        ("1 is 1", "true"),
        ("1 is 1.0", "false"),
    ]);
}

#[test]
fn and_and_or_give_values_and_stop_early() {
    gives(&[
        ("inputs.z or 'd'", "\"d\""),
        ("inputs.z and 1", "0"),
        ("1 or 1/0", "1"),
        ("0 and 1/0", "0"),
        ("1 and 2 and 3", "3"),
        ("'' or 0 or []", "[]"),
        ("'yes' if inputs.n > 5 else 1/0", "\"yes\""),
        ("1 if 0 else 2 if 0 else 3", "3"),
        ("bool('false')", "true"),
    ]);
}

#[test]
fn arithmetic_is_pythons() {
    gives(&[
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("7/2", "3.5"),
        ("4/2", "2.0"),
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("2**-1", "0.5"),
        ("-7.5 // 2", "-4.0"),
        ("-7.5 % 2", "0.5"),
        ("1 - 2 - 3", "-4"),
        ("2 + 3 * 4", "14"),
        ("True + True", "2"),
        ("1_000 + 0xff", "1255"),
        ("9223372036854775807 + 1", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9007199254740993 / 1", "9007199254740992.0"),
        ("18446744073709551615 / 3", "6.148914691236517e+18"),
        ("'ab' * 2 + 'c'", "\"ababc\""),
        ("2 * [0] + [1]", "[0,0,1]"),
        ("'a' 'b'", "\"ab\""),
        ("'a' * -1", "\"\""),
    ]);
}

#[test]
fn rounding_takes_ties_to_the_even_number() {
    gives(&[
        ("round(2.5)", "2"),
        ("round(3.5)", "4"),
        ("round(-2.5)", "-2"),
        ("round(2.675, 2)", "2.67"),
        ("round(0.125, 2)", "0.12"),
        ("round(25, -1)", "20"),
        ("round(35, -1)", "40"),
        ("round(-25, -1)", "-20"),
        ("round(1250.0, -2)", "1200.0"),
        ("round(1250.5, -2)", "1300.0"),
        ("round(99.5, -2)", "100.0"),
        ("round(7, -400)", "0"),
        ("round(7.5, 400)", "7.5"),
        ("round(True)", "1"),
        ("round(2.5, None)", "2"),
    ]);
}

#[test]
fn functions_do_what_their_names_say() {
    gives(&[
        ("lower(inputs.s)", "\"report.pdf\""),
        ("lower(inputs.missing)", "\"none\""),
        ("upper(True)", "\"TRUE\""),
        ("startswith(inputs.s, 'Rep')", "true"),
        ("endswith(lower(inputs.s), '.pdf')", "true"),
        ("endswith(12.5, 5)", "true"),
        ("contains(nodes.txt, 'es')", "true"),
        ("contains(nodes.c, 'label')", "true"),
        ("contains(inputs.n, 7)", "true"),
        ("contains(inputs.missing, 'x')", "false"),
        ("contains(inputs.l, 2)", "true"),
        ("sorted({'b': 1, 'a': 2})", "[\"a\",\"b\"]"),
        ("sorted([2, True, 1.5])", "[true,1.5,2]"),
        ("sorted('ba')", "[\"a\",\"b\"]"),
        ("len('äöü')", "3"),
        ("len(inputs.d)", "2"),
        ("int(' -1_0 ')", "-10"),
        ("int(-2.7)", "-2"),
        ("float('1e3')", "1000.0"),
        ("str([1.0, None, 'x'])", "\"[1.0, None, 'x']\""),
        ("str() + 'a'", "\"a\""),
        ("abs(-3)", "3"),
        ("abs(-9223372036854775808)", "9223372036854775808"),
        ("min(3, 1, 2)", "1"),
        ("max([1, 3, 2])", "3"),
        ("max(inputs.texts)", "\"c\""),
        ("min(1, True)", "1"),
        ("sum(inputs.l)", "6"),
        ("sum(inputs.l, 0.5)", "6.5"),
        ("sum([[1], [2]], [])", "[1,2]"),
        ("any([0, '', 3])", "true"),
        ("all([])", "true"),
    ]);
}

#[test]
fn tuples_and_sets_are_lists() {
    gives(&[
        ("(1, 2)", "[1,2]"),
        ("(1,)", "[1]"),
        ("()", "[]"),
        ("(1)", "1"),
        ("{1, True, 2, 1}", "[1,2]"),
        ("'a' in {'a', 'b'}", "true"),
        ("{'k': 1, 'k': 2}", "{\"k\":2}"),
    ]);
}

#[test]
fn texts_are_written_as_in_python() {
    gives(&[
        (r#""a\n\t\\\"\x41\u00e9\101\q""#, r#""a\n\t\\\"AéA\\q""#),
        (r"r'\n\''", r#""\\n\\'""#),
        ("'''a\n'b''''c'", r#""a\n'bc""#),
        ("u'x'", "\"x\""),
    ]);
}

#[test]
fn an_error_says_of_which_kind_it_is_and_where() {
    use ErrorKind::*;
    fails(&[
        ("1/0", Arithmetic, "1/0"),
        ("2 + inputs.n % 0", Arithmetic, "inputs.n % 0"),
        ("0.0 ** -1", Arithmetic, "0.0 ** -1"),
        ("(-8) ** 0.5", Arithmetic, "-8) ** 0.5"),
        ("1e308 * 10", Arithmetic, "1e308 * 10"),
        (
            "18446744073709551615 + 1",
            Arithmetic,
            "18446744073709551615 + 1",
        ),
        ("int(1e30)", Arithmetic, "int(1e30)"),
        ("'a' + 1", Type, "'a' + 1"),
        ("-'a'", Type, "-'a'"),
        ("None * 2", Type, "None * 2"),
        ("'%d' % 3", Type, "'%d' % 3"),
        ("1 + len(inputs.missing)", Type, "len(inputs.missing)"),
        ("{1: 2}", Type, "1"),
        ("sorted([1, 'a'])", Type, "sorted([1, 'a'])"),
        ("sum('ab')", Type, "sum('ab')"),
        ("int('x')", Value, "int('x')"),
        ("int('1.5')", Value, "int('1.5')"),
        ("float('nan')", Value, "float('nan')"),
        ("min([])", Value, "min([])"),
        ("true", Unknown, "true"),
        ("1 + score", Unknown, "score"),
        ("zz > 1", Unknown, "zz"),
        ("len", Unknown, "len"),
    ]);
    assert_eq!(
        evaluate("len").unwrap_err().message,
        "\"len\" is a function; call it with what it is for: len(…)"
    );
    assert_eq!(
        evaluate("true").unwrap_err().message,
        "\"true\" is no name here; write True"
    );
}

#[test]
fn what_no_expression_may_hold_is_refused_by_its_name() {
    refuses(&[
        (
            "inputs.s.lower()",
            "inputs.s.lower(",
            "write lower(…) around",
        ),
        ("inputs.d.get('a')", "inputs.d.get(", "['name']"),
        ("nope(1)", "nope(", "\"nope\" is no function of expressions"),
        ("inputs.l[0](1)", "inputs.l[0](", "methods cannot be called"),
        ("(1)(2)", "1)(", "only functions can be called"),
        ("inputs.l[0:2]", ":", "cannot be cut out"),
        ("inputs.l[:2]", ":", "cannot be cut out"),
        ("[x for x in inputs.l]", "for", "built by a loop"),
        ("any(x for x in inputs.l)", "for", "built by a loop"),
        ("f'{1}'", "f", "cannot hold expressions"),
        ("b'x'", "b", "bytes"),
        ("lambda: 1", "lambda", "functions cannot be defined"),
        ("(x := 1)", ":=", "nothing can be assigned"),
        ("x = 1", "=", "compare with =="),
        (
            "sorted(inputs.l, reverse=True)",
            "=",
            "arguments have no names",
        ),
        ("~1", "~", "operators on bits"),
        ("1 & 2", "&", "operators on bits"),
        ("1 << 2", "<<", "operators on bits"),
        ("1 @ 2", "@", "matrices"),
        ("{**inputs.d}", "**", "unpacked"),
        ("[*inputs.l]", "*", "unpacked"),
        ("1j", "1j", "complex"),
        ("...", "...", "no value of a workflow"),
        ("await x", "await", "means nothing"),
        ("a && b", "&&", "write and"),
        ("a || b", "||", "write or"),
        ("!a", "!", "write not"),
        ("a <> b", "<>", "write !="),
        ("inputs.__class__", "__class__", "not data"),
        ("__import__('os')", "__import__", "not data"),
        ("inputs.l.0", ".0", "[0]"),
        ("", "", "blank"),
        (" \n# nothing", " \n# nothing", "blank"),
        ("1 +", "", "ends where"),
        ("(1", "", "ends where"),
        ("'abc", "'abc", "no closing quote"),
        ("007", "007", "no number"),
        ("1__0", "1__0", "no number"),
        ("18446744073709551616", "18446744073709551616", "too large"),
        ("1e999", "1e999", "no number"),
        ("12ab", "12ab", "runs into a name"),
        ("1 2", "2", "an operator"),
        ("{'a': }", "}", "expected a value"),
        ("$n", "$", "names stand bare"),
        ("x if y", "", "else"),
        ("len(1, 2)", "len(1, 2)", "takes one argument, 2 are given"),
        ("round()", "round()", "takes 1 or 2 arguments"),
        ("a not b", "b", "in"),
        ("'\\ud800'", "\\u", "no character"),
        ("ä € b", "€", "means nothing here"),
    ]);
}

#[test]
fn chains_are_the_names_with_the_steps_that_are_written_out() {
    let text = "inputs.items[0].x > nodes['my-id'].t[inputs.n] and len(index)";
    let parsed = parse(text).unwrap();
    let chains: Vec<_> = parsed
        .chains()
        .iter()
        .map(|chain| (chain.to_string(), &text[chain.span.clone()]))
        .collect();
    assert_eq!(
        chains,
        [
            ("inputs.items.0.x".to_owned(), "inputs.items[0].x"),
            ("nodes.my-id.t".to_owned(), "nodes['my-id'].t"),
            ("inputs.n".to_owned(), "inputs.n"),
            ("index".to_owned(), "index"),
        ]
    );
}

#[test]
fn a_reading_that_is_missing_or_still_arrives_is_none() {
    let expression = parse("x is None and y is None")
        .unwrap()
        .bind(|chain| Binding::Read {
            read: ReadId(u32::from(&*chain.root == "y")),
            used: 0,
        });
    assert_eq!(
        expression.reads().collect::<Vec<_>>(),
        [ReadId(0), ReadId(1)]
    );
    let inputs = Inputs(
        [
            Resolved::Missing,
            Resolved::Stream(crate::bind::Activation(1)),
        ]
        .into(),
    );
    assert_eq!(expression.truth(&inputs), Ok(true));
}

#[test]
fn no_expression_takes_more_than_its_share() {
    use ErrorKind::*;
    for (text, kind) in [
        ("'x' * 10**9", Limit),
        ("[0] * 10**9", Limit),
        ("'x' * 10**15 * 10**15", Limit),
        ("2**10**9", Limit),
        ("2**1001", Limit),
        ("2**1000", Arithmetic),
        ("2**64", Arithmetic),
        ("[[0] * 1000] * 1000", Limit),
        ("str([[[0] * 1000] * 1000] * 1000)", Limit),
        (
            "[[[0] * 1000] * 1000] * 1000 == [[[0] * 1000] * 1000] * 1000 + [1] * 0",
            Limit,
        ),
        ("['x' * 10**6] * 100", Limit),
        ("sorted([sorted([0] * 10**6)] * 10**6)", Limit),
        ("sum([[0] * 10**5] * 10**5, [])", Limit),
    ] {
        let start = Instant::now();
        assert_eq!(evaluate(text).unwrap_err().kind, kind, "{text}");
        assert!(start.elapsed().as_secs() < 20, "{text}");
    }
    assert_eq!(evaluate("1**1000").unwrap(), json("1"));
    assert_eq!(evaluate("len([0] * 10**6)").unwrap(), json("1000000"));
    assert_eq!(evaluate("'' * 10**18").unwrap(), json("\"\""));
}

#[test]
fn a_value_nested_too_deep_is_not_built() {
    let mut deep = json("1");
    for _ in 0..90 {
        deep = Value::from(vec![deep]);
    }
    let evaluate = |levels: usize| {
        let text = "[".repeat(levels) + "x" + &"]".repeat(levels);
        let expression = parse(&text)
            .unwrap()
            .bind(|_| Binding::Constant(deep.clone()));
        expression.evaluate(&Inputs::default())
    };
    assert_eq!(evaluate(10).unwrap().depth(), 100);
    assert_eq!(evaluate(11).unwrap_err().kind, ErrorKind::Limit);
}

#[test]
fn a_long_or_deeply_nested_text_is_refused_and_never_overflows_the_stack() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{'a':", "}"),
        ("not ", ""),
        ("-", ""),
        ("2**", ""),
        ("str(", ")"),
        ("x[", "]"),
        ("1 if 0 else ", ""),
    ] {
        let nested =
            |levels: usize| parse(&format!("{}x{}", open.repeat(levels), close.repeat(levels)));
        assert!(nested(MAX_NESTING - 1).is_ok(), "{open}");
        let error = nested(5_000).unwrap_err();
        assert!(
            error.message.contains("nested deeper than 64"),
            "{open}: {error}"
        );
    }
    // A long sum is no deep tree.
    let sum = "1 + ".repeat(10_000) + "1";
    assert_eq!(evaluate(&sum).unwrap(), json("10001"));
    let steps = format!("inputs{}", ".x".repeat(30_000));
    assert_eq!(evaluate(&steps).unwrap(), Value::Null);
    let error = parse(&" ".repeat(MAX_LENGTH + 1)).unwrap_err();
    assert!(error.message.contains("65536 is the most"), "{error}");
}

#[test]
fn the_deepest_expression_fits_a_small_stack() {
    let level = |inner: String| format!("(1 or 1 and not 1 < 1 + 1 * -1 ** str([{inner}]))");
    let mut text = "1".to_owned();
    while parse(&level(text.clone())).is_ok() {
        text = level(text);
    }
    let evaluated = std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || {
            let (expression, inputs) = bound(parse(&text).unwrap());
            expression.evaluate(&inputs).is_ok()
        });
    assert!(evaluated.unwrap().join().unwrap());
}

proptest! {
    #[test]
    fn reading_any_text_never_panics(text in "\\PC{0,40}") {
        let _ = parse(&text);
    }

    #[test]
    fn evaluating_what_can_be_read_never_panics(text in "([a-z0-9'\"\\[\\]().,+*/%<>=!{}: -]|inputs|\\.l|\\.n| and | not | in |len\\(|\\[0\\]|\\*\\*|1\\.5){0,14}") {
        if let Ok(parsed) = parse(&text) {
            let (expression, inputs) = bound(parsed);
            let _ = expression.evaluate(&inputs);
        }
    }
}
