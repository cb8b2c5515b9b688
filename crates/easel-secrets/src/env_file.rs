//! Secrets in a `.env` file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::SecretError;
use crate::provider::Provider;
use crate::secret::Secret;

/// A `.env` file: lines of `NAME=VALUE`, as other programs read them. It is read each time a value is asked for, and
/// nothing of it gets into the process's environment, which programs that are started would inherit.
///
/// Quotes, `export` and comments are what they are elsewhere; `$OTHER` in a value stands for another value unless single
/// quotes are around it. A name that is there twice has its last value. A file that is not there has none.
#[derive(Clone, Debug)]
pub struct EnvFile {
    path: PathBuf,
    name: String,
}

impl EnvFile {
    /// The file at that path.
    pub fn new(path: impl Into<PathBuf>) -> EnvFile {
        let path = path.into();
        EnvFile {
            name: path.display().to_string(),
            path,
        }
    }

    /// The names in it that have a value, in order.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn names(&self) -> Result<Vec<String>, SecretError> {
        let mut names = Vec::new();
        self.read(&mut |name, value| {
            names.retain(|known| *known != name);
            if !value.trim().is_empty() {
                names.push(name);
            }
        })?;
        Ok(names)
    }

    fn read(&self, each: &mut dyn FnMut(String, Zeroizing<String>)) -> Result<(), SecretError> {
        let lines = match dotenvy::from_path_iter(&self.path) {
            Ok(lines) => lines,
            Err(error) if error.not_found() => return Ok(()),
            Err(error) => return Err(unreadable(&self.path, &error, None)),
        };
        let mut last: Option<String> = None;
        for line in lines {
            // What the library says of a bad line has the line in it.
            let (name, value) =
                line.map_err(|error| unreadable(&self.path, &error, last.as_deref()))?;
            last = Some(name.clone());
            each(name, Zeroizing::new(value));
        }
        Ok(())
    }
}

fn unreadable(path: &Path, error: &dotenvy::Error, last: Option<&str>) -> SecretError {
    match error {
        dotenvy::Error::Io(error) if error.kind() == ErrorKind::InvalidData => SecretError::File {
            path: path.to_owned(),
            what: "read",
            cause: "it is not UTF-8 text".to_owned(),
        },
        dotenvy::Error::Io(error) => SecretError::file(path, "read", error),
        _ => SecretError::EnvLine {
            path: path.to_owned(),
            place: match last {
                Some(name) => format!("behind {name}"),
                None => "at its beginning".to_owned(),
            },
        },
    }
}

impl Provider for EnvFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let mut found = None;
        self.read(&mut |known, mut value| {
            if known == name {
                found = Some(Secret::new(std::mem::take(&mut *value)));
            }
        })?;
        Ok(found.filter(|secret| !secret.is_blank()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, EnvFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".env");
        std::fs::write(&path, text).unwrap();
        (folder, EnvFile::new(path))
    }

    fn get(file: &EnvFile, name: &str) -> Option<String> {
        let secret = file.get(name).unwrap();
        secret.map(|secret| secret.value().to_owned())
    }

    #[test]
    fn values_are_read_as_other_programs_read_them() {
        let (_folder, file) = file(
            "# keys\nA=plain\nexport B=\"two words\" # why\nC='p$ss#word'\nD=\nE=first\nE=last\n",
        );
        assert_eq!(get(&file, "A").as_deref(), Some("plain"));
        assert_eq!(get(&file, "B").as_deref(), Some("two words"));
        assert_eq!(get(&file, "C").as_deref(), Some("p$ss#word"));
        assert_eq!(get(&file, "D"), None);
        assert_eq!(get(&file, "E").as_deref(), Some("last"));
        assert_eq!(get(&file, "a"), None);
        assert_eq!(file.names().unwrap(), ["A", "B", "C", "E"]);
    }

    #[test]
    fn reading_it_leaves_the_environment_as_it_is() {
        let (_folder, file) = file("EASEL_ENV_FILE_TEST=value-1");
        assert!(file.get("EASEL_ENV_FILE_TEST").unwrap().is_some());
        assert!(std::env::var_os("EASEL_ENV_FILE_TEST").is_none());
    }

    #[test]
    fn a_file_that_is_not_there_has_no_values() {
        let folder = tempfile::tempdir().unwrap();
        let file = EnvFile::new(folder.path().join(".env"));
        assert!(file.get("A").unwrap().is_none());
    }

    #[test]
    fn a_bad_line_is_told_without_what_stands_in_it() {
        let (_folder, file) = file("A=1\nsk-secret-thing: yes no\n");
        let told = file.get("A").unwrap_err().to_string();
        assert!(told.contains("behind A"), "{told}");
        assert!(!told.contains("sk-secret"), "{told}");
    }
}
