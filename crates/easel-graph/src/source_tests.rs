use std::time::{Duration, Instant};

use easel_core::Value;
use serde_json::json;

use super::*;
use crate::place::Step;

fn yaml(text: &str) -> Source {
    Source::read(text.as_bytes(), Format::Yaml, Limits::default()).unwrap()
}

fn refused(text: &str) -> ReadError {
    Source::read(text.as_bytes(), Format::Yaml, Limits::default()).unwrap_err()
}

fn value(text: &str) -> serde_json::Value {
    yaml(text).root().to_value().to_json()
}

/// The text at a place, as the file has it.
fn at<'a>(source: &'a Source, steps: &[Step]) -> (usize, usize, &'a str) {
    let at = source.root().find(steps).unwrap().at;
    let text = &source.text()[at.offset..at.offset + at.len];
    (at.line, at.column, text)
}

fn key(name: &str) -> Step {
    Step::Key(name.into())
}

#[test]
fn every_value_knows_its_line_column_and_text() {
    let text = "# a graph\nname: \"Zoë's\"\nnodes:\n  - id: a\n    tool_args: {n: 5, l: [x, 'y z']}\n    instructions: |\n      Write\n      it.\n  - id: b\n";
    let source = yaml(text);
    assert_eq!(at(&source, &[key("name")]), (2, 7, "\"Zoë's\""));
    let node = [key("nodes"), Step::Index(0)];
    assert_eq!(
        at(
            &source,
            &[&node[..], &[key("tool_args"), key("n")]].concat()
        ),
        (5, 20, "5")
    );
    assert_eq!(
        at(
            &source,
            &[&node[..], &[key("tool_args"), key("l")]].concat()
        ),
        (5, 26, "[x, 'y z']")
    );
    let (line, _, prompt) = at(&source, &[&node[..], &[key("instructions")]].concat());
    // A text that spans lines stands where its first line does, behind the `|`.
    assert_eq!((line, prompt.trim_end()), (7, "Write\n      it."));
    let (line, column, first) = at(&source, &node);
    assert_eq!((line, column), (4, 5));
    assert!(
        first.starts_with("id: a") && first.trim_end().ends_with("it."),
        "{first:?}"
    );
}

#[test]
fn json_is_read_by_its_own_rules_with_lines() {
    let text = "{\"name\": \"g\",\n  \"é\": [1, 2.0, \"\\ud83d\\ude00\", yes]}";
    let error = Source::read(text.as_bytes(), Format::Json, Limits::default()).unwrap_err();
    assert_eq!(error.position().map(|at| at.line), Some(2), "{error}");
    let source = Source::read(
        text.replace("yes", "true").as_bytes(),
        Format::Json,
        Limits::default(),
    )
    .unwrap();
    assert_eq!(
        source.root().to_value().to_json(),
        json!({"name": "g", "é": [1, 2.0, "😀", true]})
    );
    assert_eq!(at(&source, &[key("é"), Step::Index(1)]), (2, 12, "2.0"));
    assert_eq!(Format::of_path(Path::new("a/graph.YML")), Format::Yaml);
    assert_eq!(Format::of_path(Path::new("graph")), Format::Json);
}

#[test]
fn an_empty_file_is_an_empty_mapping() {
    for text in ["", "  \n", "# only a comment\n", "---\n", "~", "\u{feff}"] {
        assert_eq!(value(text), json!({}), "{text:?}");
    }
    let json = Source::read(b" \n", Format::Json, Limits::default()).unwrap();
    assert_eq!(json.root().to_value(), Value::empty_object());
}

#[test]
fn words_dates_and_numbers_keep_the_old_loaders_meaning() {
    let text =
        "on: 1\na: yes\nb: 010\nc: 2024-05-01\nd: 1.10\ne: 'yes'\nf: !!str 5\ng: !!int '7'\n";
    assert_eq!(
        value(text),
        json!({"true": 1, "a": true, "b": 8, "c": "2024-05-01", "d": 1.1, "e": "yes", "f": "5", "g": 7})
    );
}

