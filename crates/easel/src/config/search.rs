//! `[search]`: where search providers are, and providers that users declare themselves.

use std::path::{Path, PathBuf};

use easel_runtime::catalog::{Availability, Catalog, Family};
use easel_runtime::tools::live::{Declaration, DeclarationError, SearchConfig};
use indexmap::IndexMap;
use serde::Deserialize;
use toml::{Table, Value};

use crate::problem::{Problem, sentence};
use crate::read;

/// `[search]`: a table for each provider, under the name of the function that it answers.
///
/// `url` alone says where the provider is. `file` names a declaration, beside which `url` may stand. Any other table is
/// a declaration itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct SearchSettings(IndexMap<String, Table>);

impl SearchSettings {
    /// What they say together. Files are looked for in `folder`.
    pub fn config(&self, folder: &Path) -> Result<SearchConfig, Problem> {
        let mut config = SearchConfig::default();
        for (provider, table) in &self.0 {
            is_asked(provider)?;
            let faulty = |error: DeclarationError| unusable(provider, &error.problem);
            if let Some(file) = text(provider, table, "file")? {
                let path = folder.join(PathBuf::from(file));
                let declared = Declaration::from_toml(provider, &read::text(&path)?);
                let declared = declared
                    .map_err(|error| faulty(error).fix(format!("Correct {}.", path.display())))?;
                config.declared.insert(provider.clone(), declared);
            } else if table.keys().any(|key| key != "url") {
                let declared = table.clone().try_into::<Declaration>();
                let declared = declared.map_err(|error| unusable(provider, error.message()))?;
                let declared = declared.checked(provider).map_err(faulty)?;
                config.declared.insert(provider.clone(), declared);
                continue;
            }
            if let Some(url) = text(provider, table, "url")? {
                config.set_address(provider, url).map_err(faulty)?;
            }
            if let Some(stray) = table
                .keys()
                .find(|key| !matches!(key.as_str(), "url" | "file"))
            {
                let problem = format!("beside `file` there can be `url` and not `{stray}`");
                return Err(unusable(provider, &problem));
            }
        }
        Ok(config)
    }
}

/// Refuses a name that no component asks for: what is set under it would never be used.
fn is_asked(provider: &str) -> Result<(), Problem> {
    let searches = Catalog::builtin().iter().filter(|component| {
        component.family == Family::Search && component.availability == Availability::Available
    });
    let functions =
        searches.filter_map(|component| Some(component.tool.as_ref()?.function.as_ref()));
    let functions: Vec<&str> = functions.collect();
    match functions.contains(&provider) {
        true => Ok(()),
        false => Err(
            unusable(provider, "no component asks a provider of that name").fix(format!(
                "Set one under the name of a component's function: {}.",
                functions.join(", ")
            )),
        ),
    }
}

fn text<'t>(provider: &str, table: &'t Table, key: &str) -> Result<Option<&'t str>, Problem> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(unusable(provider, &format!("`{key}` must be a text"))),
    }
}

fn unusable(provider: &str, problem: &str) -> Problem {
    Problem::usage(format!(
        "The settings of [search.{provider}] cannot be used."
    ))
    .because(sentence(problem))
    .fix("docs/search.md says how a provider is set and declared.")
}
