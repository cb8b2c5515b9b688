//! Packages of several files, in CPython. These tests need `python3` on the PATH.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{call, object, raised, session, with_cpython};
use easel_sandbox::{
    Allowed, Bubblewrap, Confinement, Package, Runtime, Sandbox, SandboxError, Settings,
};

#[tokio::test]
async fn modules_of_a_package_import_each_other_and_load_once() {
    let session = session(
        with_cpython(),
        &[
            (
                "helpers.py",
                "print('loading')\nSEEN = []\ndef note(x): SEEN.append(x); return len(SEEN)\n",
            ),
            (
                "nodes/a.py",
                "import helpers\nfrom nodes.b import twice\ndef run(x): return twice(helpers.note(x))\n",
            ),
            (
                "nodes/b.py",
                "from .c import base\nimport nodes.c\ndef twice(n): return n * 2 + base + nodes.c.base\n",
            ),
            ("nodes/c.py", "base = 100\n"),
        ],
    );
    let entry = "nodes.a:run".parse().unwrap();
    let outcome = session
        .call(&entry, &object(r#"{"x": 1}"#), None)
        .await
        .unwrap();
    assert_eq!(
        (outcome.value.as_i64(), &*outcome.printed),
        (Some(202), "loading\n")
    );
    // The sidecar by its bare name is the same module, in the same interpreter.
    let outcome = session
        .call(&"note".parse().unwrap(), &object(r#"{"x": 1}"#), None)
        .await
        .unwrap();
    assert_eq!((outcome.value.as_i64(), &*outcome.printed), (Some(2), ""));
    assert_eq!(outcome.runtime, Runtime::CPython);
    assert!(
        outcome.why.contains("being imported by nodes/a.py"),
        "{}",
        outcome.why
    );
}

#[tokio::test]
async fn a_module_may_have_the_name_of_one_of_the_standard_library() {
    let session = session(
        with_cpython(),
        &[
            (
                "nodes.py",
                "import json, random\nimport logging\ndef run(): return [json.mine, random.mine]\n",
            ),
            ("json.py", "mine = 'json'\n"),
            ("random.py", "import tempfile\nmine = 'random'\n"),
        ],
    );
    assert_eq!(
        call(&session, "nodes:run", "{}").await.unwrap(),
        r#"["json","random"]"#
    );
}

#[tokio::test]
async fn the_whole_language_works() {
    let session = session(
        with_cpython(),
        &[(
            "lib/my-helpers.py",
            "\
from dataclasses import dataclass, asdict, field
from enum import Enum
from typing import NamedTuple
import functools, statistics

class Kind(str, Enum):
    BIG = 'big'

class Point(NamedTuple):
    x: int
    y: int

@dataclass
class Base:
    n: 'int' = 1
    tags: list = field(default_factory=list)

class Row(Base):
    @property
    def double(self): return self.n * 2

def numbers(n):
    yield from range(n)

@functools.lru_cache
def mean(n): return statistics.mean(numbers(n))

def run(n, **kw):
    row = Row(n)
    match kw:
        case {'tag': tag}: row.tags.append(tag)
    return {**asdict(row), 'double': row.double, 'mean': mean(n), 'kind': Kind.BIG, 'point': Point(1, 2), 'text': '%05d' % n}
",
        )],
    );
    assert_eq!(
        call(&session, "run", r#"{"n": 3, "tag": "t"}"#)
            .await
            .unwrap(),
        r#"{"n":3,"tags":["t"],"double":6,"mean":1,"kind":"big","point":[1,2],"text":"00003"}"#
    );
}

#[tokio::test]
async fn numbers_and_exceptions_of_the_users_own_classes_are_what_they_extend() {
    let text = "\
from enum import IntEnum
class Level(IntEnum):
    HIGH = 3
class Odd(float):
    def __repr__(self): return 'odd'
class Stop(BaseException):
    def __str__(self): raise ValueError('no text')
def values(): return {'level': Level.HIGH, Level.HIGH: Odd(1.5), 'flag': True}
def stop(): raise Stop()
";
    let session = session(with_cpython(), &[("helpers.py", text)]);
    assert_eq!(
        call(&session, "values", "{}").await.unwrap(),
        r#"{"level":3,"3":1.5,"flag":true}"#
    );
    let error = raised(&session, "stop", "{}").await;
    assert_eq!(
        error.to_string(),
        "Stop: an exception that cannot be shown (helpers.py, line 9)"
    );
}

#[tokio::test]
async fn anything_importable_can_be_called() {
    let session = session(
        with_cpython(),
        &[(
            "helpers.py",
            "class C:\n    def __call__(self, **k): return k\n    @staticmethod\n    def make(n): return n\nmade = C()\n",
        )],
    );
    assert_eq!(
        call(&session, "made", r#"{"a": 1}"#).await.unwrap(),
        r#"{"a":1}"#
    );
    assert_eq!(
        call(&session, "helpers:C.make", r#"{"n": 1}"#)
            .await
            .unwrap(),
        "1"
    );
    assert_eq!(
        call(
            &session,
            "textwrap:shorten",
            r#"{"text": "a b c d e f", "width": 9}"#
        )
        .await
        .unwrap(),
        r#""a b [...]""#
    );
    let error = raised(&session, "no_such_module:f", "{}").await;
    assert_eq!(
        error.to_string(),
        "ModuleNotFoundError: No module named 'no_such_module'"
    );
    let error = raised(&session, "textwrap:nothing", "{}").await;
    assert_eq!(error.exception, "AttributeError");
}

#[tokio::test]
async fn a_chained_exception_shows_both_and_none_of_our_lines() {
    let session = session(
        with_cpython(),
        &[(
            "helpers.py",
            "import hashlib\ndef f():\n    try:\n        {}['a']\n    except KeyError as e:\n        raise ValueError('no a') from e\n",
        )],
    );
    let error = raised(&session, "f", "{}").await;
    // Newer versions mark columns in lines of their own.
    let marks = |line: &&str| !line.is_empty() && line.chars().all(|c| " ~^".contains(c));
    let lines: Vec<_> = error
        .traceback
        .lines()
        .filter(|line| !marks(line))
        .collect();
    assert_eq!(
        lines,
        [
            "Traceback (most recent call last):",
            "  File \"helpers.py\", line 4, in f",
            "    {}['a']",
            "KeyError: 'a'",
            "",
            "The above exception was the direct cause of the following exception:",
            "",
            "Traceback (most recent call last):",
            "  File \"helpers.py\", line 6, in f",
            "    raise ValueError('no a') from e",
            "ValueError: no a",
        ]
    );
}

#[tokio::test]
async fn a_package_reads_the_data_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("words.txt"), "cat\ndog\n").unwrap();
    let text = "import os\nHERE = os.path.dirname(__file__)\ndef f(): return [open('words.txt').read(), os.path.exists(os.path.join(HERE, 'words.txt'))]\n";
    assert_eq!(
        in_folder(with_cpython(), folder.path(), text).await,
        Ok(r#"["cat\ndog\n",true]"#.into())
    );
}

async fn in_folder(settings: Settings, folder: &Path, text: &str) -> Result<String, String> {
    let package = Package::new([("helpers.py", text)])
        .unwrap()
        .with_root(folder);
    let package = package.with_sidecar("helpers.py").unwrap();
    let session = Sandbox::new(settings).session(Arc::new(package));
    call(&session, "f", "{}")
        .await
        .map_err(|error| error.to_string())
}

/// Settings with bubblewrap, if this machine has a `bwrap` that works.
fn in_bubblewrap() -> Option<Settings> {
    let works = std::process::Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "--unshare-all", "/bin/true"])
        .status()
        .is_ok_and(|status| status.success());
    if !works {
        eprintln!("bwrap does not work here: what it hides is not tested");
    }
    works.then(|| Settings {
        confinement: Confinement {
            bubblewrap: Bubblewrap::Required,
            ..Confinement::default()
        },
        ..with_cpython()
    })
}

#[tokio::test]
async fn inside_bubblewrap_code_sees_its_package_read_only_and_none_of_the_machine() {
    let Some(settings) = in_bubblewrap() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("words.txt"), "cat\n").unwrap();
    let text = "\
import os
def attempt(action):
    try: return action()
    except OSError as e: return type(e).__name__
def f():
    return {
        'data': open('words.txt').read(),
        'passwd': attempt(lambda: open('/etc/passwd').read()),
        'homes': [p for p in ('/root', '/home', '/var', '/srv') if os.path.exists(p) and p not in __import__('sys').prefix],
        'write': attempt(lambda: open('new.txt', 'w')),
        'scratch': attempt(lambda: open('/tmp/new.txt', 'w').write('x')),
        'processes': len([p for p in os.listdir('/proc') if p.isdigit()]) < 5,
        'fork': attempt(os.fork),
    }
";
    let said = in_folder(settings, folder.path(), text).await.unwrap();
    let said = object(&said);
    let expect = |name: &str, json: &str| assert_eq!(said[name].to_json_text(), json, "{name}");
    expect("data", r#""cat\n""#);
    expect("passwd", r#""FileNotFoundError""#);
    expect("homes", "[]");
    expect("write", r#""OSError""#);
    expect("scratch", "1");
    expect("processes", "true");
    expect("fork", r#""PermissionError""#);
}

#[tokio::test]
async fn an_endless_loop_inside_bubblewrap_leaves_no_process_behind() {
    let Some(settings) = in_bubblewrap() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let text = "import sys\nsys.path\ndef ok(): return 1\ndef f():\n    while True: pass\n";
    let package = Package::new([("helpers.py", text)]).unwrap();
    let package = package.with_root(folder.path());
    let package = Arc::new(package.with_sidecar("helpers.py").unwrap());
    let session = Sandbox::new(settings).session(package);
    assert_eq!(call(&session, "ok", "{}").await.unwrap(), "1");
    let limit = Duration::from_millis(300);
    let error = session
        .call(&"f".parse().unwrap(), &object("{}"), Some(limit))
        .await;
    assert!(matches!(error, Err(SandboxError::Time { .. })), "{error:?}");
    // The folder stands in the command line of bubblewrap and of nothing else.
    let marker = folder.path().to_str().unwrap();
    let running = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|p| std::fs::read(p.path().join("cmdline")).ok());
        lines
            .filter(|line| String::from_utf8_lossy(line).contains(marker))
            .count()
    };
    let start = Instant::now();
    while running() > 0 {
        assert!(start.elapsed() < Duration::from_secs(5), "it lives on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(call(&session, "ok", "{}").await.unwrap(), "1");
    assert!(running() > 0, "the marker would have been seen");
}

#[tokio::test]
async fn without_bubblewrap_landlock_keeps_code_to_its_files_where_the_kernel_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(folder.path().join("words.txt"), "cat\n").unwrap();
    let text = "\
import os, tempfile, random, ssl, sqlite3
def attempt(action):
    try: return action()
    except OSError as e: return type(e).__name__
def f():
    with tempfile.NamedTemporaryFile() as scratch: scratch.write(b'x')
    return {
        'data': open('words.txt').read(),
        'write': attempt(lambda: open('new.txt', 'w').close()),
        'passwd': attempt(lambda: open('/etc/passwd').close()),
        'other': attempt(lambda: open('SECRET').close()),
        'home': attempt(lambda: os.listdir('/home')),
        'devices': [open('/dev/null', 'w').write('x'), len(os.urandom(3))],
    }
"
    .replace("SECRET", secret.path().to_str().unwrap());
    let said = in_folder(with_cpython(), folder.path(), &text)
        .await
        .unwrap();
    let said = object(&said);
    let expect = |name: &str, json: &str| assert_eq!(said[name].to_json_text(), json, "{name}");
    expect("data", r#""cat\n""#);
    expect("devices", "[1,3]");
    let lists = std::fs::read_to_string("/sys/kernel/security/lsm").unwrap_or("landlock".into());
    if !lists.contains("landlock") {
        eprintln!("this kernel has no Landlock: what it hides is not tested");
        return;
    }
    for name in ["write", "passwd", "other", "home"] {
        expect(name, r#""PermissionError""#);
    }
}

#[tokio::test]
async fn an_interpreter_that_is_none_is_an_error_that_names_it() {
    for (python, words) in [
        (
            "/no/such/python",
            "the worker cannot be started: /no/such/python: ",
        ),
        (
            "/bin/true",
            "the worker cannot be started: /bin/true: it is no Python 3 interpreter",
        ),
    ] {
        let settings = Settings {
            allowed: Allowed::CPython {
                python: python.into(),
            },
            ..with_cpython()
        };
        let session = session(
            settings,
            &[("helpers.py", "import hashlib\ndef f(): pass\n")],
        );
        let error = call(&session, "f", "{}").await.unwrap_err();
        assert!(matches!(error, SandboxError::Start { .. }), "{error:?}");
        assert!(error.to_string().starts_with(words), "{error}");
    }
}
