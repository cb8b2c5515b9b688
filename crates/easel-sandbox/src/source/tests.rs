use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Source {
    Source::read("helpers.py", text).unwrap()
}

fn needs(text: &str) -> Vec<String> {
    let shown = |need: &Need| format!("{}:{} {}", need.place.line, need.place.column, need.what);
    read(text).needs().iter().map(shown).collect()
}

#[test]
fn a_check_sees_every_parameter_without_importing() {
    let source =
        read("async def f(a, /, b, c=[1, 2], *rest, d, e='x', **kw): pass\nboom = 1 / 0\n");
    let f = source.function("f").unwrap();
    let shown: Vec<_> = f
        .parameters
        .iter()
        .map(|p| (&*p.name, p.default.as_deref(), p.kind))
        .collect();
    assert_eq!(
        shown,
        [
            ("a", None, ParameterKind::PositionalOnly),
            ("b", None, ParameterKind::Either),
            ("c", Some("[1, 2]"), ParameterKind::Either),
            ("d", None, ParameterKind::KeywordOnly),
            ("e", Some("'x'"), ParameterKind::KeywordOnly),
        ]
    );
    assert_eq!(
        (f.rest.as_deref(), f.keywords.as_deref()),
        (Some("rest"), Some("kw"))
    );
    assert!(f.is_async && !f.decorated && f.takes("anything"));
    assert_eq!(
        f.place,
        Place {
            line: 1,
            column: 11
        }
    );
}

#[test]
fn a_function_without_keywords_takes_only_its_own() {
    let source = read("def f(a, /, b): pass\n");
    let f = source.function("f").unwrap();
    assert!(f.takes("b") && !f.takes("a") && !f.takes("c"));
}

#[test]
fn the_last_definition_of_a_name_counts_and_inner_ones_do_not() {
    let source = read(
        "if x:\n    def f(a): pass\nelse:\n    def f(b): pass\ndef g():\n    def inner(): pass\n",
    );
    assert!(source.function("f").unwrap().takes("b"));
    assert!(source.function("inner").is_none());
}

#[test]
fn names_that_can_be_called_are_listed_for_messages() {
    let source = read(
        "from __future__ import annotations\nimport json\nfrom math import floor as down\ndef b(): pass\nclass A: pass\ndef _c(): pass\nX = 1\n",
    );
    assert_eq!(source.callables(), ["A", "b", "down"]);
    for name in ["json", "X", "_c", "down"] {
        assert!(source.defines(name), "{name}");
    }
    assert!(!source.defines("floor"));
    assert!(source.is_data("X"));
    assert!(!source.is_data("b") && !source.is_data("floor"));
}

#[test]
fn a_name_that_may_be_given_a_callable_is_not_taken_for_data() {
    let source =
        read("A = 1\nA = make()\nB = lambda: 1\nC, D = 1, 2\nE: int = 1\nF = 1\ndef F(): pass\n");
    for name in ["A", "B", "C", "F"] {
        assert!(!source.is_data(name), "{name}");
    }
    assert!(source.is_data("E"));
}

#[test]
fn relative_imports_are_found_at_any_depth() {
    let source = read("from . import x\ndef f():\n    from ..y.z import w as v\n");
    let shown: Vec<_> = source
        .relative_imports()
        .map(|i| (i.place.line, i.to_string()))
        .collect();
    assert_eq!(
        shown,
        [
            (1, "from . import x".into()),
            (3, "from ..y.z import w".into())
        ]
    );
}

