//! The files of a graph case.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value as Json;

use super::tool;
use crate::problem::Problem;
use crate::read;

/// Files of a case that are not of its package.
const OF_THE_CASE: [&str; 4] = ["inputs.json", "llm.json", "expected.json", "README.md"];

/// A manifest for a case that has none.
const MANIFEST: &str = "name: case\n";

/// A graph case as it lies in its folder.
#[derive(Debug)]
pub struct Case {
    /// The folder.
    pub folder: PathBuf,
    /// The files of the package, by name.
    pub files: Vec<(String, Vec<u8>)>,
    /// What the caller does and what there is: `inputs.json`.
    pub inputs: Inputs,
    /// What models say: `llm.json`.
    pub llm: Json,
    /// What should happen: `expected.json`.
    pub expected: Option<Json>,
}

/// `inputs.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub struct Inputs {
    /// `manager` and `executor` run the graph, `validate` checks it, `package` opens it; the others are batteries.
    pub mode: String,
    /// What the run is given.
    pub inputs: Json,
    /// Stored values.
    pub secrets: IndexMap<String, Json>,
    /// Values of the environment.
    pub env: IndexMap<String, Json>,
    /// The tools there are.
    pub tools: Vec<tool::Script>,
    /// Profiles of providers, each with its model.
    pub profiles: IndexMap<String, String>,
    /// Whether an invalid graph is kept from running.
    pub validate: bool,
    /// There is no model.
    pub no_provider: bool,
    /// The package has no manifest, and none is made up.
    pub no_manifest: bool,
    /// The rows of a battery.
    pub cases: Vec<Json>,
}

impl Default for Inputs {
    fn default() -> Inputs {
        Inputs {
            mode: "manager".to_owned(),
            inputs: Json::Null,
            secrets: IndexMap::new(),
            env: IndexMap::new(),
            tools: Vec::new(),
            profiles: IndexMap::new(),
            validate: true,
            no_provider: false,
            no_manifest: false,
            cases: Vec::new(),
        }
    }
}

impl Case {
    /// Reads a case folder.
    pub fn read(folder: &Path) -> Result<Case, Problem> {
        let optional = |name: &str| -> Result<Option<Json>, Problem> {
            let path = folder.join(name);
            match path.exists() {
                true => read::json(&path).map(Some),
                false => Ok(None),
            }
        };
        let inputs: Inputs = match optional("inputs.json")? {
            None => Inputs::default(),
            Some(inputs) => serde_json::from_value(inputs).map_err(|error| {
                let path = folder.join("inputs.json").display().to_string();
                Problem::usage(format!("{path} does not hold what it should."))
                    .because(error.to_string())
            })?,
        };
        let mut files = Vec::new();
        collect(folder, "", &mut files)?;
        if !inputs.no_manifest && !files.iter().any(|(name, _)| name == "workflow.yaml") {
            files.push(("workflow.yaml".to_owned(), MANIFEST.into()));
        }
        Ok(Case {
            folder: folder.to_owned(),
            files,
            inputs,
            llm: optional("llm.json")?.unwrap_or_default(),
            expected: optional("expected.json")?,
        })
    }
}

/// The files of a folder and those below it.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), Problem> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|error| Problem::file(folder, "read", &error))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            if !name.ends_with("__pycache__") {
                collect(&path, &format!("{name}/"), files)?;
            }
        } else if !OF_THE_CASE.contains(&name.as_str()) {
            files.push((name, read::bytes(&path)?));
        }
    }
    Ok(())
}
