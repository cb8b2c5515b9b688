//! Files that a run makes, written into a folder.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use easel_runtime::tools::files::{KeptFile, MadeFile};

/// The folder, and what was written into it. It is made with the first file.
#[derive(Debug)]
pub struct Downloads {
    folder: PathBuf,
    written: Mutex<Written>,
}

#[derive(Debug, Default)]
struct Written {
    /// The files, in the order in which they came; the number of each is its id.
    paths: Vec<PathBuf>,
    /// Which of them was made under which key.
    keys: HashMap<String, usize>,
    /// How many of them were told of.
    told: usize,
}

/// What the ids of such files begin with; their number follows.
const ID: &str = "made-";
/// Files of one name that a folder holds at most.
const NAMESAKES: usize = 10_000;

impl Downloads {
    /// Files go into that folder.
    pub fn into_folder(folder: &Path) -> Downloads {
        Downloads {
            folder: folder.to_owned(),
            written: Mutex::default(),
        }
    }

    /// Writes a file. One that is made again is written over the first; no other file is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, file: &MadeFile) -> std::io::Result<KeptFile> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let known = written.keys.get(&file.key).copied();
        let known = known.and_then(|at| Some((at, written.paths.get(at)?.clone())));
        let (at, path) = match known {
            Some((at, path)) => {
                fs::write(&path, &file.bytes)?;
                (at, path)
            }
            None => {
                let (mut new, path) = self.create(&file.name)?;
                new.write_all(&file.bytes)?;
                let at = written.paths.len();
                written.paths.push(path.clone());
                written.keys.insert(file.key.clone(), at);
                (at, path)
            }
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(KeptFile {
            id: format!("{ID}{}", at + 1),
            name: name.into_owned(),
            url: path.display().to_string(),
            preview_url: String::new(),
        })
    }

    /// A new file of that name, or of the name with a number behind it if there is one already.
    fn create(&self, name: &str) -> std::io::Result<(File, PathBuf)> {
        fs::create_dir_all(&self.folder)?;
        let name = Path::new(name);
        let stem = name.file_stem().unwrap_or_default().to_string_lossy();
        let ending = name
            .extension()
            .map(|ending| format!(".{}", ending.to_string_lossy()));
        let ending = ending.unwrap_or_default();
        for number in 1..=NAMESAKES {
            let name = match number {
                1 => format!("{stem}{ending}"),
                number => format!("{stem} ({number}){ending}"),
            };
            let path = self.folder.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => return Ok((file, path)),
            }
        }
        let many = format!("there are {NAMESAKES} files of that name already");
        Err(std::io::Error::other(many))
    }

    /// Where a file is, by its id.
    pub fn path(&self, id: &str) -> Option<PathBuf> {
        let number: usize = id.strip_prefix(ID)?.parse().ok()?;
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.paths.get(number.checked_sub(1)?).cloned()
    }

    /// The files that came since this was asked last.
    pub fn news(&self) -> Vec<PathBuf> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let news = written
            .paths
            .get(written.told..)
            .unwrap_or_default()
            .to_vec();
        written.told = written.paths.len();
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(key: &str, bytes: &[u8]) -> MadeFile {
        MadeFile {
            run: "r".into(),
            key: key.into(),
            name: "Report.pdf".into(),
            mime_type: "application/pdf".into(),
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn files_are_written_and_none_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new/downloads");
        let downloads = Downloads::into_folder(&folder);
        assert!(!folder.exists(), "a run that makes no file makes no folder");
        let first = downloads.keep(&file("a", b"1")).unwrap();
        let second = downloads.keep(&file("b", b"2")).unwrap();
        let again = downloads.keep(&file("a", b"3")).unwrap();
        assert_eq!(
            (first.id.as_str(), first.name.as_str()),
            ("made-1", "Report.pdf")
        );
        assert_eq!(
            (second.id.as_str(), second.name.as_str()),
            ("made-2", "Report (2).pdf")
        );
        assert_eq!(
            first, again,
            "an attempt that is made again makes no second file"
        );
        assert_eq!(fs::read(folder.join("Report.pdf")).unwrap(), b"3");
        assert_eq!(fs::read(downloads.path("made-2").unwrap()).unwrap(), b"2");
        assert_eq!(downloads.path("made-3"), None);
        assert_eq!(downloads.news().len(), 2);
        assert!(downloads.news().is_empty());
        let other = Downloads::into_folder(&folder)
            .keep(&file("c", b"4"))
            .unwrap();
        assert_eq!(other.name, "Report (3).pdf");
    }
}
