//! Where the store is, as commands are told.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use easel_store::{Location, StoreError};

use crate::exit::Exit;
use crate::problem::{Problem, sentence};

/// The folder that is used when no other is named.
const USUAL: &str = "easel-data";

/// Where the store is, in the environment.
const FOLDER: &str = "EASEL_DATA";
const DATABASE: &str = "EASEL_DATABASE";

/// The file in which a server says how commands on the same machine reach it.
pub const BEACON: &str = "serve.json";

/// Where the store is.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Data")]
pub struct DataArguments {
    /// The folder with everything that is kept [default: ./easel-data].
    #[arg(long, value_name = "DIR", env = FOLDER, value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// A PostgreSQL database (15 or later) in place of a folder: postgres://USER:PASSWORD@HOST/NAME.
    #[arg(
        long,
        value_name = "URL",
        env = DATABASE,
        hide_env_values = true
    )]
    pub database: Option<String>,
}

/// The data folder: the one that is named, by the command or else by the environment, or the usual one.
pub fn folder(named: Option<&Path>) -> PathBuf {
    let environment = || std::env::var_os(FOLDER).filter(|folder| !folder.is_empty());
    match named {
        Some(folder) => folder.to_owned(),
        None => environment().map_or_else(|| USUAL.into(), PathBuf::from),
    }
}

impl DataArguments {
    /// Where the store is. What the command names wins over the environment, and a database over a folder.
    pub fn location(&self) -> Location {
        self.beside(|name| std::env::var_os(name))
    }

    fn beside(&self, environment: impl Fn(&str) -> Option<OsString>) -> Location {
        let named = |value: &OsStr, name: &str| environment(name).is_none_or(|set| set != value);
        let database = self.database.as_ref();
        let folder = self.data.as_ref();
        let folder_is_named = folder.is_some_and(|folder| named(folder.as_os_str(), FOLDER));
        let database_is_named = database.is_some_and(|url| named(OsStr::new(url), DATABASE));
        match (database, folder) {
            (Some(url), _) if database_is_named || !folder_is_named => {
                Location::Database(url.clone())
            }
            (_, Some(folder)) => Location::Folder(folder.clone()),
            (_, None) => Location::Folder(USUAL.into()),
        }
    }
}

/// What to tell about a store that cannot be used.
pub fn problem(error: StoreError) -> Problem {
    Problem::new(Exit::Usage, sentence(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_names_wins_over_the_environment() {
        let at = |data: &str, database: &str, environment: [&str; 2]| {
            let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let arguments = DataArguments {
                data: given(data).map(PathBuf::from),
                database: given(database),
            };
            let [folder, url] = environment.map(given);
            let location = arguments.beside(|name| match name {
                FOLDER => folder.clone().map(OsString::from),
                _ => url.clone().map(OsString::from),
            });
            match location {
                Location::Folder(folder) => folder.display().to_string(),
                Location::Database(url) => url,
            }
        };
        assert_eq!(at("", "", ["", ""]), USUAL);
        assert_eq!(at("env", "", ["env", ""]), "env");
        assert_eq!(at("env", "postgres://x", ["env", ""]), "postgres://x");
        assert_eq!(at("here", "postgres://env", ["", "postgres://env"]), "here");
        assert_eq!(
            at("env", "postgres://env", ["env", "postgres://env"]),
            "postgres://env"
        );
    }
}
