//! `easel run` with code nodes.

use serde_json::{Value, json};

use super::easel::{Desk, Done, canvas};

/// A canvas that runs a script on what the user said, and says what came of it.
fn runs(lang: &str, script: &str) -> Value {
    let params = json!({
        "lang": lang, "script": script, "arguments": {"text": "sys.query"},
        "outputs": {"result": {"type": "Object"}},
    });
    canvas(&[
        (
            "begin",
            "Begin",
            json!({"mode": "conversational"}),
            &["CodeExec:Run"],
        ),
        ("CodeExec:Run", "CodeExec", params, &["Message:Say"]),
        (
            "Message:Say",
            "Message",
            json!({"content": ["{CodeExec:Run@content}"]}),
            &[],
        ),
    ])
}

fn run(lang: &str, script: &str) -> Done {
    let desk = Desk::new();
    desk.json("code.json", &runs(lang, script));
    desk.easel(&["run", "code.json", "one two three"])
}

#[test]
fn python_and_javascript_run_where_nothing_is_set_up() {
    let python = "def main(text: str) -> dict:\n    words = text.split()\n    return {'words': len(words), 'first': words[0]}\n";
    let javascript = "async function main({ text }) {\n  const words = text.split(' ');\n  \
                      return { words: words.length, first: words[0] };\n}\nmodule.exports = { main };";
    for (lang, script) in [("python", python), ("javascript", javascript)] {
        let done = run(lang, script);
        assert_eq!(done.code, 0, "{lang}: {}", done.err);
        assert!(
            done.out.contains("\"first\": \"one\"") && done.out.contains("\"words\": 3"),
            "{lang}: {}",
            done.out
        );
    }
}

#[test]
fn a_script_that_fails_fails_its_node_with_its_own_words() {
    let python = "def main(text):\n    print('before')\n    return text.nothing_of_the_kind\n";
    let javascript =
        "function main({ text }) {\n  console.log('before');\n  return text.nothing.at_all;\n}";
    for (lang, script, place) in [
        ("python", python, "line 3"),
        ("javascript", javascript, "script.js:3"),
    ] {
        let done = run(lang, script);
        assert_ne!(done.code, 0, "{lang}: {}", done.out);
        assert!(
            done.err.contains(place) && done.err.contains("before"),
            "{lang}: {}",
            done.err
        );
    }
}

#[test]
fn python_beyond_the_built_in_interpreter_says_what_it_needs() {
    let done = run(
        "python",
        "import requests\n\ndef main(text):\n    return {}\n",
    );
    assert_ne!(done.code, 0, "{}", done.out);
    assert!(
        done.err.contains("requests") && done.err.contains("cpython = "),
        "{}",
        done.err
    );
}
