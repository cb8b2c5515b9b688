use proptest::prelude::*;

use super::*;
use crate::bind::Resolved;
use crate::value::tests::json;

mod differential;

/// The values that the templates here read: spec/graph-engine §21.1, and some more.
pub(super) const SCOPE: &str = r#"{"topic": "cats", "n": 3, "f": 1.5, "doc": {"title": "T", "items": 5}, "lst": [1, [2]],
    "none": null, "s": "a{topic}b", "with space": "ws", "w": "8.2f", "yes": true, "big": 18446744073709551615, "neg": -1234567,
    "json": "{\"k\": [10, {\"x\": \"y\"}]}", "one": 1.0, "large": 1e20, "quotes": ["x", "it's"], "umlaut": "ä\u00a0€😀",
    "tiny": -0.00001234, "nodes": {"x": {"sql": "S"}}, "inputs": {"topic": "cats"}, "zero": -0.0, "fill": "*", "ten": 10}"#;

/// Every name of the scope is a read, and the steps behind it are walked.
pub(super) fn bound(parsed: Parsed) -> (FormatString, Inputs) {
    let scope = json(SCOPE);
    let mut values = Vec::new();
    let template = parsed.bind(|chain| match scope.get(&chain.root) {
        Some(value) => {
            values.push(Resolved::Value(value.clone()));
            Binding::Read {
                read: ReadId(values.len() as u32 - 1),
                used: 0,
            }
        }
        None => Binding::Unknown("there is no such name".into()),
    });
    (template, Inputs(values.into()))
}

fn render(text: &str) -> Rendered {
    let (template, inputs) = bound(parse(text, Secrets::None));
    template.render(&inputs)
}

#[track_caller]
fn gives(table: &[(&str, &str, &[&str])]) {
    for (text, rendered, unresolved) in table {
        let outcome = render(text);
        assert_eq!(outcome.text, *rendered, "{text}");
        let names: Vec<&str> = outcome.unresolved.iter().map(|name| &**name).collect();
        assert_eq!(names, *unresolved, "{text}");
    }
}

fn findings(text: &str, secrets: Secrets<'_>) -> Vec<(FindingKind, String)> {
    let parsed = parse(text, secrets);
    let finding = |finding: &Finding| (finding.kind.clone(), text[finding.span.clone()].to_owned());
    parsed.findings().iter().map(finding).collect()
}

#[test]
fn each_placeholder_is_filled_or_stays_as_it_is_written() {
    gives(&[
        ("{topic}", "cats", &[]),
        ("{{topic}}", "{topic}", &[]),
        ("{{{topic}}}", "{cats}", &[]),
        ("a {topic} {nope} {n}", "a cats {nope} 3", &["nope"]),
        ("{}", "{}", &[""]),
        ("{0}", "{0}", &["0"]),
        ("{ topic }", "{ topic }", &[" topic "]),
        ("{with space}", "ws", &[]),
        ("{missing!r:>5}", "{missing!r:>5}", &["missing"]),
        (
            "emit {status: ok} for {topic}",
            "emit {status: ok} for cats",
            &["status"],
        ),
        (
            "{inputs.topic} {nodes.x.sql} {vars.v}",
            "cats S {vars.v}",
            &["vars.v"],
        ),
        ("no braces at all", "no braces at all", &[]),
        ("", "", &[]),
    ]);
}

#[test]
fn a_brace_without_its_partner_is_text_and_costs_only_itself() {
    gives(&[
        ("{topic", "{topic", &[]),
        ("topic}", "topic}", &[]),
        ("{topic} and {", "cats and {", &[]),
        ("{ {topic} }", "{ cats }", &[]),
        (
            "f() { return {{topic}} + {n} }",
            "f() { return {topic} + 3 }",
            &[],
        ),
        ("{topic!} {n}", "{topic!} 3", &[]),
        ("{topic!rr} {n}", "{topic!rr} 3", &[]),
        ("{a: {b: {topic}", "{a: {b: cats", &[]),
        ("{a[b} {topic}", "{a[b} cats", &[]),
    ]);
    assert_eq!(
        findings("{ {topic} }", Secrets::None),
        [
            (FindingKind::UnpairedBrace, "{".to_owned()),
            (FindingKind::UnpairedBrace, "}".to_owned())
        ]
    );
    assert_eq!(findings("{topic} {{n}} {f:{w}}", Secrets::None), []);
}

