//! What people do with sidecars and modules; each in both interpreters where both can.

use std::time::{Duration, Instant};

use crate::support::{
    call, object, raised, session, settings, sidecar, sidecar_in_cpython, with_cpython,
};
use easel_sandbox::{Entry, PlanError, Runtime, SandboxError, Session};

/// The same sidecar in both interpreters, with the name of each.
fn both(text: &str) -> [(Runtime, Session); 2] {
    [
        (Runtime::Monty, sidecar(text)),
        (Runtime::CPython, sidecar_in_cpython(text)),
    ]
}

#[tokio::test]
async fn a_function_gets_everything_by_name_and_returns_data() {
    let text = "def shape(topic, **rest):\n    print('seen', topic)\n    return {'topic': topic, 'rest': sorted(rest)}\n";
    for (runtime, session) in both(text) {
        let entry: Entry = "helpers:shape".parse().unwrap();
        let arguments = object(r#"{"topic": "cats", "a-b": 1, "n": 2.5}"#);
        let outcome = session.call(&entry, &arguments, None).await.unwrap();
        assert_eq!(
            outcome.value.to_json_text(),
            r#"{"topic":"cats","rest":["a-b","n"]}"#
        );
        assert_eq!(outcome.runtime, runtime);
        assert_eq!(outcome.printed, "seen cats\n");
    }
}

#[tokio::test]
async fn a_keyword_too_many_is_a_type_error_in_cpythons_words() {
    for (_, session) in both("def one(a): return a\n") {
        let error = raised(&session, "one", r#"{"a": 1, "b": 2}"#).await;
        assert_eq!(error.exception, "TypeError");
        assert_eq!(
            error.message,
            "one() got an unexpected keyword argument 'b'"
        );
        assert_eq!(error.frames, []);
    }
}

#[tokio::test]
async fn a_traceback_shows_the_users_file_and_lines_and_nothing_else() {
    let text = "\n\ndef outer(**kw):\n    return inner(kw['n'])\n\ndef inner(n):\n    raise ValueError(f'bad {n}')\n";
    for (_, session) in both(text) {
        let error = raised(&session, "outer", r#"{"n": 3}"#).await;
        assert_eq!(error.to_string(), "ValueError: bad 3 (helpers.py, line 7)");
        let lines: Vec<_> = error
            .frames
            .iter()
            .map(|f| (f.line, &*f.function))
            .collect();
        assert_eq!(lines, [(4, "outer"), (7, "inner")]);
        assert!(error.traceback.starts_with("Traceback (most recent call last):\n  File \"helpers.py\", line 4, in outer\n    return inner(kw['n'])\n"), "{}", error.traceback);
        assert!(
            error.traceback.ends_with("ValueError: bad 3"),
            "{}",
            error.traceback
        );
    }
}

#[tokio::test]
async fn a_module_is_loaded_once_a_run_and_keeps_its_globals() {
    let text =
        "print('loading')\nSEEN = []\ndef note(x):\n    SEEN.append(x)\n    return len(SEEN)\n";
    for (_, session) in both(text) {
        let entry: Entry = "note".parse().unwrap();
        let first = session
            .call(&entry, &object(r#"{"x": 1}"#), None)
            .await
            .unwrap();
        let second = session
            .call(&entry, &object(r#"{"x": 1}"#), None)
            .await
            .unwrap();
        assert_eq!(
            (first.printed.as_str(), second.printed.as_str()),
            ("loading\n", "")
        );
        assert_eq!(
            call(&session, "helpers.note", r#"{"x": 1}"#).await.unwrap(),
            "3"
        );
    }
}

#[tokio::test]
async fn runs_do_not_see_each_others_globals() {
    let text = "N = [0]\ndef bump(): N[0] += 1; return N[0]\n";
    for (runtime, _) in both(text) {
        let make = || match runtime {
            Runtime::Monty => sidecar(text),
            _ => sidecar_in_cpython(text),
        };
        let (one, other) = (make(), make());
        assert_eq!(call(&one, "bump", "{}").await.unwrap(), "1");
        assert_eq!(call(&one, "bump", "{}").await.unwrap(), "2");
        assert_eq!(call(&other, "bump", "{}").await.unwrap(), "1");
    }
}

#[tokio::test]
async fn async_functions_are_awaited() {
    let text =
        "async def later(x): return x + 1\nasync def caller(**kw): return await later(kw['x'])\n";
    for (_, session) in both(text) {
        assert_eq!(call(&session, "caller", r#"{"x": 1}"#).await.unwrap(), "2");
    }
}

#[tokio::test]
async fn tuples_become_lists_and_sets_sorted_lists() {
    let text = "def f(): return {'t': (1, (2,)), 's': {3, 1, 2}, 'm': {'b', 1, None, True and 'a', (2, 1)}, 1: 'x', None: 1.0, 2.5: True, False: 0}\n";
    for (runtime, session) in both(text) {
        let value = call(&session, "f", "{}").await.unwrap();
        let expected = r#"{"t":[1,[2]],"s":[1,2,3],"m":[null,1,"a","b",[2,1]],"1":"x","null":1.0,"2.5":true,"false":0}"#;
        assert_eq!(value, expected, "{runtime}");
    }
}

#[tokio::test]
async fn a_result_that_json_cannot_hold_is_an_error_that_names_its_type() {
    for (expression, what) in [
        ("float('nan')", "the float nan"),
        ("[float('-inf')]", "the float -inf"),
        ("b'x'", "of type bytes"),
        ("{'a': Thing()}", "of type Thing"),
        ("{(1, 2): 3}", "a dictionary with a key of type tuple"),
        ("2 ** 64", "an int beyond 64 bits"),
        ("f", "of type function"),
        ("loop()", "data that contains itself"),
        ("deep()", "data nested deeper than 100 levels"),
    ] {
        let text = format!(
            "class Thing:\n    pass\ndef loop():\n    a = []\n    a.append(a)\n    return a\ndef deep():\n    a = []\n    for _ in range(200): a = [a]\n    return a\ndef f(): return {expression}\n"
        );
        for (runtime, session) in both(&text) {
            match call(&session, "f", "{}").await {
                Err(SandboxError::Result { what: said, .. }) => assert_eq!(said, what, "{runtime}"),
                other => panic!("{runtime}: {expression}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn whole_numbers_and_texts_come_back_as_they_were() {
    let arguments = r#"{"a":[9223372036854775807,18446744073709551615,-1,1.0,0.1,1e300,"ü😀\n\u0000","",null,true]}"#;
    for (_, session) in both("def same(**kw): return kw\n") {
        let value = call(&session, "same", arguments).await.unwrap();
        assert_eq!(object(&value), object(arguments));
    }
}

#[tokio::test]
async fn until_stops_for_what_is_true_and_a_tuple_brings_a_reason() {
    let text = "\
def score(it): return it.output['score'] >= 8, 'below 8'
def listed(it): return [False]
def nothing(it): return None
def short(it): return (it.is_last,)
def empty(it): return ()
def facts(it): return (False, f'{it.index} {it.iteration} {it.max_iterations} {it.feedback} {it.vars[\"v\"]} {len(it.history)}')
def dotted(it): return it.result.draft.score > 5
async def later(it): return True, None
";
    let iteration = object(
        r#"{"index": 0, "iteration": 1, "output": {"score": 3}, "result": {"draft": {"score": 6}},
            "history": [1], "feedback": "f", "max_iterations": 5, "vars": {"v": 7}, "is_last": true}"#,
    );
    for (runtime, session) in both(text) {
        for (name, stop, reason) in [
            ("score", false, "below 8"),
            ("listed", true, ""),
            ("nothing", false, ""),
            ("short", true, ""),
            ("facts", false, "0 1 5 f 7 1"),
            ("dotted", true, ""),
            ("later", true, ""),
        ] {
            let entry = Entry::in_sidecar(name).unwrap();
            let verdict = session.until(&entry, &iteration, None).await.unwrap().value;
            assert_eq!(
                (verdict.stop, &*verdict.reason),
                (stop, reason),
                "{runtime} {name}"
            );
        }
        let empty = session
            .until(&Entry::in_sidecar("empty").unwrap(), &iteration, None)
            .await;
        assert!(
            matches!(empty, Err(SandboxError::Result { .. })),
            "{empty:?}"
        );
    }
}

#[tokio::test]
async fn a_name_that_is_not_there_lists_what_is() {
    let session = sidecar(
        "from json import dumps\nX = 1\ndef f(): pass\nclass C: pass\ndef _private(): pass\n",
    );
    let error = call(&session, "is_don", "{}").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "helpers.py has no is_don to call; it has C, dumps, f"
    );
    let error = call(&session, "nodes.x:f", "{}").await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the module \"nodes.x\", which is no file of the package,")
    );
}

#[tokio::test]
async fn a_file_that_needs_cpython_is_refused_with_line_and_reason_unless_it_is_allowed() {
    let text = "import json\nimport hashlib\ndef f(**kw): return hashlib.md5(b'a').hexdigest()\n";
    let error = call(&sidecar(text), "f", "{}").await.unwrap_err();
    assert!(matches!(
        error,
        SandboxError::Plan(PlanError::NeedsCPython { .. })
    ));
    assert_eq!(
        error.to_string(),
        "f needs CPython: helpers.py:2:8: the module \"hashlib\" is beyond the built-in interpreter; write it \
         without, or name a CPython in easel.toml (`[python] cpython = \"/usr/bin/python3\"`)"
    );
    let allowed = session(with_cpython(), &[("helpers.py", text)]);
    let outcome = allowed
        .call(&"f".parse().unwrap(), &object("{}"), None)
        .await
        .unwrap();
    assert_eq!(
        outcome.value.as_str(),
        Some("0cc175b9c0f1b6a831c399e269772661")
    );
    assert_eq!(
        outcome.why,
        "helpers.py:2:8: the module \"hashlib\" is beyond the built-in interpreter; without bubblewrap"
    );
}

#[tokio::test]
async fn the_built_in_interpreter_has_a_clock_and_neither_files_nor_environment() {
    let session = sidecar(
        "import os\nfrom datetime import datetime, date\nfrom pathlib import Path\n\
         def year(): return datetime.now().year == date.today().year and datetime.now().year > 2024\n\
         def env(): return [os.getenv('PATH'), os.getenv('PATH', 'none'), len(os.environ)]\n\
         def secret(): return Path('/etc/passwd').absolute()\n",
    );
    assert_eq!(call(&session, "year", "{}").await.unwrap(), "true");
    assert_eq!(
        call(&session, "env", "{}").await.unwrap(),
        r#"[null,"none",0]"#
    );
    let refusal = raised(&session, "secret", "{}").await;
    assert_eq!(refusal.exception, "PermissionError");
}

#[tokio::test]
async fn a_warm_call_is_quick() {
    let arguments = object(r#"{"topic": "cats", "items": [1, 2, 3]}"#);
    let entry: Entry = "same".parse().unwrap();
    for (runtime, session) in both("def same(**kw): return kw\n") {
        let start = Instant::now();
        session.call(&entry, &arguments, None).await.unwrap();
        let cold = start.elapsed();
        let start = Instant::now();
        for _ in 0..200 {
            session.call(&entry, &arguments, None).await.unwrap();
        }
        let warm = start.elapsed() / 200;
        println!("{runtime}: cold {cold:?}, warm {warm:?}");
        // A sanity bound, far above what is measured; the figures themselves are for benches.
        assert!(warm < Duration::from_millis(50), "{runtime}: {warm:?}");
    }
}

#[tokio::test]
async fn a_slow_call_keeps_to_its_own_limit_and_the_run_goes_on() {
    let text = "N = [0]\ndef bump(): N[0] += 1; return N[0]\ndef spin():\n    while True: pass\n";
    for (runtime, session) in both(text) {
        call(&session, "bump", "{}").await.unwrap();
        let limit = Duration::from_millis(300);
        let start = Instant::now();
        let error = session
            .call(&"spin".parse().unwrap(), &object("{}"), Some(limit))
            .await
            .unwrap_err();
        assert!(matches!(error, SandboxError::Time { .. }), "{error:?}");
        assert!(start.elapsed() < Duration::from_secs(5));
        // The built-in interpreter stops by itself and keeps the globals; CPython had to be ended.
        let expected = if runtime == Runtime::Monty { "2" } else { "1" };
        assert_eq!(call(&session, "bump", "{}").await.unwrap(), expected);
    }
}

#[tokio::test]
async fn settings_of_the_default_kind_have_the_stated_limits() {
    let limits = easel_sandbox::Limits::default();
    assert_eq!(limits.time, Duration::from_secs(60));
    assert_eq!(
        (limits.memory, limits.printed, limits.result),
        (256 << 20, 1 << 20, 16 << 20)
    );
    assert_eq!(
        settings().confinement,
        easel_sandbox::Confinement::default()
    );
}
