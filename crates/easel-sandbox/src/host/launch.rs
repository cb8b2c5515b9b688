//! The command lines of workers.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::interpreter::Interpreter;
use crate::limits::Limits;

/// What runs inside CPython.
const SHIM: &str = include_str!("../cpython/shim.py");

/// The program that becomes a worker when it is started with these arguments and a verb of the worker's behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The program.
    pub program: PathBuf,
    /// Arguments in front of the worker's own.
    pub arguments: Vec<OsString>,
}

impl WorkerProgram {
    /// This program itself, behind a verb such as `worker`.
    ///
    /// # Errors
    /// The system does not tell where this program is.
    pub fn this(verb: &str) -> io::Result<WorkerProgram> {
        Ok(WorkerProgram {
            program: env::current_exe()?,
            arguments: vec![verb.into()],
        })
    }
}

/// How CPython is held, beside its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Whether it runs inside bubblewrap.
    pub bubblewrap: Bubblewrap,
    /// True to let it use the network. Off by default.
    pub network: bool,
    /// True to let it start processes. Off by default.
    pub processes: bool,
}

/// Whether CPython runs inside bubblewrap, which hides the file system and other processes from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bubblewrap {
    /// Where `bwrap` is on the PATH. Without it, user code can read, and write, what this program's user can.
    #[default]
    WherePresent,
    /// Always: without `bwrap`, files that need CPython do not run.
    Required,
    /// Never.
    Off,
}

pub(super) fn find_bubblewrap(wanted: Bubblewrap) -> Option<PathBuf> {
    if wanted == Bubblewrap::Off {
        return None;
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join("bwrap"))
        .find(|program| program.is_file())
}

/// A program with its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

/// A worker with the built-in interpreter.
pub(super) fn monty(worker: &WorkerProgram) -> CommandLine {
    let mut arguments = worker.arguments.clone();
    arguments.push("python".into());
    CommandLine {
        program: worker.program.clone(),
        arguments,
    }
}

/// What CPython is started with.
pub(super) struct CPython<'a> {
    pub(super) worker: &'a WorkerProgram,
    pub(super) interpreter: &'a Interpreter,
    pub(super) bubblewrap: Option<&'a Path>,
    pub(super) confinement: Confinement,
    pub(super) limits: &'a Limits,
    /// The package's data.
    pub(super) root: Option<&'a Path>,
}

/// CPython behind the launcher, and both inside bubblewrap where there is one.
pub(super) fn cpython(start: &CPython<'_>) -> CommandLine {
    let mut confined: Vec<OsString> = vec![start.worker.program.clone().into()];
    confined.extend(start.worker.arguments.iter().cloned());
    confined.push("confine".into());
    for (name, value) in [
        ("--memory", start.limits.memory),
        ("--cpu", start.limits.cpu.as_secs()),
        ("--file", start.limits.file),
    ] {
        confined.push(name.into());
        confined.push(value.to_string().into());
    }
    if start.confinement.network {
        confined.push("--network".into());
    }
    if start.confinement.processes {
        confined.push("--processes".into());
    }
    confined.push("--".into());
    confined.push(start.interpreter.program.clone().into());
    for argument in ["-I", "-B", "-X", "utf8", "-c", SHIM] {
        confined.push(argument.into());
    }
    match start.bubblewrap {
        Some(bubblewrap) => {
            let mut arguments = inside_bubblewrap(start);
            arguments.push("--".into());
            arguments.extend(confined);
            CommandLine {
                program: bubblewrap.into(),
                arguments,
            }
        }
        None => CommandLine {
            program: start.worker.program.clone(),
            arguments: confined.split_off(1),
        },
    }
}

/// Folders and files of the system that programs need to run; secrets of the machine are in none of them.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
];

/// Files that a program with network needs beside.
const FOR_NETWORK: &[&str] = &[
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
];

fn inside_bubblewrap(start: &CPython<'_>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["--unshare-all", "--die-with-parent", "--new-session"]
        .map(OsString::from)
        .into();
    if start.confinement.network {
        arguments.push("--share-net".into());
    }
    arguments.extend(["--cap-drop", "ALL"].map(OsString::from));
    // First, so that what lies below them can be bound over them.
    for private in [["--proc", "/proc"], ["--dev", "/dev"], ["--tmpfs", "/tmp"]] {
        arguments.extend(private.map(OsString::from));
    }
    let mut read_only = |path: &OsStr| {
        arguments.extend([OsString::from("--ro-bind-try"), path.into(), path.into()]);
    };
    SYSTEM.iter().for_each(|path| read_only(path.as_ref()));
    if start.confinement.network {
        FOR_NETWORK.iter().for_each(|path| read_only(path.as_ref()));
    }
    for folder in &start.interpreter.folders {
        read_only(folder.as_os_str());
    }
    read_only(start.worker.program.as_os_str());
    if let Some(root) = start.root {
        arguments.extend([OsString::from("--ro-bind"), root.into(), root.into()]);
    }
    let start_in = start.root.unwrap_or(Path::new("/tmp"));
    arguments.extend([OsString::from("--chdir"), start_in.into()]);
    arguments
}
