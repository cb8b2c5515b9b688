//! Where the stores of a crash test are: a fresh one for each kill.

use std::fs;
use std::path::{Path, PathBuf};

use easel_store::{Location, Store};
use tempfile::TempDir;

use crate::cli::CrashTestArguments;
use crate::problem::{Problem, sentence};

/// Where everything of a crash test is.
pub struct Places {
    folder: PathBuf,
    database: Option<String>,
    /// Schemas of this test begin so.
    prefix: String,
    /// Gone at the end, unless somebody wants to look at it.
    _gone: Option<TempDir>,
}

impl Places {
    /// Makes the folder.
    pub async fn new(arguments: &CrashTestArguments) -> Result<Places, Problem> {
        let unusable = |error: std::io::Error| {
            Problem::usage("There is no folder for the stores.").because(error.to_string())
        };
        let (folder, gone) = match &arguments.data {
            Some(folder) => {
                fs::create_dir_all(folder)
                    .map_err(|error| Problem::file(folder, "made", &error))?;
                let used = fs::read_dir(folder).map_err(unusable)?.next().is_some();
                if used {
                    let message = format!("There is something in {} already.", folder.display());
                    return Err(Problem::usage(message).fix("Name a folder that is new or empty."));
                }
                (folder.clone(), None)
            }
            None => {
                let folder = tempfile::Builder::new()
                    .prefix("easel-crash-")
                    .tempdir()
                    .map_err(unusable)?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        let places = Places {
            folder,
            database: arguments.database.clone(),
            prefix: format!("easel_crash_{}", std::process::id()),
            _gone: gone,
        };
        if places.database.is_none() {
            // Made once and copied: a new database takes longer than a whole life.
            let empty = Location::Folder(places.folder.join("empty"));
            let store = Store::open(&empty).await.map_err(unreachable)?;
            store.close().await;
        }
        Ok(places)
    }

    /// A file of the test.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A new, empty store, and the file in which the world around it keeps its record.
    pub async fn fresh(&self, name: &str) -> Result<Place, Problem> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder).map_err(|error| Problem::file(&folder, "made", &error))?;
        let location = match &self.database {
            Some(url) => {
                let schema = format!("{}_{name}", self.prefix);
                let location = Location::Database(url.clone());
                easel_store::make_schema(&location, &schema)
                    .await
                    .map_err(unreachable)?
            }
            None => {
                let copied = copy(&self.folder.join("empty"), &folder);
                copied.map_err(|error| Problem::file(&folder, "written", &error))?;
                Location::Folder(folder.clone())
            }
        };
        Ok(Place {
            record: folder.join("world.jsonl"),
            location,
        })
    }

    /// Takes a store away again, unless its folder is to be looked at.
    pub async fn done_with(&self, name: &str) {
        // What is left over of it is in nobody's way.
        if let Some(url) = &self.database {
            let schema = format!("{}_{name}", self.prefix);
            let location = Location::Database(url.clone());
            let _ = easel_store::drop_schema(&location, &schema).await;
        }
        if self._gone.is_some() {
            let _ = fs::remove_dir_all(self.folder.join(name));
        }
    }
}

/// Where one store is, and the record of the world around it.
pub struct Place {
    /// The store.
    pub location: Location,
    /// The world's record.
    pub record: PathBuf,
}

fn unreachable(error: easel_store::StoreError) -> Problem {
    Problem::usage("There is no store to test with.").because(sentence(&error.to_string()))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