#[test]
fn a_key_that_stands_twice_has_the_last_value_and_both_lines() {
    let source = yaml("a: 1\nb: {x: 1, y: 2, x: 3}\na: 2\n");
    assert_eq!(
        source.root().to_value().to_json(),
        json!({"a": 2, "b": {"x": 3, "y": 2}})
    );
    let seen: Vec<_> = source
        .duplicate_keys()
        .iter()
        .map(|d| (d.place.to_string(), d.first.line, d.again.line))
        .collect();
    assert_eq!(seen, [("b.x".to_owned(), 2, 2), ("a".to_owned(), 1, 3)]);
    let json = Source::read(
        b"{\"a\": [{\"b\": 1, \"b\": 2}]}",
        Format::Json,
        Limits::default(),
    )
    .unwrap();
    assert_eq!(json.duplicate_keys()[0].place.to_string(), "a[0].b");
}

#[test]
fn merge_keys_take_in_mappings_and_own_members_win() {
    let text = "base: &base {x: 1, y: 1}\nmore: &more {y: 2, z: 2}\none: {<<: *base, x: 9}\nmany:\n  <<: [*base, *more]\n  w: 3\n";
    let read = value(text);
    assert_eq!(read["one"], json!({"x": 9, "y": 1}));
    assert_eq!(read["many"], json!({"x": 1, "y": 1, "z": 2, "w": 3}));
    assert!(yaml(text).duplicate_keys().is_empty());
    assert!(matches!(refused("a: {<<: 5}"), ReadError::Merge { .. }));
    assert_eq!(
        value("a: {'<<': 5}"),
        json!({"a": {"<<": 5}}),
        "in quotes it is a name"
    );
}

