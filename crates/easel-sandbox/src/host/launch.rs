//! The command lines of workers.

use std::env;
use std::ffi::OsString;
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
    /// Where `bwrap` is on the PATH. Without it, Landlock keeps user code to the same files where the kernel has it
    /// (Linux 5.13); without that too, user code can read, and write, what this program's user can.
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

/// A worker with the built-in interpreter of a language.
pub(super) fn built_in(worker: &WorkerProgram, language: &str) -> CommandLine {
    let mut arguments = worker.arguments.clone();
    arguments.push(language.into());
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
    /// Where it may write, outside bubblewrap.
    pub(super) folder: Option<&'a Path>,
}

impl CPython<'_> {
    /// All it may read, beside what it may write.
    fn readable(&self) -> Vec<&Path> {
        let for_network: &[&str] = if self.confinement.network {
            FOR_NETWORK
        } else {
            &[]
        };
        let system = SYSTEM.iter().chain(for_network).map(Path::new);
        let interpreter = self.interpreter.folders.iter().map(PathBuf::as_path);
        system.chain(interpreter).chain(self.root).collect()
    }
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
    if start.bubblewrap.is_none() {
        for path in start.readable() {
            confined.extend([OsString::from("--read"), path.into()]);
        }
        if let Some(path) = start.folder {
            confined.extend([OsString::from("--write"), path.into()]);
        }
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
    for path in [start.worker.program.as_path()]
        .into_iter()
        .chain(start.readable())
    {
        arguments.extend([OsString::from("--ro-bind-try"), path.into(), path.into()]);
    }
    let start_in = start.root.unwrap_or(Path::new("/tmp"));
    arguments.extend([OsString::from("--chdir"), start_in.into()]);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bubblewrap: Option<&Path>, confinement: Confinement) -> Vec<String> {
        let worker = WorkerProgram {
            program: "/opt/easel".into(),
            arguments: vec!["worker".into()],
        };
        let interpreter: Interpreter = serde_json::from_str(
            r#"{"program": "/venv/bin/python", "folders": ["/venv", "/usr"], "version": [3, 12]}"#,
        )
        .unwrap();
        let line = cpython(&CPython {
            worker: &worker,
            interpreter: &interpreter,
            bubblewrap,
            confinement,
            limits: &Limits::default(),
            root: Some(Path::new("/srv/package")),
            folder: Some(Path::new("/tmp/own")),
        });
        std::iter::once(line.program.into_os_string())
            .chain(line.arguments)
            .map(|part| part.into_string().unwrap())
            .collect()
    }

    #[test]
    fn cpython_starts_behind_the_launcher_with_its_limits() {
        let line = line(None, Confinement::default()).join(" ");
        let limits =
            "/opt/easel worker confine --memory 268435456 --cpu 3600 --file 67108864 --read /usr ";
        assert!(line.starts_with(limits), "{line}");
        let files = " --read /venv --read /usr --read /srv/package --write /tmp/own -- \
                     /venv/bin/python -I -B -X utf8 -c ";
        assert!(line.contains(files), "{line}");
    }

    #[test]
    fn bubblewrap_shows_the_package_and_the_interpreter_read_only_and_no_network() {
        let bubblewrap = Path::new("/usr/bin/bwrap");
        let alone = line(Some(bubblewrap), Confinement::default());
        let shown = alone.join(" ");
        assert!(shown.starts_with("/usr/bin/bwrap --unshare-all --die-with-parent "));
        assert!(shown.contains(" --ro-bind-try /srv/package /srv/package --chdir /srv/package -- /opt/easel worker confine "));
        assert!(shown.contains(" --ro-bind-try /venv /venv "));
        for hidden in [
            "--share-net",
            "--bind ",
            "/etc/resolv.conf",
            "/root",
            "/home",
        ] {
            assert!(!shown.contains(hidden), "{hidden}");
        }
        let network = Confinement {
            network: true,
            ..Confinement::default()
        };
        let shown = line(Some(bubblewrap), network).join(" ");
        assert!(shown.contains(" --share-net "));
        assert!(shown.contains(" --file 67108864 --network -- "));
    }
}
