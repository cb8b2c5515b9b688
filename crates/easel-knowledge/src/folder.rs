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
        let asked = folder.to_owned();
        let (origin, listing) = worker::run(move || list(&asked)).await?;
        let mut adding = Adding::begin(self, base).await?;
        let mut report = Report {
            skipped: listing.skipped,
            ..Report::default()
        };
        let total = listing.files.len();
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
                Ok(source) => adding.add(source, Some(&origin), &mut tell).await?,
                Err(error) => {
                    let outcome = Outcome::Failed(error.to_string());
                    tell(Step::Ended(outcome.clone()));
                    outcome
                }
            };
            report.note(name, outcome);
        }
        let gone = adding.known().iter().filter(|(name, known)| {
            known.origin.as_deref() == Some(&*origin)
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

    async fn source(&self, name: &str, path: &Path) -> Result<Source, KnowledgeError> {
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
#[derive(Default)]
struct Listing {
    /// Names and paths, by name.
    files: Vec<(String, PathBuf)>,
    /// Names of files that are of no known format.
    skipped: Vec<String>,
}

/// Lists a folder; tells its full path, too.
fn list(folder: &Path) -> Result<(String, Listing), KnowledgeError> {
    let root = fs::canonicalize(folder).map_err(|cause| KnowledgeError::File {
        path: folder.to_owned(),
        cause,
    })?;
    let mut listing = Listing::default();
    walk(&root, "", 0, &mut listing)?;
    listing.files.sort_unstable();
    listing.skipped.sort_unstable();
    Ok((root.to_string_lossy().into_owned(), listing))
}

fn walk(
    folder: &Path,
    prefix: &str,
    depth: usize,
    listing: &mut Listing,
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
            walk(&entry.path(), &format!("{full}/"), depth + 1, listing)?;
        } else if !kind.is_file() || Format::of_name(name).is_none() {
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