#[test]
fn paths_read_data_only() {
    gives(&[
        ("{doc[title]} {doc.title}", "T T", &[]),
        ("{doc['title']}", "{doc['title']}", &["doc['title']"]),
        ("{doc[nope]}", "{doc[nope]}", &["doc[nope]"]),
        ("{lst[0]} {lst[1][0]}", "1 2", &[]),
        (
            "{lst.0} {lst[-1]} {lst[9]}",
            "{lst.0} {lst[-1]} {lst[9]}",
            &["lst.0", "lst[-1]", "lst[9]"],
        ),
        ("{none} {none.x}", "None {none.x}", &["none.x"]),
        (
            "{topic[0]} {topic.upper} {n.real}",
            "{topic[0]} {topic.upper} {n.real}",
            &["topic[0]", "topic.upper", "n.real"],
        ),
        ("{doc.items} {doc.keys}", "5 {doc.keys}", &["doc.keys"]),
        ("{doc.__class__}", "{doc.__class__}", &["doc.__class__"]),
        ("{json.k[1].x} {json[k][0]}", "y 10", &[]),
        (
            "{doc.} {doc[]} {doc[title]x}",
            "{doc.} {doc[]} {doc[title]x}",
            &["doc.", "doc[]", "doc[title]x"],
        ),
    ]);
}

#[test]
fn values_are_written_as_python_writes_them() {
    gives(&[
        ("{s}", "a{topic}b", &[]),
        ("{lst} {doc}", "[1, [2]] {'title': 'T', 'items': 5}", &[]),
        (
            "{yes} {none} {one} {large} {quotes}",
            "True None 1.0 1e+20 ['x', \"it's\"]",
            &[],
        ),
        ("{topic!r} {topic!s} {n!r}", "'cats' cats 3", &[]),
        (
            "{umlaut!r} {umlaut!a}",
            "'ä\\xa0€😀' '\\xe4\\xa0\\u20ac\\U0001f600'",
            &[],
        ),
        ("{lst!s:>12}", "    [1, [2]]", &[]),
    ]);
}

#[test]
fn formats_are_pythons() {
    gives(&[
        ("{n:03d} {f:.2f} {topic:>6}", "003 1.50   cats", &[]),
        ("{f:{w}}", "    1.50", &[]),
        ("{f:{nope}}", "{f:{nope}}", &["nope"]),
        ("{topic:{fill}^{ten}}", "***cats***", &[]),
        (
            "{neg:,} {neg:_} {neg:015,} {big:x} {big:#_x}",
            "-1,234,567 -1_234_567 -00,001,234,567 ffffffffffffffff 0xffff_ffff_ffff_ffff",
            &[],
        ),
        (
            "{f:e} {f:.0e} {f:#.0e} {f:G} {tiny} {tiny:g} {tiny:.3}",
            "1.500000e+00 2e+00 2.e+00 1.5 -1.234e-05 -1.234e-05 -1.23e-05",
            &[],
        ),
        (
            "{f:%} {f:.0%} {n:%} {n:c} {yes:d} {yes:>5}",
            "150.000000% 150% 300.000000% \u{3} 1     1",
            &[],
        ),
        (
            "{zero} {zero:z} {zero:.1f} {zero:z.1f}",
            "-0.0 0.0 -0.0 0.0",
            &[],
        ),
        (
            "{topic:.2} {topic:*^7} {topic:08}",
            "ca *cats** cats0000",
            &[],
        ),
        (
            "{n:+} {n: d} {n:b} {n:#o} {n:=+5}",
            "+3  3 11 0o3 +   3",
            &[],
        ),
    ]);
}

