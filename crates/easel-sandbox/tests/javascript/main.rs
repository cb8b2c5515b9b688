//! Scripts of JavaScript as people and models write them, through real workers; and what they must not be able to do.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use easel_core::{Object, Value};
use easel_sandbox::{Outcome, Runtime, Sandbox, SandboxError, Settings, WorkerProgram};

fn sandbox() -> Sandbox {
    Sandbox::new(Settings::new(WorkerProgram {
        program: env!("CARGO_BIN_EXE_easel-sandbox-worker").into(),
        arguments: Vec::new(),
    }))
}

async fn ask(script: &str, arguments: serde_json::Value) -> Result<Outcome<Value>, SandboxError> {
    let arguments = Value::from(arguments);
    let arguments: Object = arguments.as_object().cloned().unwrap();
    let time = Some(Duration::from_secs(10));
    sandbox().javascript(script, &arguments, time).await
}

async fn value(script: &str) -> serde_json::Value {
    let done = ask(script, serde_json::json!({"n": 20, "name": "Ada"})).await;
    done.unwrap().value.to_json()
}

async fn error(script: &str) -> SandboxError {
    ask(script, serde_json::json!({})).await.unwrap_err()
}

#[tokio::test]
async fn main_is_found_however_it_is_given() {
    for script in [
        "function main(args) { return args.n + 1 }",
        "const main = ({ n }) => n + 1;",
        "async function main(args) { return args.n + 1; }\nmodule.exports = { main };",
        "exports.main = (args) => args.n + 1",
        "module.exports = async ({ n }) => n + 1",
        "export function main({ n }) { return n + 1 }",
        "export default async (args) => args.n + 1;",
        "// export is a word\nconst text = 'export it';\nfunction main(args) { return args.n + 1 } // the end",
    ] {
        assert_eq!(value(script).await, 21, "{script}");
    }
}

#[tokio::test]
async fn values_come_back_as_json() {
    let script = "function main({ name }) { return { name, list: [1, 2.5, null, true], deep: { a: { b: 'ü' } } } }";
    assert_eq!(
        value(script).await,
        serde_json::json!({"name": "Ada", "list": [1, 2.5, null, true], "deep": {"a": {"b": "ü"}}})
    );
    assert_eq!(
        value("const main = () => null").await,
        serde_json::Value::Null
    );
    let nothing = error("function main() {}").await;
    assert!(matches!(nothing, SandboxError::Result { .. }), "{nothing}");
    assert!(nothing.to_string().contains("return"), "{nothing}");
}

#[tokio::test]
async fn promises_and_timers_are_waited_for() {
    let script = "const pause = (ms) => new Promise((done) => setTimeout(done, ms));
        async function main() {
            const order = [];
            const slow = pause(30).then(() => order.push('slow'));
            const fast = pause(5).then(() => order.push('fast'));
            await Promise.all([slow, fast]);
            return order;
        }";
    assert_eq!(value(script).await, serde_json::json!(["fast", "slow"]));
    let never = error("const main = () => new Promise(() => {})").await;
    assert!(never.to_string().contains("never comes"), "{never}");
}

#[tokio::test]
async fn what_a_script_prints_is_kept_up_to_its_limit() {
    let script = "function main() { console.log('a', { b: 1 }); console.error(new Error('c').message); return 1 }";
    let done = ask(script, serde_json::json!({})).await.unwrap();
    assert_eq!(done.printed, "a {\"b\":1}\nc\n");
    assert_eq!(done.runtime, Runtime::QuickJs);
    let much = "function main() { for (let i = 0; i < 3000; i++) console.log('x'.repeat(1000)); return 1 }";
    let done = ask(much, serde_json::json!({})).await.unwrap();
    assert!(done.printed.len() < 1_100_000, "{}", done.printed.len());
    assert!(
        done.printed
            .ends_with("more bytes were printed and dropped]\n")
    );
}