#[test]
fn what_is_no_python_is_an_error_with_its_place() {
    for (text, expected) in [
        ("def f(:\n", "helpers.py:1:7: this is no Python: "),
        ("x = 1\n  y = 2\n", "helpers.py:2:1: this is no Python: "),
        ("ä = 'ü", "helpers.py:1:5: this is no Python: "),
        ("print 'hello'\n", "helpers.py:1:7: this is no Python: "),
    ] {
        let error = Source::read("helpers.py", text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn what_is_nested_or_chained_too_deep_is_refused_and_long_data_is_not() {
    let many = 200_000;
    for text in [
        "(".repeat(many),
        format!("x = {}", "1+".repeat(many)),
        format!("x = 1{}", "+1".repeat(many)),
        format!("x = a{}", ".b".repeat(many)),
        format!("x = a{}", "(1, 2)".repeat(many / 4)),
        format!("x = a{}", "[0]".repeat(many / 4)),
        format!("x = f'{{1{}}}'", "+1".repeat(many)),
        format!("x = (1,\n 2{})", "\n +1".repeat(many / 4)),
        format!(
            "x = {}1{}",
            "(".repeat(190),
            format!("{})", "+1".repeat(900)).repeat(190)
        ),
        format!(
            "x = {}1{}",
            "f(".repeat(90),
            format!("{})", ".a".repeat(900)).repeat(90)
        ),
        format!("x = {}1", "not ".repeat(many)),
        format!("x = {}1", "1 if 2 else ".repeat(many / 8)),
        format!("x = {}", "lambda: ".repeat(many / 8)),
        format!("x = 1{}", " and 1 or 2".repeat(many / 16)),
    ] {
        let outcome = Source::read("f.py", &text);
        let Err(SourceError::TooDeep { .. } | SourceError::Syntax { .. }) = outcome else {
            panic!("{}", &text[..40]);
        };
    }
    // As deep as it may be: reading and forgetting it needs no more stack than a thread has.
    let chain = "+1".repeat(800);
    let deepest = format!("{}1{}{chain}", "(".repeat(190), ")".repeat(190));
    assert!(read(&format!("x = {deepest}\n")).needs().is_empty());
    let data = format!("x = [{}]", "[1, -2.5, 'a' + 'b', f(3)], ".repeat(20_000));
    assert!(read(&data).needs().is_empty());
    let lines = "x = a.b.c + 1\n".repeat(20_000);
    assert!(read(&lines).needs().is_empty());
}

#[test]
fn a_file_of_more_than_a_megabyte_is_refused() {
    let text = " ".repeat(MAX_SOURCE + 1);
    let error = Source::read("f.py", &text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f.py has 1048577 bytes; at most 1048576 are read: move data out of the code"
    );
    assert!(Source::read("f.py", &text[1..]).is_ok());
}

#[test]
fn needs_are_told_with_place_and_reason() {
    assert_eq!(
        needs("import requests\nclass A(B):\n    @property\n    def x(self): yield 1\n"),
        [
            "1:8 the module \"requests\"",
            "2:7 a class that inherits",
            "4:9 a decorated method",
            "4:18 yield",
        ]
    );
}

#[test]
fn a_module_that_the_file_can_do_without_is_no_need() {
    for text in [
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n",
        "try:\n    from numpy import array\nexcept (ValueError, ModuleNotFoundError):\n    array = list\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n",
    ] {
        assert_eq!(needs(text), Vec::<String>::new());
    }
    for text in [
        "try:\n    import numpy\nexcept ValueError:\n    pass\n",
        "try:\n    pass\nexcept ImportError:\n    import numpy\n",
        "if x:\n    import numpy\n",
    ] {
        assert_eq!(needs(text).len(), 1, "{text}");
    }
}

#[test]
fn a_name_of_the_files_own_hides_a_builtin() {
    assert_eq!(needs("def vars(): pass\nvars()\n"), Vec::<String>::new());
    assert_eq!(needs("def f(open): return open(1)\n"), Vec::<String>::new());
    assert_eq!(needs("vars()\n"), ["1:1 the builtin \"vars\""]);
    assert_eq!(needs("open('x')\n"), ["1:1 a file: open()"]);
}

#[test]
fn a_result_is_read_by_attribute_only_where_never_by_key() {
    assert!(read("def f(it): return it.result.a.b\n").reads_result_by_attribute());
    for text in [
        "def f(it): return it.result['a']\n",
        "def f(it): return it.result.get('a')\n",
        "def f(it): return it.result.a or it.result['b']\n",
        "def f(it): return it.output\n",
    ] {
        assert!(!read(text).reads_result_by_attribute(), "{text}");
    }
}

proptest! {
    #[test]
    fn reading_never_fails_otherwise_than_by_an_error(text in "\\PC{0,80}") {
        let _ = Source::read("f.py", &text);
    }

    #[test]
    fn pieces_of_real_files_in_any_order_are_read_or_refused(
        cuts in proptest::collection::vec((0_usize..20_000, 0_usize..120), 1..6)
    ) {
        const FILES: &str = concat!(include_str!("monty/runs.py"), include_str!("monty/refuses.py"));
        let text: String = cuts
            .iter()
            .map(|(start, length)| {
                let start = FILES.floor_char_boundary(start % FILES.len());
                let end = FILES.floor_char_boundary((start + length).min(FILES.len()));
                &FILES[start..end]
            })
            .collect();
        let places: Vec<Place> = match Source::read("f.py", &text) {
            Ok(source) => source.needs().iter().map(|need| need.place).collect(),
            Err(SourceError::Syntax { place, .. } | SourceError::TooDeep { place, .. }) => vec![place],
            Err(SourceError::TooLarge { .. }) => Vec::new(),
        };
        for place in places {
            prop_assert!(place.line >= 1 && place.line <= text.split('\n').count());
        }
    }

    #[test]
    fn reading_python_like_text_never_fails_otherwise(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "def ", "f", "(", ")", ":", "\n", "    ", "class ", "import ", "from ", ".", "=", "lambda ", "x", ",",
                "f'{", "}'", "'", "\"\"\"", "[", "]", "{", "try", "except ", "if ", "return ", "yield ", "*", "**", "@",
            ]),
            0..40,
        )
    ) {
        let _ = Source::read("f.py", &words.concat());
    }
}

#[test]
fn a_name_that_is_no_text_everywhere_may_divide() {
    assert_eq!(
        needs("def f(n): return n % 2\nn = 'a'\n"),
        Vec::<String>::new()
    );
    assert_eq!(
        needs("n = 'a %s'\nx = n % 2\n"),
        ["2:5 formatting a text with %"]
    );
    assert_eq!(needs("for n in [1]: n % 2\n"), Vec::<String>::new());
}

#[test]
fn annotations_need_nothing_and_the_same_as_a_value_does() {
    let annotated = "from typing import Dict\ndef f(a: Dict[str, int] | None = None) -> list[int]: ...\nx: dict[str, int] = {}\n";
    assert_eq!(needs(annotated), Vec::<String>::new());
    assert_eq!(needs("Rows = list[int]\n"), ["1:8 a type alias"]);
}
