//! What a crash test runs: a file with what the command line says, or a case folder.

use std::path::Path;

use easel_runtime::Object;
use serde_json::{Value as Json, json};

use crate::cli::CrashTestArguments;
use crate::problem::{Problem, sentence};
use crate::read;
use crate::run::input;
use crate::source::Source;

/// What is run, and with what.
pub struct Script {
    /// The workflow.
    pub source: Source,
    /// What is said, turn by turn.
    pub turns: Vec<Json>,
    /// Whether the conversation goes on from what the canvas holds.
    pub goes_on: bool,
    /// Whether questions that are left are answered with example values.
    pub examples: bool,
    /// The script of the world.
    pub world: Json,
}

impl Script {
    /// Reads what the command names.
    pub fn read(arguments: &CrashTestArguments) -> Result<Script, Problem> {
        let folder = &arguments.file;
        let in_folder = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
        let case = in_folder("turns.json").filter(|_| folder.is_dir());
        let said =
            arguments.say.is_some() || !arguments.input.is_empty() || !arguments.answer.is_empty();
        let (file, turns, world) = match case {
            Some(turns) => {
                let canvas = in_folder("canvas.json");
                let file = canvas.unwrap_or_else(|| folder.clone());
                (file, Some(of_case(&turns)?), in_folder("llm.json"))
            }
            None => (folder.clone(), None, None),
        };
        let source = Source::read(&file)?;
        let case = turns.filter(|_| !said);
        let examples = case.is_none();
        let (turns, goes_on) = match case {
            Some(case) => case,
            None => (given(arguments)?, false),
        };
        let world = match arguments.world.clone().or(world) {
            Some(path) => read::json(&path)?,
            None => obliging(),
        };
        Ok(Script {
            source,
            turns,
            goes_on,
            examples,
            world,
        })
    }

    /// Writes what the workflow is compiled from into a folder. True if it is a graph.
    pub fn write_workflow(&self, path: &Path) -> Result<bool, Problem> {
        let (bytes, graph) = match self.source.package() {
            Some(package) => {
                let archive = package.to_archive();
                let archive = archive.map_err(|error| {
                    Problem::usage(format!("{} cannot be packed.", self.source.name))
                        .because(sentence(&error.to_string()))
                })?;
                (archive, true)
            }
            None => (
                self.source.bytes.clone(),
                easel_runtime::is_graph(&self.source.bytes),
            ),
        };
        std::fs::write(path, bytes).map_err(|error| Problem::file(path, "written", &error))?;
        Ok(graph)
    }
}

/// The turns of a case folder, and whether they go on from what the canvas holds. What somebody does in the midst of a turn
/// cannot be done in the same moment of each life.
fn of_case(path: &Path) -> Result<(Vec<Json>, bool), Problem> {
    let file: Json = read::json(path)?;
    let turns = file.get("turns").and_then(Json::as_array);
    let turns = turns.cloned().unwrap_or_default();
    let interrupted = |turn: &Json| {
        ["cancel", "disconnect_after_events"]
            .iter()
            .any(|key| turn.get(key).is_some_and(|value| !value.is_null()))
    };
    if turns.iter().any(interrupted) {
        return Err(Problem::usage(format!(
            "{} cancels or disconnects in the midst of a turn, which a crash test cannot do.",
            path.display()
        ))
        .fix(
            "Take it out. A model's rule with `cancel: true` cancels at the same place each time.",
        ));
    }
    let goes_on = file.get("reset").and_then(Json::as_bool) == Some(false);
    Ok((turns, goes_on))
}

/// The turns that the command line gives.
fn given(arguments: &CrashTestArguments) -> Result<Vec<Json>, Problem> {
    let mut inputs = Object::new();
    for given in &arguments.input {
        let (name, value) = input::named("input", given)?;
        inputs.insert(name, input::value_of(value)?);
    }
    let say = arguments.say.clone().map_or(Json::Null, Json::from);
    let mut turns = vec![json!({"query": say, "inputs": inputs})];
    for given in &arguments.answer {
        turns.push(answer(given)?);
    }
    Ok(turns)
}

/// An answer: `NAME=VALUE`, an object with a value for each field, or what is said.
fn answer(given: &str) -> Result<Json, Problem> {
    if let Ok(Json::Object(fields)) = serde_json::from_str(given) {
        return Ok(json!({"inputs": fields}));
    }
    let named = given.split_once('=').filter(|(name, _)| {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        !name.is_empty() && name.chars().all(plain)
    });
    Ok(match named {
        Some((name, value)) => json!({"inputs": {name: input::value_of(value)?}}),
        None => json!({"query": given}),
    })
}

/// A world that says yes to everything.
fn obliging() -> Json {
    json!({
        "default_reply": "A scripted reply.",
        "http": [{"json": {"ok": true}}],
        "code": [{"result": "done"}],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_fields_or_is_said() {
        assert_eq!(
            answer("yes, do it").unwrap(),
            json!({"query": "yes, do it"})
        );
        assert_eq!(answer("age=7").unwrap(), json!({"inputs": {"age": 7}}));
        let object = answer(r#"{"age": 7, "name": "Ada"}"#).unwrap();
        assert_eq!(object, json!({"inputs": {"age": 7, "name": "Ada"}}));
        assert_eq!(answer("a b=c").unwrap(), json!({"query": "a b=c"}));
    }
}
