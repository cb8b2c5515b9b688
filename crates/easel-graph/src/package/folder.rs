//! A package as a folder.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::archive::{add_up, too_many_files};
use super::{Files, Limits, PackageError, name};

/// Folders inside one another, at most.
const DEEPEST: usize = 16;

/// The files of a folder, without what begins with a dot and what Python leaves behind.
pub(super) fn read(folder: &Path, limits: Limits) -> Result<Files, PackageError> {
    let root = fs::canonicalize(folder).map_err(io(folder))?;
    let mut files = Files::new();
    let mut total = 0;
    let mut open = vec![(root.clone(), String::new(), 0)];
    while let Some((path, prefix, depth)) = open.pop() {
        if depth > DEEPEST {
            let (what, limit) = ("folders inside one another", DEEPEST as u64);
            return Err(PackageError::TooLarge { what, limit });
        }
        for entry in fs::read_dir(&path).map_err(io(&path))? {
            let entry = entry.map_err(io(&path))?;
            let Some(own) = entry.file_name().to_str().map(str::to_owned) else {
                let name = entry.file_name().to_string_lossy().into_owned();
                let why = "is no UTF-8";
                return Err(PackageError::Name { name, why });
            };
            if own.starts_with('.') || own == "__pycache__" || own.ends_with(".pyc") {
                continue;
            }
            let name = format!("{prefix}{own}");
            if let Some(why) = name::fault(&name) {
                return Err(PackageError::Name { name, why });
            }
            let path = entry.path();
            let kind = entry.file_type().map_err(io(&path))?;
            if kind.is_dir() {
                open.push((path, format!("{name}/"), depth + 1));
                continue;
            }
            let path = if kind.is_symlink() {
                followed(&root, &path, &name)?
            } else {
                path
            };
            if files.len() >= limits.files {
                return Err(too_many_files(limits));
            }
            let contents = read_file(&path, limits.file_bytes)?;
            add_up(contents.len() as u64, &mut total, limits)?;
            files.insert(name, contents.into());
        }
    }
    name::check_all(files.keys())?;
    Ok(files)
}

/// Those of the named files that the folder has.
pub(super) fn read_named(
    folder: &Path,
    names: &[String],
    limits: Limits,
) -> Result<Files, PackageError> {
    let root = fs::canonicalize(folder).map_err(io(folder))?;
    let mut files = Files::new();
    let mut total = 0;
    for name in names {
        let path = root.join(name);
        if !path.is_file() {
            continue;
        }
        let path = followed(&root, &path, name)?;
        let contents = read_file(&path, limits.file_bytes)?;
        add_up(contents.len() as u64, &mut total, limits)?;
        files.insert(name.clone(), contents.into());
    }
    Ok(files)
}

/// The file that a link leads to, if that lies in the package.
fn followed(root: &Path, path: &Path, name: &str) -> Result<PathBuf, PackageError> {
    let refused = |why| PackageError::Link {
        name: name.to_owned(),
        why,
    };
    let target = fs::canonicalize(path).map_err(|_| refused("to nothing"))?;
    if !target.starts_with(root) {
        return Err(refused("out of the package"));
    }
    if !target.is_file() {
        return Err(refused("to something that is no file"));
    }
    Ok(target)
}

/// A file of at most `limit` bytes. What is no plain file (a pipe, a device) is refused: it may never end.
pub(super) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, PackageError> {
    let about = fs::metadata(path).map_err(io(path))?;
    if !about.is_file() {
        let error = std::io::Error::new(ErrorKind::InvalidInput, "this is no plain file");
        return Err(io(path)(error));
    }
    let file = fs::File::open(path).map_err(io(path))?;
    let mut contents = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut contents)
        .map_err(io(path))?;
    if contents.len() as u64 > limit {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy().into_owned();
        return Err(PackageError::FileTooLarge { name, limit });
    }
    Ok(contents)
}

/// Writes files into a folder that is new or empty.
pub(super) fn write(folder: &Path, files: &Files) -> Result<(), PackageError> {
    name::check_all(files.keys())?;
    fs::create_dir_all(folder).map_err(io(folder))?;
    if fs::read_dir(folder).map_err(io(folder))?.next().is_some() {
        let path = folder.to_owned();
        return Err(PackageError::NotEmpty { path });
    }
    for (name, bytes) in files {
        let path = folder.join(name);
        if let Some(around) = path.parent() {
            fs::create_dir_all(around).map_err(io(around))?;
        }
        // New files only: nothing that came to stand there meanwhile is written through.
        let file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path);
        let mut file = file.map_err(io(&path))?;
        file.write_all(bytes).map_err(io(&path))?;
    }
    Ok(())
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> PackageError {
    let path = path.to_owned();
    |error| PackageError::Io { path, error }
}