#[test]
fn aliases_that_multiply_are_refused_at_once() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let list = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    let started = Instant::now();
    let error = refused(&bomb);
    assert!(
        matches!(error, ReadError::TooMany { limit: 200_000, .. }),
        "{error}"
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_alias_inside_what_it_names_is_refused() {
    assert!(matches!(refused("a: &a [1, *a]"), ReadError::Alias { .. }));
    assert!(refused("a: *nothing").position().is_some());
}

#[test]
fn nesting_has_a_limit_that_aliases_do_not_escape() {
    let nested = |levels: usize| format!("a: {}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Source::read(nested(99).as_bytes(), Format::Yaml, Limits::default()).is_ok());
    assert!(matches!(
        refused(&nested(100)),
        ReadError::TooDeep { limit: 100, .. }
    ));
    let block: String = (0..120)
        .map(|level| format!("{}a:\n", " ".repeat(level)))
        .collect();
    assert!(matches!(refused(&block), ReadError::TooDeep { .. }));
    let through_alias = format!(
        "a: &a {}{}\nb: {}*a{}",
        "[".repeat(60),
        "]".repeat(60),
        "[".repeat(60),
        "]".repeat(60)
    );
    assert!(matches!(refused(&through_alias), ReadError::TooDeep { .. }));
    let json = "[".repeat(5_000);
    let error = Source::read(json.as_bytes(), Format::Json, Limits::default()).unwrap_err();
    assert!(matches!(error, ReadError::TooDeep { .. }));
}

#[test]
fn size_and_number_of_values_have_limits() {
    let limits = Limits {
        bytes: 10,
        ..Limits::default()
    };
    let error = Source::read(b"name: something", Format::Yaml, limits).unwrap_err();
    assert_eq!(
        error,
        ReadError::TooLarge {
            bytes: 15,
            limit: 10
        }
    );
    let large = vec![b' '; 50_000_000];
    let started = Instant::now();
    assert!(matches!(
        Source::read(&large, Format::Yaml, Limits::default()),
        Err(ReadError::TooLarge { .. })
    ));
    assert!(started.elapsed() < Duration::from_secs(1));
    let limits = Limits {
        values: 5,
        ..Limits::default()
    };
    for (text, format) in [
        ("a: [1, 2, 3]", Format::Yaml),
        ("[1, 2, 3, 4, 5]", Format::Json),
    ] {
        let error = Source::read(text.as_bytes(), format, limits).unwrap_err();
        assert!(
            matches!(error, ReadError::TooMany { limit: 5, .. }),
            "{text}"
        );
    }
}

#[test]
fn tabs_braces_and_colons_come_with_what_to_do() {
    let hint = |text: &str| match refused(text) {
        ReadError::Syntax { hint, at, .. } => (hint.unwrap_or_default(), at.line),
        other => panic!("{other}"),
    };
    let (tabs, line) = hint("name: g\nnodes:\n\t- id: a\n");
    assert_eq!(
        (tabs, line),
        ("Indent with spaces: YAML allows no tabs there", 3)
    );
    assert!(
        hint("a: 1\ninstructions: {topic} summary\n")
            .0
            .contains("in quotes: \"{topic} …\"")
    );
    assert!(hint("instructions: Write: it\n").0.contains("colon"));
    assert!(hint("instructions: %d items\n").0.contains("sign"));
}

#[test]
fn what_no_graph_can_hold_is_refused_with_its_place() {
    assert!(
        matches!(refused("--- {a: 1}\n--- {b: 2}\n"), ReadError::SeveralDocuments { at } if at.line == 2)
    );
    assert!(matches!(
        refused("a: !!python/object:os.system {}"),
        ReadError::Tag { .. }
    ));
    assert!(matches!(refused("a: !secret x"), ReadError::Tag { .. }));
    assert!(matches!(refused("? [a, b]\n: 1\n"), ReadError::Key { .. }));
    assert!(matches!(refused("{a: 1}: 2\n"), ReadError::Key { .. }));
    let error = Source::read(b"name: \xff\n", Format::Yaml, Limits::default()).unwrap_err();
    assert!(matches!(error, ReadError::NotUtf8 { at } if (at.line, at.column) == (1, 7)));
}

#[test]
fn a_long_file_is_read_in_time_that_grows_with_it() {
    let mut rows = vec![
        "a: x\n".repeat(100_000),
        format!(
            "{{{}}}",
            (0..60_000)
                .map(|n| format!("\"k{n}\": [1, 2]"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        format!("a: \"{}\"", "x ".repeat(1_000_000)),
        "? ".repeat(5_000),
        "- ".repeat(5_000),
        "&a ".repeat(5_000),
        "a: &b\n".repeat(5_000),
        "!".repeat(200_000),
        format!("a: {}", "{".repeat(5_000)),
        format!("a: |\n{}", "  \n".repeat(300_000)),
        "# comment\n".repeat(300_000),
        "[a: ".repeat(5_000),
    ];
    rows.push(rows.concat());
    for text in rows {
        for format in [Format::Yaml, Format::Json] {
            let started = Instant::now();
            let _ = Source::read(text.as_bytes(), format, Limits::default());
            let took = started.elapsed();
            let start: String = text.chars().take(12).collect();
            assert!(
                took < Duration::from_secs(10),
                "{start:?} as {format:?} took {took:?}"
            );
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in "[ -~\\n\\t{}\\[\\]:,&*!|>'\"%@#?<-]{0,80}") {
        for format in [Format::Yaml, Format::Json] {
            let at = match Source::read(text.as_bytes(), format, Limits::default()) {
                Ok(source) => source.root().at,
                Err(error) => error.position().unwrap(),
            };
            proptest::prop_assert!(text.get(at.offset..at.end()).is_some(), "{at:?}");
        }
    }

    #[test]
    fn what_json_says_is_what_is_read(text in "\\PC{0,12}", n in proptest::prelude::any::<i64>(), f in -1e9..1e9_f64) {
        let value = json!({"text": text, "list": [n, f, null, true, {"k": text}]});
        let source = Source::read(value.to_string().as_bytes(), Format::Json, Limits::default()).unwrap();
        proptest::prop_assert_eq!(source.root().to_value().to_json(), value);
    }
}
