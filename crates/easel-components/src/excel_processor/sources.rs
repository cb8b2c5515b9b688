//! Where tables come from: files that references name.

use easel_catalog::common::FILES_PORT;
use easel_core::Value;
use easel_core::bind::ReadId;
use easel_core::draft::Field;
use easel_core::event::Fault;
use easel_tools::ToolError;
use easel_tools::documents::{Sheet, WorkbookFile};
use easel_tools::files::FileDescriptor;

use super::table::Table;
use crate::behaviour::Call;
use crate::parameters::written;
use crate::site::Site;

/// The uploaded files of a turn.
const SYS_FILES: &str = "sys.files";
/// What data URIs of bytes begin with, and what stands before the bytes.
const DATA: &str = "data:";
const BASE64: &str = ";base64,";
/// What a file without a name is called.
const NAMELESS: &str = "uploaded.xlsx";
/// Files that one node reads.
const FILES: usize = 100;

/// Which sheets of a workbook are taken.
pub(super) enum Selection {
    All,
    First,
    Named(Vec<String>),
}

impl Selection {
    pub fn named(text: &str) -> Selection {
        match text.trim().to_lowercase().as_str() {
            "" | "all" => Selection::All,
            "first" => Selection::First,
            _ => {
                let names = text.split(',').map(|name| name.trim().to_lowercase());
                Selection::Named(names.filter(|name| !name.is_empty()).collect())
            }
        }
    }

    fn of(&self, sheets: Vec<Sheet>) -> Vec<Sheet> {
        match self {
            Selection::All => sheets,
            Selection::First => sheets.into_iter().take(1).collect(),
            Selection::Named(names) => {
                let named = |sheet: &Sheet| names.contains(&sheet.name.to_lowercase());
                sheets.into_iter().filter(named).collect()
            }
        }
    }
}

/// References to files.
pub(super) struct Sources(Vec<Source>);

struct Source {
    /// The reference as it is written.
    read: ReadId,
    /// What was uploaded beside the text that the reference has.
    uploaded: Option<ReadId>,
}

impl Sources {
    /// Errors: one of them is no reference.
    pub fn of(site: &Site<'_>) -> Result<Sources, Fault> {
        let mut sources = Vec::new();
        for (at, written) in site.items("input_files").iter().enumerate() {
            let path = format!("input_files.{at}");
            let uploaded = match site.field(&format!("{path}.{FILES_PORT}")) {
                Some(Field::Reference(read)) => Some(*read),
                _ => None,
            };
            if let Some(read) = site.reference(&path, Some(written))? {
                sources.push(Source { read, uploaded });
            }
        }
        Ok(Sources(sources))
    }

    /// The tables of all files, and what could not be read.
    pub async fn tables(&self, call: &Call, selection: &Selection) -> (Vec<Table>, Vec<String>) {
        let mut tables: Vec<Table> = Vec::new();
        let mut told = Vec::new();
        let mut files = Vec::new();
        for source in &self.0 {
            collect(&source.value(call), &mut files);
        }
        if files.len() > FILES {
            told.push(format!(
                "{} files are left out: {FILES} are read.",
                files.len() - FILES
            ));
            files.truncate(FILES);
        }
        for file in files {
            match file.sheets(call).await {
                Ok((name, sheets)) => add(&mut tables, &name, selection.of(sheets)),
                Err(error) => told.push(format!("{error}.")),
            }
        }
        (tables, told)
    }
}

impl Source {
    /// What was uploaded, if it was; else what the reference stands for.
    fn value(&self, call: &Call) -> Value {
        let value = |read: ReadId| call.inputs().get(read).or_null();
        let uploaded = match self.uploaded {
            Some(read) => value(read),
            None => of_turn(written(call.node(), self.read), call),
        };
        match uploaded {
            Value::Null => value(self.read),
            uploaded => uploaded,
        }
    }
}

/// What was uploaded with the turn, for a reference to `sys.files` or to one of them.
fn of_turn(reference: &str, call: &Call) -> Value {
    let files = &call.run.turn.files;
    let Some(rest) = reference
        .trim_matches(['{', '}', ' '])
        .strip_prefix(SYS_FILES)
    else {
        return Value::Null;
    };
    match rest.strip_prefix('.').map(str::parse::<usize>) {
        _ if files.is_empty() => Value::Null,
        None => Value::from(files.clone()),
        Some(Ok(at)) => files.get(at).cloned().unwrap_or_default(),
        Some(Err(_)) => Value::Null,
    }
}

/// A file that is to be read.
enum File {
    Stored(FileDescriptor),
    Bytes(String),
}

/// The files in a value: descriptors, data URIs, lists of those, JSON text of a descriptor. All else is none.
fn collect(value: &Value, files: &mut Vec<File>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, files)),
        Value::Object(members) => {
            let text = |names: &[&str]| {
                let found = names.iter().find_map(|name| members.get(*name)?.as_str());
                found.map(str::to_owned)
            };
            if let Some(id) = text(&["id", "file_id", "doc_id"]) {
                files.push(File::Stored(FileDescriptor {
                    id,
                    name: text(&["name", "filename", "file_name"])
                        .unwrap_or_else(|| NAMELESS.into()),
                    mime_type: text(&["mime_type"]),
                    created_by: text(&["created_by"]),
                }));
            }
        }
        Value::String(text) if text.starts_with(DATA) => files.push(File::Bytes(text.to_string())),
        // What DocGenerator gives.
        Value::String(text) if text.trim_start().starts_with('{') && text.contains("doc_id") => {
            if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
                collect(&value, files);
            }
        }
        _ => {}
    }
}

impl File {
    async fn sheets(self, call: &Call) -> Result<(String, Vec<Sheet>), ToolError> {
        let world = &call.run.services.world;
        let (name, bytes) = match self {
            File::Stored(file) => {
                let name = file.name.clone();
                (name, world.files.bytes(&call.run.id, file).await?)
            }
            File::Bytes(uri) => {
                let unreadable = || ToolError::InvalidRequest {
                    what: NAMELESS.into(),
                    problem: "its data URI is no base64".into(),
                };
                let (_, encoded) = uri.split_once(BASE64).ok_or_else(unreadable)?;
                let bytes = easel_tools::files::decode(encoded).ok_or_else(unreadable)?;
                (NAMELESS.to_owned(), bytes)
            }
        };
        let file = WorkbookFile {
            name: name.clone(),
            bytes,
        };
        Ok((name, world.documents.read_workbook(file).await?))
    }
}

/// Adds the sheets of a file: under its name without its ending, with the sheet's name behind it if there are several.
fn add(tables: &mut Vec<Table>, file: &str, sheets: Vec<Sheet>) {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let several = sheets.len() > 1;
    for sheet in sheets {
        let wanted = match several {
            true => format!("{stem}_{}", sheet.name),
            false => stem.to_owned(),
        };
        let mut name = wanted.clone();
        for again in 2.. {
            if tables.iter().all(|table| table.name != name) {
                break;
            }
            name = format!("{wanted}_{again}");
        }
        tables.push(Table::with_head(name, sheet.rows));
    }
}
