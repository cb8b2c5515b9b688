//! Code that means harm, or merely behaves as if it did. The host outlives all of it, and so does the run.

use std::time::{Duration, Instant};

use crate::support::{
    call, object, raised, session, settings, sidecar, sidecar_in_cpython, with_cpython,
};
use easel_sandbox::{Limits, SandboxError, Settings};

/// A line behind which a file needs CPython.
const NEEDS_CPYTHON: &str = "\nimport sys as _s; _s.path\n";

/// Small limits, so that tests are quick.
fn small(settings: Settings) -> Settings {
    Settings {
        limits: Limits {
            time: Duration::from_secs(10),
            memory: 128 << 20,
            printed: 1_000,
            result: 10_000,
            ..Limits::default()
        },
        ..settings
    }
}

#[tokio::test]
async fn endless_loops_end_at_the_time_limit() {
    for session in [
        sidecar("def f():\n    while True: pass\n"),
        sidecar("def f(): return sum(1 for a in range(10**9) for b in range(10**9))\n"),
        sidecar_in_cpython(
            "def f():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass\n",
        ),
    ] {
        let start = Instant::now();
        let limit = Duration::from_millis(400);
        let error = session
            .call(&"f".parse().unwrap(), &object("{}"), Some(limit))
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "f took longer than 0.4 s; its time limit can be raised"
        );
        assert!(
            start.elapsed() < Duration::from_secs(4),
            "{:?}",
            start.elapsed()
        );
    }
}

#[tokio::test]
async fn a_module_that_never_finishes_loading_ends_at_the_time_limit() {
    let session = sidecar("while True: pass\ndef f(): pass\n");
    let limit = Duration::from_millis(300);
    let error = session
        .call(&"f".parse().unwrap(), &object("{}"), Some(limit))
        .await
        .unwrap_err();
    assert!(matches!(error, SandboxError::Time { .. }), "{error:?}");
}

#[tokio::test]
async fn eating_memory_is_an_error_and_the_run_goes_on() {
    let text = "def ok(): return 1\ndef eat():\n    a = []\n    while True: a.append('x' * 1000 + str(len(a)))\ndef huge(): return 'x' * 10**10\n";
    let in_cpython = format!("{text}{NEEDS_CPYTHON}");
    for session in [
        session(small(settings()), &[("helpers.py", text)]),
        session(small(with_cpython()), &[("helpers.py", &in_cpython)]),
    ] {
        assert_eq!(call(&session, "ok", "{}").await.unwrap(), "1");
        for name in ["eat", "huge"] {
            let error = call(&session, name, "{}").await.unwrap_err();
            assert!(
                matches!(error, SandboxError::Memory { .. }),
                "{name}: {error:?}"
            );
        }
        assert_eq!(call(&session, "ok", "{}").await.unwrap(), "1");
    }
}