#[test]
fn a_format_that_is_not_for_the_value_leaves_the_placeholder() {
    for text in [
        "{topic:zz}",
        "{topic!x}",
        "{topic:d}",
        "{topic:+}",
        "{topic:=8}",
        "{topic:,}",
        "{topic:#}",
        "{n:.2}",
        "{n:s}",
        "{f:d}",
        "{f:x}",
        "{n:,_}",
        "{n:,x}",
        "{n:+c}",
        "{neg:c}",
        "{lst:>5}",
        "{doc:5}",
        "{none:5}",
        "{n:99999}",
        "{n:99999999999999999999999}",
        "{f:.99999}",
        "{n:z}",
        "{f:.}",
        "{n:{topic}}",
        "{f:{w:{n}}}",
    ] {
        let rendered = render(text);
        assert_eq!(rendered.text, text);
        assert_eq!(rendered.unresolved.len(), 1, "{text}");
    }
    assert_eq!(render("{n:10000}").text.len(), MAX_WIDTH);
    assert_eq!(render("{topic:.99999}").text, "cats");
}

#[test]
fn json_in_a_text_is_text_unless_its_braces_are_doubled() {
    gives(&[
        (r#"{"a": 1}"#, r#"{"a": 1}"#, &["\"a\""]),
        (r#"{"k": "{topic}"}"#, r#"{"k": "{topic}"}"#, &["\"k\""]),
        (r#"{{"k": "{topic}"}}"#, r#"{"k": "cats"}"#, &[]),
    ]);
    let literal = |name: &str, text: &str| (FindingKind::Literal(name.into()), text.to_owned());
    assert_eq!(
        findings(
            r#"{"a": 1} {} {0} {x: see below} {topic} {my-id.t}"#,
            Secrets::None
        ),
        [
            literal("\"a\"", r#"{"a": 1}"#),
            literal("", "{}"),
            literal("0", "{0}"),
            literal("x", "{x: see below}"),
        ]
    );
}

#[test]
fn a_declared_secret_is_a_part_of_its_own() {
    let declared = [Arc::from("KEY"), Arc::from("topic")];
    let parts = |text: &str| {
        let (template, inputs) = bound(parse(text, Secrets::Declared(&declared)));
        template.render_parts(&inputs)
    };
    let text = |text: &str| Part::Text(text.into());
    let secret = |name: &str| Part::Secret(name.into());
    assert_eq!(
        parts("Bearer ${KEY}/{topic}"),
        (vec![text("Bearer "), secret("KEY"), text("/cats")], vec![])
    );
    assert_eq!(
        parts("${topic}"),
        (vec![secret("topic")], vec![]),
        "an input of that name is no way in"
    );
    assert_eq!(
        parts("${KEY}${KEY}"),
        (vec![secret("KEY"), secret("KEY")], vec![])
    );
    assert_eq!(
        parts("${n} ${NOPE} ${key}"),
        (vec![text("${n} ${NOPE} ${key}")], vec![])
    );
    assert_eq!(
        parts("$${KEY} $${anything {n}} $$ $x"),
        (vec![text("${KEY} ${anything {n}} $$ $x")], vec![])
    );
    assert_eq!(parts("$$${KEY} $${"), (vec![text("$${KEY} ${")], vec![]));
    assert_eq!(
        parts("${{KEY}} ${ KEY } ${K-B} ${1K}").1.len(),
        3,
        "what is no name is no secret"
    );
    assert_eq!(parts("{KEY}"), (vec![text("{KEY}")], vec!["KEY".into()]));
    assert_eq!(parts("{s}").0, vec![text("a{topic}b")]);
    let (template, inputs) = bound(parse("a ${KEY}", Secrets::Declared(&declared)));
    assert_eq!(template.render(&inputs).text, "a ${KEY}");
    assert_eq!(
        findings("${KEY} ${NOPE} {n}", Secrets::Declared(&declared)),
        [(FindingKind::Secret("NOPE".into()), "${NOPE}".to_owned())]
    );
}

#[test]
fn where_no_secret_may_stand_its_name_stays_as_it_is_written() {
    gives(&[("${topic} {topic} $${topic}", "${topic} cats ${topic}", &[])]);
    assert_eq!(
        findings("say ${topic}", Secrets::None),
        [(FindingKind::Secret("topic".into()), "${topic}".to_owned())]
    );
}

#[test]
fn a_value_that_holds_a_secrets_name_stays_a_value() {
    let declared = [Arc::from("KEY")];
    let template = parse("{answer} ${KEY}", Secrets::Declared(&declared)).bind(|_| Binding::Read {
        read: ReadId(0),
        used: 0,
    });
    let inputs = Inputs([Resolved::Value("${KEY} {x}".into())].into());
    let (parts, unresolved) = template.render_parts(&inputs);
    assert_eq!(
        parts,
        [Part::Text("${KEY} {x} ".into()), Part::Secret("KEY".into())]
    );
    assert!(unresolved.is_empty());
}

#[test]
fn the_reads_that_are_inserted_whole_are_known() {
    let template = parse(
        "{a} {b.x} {c!r} {d:>3} {e!s} {nope} {nodes.f}",
        Secrets::None,
    )
    .bind(|chain| match &*chain.root {
        "nope" => Binding::Unknown("".into()),
        "nodes" => Binding::Read {
            read: ReadId(9),
            used: 1,
        },
        root => Binding::Read {
            read: ReadId(u32::from(root.as_bytes()[0] - b'a')),
            used: 0,
        },
    });
    assert_eq!(
        template.whole().collect::<Vec<_>>(),
        [ReadId(0), ReadId(4), ReadId(9)]
    );
    assert_eq!(template.reads().count(), 6);
}

#[test]
fn what_is_missing_stays_as_it_is_written_and_null_does_not() {
    let template = parse("{a}|{b}|{c}", Secrets::None).bind(|chain| Binding::Read {
        read: ReadId(u32::from(chain.root.as_bytes()[0] - b'a')),
        used: 0,
    });
    let inputs = Inputs([Resolved::Missing, Resolved::Value(Value::Null)].into());
    let rendered = template.render(&inputs);
    assert_eq!(rendered.text, "{a}|None|{c}");
    assert_eq!(rendered.unresolved, ["a".into(), "c".into()]);
}

#[test]
fn the_format_of_an_unknown_name_is_not_asked_about() {
    let mut asked = Vec::new();
    let parsed = parse("{note: {topic}} {topic}", Secrets::None);
    let _ = parsed.bind(|chain| {
        asked.push(chain.root.to_string());
        Binding::Unknown("".into())
    });
    assert_eq!(asked, ["note", "topic"]);
}

#[test]
fn a_text_of_braces_is_read_in_time_that_grows_with_its_length() {
    for text in [
        "{a:", "{", "}", "{[", "{a[", "$${", "${a", "{a:{b:", "{a!r:", "{[{]",
    ] {
        let long = text.repeat(1_000_000 / text.len());
        let start = std::time::Instant::now();
        let parsed = parse(&long, Secrets::None);
        assert!(start.elapsed().as_secs() < 20, "{text}");
        drop(parsed);
    }
}

proptest! {
    #[test]
    fn text_without_braces_and_dollars_is_itself(text in "[^{}$]{0,20}") {
        prop_assert_eq!(render(&text).text, text);
    }

    #[test]
    fn doubled_braces_are_the_text_they_were_made_of(text in "[a-c{}]{0,20}") {
        let doubled = text.replace('{', "{{").replace('}', "}}");
        prop_assert_eq!(render(&doubled), Rendered { text, unresolved: Vec::new() });
    }

    #[test]
    fn any_text_is_a_template_and_without_names_is_written_as_it_was_read(text in "([a-z]|[{}$!:.\\[\\]\"' ]|\\$\\{K\\}){0,30}") {
        let parsed = parse(&text, Secrets::None);
        for finding in parsed.findings() {
            prop_assert!(text.get(finding.span.clone()).is_some());
        }
        let template = parsed.bind(|_| Binding::Unknown("".into()));
        let rendered = template.render(&Inputs::default());
        if !text.contains("{{") && !text.contains("}}") && !text.contains("$${") {
            prop_assert_eq!(rendered.text, text);
        }
    }

    #[test]
    fn any_value_in_any_format_is_rendered_or_stays(value in crate::value::tests::any_value(), format in "[<>=^ +#0-9,_.bcdeEfFgGnosxX%z]{0,6}") {
        let text = format!("{{v:{format}}}");
        let template = parse(&text, Secrets::None).bind(|_| Binding::Constant(value.clone()));
        let rendered = template.render(&Inputs::default());
        prop_assert_eq!(rendered.text == text, !rendered.unresolved.is_empty());
    }
}
