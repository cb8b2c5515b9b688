//! A folder and a knowledge base that holds what is in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::add::{Adding, Outcome, Progress, Report, Source, Step};
use crate::error::{KnowledgeError, ReadError};
use crate::format::Format;
use crate::knowledge::Knowledge;
use crate::worker;

/// Folders inside one another.
const DEPTH: usize = 64;

/// Files of a folder.
const FILES: usize = 100_000;

impl Knowledge {
    /// Adds the files of a folder and of those in it, under their paths from there (`guide/install.md`).
    ///
    /// Files whose names begin with a dot, links, and files of no known ending are left out. Documents that came from this
    /// folder and are no longer in it are reported, and removed with `remove_gone`.
    pub async fn sync_folder(
        &self,
        base: &str,
        folder: &Path,
        remove_gone: bool,
        mut progress: impl FnMut(Progress<'_>) + Send,
    ) -> Result<Report, KnowledgeError> {
        let listing = self.folder(folder, &[]).await?;
        let mut adding = Adding::begin(self, base).await?;
        let mut report = Report {
            skipped: listing.skipped,
            ..Report::default()
        };
        let (origin, total) = (&listing.origin, listing.files.len());
        for (done, (name, path)) in listing.files.iter().enumerate() {
            let mut tell = |step| {
                progress(Progress {
                    name,
                    done,
                    total,
                    step,
                });
            };
            let outcome = match self.source(name, path).await {
                Ok(source) => adding.add(source, Some(origin), &mut tell).await?,
                Err(error) => {
                    let outcome = Outcome::Failed(error.to_string());
                    tell(Step::Ended(outcome.clone()));
                    outcome
                }
            };
            report.note(name, outcome);
        }
        let gone = adding.known().iter().filter(|(name, known)| {
            known.origin.as_deref() == Some(origin)
                && !listing.files.iter().any(|(file, _)| file == *name)
        });
        report.gone = gone.map(|(name, _)| name.clone()).collect();
        report.gone.sort_unstable();
        if remove_gone {
            for name in &report.gone {
                self.remove_document(base, name).await?;
            }
            report.removed = true;
        }
        Ok(report)
    }

    /// What is in a folder that can be added: files of known formats and those with one of these endings, without the dot.
    pub async fn folder(
        &self,
        folder: &Path,
        endings: &[String],
    ) -> Result<Folder, KnowledgeError> {
        let (asked, endings) = (folder.to_owned(), endings.to_vec());
        worker::run(move || list(&asked, &endings)).await
    }

    /// A file as a document of that name.
    pub async fn source(&self, name: &str, path: &Path) -> Result<Source, KnowledgeError> {
        let (name, path) = (name.to_owned(), path.to_owned());
        let limit = self.limits.file_bytes;
        worker::run(move || {
            let failed = |cause| KnowledgeError::File {
                path: path.clone(),
                cause,
            };
            if fs::metadata(&path).map_err(failed)?.len() > limit {
                let error = ReadError::new(
                    format!("it is larger than {limit} bytes"),
                    "Split it into smaller documents",
                );
                return Err(error.of(&name));
            }
            Ok(Source {
                bytes: fs::read(&path).map_err(failed)?,
                name,
                metadata: None,
            })
        })
        .await
    }
}

/// What is in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Its full path.
    pub origin: String,
    /// Names and paths of files, by name.
    pub files: Vec<(String, PathBuf)>,
    /// Names of files that are of no known format.
    pub skipped: Vec<String>,
}

/// Lists a folder.
fn list(folder: &Path, endings: &[String]) -> Result<Folder, KnowledgeError> {
    let root = fs::canonicalize(folder).map_err(|cause| KnowledgeError::File {
        path: folder.to_owned(),
        cause,
    })?;
    let mut listing = Folder {
        origin: root.to_string_lossy().into_owned(),
        ..Folder::default()
    };
    let known = |name: &str| {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        Format::of_name(name).is_some()
            || endings
                .iter()
                .any(|known| known.eq_ignore_ascii_case(ending))
    };
    walk(&root, "", 0, &known, &mut listing)?;
    listing.files.sort_unstable();
    listing.skipped.sort_unstable();
    Ok(listing)
}

fn walk(
    folder: &Path,
    prefix: &str,
    depth: usize,
    known: &dyn Fn(&str) -> bool,
    listing: &mut Folder,
) -> Result<(), KnowledgeError> {
    let failed = |cause| KnowledgeError::File {
        path: folder.to_owned(),
        cause,
    };
    let too_much = |what: &str| failed(std::io::Error::other(format!("it has more than {what}")));
    if depth > DEPTH {
        return Err(too_much(&format!("{DEPTH} folders inside one another")));
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            listing
                .skipped
                .push(format!("{prefix}{}", name.to_string_lossy()));
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        let full = format!("{prefix}{name}");
        if kind.is_dir() {
            walk(
                &entry.path(),
                &format!("{full}/"),
                depth + 1,
                known,
                listing,
            )?;
        } else if !kind.is_file() || !known(name) {
            listing.skipped.push(full);
        } else {
            listing.files.push((full, entry.path()));
        }
        if listing.files.len() > FILES {
            return Err(too_much(&format!("{FILES} files")));
        }
    }
    Ok(())
}