#[tokio::test]
async fn printing_without_end_keeps_the_beginning_and_says_what_is_gone() {
    let text = "def f(n):\n    for i in range(n): print('line', i, 'ü' * 50)\n    return 'done'\n";
    let in_cpython = format!("{text}{NEEDS_CPYTHON}");
    for session in [
        session(small(settings()), &[("helpers.py", text)]),
        session(small(with_cpython()), &[("helpers.py", &in_cpython)]),
    ] {
        let outcome = session
            .call(&"f".parse().unwrap(), &object(r#"{"n": 20000}"#), None)
            .await
            .unwrap();
        assert_eq!(outcome.value.as_str(), Some("done"));
        assert!(outcome.printed.starts_with("line 0 üü"));
        assert!(
            outcome
                .printed
                .ends_with("more bytes were printed and dropped]\n"),
            "{}",
            outcome.printed
        );
        assert!(outcome.printed.len() < 1_100);
    }
}

#[tokio::test]
async fn printing_a_gigabyte_costs_neither_memory_nor_the_run() {
    let text =
        "def f(n):\n    line = 'x' * 10**6\n    for i in range(n): print(line)\n    return n\n";
    let in_cpython = format!("{text}{NEEDS_CPYTHON}");
    for session in [
        session(small(settings()), &[("helpers.py", text)]),
        session(small(with_cpython()), &[("helpers.py", &in_cpython)]),
    ] {
        let entry = "f".parse().unwrap();
        let outcome = session
            .call(&entry, &object(r#"{"n": 1000}"#), None)
            .await
            .unwrap();
        assert_eq!(outcome.value.as_i64(), Some(1_000));
        let note = "x\n[1000000000 more bytes were printed and dropped]\n";
        assert!(outcome.printed.ends_with(note), "{}", outcome.printed);
    }
}

#[tokio::test]
async fn a_result_beyond_the_limit_is_refused_and_one_of_a_gigabyte_too() {
    let text = "def f(n): return 'x' * n\ndef many(n): return ['x' * 1000] * n\n";
    let in_cpython = format!("{text}{NEEDS_CPYTHON}");
    for session in [
        session(small(settings()), &[("helpers.py", text)]),
        session(small(with_cpython()), &[("helpers.py", &in_cpython)]),
    ] {
        let error = call(&session, "f", r#"{"n": 10000}"#).await.unwrap_err();
        assert!(
            matches!(
                error,
                SandboxError::TooLarge {
                    size: 10_002,
                    limit: 10_000,
                    ..
                }
            ),
            "{error:?}"
        );
        let error = call(&session, "f", r#"{"n": 1000000000}"#)
            .await
            .unwrap_err();
        assert!(matches!(error, SandboxError::Memory { .. }), "{error:?}");
        let error = call(&session, "many", r#"{"n": 1000000}"#)
            .await
            .unwrap_err();
        let refused = matches!(
            error,
            SandboxError::Memory { .. } | SandboxError::TooLarge { .. }
        );
        assert!(refused, "{error:?}");
        assert_eq!(call(&session, "f", r#"{"n": 1}"#).await.unwrap(), r#""x""#);
    }
}

#[tokio::test]
async fn an_exception_with_a_book_for_a_text_is_cut() {
    let text = "def f(n): raise ValueError('x' * n)\n";
    for session in [sidecar(text), sidecar_in_cpython(text)] {
        let error = raised(&session, "f", r#"{"n": 5000000}"#).await;
        assert_eq!(error.message, "x".repeat(10_000));
        assert!(error.traceback.len() <= 100_000);
        assert_eq!(error.frames.len(), 1);
    }
}

#[tokio::test]
async fn a_time_limit_beyond_all_bounds_is_no_limit() {
    let session = sidecar("def f(): return 1\n");
    let entry = "f".parse().unwrap();
    let outcome = session
        .call(&entry, &object("{}"), Some(Duration::MAX))
        .await;
    assert_eq!(outcome.unwrap().value.as_i64(), Some(1));
}

#[tokio::test]
async fn endless_recursion_is_an_exception() {
    let text = "def f(n=0): return f(n + 1)\ndef ok(): return 1\n";
    for session in [sidecar(text), sidecar_in_cpython(text)] {
        let error = raised(&session, "f", "{}").await;
        assert_eq!(error.exception, "RecursionError");
        assert_eq!(call(&session, "ok", "{}").await.unwrap(), "1");
    }
}

#[tokio::test]
async fn deep_data_from_json_does_not_overflow_a_worker() {
    let text = "import json\ndef f(n): return json.loads('[' * n + ']' * n)\ndef ok(): return 1\n";
    for session in [sidecar(text), sidecar_in_cpython(text)] {
        call(&session, "f", r#"{"n": 100000}"#).await.unwrap_err();
        assert_eq!(call(&session, "ok", "{}").await.unwrap(), "1");
    }
}

#[tokio::test]
async fn a_worker_that_kills_itself_is_told_of_and_replaced() {
    let session = sidecar_in_cpython(
        "import os, signal\ndef ok(): return 1\ndef kill(): os.kill(os.getpid(), signal.SIGKILL)\n\
         def leave(): os._exit(3)\ndef crash():\n    import ctypes\n    ctypes.string_at(0)\n\
         def exit(): raise SystemExit(3)\n",
    );
    for (name, how) in [
        ("kill", "signal 9"),
        ("leave", "exit code 3"),
        ("crash", "signal SEGV"),
    ] {
        let error = call(&session, name, "{}").await.unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("the worker of {name} ended: {how}")),
            "{error}"
        );
        assert_eq!(call(&session, "ok", "{}").await.unwrap(), "1");
    }
    // A plain exit is an exception like others.
    assert_eq!(raised(&session, "exit", "{}").await.exception, "SystemExit");
}

#[tokio::test]
async fn closing_and_writing_standard_output_does_not_reach_the_protocol() {
    let session = sidecar_in_cpython(
        "import os, sys\ndef close():\n    os.close(1)\n    sys.stdout.close()\n    return 1\n\
         def shout():\n    os.write(1, b'garbage' * 1000)\n    sys.__stdout__.write('more')\n    sys.__stdout__.flush()\n    return 2\n",
    );
    assert_eq!(call(&session, "shout", "{}").await.unwrap(), "2");
    assert_eq!(call(&session, "close", "{}").await.unwrap(), "1");
    call(&session, "close", "{}").await.unwrap_err();
}

#[tokio::test]
async fn garbage_at_the_protocols_own_descriptor_ends_the_worker() {
    let session = sidecar_in_cpython(
        "import os\ndef ok(): return 1\ndef garbage():\n    for fd in range(3, 20):\n        try: os.write(fd, b'\\xff' * 100)\n        except OSError: pass\n",
    );
    let error = call(&session, "garbage", "{}").await.unwrap_err();
    assert!(matches!(error, SandboxError::Garbled { .. }), "{error:?}");
    assert_eq!(call(&session, "ok", "{}").await.unwrap(), "1");
}

#[tokio::test]
async fn cpython_cannot_fork_start_programs_reach_the_network_or_kill_others() {
    let session = sidecar_in_cpython(
        "import os, socket, subprocess, threading\n\
         def fork(): return os.fork()\n\
         def program(): return subprocess.run(['/bin/true']).returncode\n\
         def network(): return socket.create_connection(('127.0.0.1', 1), 1)\n\
         def kill(): os.kill(os.getppid(), 0)\n\
         def thread():\n    seen = []\n    t = threading.Thread(target=lambda: seen.append(1))\n    t.start()\n    t.join()\n    return seen\n",
    );
    for name in ["fork", "program", "network", "kill"] {
        let error = raised(&session, name, "{}").await;
        assert_eq!(error.exception, "PermissionError", "{name}: {error}");
    }
    assert_eq!(call(&session, "thread", "{}").await.unwrap(), "[1]");
}

#[tokio::test]
async fn cpython_starts_programs_and_reaches_the_network_where_the_operator_allows_it() {
    let mut allowed = with_cpython();
    allowed.confinement.network = true;
    allowed.confinement.processes = true;
    let text = "import socket, subprocess\n\
         def program(): return subprocess.run(['/bin/echo', 'hello'], capture_output=True, text=True).stdout\n\
         def network(port): return socket.create_connection(('127.0.0.1', port), 5).recv(5).decode()\n";
    let session = session(allowed, &[("helpers.py", text)]);
    let program = call(&session, "program", "{}").await.unwrap();
    assert_eq!(program, r#""hello\n""#);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let greeter = std::thread::spawn(move || {
        use std::io::Write;
        listener.accept().unwrap().0.write_all(b"hello").unwrap();
    });
    let arguments = format!(r#"{{"port": {port}}}"#);
    let network = call(&session, "network", &arguments).await.unwrap();
    assert_eq!(network, r#""hello""#);
    greeter.join().unwrap();
}

#[tokio::test]
async fn cpython_sees_nothing_of_the_hosts_environment() {
    let session = sidecar_in_cpython("import os\ndef f(): return sorted(os.environ)\n");
    let names = call(&session, "f", "{}").await.unwrap();
    assert_eq!(
        names,
        r#"["HOME","LANG","OMP_NUM_THREADS","OPENBLAS_NUM_THREADS","TMPDIR"]"#
    );
}

#[tokio::test]
async fn giving_up_on_a_call_ends_its_worker() {
    let session = sidecar_in_cpython(
        "import os\ndef pid(): return os.getpid()\ndef spin():\n    while True: pass\n",
    );
    let pid = call(&session, "pid", "{}").await.unwrap();
    let alive =
        || std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z "));
    assert!(alive());
    let spinning = call(&session, "spin", "{}");
    tokio::time::timeout(Duration::from_millis(200), spinning)
        .await
        .unwrap_err();
    let start = Instant::now();
    while alive() {
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "the worker lives on"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_ne!(call(&session, "pid", "{}").await.unwrap(), pid);
}

#[test]
fn a_worker_whose_host_is_gone_ends_in_the_middle_of_a_loop() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let mut worker = Command::new(settings().worker.program)
        .arg("python")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = worker.stdin.take().unwrap();
    let opening = r#"{"files": {"a.py": "def f():\n    while True: pass\n"}, "root": null, "memory": 100000000, "cpu": 60}"#;
    let call = r#"{"file": "a.py", "module": null, "attribute": "f", "arguments": {}, "verdict": false,
        "result_by_attribute": false, "time": 60000, "printed": 1000, "result": 1000}"#;
    for message in [opening, call] {
        let length = u32::try_from(message.len()).unwrap();
        input.write_all(&length.to_le_bytes()).unwrap();
        input.write_all(message.as_bytes()).unwrap();
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(worker.try_wait().unwrap(), None, "it is in its loop");
    drop(input);
    let start = Instant::now();
    while worker.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(5), "it lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
}
