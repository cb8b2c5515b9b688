//! What one types for knowledge bases.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::WorldArguments;

/// What to do with knowledge bases.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Retrieval searches the knowledge bases of the data folder, by their names or ids.

Examples:
  easel kb new handbook
  easel kb add handbook docs/ leave.pdf
  easel kb add handbook docs/ --pipeline summaries.json --model gpt-4o-mini@openai
  easel kb search handbook \"How many days of leave are there?\"
  easel kb list handbook")]
pub enum KbCommand {
    /// Make a knowledge base.
    New(NewKb),
    /// List knowledge bases, or the documents of one.
    List(ListKb),
    /// Add documents: files, or folders with all that is in them. What did not change is passed by.
    Add(AddKb),
    /// Search as Retrieval does, and show what it finds with its scores.
    Search(SearchKb),
    /// Remove a knowledge base, or one document of it.
    Rm(RmKb),
}

/// Where knowledge bases are.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Data")]
pub struct FolderArguments {
    /// The folder with everything that is kept [default: ./easel-data].
    #[arg(long, value_name = "DIR", env = "EASEL_DATA", value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
}

/// Arguments of `easel kb new`.
#[derive(Args, Debug)]
pub struct NewKb {
    /// Its name.
    pub name: String,
    /// Search by words alone, without vectors.
    #[arg(long)]
    pub words: bool,
    /// Tokens of a passage at most.
    #[arg(long, default_value_t = 512)]
    pub tokens: usize,
    /// How much of a passage the next one repeats, in percent.
    #[arg(long, default_value_t = 0)]
    pub overlap: usize,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub folder: FolderArguments,
}

/// Arguments of `easel kb list`.
#[derive(Args, Debug)]
pub struct ListKb {
    /// The knowledge base whose documents are to be listed.
    pub name: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub folder: FolderArguments,
}

/// Arguments of `easel kb add`.
#[derive(Args, Debug)]
pub struct AddKb {
    /// The knowledge base.
    pub name: String,
    /// Files and folders.
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// What is known of the files beside their text; searches filter by it.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pub metadata: Vec<(String, String)>,
    /// Remove documents whose files are no longer in the folder.
    #[arg(long)]
    pub remove_gone: bool,
    /// Take each document through this ingestion pipeline, a canvas: it reads and cuts it, asks models about the pieces, and
    /// keeps them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pipeline: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub folder: FolderArguments,
    #[command(flatten)]
    pub world: WorldArguments,
}

/// Arguments of `easel kb search`.
#[derive(Args, Debug)]
pub struct SearchKb {
    /// The knowledge base.
    pub name: String,
    /// What to look for.
    pub query: String,
    /// Another knowledge base to search at the same time. May be repeated.
    #[arg(long = "and", value_name = "NAME")]
    pub others: Vec<String>,
    /// Passages at most.
    #[arg(long, short = 'n', default_value_t = 8)]
    pub top_n: u32,
    /// Passages below this similarity, 0 to 1, are left out.
    #[arg(long, default_value_t = 0.2, value_parser = share)]
    pub threshold: f64,
    /// The weight of words, 0 to 1; vectors weigh the rest.
    #[arg(long, default_value_t = 0.5, value_parser = share)]
    pub words: f64,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub folder: FolderArguments,
}

/// Arguments of `easel kb rm`.
#[derive(Args, Debug)]
pub struct RmKb {
    /// The knowledge base.
    pub name: String,
    /// The document; without it the whole knowledge base goes.
    pub document: Option<String>,
    #[command(flatten)]
    pub folder: FolderArguments,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok();
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a number from 0 to 1, such as 0.3".to_owned())
}

pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write KEY=VALUE".to_owned()),
    }
}