#[tokio::test]
async fn a_script_that_fails_says_where() {
    let failed = error("function main() {\n  const a = null;\n  return a.b;\n}").await;
    let SandboxError::Raised { raised, .. } = failed else {
        panic!("{failed}");
    };
    assert_eq!(raised.exception, "TypeError");
    assert!(
        raised.traceback.contains("script.js:3"),
        "{}",
        raised.traceback
    );
    let thrown = error("function main() { throw 'just a text' }").await;
    assert!(thrown.to_string().contains("just a text"), "{thrown}");
    let broken = error("function main( {").await;
    assert!(broken.to_string().contains("SyntaxError"), "{broken}");
    let none = error("const helper = 1").await;
    assert!(none.to_string().contains("no function main"), "{none}");
}

#[tokio::test]
async fn packages_are_not_there_and_it_says_so() {
    for script in [
        "const axios = require('axios'); function main() { return 1 }",
        "const fs = require('fs'); module.exports = { main: () => fs.readFileSync('/etc/passwd') }",
    ] {
        let refused = error(script).await.to_string();
        assert!(refused.contains("without packages"), "{refused}");
    }
    let imported = error("import fs from 'fs';\nexport function main() { return 1 }").await;
    assert!(
        matches!(imported, SandboxError::Raised { .. }),
        "{imported}"
    );
}

#[tokio::test]
async fn nothing_of_the_host_is_in_reach() {
    for name in [
        "process",
        "Deno",
        "Bun",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "std",
        "os",
        "scriptArgs",
        "__print",
        "__next",
        "__fire",
        "__require",
        "Worker",
    ] {
        let script = format!("function main() {{ return typeof globalThis[{name:?}] }}");
        assert_eq!(value(&script).await, "undefined", "{name}");
    }
}

#[tokio::test]
async fn a_script_that_does_not_end_is_stopped() {
    for script in [
        "function main() { while (true) {} }",
        "async function main() { while (true) await null; }",
        "function main() { return new Promise((done) => setTimeout(done, 1e9)) }",
        "while (true) {}",
        "function main() { const again = () => Promise.resolve().then(again); again(); return new Promise(() => {}) }",
    ] {
        let time = Some(Duration::from_millis(300));
        let late = sandbox().javascript(script, &Object::new(), time).await;
        assert!(
            matches!(late, Err(SandboxError::Time { .. })),
            "{script}: {late:?}"
        );
    }
}

#[tokio::test]
async fn a_script_that_eats_memory_ends_alone() {
    for script in [
        "function main() { const all = []; while (true) all.push(new Array(100000).fill(7)) }",
        "function main() { let text = 'x'; while (true) text += text }",
        "function main() { return new ArrayBuffer(10 * 1024 ** 3).byteLength }",
    ] {
        let failed = error(script).await;
        let held = matches!(
            failed,
            SandboxError::Memory { .. } | SandboxError::Raised { .. } | SandboxError::Time { .. }
        );
        assert!(held, "{script}: {failed}");
    }
    let deep = error("function main() { return main() }").await;
    assert!(matches!(deep, SandboxError::Raised { .. }), "{deep}");
}

#[tokio::test]
async fn a_result_that_is_too_large_or_no_json_is_refused() {
    let large = error("function main() { return 'x'.repeat(17 * 1024 * 1024) }").await;
    assert!(matches!(large, SandboxError::TooLarge { .. }), "{large}");
    for script in [
        "function main() { const a = {}; a.a = a; return a }",
        "function main() { return 10n }",
        "function main() { let a = []; for (let i = 0; i < 100000; i++) a = [a]; return a }",
    ] {
        let refused = error(script).await;
        let refused = matches!(
            refused,
            SandboxError::Raised { .. } | SandboxError::Result { .. }
        );
        assert!(refused, "{script}");
    }
}

#[tokio::test]
async fn calls_share_nothing() {
    assert_eq!(
        value("globalThis.kept = 1; Array.prototype.map = null; function main() { return 1 }")
            .await,
        1
    );
    assert_eq!(
        value("function main() { return [typeof kept, [1].map((n) => n + 1)] }").await,
        serde_json::json!(["undefined", [2]])
    );
}
