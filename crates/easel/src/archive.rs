//! `easel pack` and `easel unpack`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use easel_runtime::graphs::package::{Package, PackageError};

use crate::cli::{PackArguments, UnpackArguments};
use crate::exit::Exit;
use crate::out;
use crate::problem::{Problem, sentence};

/// Writes an archive.
pub fn pack(arguments: &PackArguments) -> Result<Exit, Problem> {
    let workflow = &arguments.workflow;
    let package = open(workflow)?;
    let target = match &arguments.output {
        Some(target) => target.clone(),
        None => beside(workflow),
    };
    let bytes = package
        .to_archive()
        .map_err(|error| refused(workflow, error))?;
    write(&target, &bytes, arguments.force)?;
    let files = package.files().count();
    let files = match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    out::line(&format!(
        "Wrote {}: {files}, {} bytes. Try: easel requirements {0}",
        target.display(),
        bytes.len()
    ));
    match package.document.errors().count() {
        0 => {}
        count => out::tell(&format!(
            "The graph has {count} {}: easel check {}",
            if count == 1 { "error" } else { "errors" },
            target.display()
        )),
    }
    Ok(Exit::Done)
}

/// Takes an archive apart.
pub fn unpack(arguments: &UnpackArguments) -> Result<Exit, Problem> {
    let archive = &arguments.archive;
    if archive.is_dir() {
        let problem = Problem::usage(format!("{} is a folder already.", archive.display()));
        return Err(problem.fix("Name an archive, such as one that `easel pack` wrote."));
    }
    if !is_zip(archive) {
        let problem = Problem::usage(format!("{} is no .zip file.", archive.display()));
        return Err(problem.fix("Name an archive, such as one that `easel pack` wrote."));
    }
    let package = open(archive)?;
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => archive.with_extension(""),
    };
    package
        .unpack(&folder)
        .map_err(|error| refused(archive, error))?;
    let files = package.files().count();
    out::line(&format!(
        "Wrote {}: {} files. Try: easel check {0}",
        folder.display(),
        files
    ));
    Ok(Exit::Done)
}

fn open(path: &Path) -> Result<Package, Problem> {
    Package::open(path).map_err(|error| refused(path, error))
}

fn refused(path: &Path, error: PackageError) -> Problem {
    match error {
        PackageError::Io { path, error } => Problem::file(&path, "used", &error),
        PackageError::NotEmpty { path } => {
            Problem::usage(format!("There is something in {} already.", path.display()))
                .fix("Name a folder that is new or empty.")
        }
        error => {
            let problem = Problem::usage(format!("{} is no package.", path.display()));
            problem.because(sentence(&error.to_string()))
        }
    }
}

/// The archive of a workflow that is given no other name.
fn beside(workflow: &Path) -> PathBuf {
    let workflow = match workflow.file_name() {
        Some(_) => workflow.to_owned(),
        // `.` and `..` have no name of their own.
        None => std::fs::canonicalize(workflow).unwrap_or_else(|_| workflow.to_owned()),
    };
    let mut name = match workflow.is_dir() {
        true => workflow.file_name(),
        false => workflow.file_stem(),
    }
    .unwrap_or_default()
    .to_owned();
    name.push(".zip");
    workflow.with_file_name(name)
}

fn is_zip(path: &Path) -> bool {
    let suffix = path.extension();
    suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("zip"))
}

/// Writes a file. What is there stays, unless somebody wants it gone.
fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), Problem> {
    let mut options = OpenOptions::new();
    let options = match force {
        true => options.write(true).create(true).truncate(true),
        false => options.write(true).create_new(true),
    };
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Problem::usage(format!(
            "{} is there already and is not overwritten.",
            path.display()
        ))
        .fix("Name another file with -o, or add --force."),
        _ => Problem::file(path, "written", &error),
    })
}
