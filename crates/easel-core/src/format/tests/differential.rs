//! Random templates and formats, beside what CPython makes of them.

use super::*;
use crate::testing::python;
use crate::value::tests::any_number;
use crate::{Number, Object};

/// Formats, most of them good for something.
fn formats() -> impl Strategy<Value = String> {
    let maybe = |probability: f64, part: &'static str| {
        prop::option::weighted(probability, part).prop_map(Option::unwrap_or_default)
    };
    let flags = (
        maybe(0.3, "[*x0{é ]?[<>=^]"),
        maybe(0.2, "[-+ ]"),
        maybe(0.05, "z"),
        maybe(0.1, "#"),
        maybe(0.2, "0"),
    );
    let sizes = (
        maybe(0.6, "[1-9]|1[0-9]"),
        maybe(0.15, "[,_]"),
        maybe(0.25, "\\.[0-9]{1,2}"),
        maybe(0.6, "[bcdeEfFgGnosxX%]"),
    );
    let text = |((align, sign, z, alternate, zero), (width, grouping, precision, kind))| {
        let parts: [String; 9] = [
            align, sign, z, alternate, zero, width, grouping, precision, kind,
        ];
        parts.concat()
    };
    (flags, sizes).prop_map(text)
}

fn placeholders() -> impl Strategy<Value = String> {
    let names: Vec<String> = json(SCOPE)
        .as_object()
        .unwrap()
        .keys()
        .map(|name| name.to_string())
        .collect();
    let name = prop_oneof![6 => prop::sample::select(names), 1 => "[a-z0-9 \"'-]{0,3}"];
    let steps = prop_oneof![6 => Just(String::new()), 4 => "(\\.(title|items|k|x|sql|0|)|\\[(0|1|-1|title|k|x|)\\]){1,3}", 1 => "[.\\]x\\[]{1,3}"];
    let conversion = prop_oneof![4 => Just(String::new()), 1 => "![rsa]", 1 => "![a-z!é]?"];
    let nested = "\\{(w|ten|fill|n|nope)(!r|:>3|:\\{n\\})?\\}[0-9<]?";
    let format = prop_oneof![
        4 => Just(String::new()),
        4 => formats().prop_map(|format| format!(":{format}")),
        1 => nested.prop_map(|format| format!(":{format}")),
        1 => "[: a-z{}]{1,4}",
    ];
    (name, steps, conversion, format).prop_map(|(name, steps, conversion, format)| {
        format!("{{{name}{steps}{conversion}{format}}}")
    })
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![6 => placeholders(), 2 => "[a-zé\\n]{1,4}", 1 => "\\{\\{|\\}\\}", 1 => "[{}\\[\\]:!.]"];
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

fn task(scope: Value, texts: &[String]) -> Value {
    let texts: Vec<Value> = texts.iter().map(|text| text.as_str().into()).collect();
    Object::from_iter([
        (Arc::from("scope"), scope),
        (Arc::from("texts"), texts.into()),
    ])
    .into()
}

fn answer(rendered: Rendered) -> Value {
    let unresolved: Vec<Value> = rendered.unresolved.into_iter().map(Value::from).collect();
    Value::from(vec![rendered.text.into(), unresolved.into()])
}

#[track_caller]
fn agree(texts: &[String], ours: &[Value], theirs: &[Value]) {
    assert_eq!(ours.len(), theirs.len());
    let different: Vec<String> = texts
        .iter()
        .zip(ours.iter().zip(theirs))
        .filter(|(_, (ours, theirs))| ours != theirs)
        .map(|(text, (ours, theirs))| format!("{text:?}\n    here    {ours}\n    CPython {theirs}"))
        .collect();
    let shown = different
        .iter()
        .take(20)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        different.is_empty(),
        "{} of {} differ:\n{shown}",
        different.len(),
        texts.len()
    );
}

#[test]
fn texts_are_rendered_as_cpython_renders_each_of_their_placeholders() {
    // CPython's parser does not tell `{x:}` from `{x}`, so the reference cannot write it back.
    let texts = python::samples(
        4_000,
        &texts().prop_filter("told apart", |text| !text.contains(":}")),
    );
    let Some(theirs) = python::answer(include_str!("reference.py"), &task(json(SCOPE), &texts))
    else {
        return;
    };
    let mut whole = Vec::new();
    let (mut ours, mut expected) = (Vec::new(), Vec::new());
    for (text, theirs) in texts.into_iter().zip(theirs.as_array().unwrap()) {
        if theirs.is_null() {
            let parsed = parse(&text, Secrets::None);
            let unpaired = |finding: &Finding| finding.kind == FindingKind::UnpairedBrace;
            assert!(
                parsed.findings().iter().any(unpaired),
                "CPython refuses {text:?}"
            );
            continue;
        }
        ours.push(answer(render(&text)));
        expected.push(theirs.clone());
        whole.push(text);
    }
    assert!(
        whole.len() > 1_000,
        "only {} texts have all their braces in pairs",
        whole.len()
    );
    agree(&whole, &ours, &expected);
}

#[test]
fn values_are_formatted_as_cpython_formats_them() {
    let number = any_number().prop_filter("% does not make it infinite", |number| {
        number.as_f64().abs() < 1e300
    });
    let value = prop_oneof![
        4 => number.prop_map(Value::Number),
        3 => (-2_000_000_i64..2_000_000, 0..7).prop_map(|(n, places)| Value::Number(Number::Float(n as f64 / 10_f64.powi(places)))),
        2 => (-200_i64..2_000_000).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        2 => "[a-z€ä'\"\\\\\\n\\t 😀\u{a0}\u{200b}]{0,8}".prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json(r#"[1, "it's", {"a": null}]"#)),
    ];
    let cases = python::samples(
        6_000,
        &(
            value,
            formats(),
            prop::sample::select(vec!["", "", "!r", "!s", "!a"]),
        ),
    );
    // One name for each value, so that all are formatted in one go.
    let scope = cases
        .iter()
        .enumerate()
        .map(|(at, (value, _, _))| (Arc::from(format!("v{at}")), value.clone()));
    let scope = Value::from(Object::from_iter(scope));
    let text =
        |(at, (_, format, conversion)): (usize, &(Value, String, &str))| match format.as_str() {
            "" => format!("{{v{at}{conversion}}}"),
            format => format!("{{v{at}{conversion}:{format}}}"),
        };
    let texts: Vec<String> = cases
        .iter()
        .enumerate()
        .map(text)
        .filter(|text| !text.contains("{v") || text.matches('{').count() == 1)
        .collect();
    let Some(theirs) = python::answer(include_str!("reference.py"), &task(scope.clone(), &texts))
    else {
        return;
    };
    let ours = texts.iter().map(|text| {
        let value = |chain: &Chain| scope.get(&chain.root).cloned().unwrap_or_default();
        let template = parse(text, Secrets::None).bind(|chain| Binding::Constant(value(chain)));
        answer(template.render(&Inputs::default()))
    });
    let ours: Vec<Value> = ours.collect();
    let filled = ours
        .iter()
        .filter(|answer| answer.as_array().unwrap()[1] == Value::empty_array())
        .count();
    assert!(
        filled > texts.len() / 4,
        "only {filled} of {} are formats for their value",
        texts.len()
    );
    agree(&texts, &ours, theirs.as_array().unwrap());
}
