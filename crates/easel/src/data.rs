//! Where the store is, as commands are told.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use easel_store::{Location, StoreError};

use crate::exit::Exit;
use crate::problem::{Problem, sentence};

/// The folder that is used when no other is named.
const USUAL: &str = "easel-data";

/// The file in which a server says how commands on the same machine reach it.
pub const BEACON: &str = "serve.json";

/// Where the store is.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Data")]
pub struct DataArguments {
    /// The folder with everything that is kept [default: ./easel-data].
    #[arg(long, value_name = "DIR", env = "EASEL_DATA", value_hint = ValueHint::DirPath, conflicts_with = "database")]
    pub data: Option<PathBuf>,
    /// A PostgreSQL database (15 or later) in place of a folder: postgres://USER:PASSWORD@HOST/NAME.
    #[arg(
        long,
        value_name = "URL",
        env = "EASEL_DATABASE",
        hide_env_values = true
    )]
    pub database: Option<String>,
}

impl DataArguments {
    /// Where the store is.
    pub fn location(&self) -> Location {
        match (&self.database, &self.data) {
            (Some(url), _) => Location::Database(url.clone()),
            (None, Some(folder)) => Location::Folder(folder.clone()),
            (None, None) => Location::Folder(USUAL.into()),
        }
    }
}

/// What to tell about a store that cannot be used.
pub fn problem(error: StoreError) -> Problem {
    Problem::new(Exit::Usage, sentence(&error.to_string()))
}
