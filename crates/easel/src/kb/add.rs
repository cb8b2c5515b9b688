//! `easel kb add`: documents, by themselves or through a pipeline.

use std::path::Path;

use easel_knowledge::{Outcome, Progress, Report, Source, Step};
use easel_runtime::{Object, Value};
use serde_json::{Value as Json, json};

use super::pipeline::Adding;
use super::progress::Shown;
use super::{of, problem};
use crate::cli::AddKb;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::read;

/// Adds what the command names.
pub async fn add(arguments: &AddKb) -> Result<Exit, Problem> {
    let mut shown = Shown::new(arguments.json);
    let metadata = arguments.metadata.iter();
    let metadata = metadata.map(|(key, value)| (key.as_str().into(), Value::from(value.as_str())));
    let metadata: Object = metadata.collect();
    let metadata = Some(metadata).filter(|metadata| !metadata.is_empty());
    let added = match &arguments.pipeline {
        Some(pipeline) => {
            let adding = Adding::begin(arguments, pipeline, of(&arguments.folder)?).await?;
            adding.add(arguments, metadata, &mut shown).await
        }
        None => {
            let added = plainly(arguments, metadata, &shown).await;
            added.map(|report| (report, None))
        }
    };
    shown.over();
    let (report, broke_off) = added?;
    tell(arguments, &report);
    match broke_off {
        Some(problem) => Err(problem),
        None if report.failed.is_empty() => Ok(Exit::Done),
        None => Ok(Exit::Failed),
    }
}

/// Adds documents as they are.
async fn plainly(
    arguments: &AddKb,
    metadata: Option<Object>,
    shown: &Shown,
) -> Result<Report, Problem> {
    let knowledge = of(&arguments.folder)?;
    let tell = |progress: Progress<'_>| show(shown, &progress);
    let (mut report, mut files) = (Report::default(), Vec::new());
    for path in &arguments.paths {
        if path.is_dir() {
            let remove = arguments.remove_gone;
            let synced = knowledge.sync_folder(&arguments.name, path, remove, tell);
            let synced = synced.await.map_err(problem)?;
            if let Some(metadata) = &metadata {
                for name in synced
                    .added
                    .iter()
                    .chain(&synced.replaced)
                    .chain(&synced.unchanged)
                {
                    let set = knowledge.set_metadata(&arguments.name, name, metadata.clone());
                    set.await.map_err(problem)?;
                }
            }
            join(&mut report, synced);
        } else {
            files.push(Source {
                name: name_of(path),
                bytes: read::bytes(path)?,
                metadata: metadata.clone(),
            });
        }
    }
    if !files.is_empty() {
        let added = knowledge.add(&arguments.name, files, tell).await;
        join(&mut report, added.map_err(problem)?);
    }
    Ok(report)
}

/// The name of a file, without the folders before it.
pub fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Notes what became of a document.
pub fn note(report: &mut Report, name: &str, outcome: Outcome) {
    let name = name.to_owned();
    match outcome {
        Outcome::Added => report.added.push(name),
        Outcome::Replaced => report.replaced.push(name),
        Outcome::Partial(why) => report.partial.push((name, why)),
        Outcome::Unchanged => report.unchanged.push(name),
        Outcome::Failed(why) => report.failed.push((name, why)),
    }
}

fn join(report: &mut Report, more: Report) {
    report.added.extend(more.added);
    report.replaced.extend(more.replaced);
    report.unchanged.extend(more.unchanged);
    report.partial.extend(more.partial);
    report.failed.extend(more.failed);
    report.skipped.extend(more.skipped);
    report.gone.extend(more.gone);
    report.removed |= more.removed;
}

fn show(shown: &Shown, progress: &Progress<'_>) {
    let Progress {
        name, done, total, ..
    } = *progress;
    match &progress.step {
        Step::Reading => shown.begins(name, done, total),
        Step::Embedding(embedded, of) => {
            shown.step(name, &format!("{embedded} of {of} passages"));
        }
        Step::Ended(outcome) => shown.ended(name, done, total, outcome),
    }
}

fn tell(arguments: &AddKb, report: &Report) {
    if !arguments.json {
        out::tell(&summary(report));
        return;
    }
    let told = |(name, why): &(String, String)| json!({"document": name, "error": why});
    let failed: Vec<Json> = report.failed.iter().map(told).collect();
    let partial: Vec<Json> = report.partial.iter().map(told).collect();
    let told = json!({
        "added": report.added, "replaced": report.replaced, "unchanged": report.unchanged, "partial": partial,
        "failed": failed, "skipped": report.skipped, "gone": report.gone, "removed": report.removed,
    });
    out::line(&format!("{told:#}"));
}

fn summary(report: &Report) -> String {
    let mut parts = vec![
        format!("{} added", report.added.len()),
        format!("{} replaced", report.replaced.len()),
        format!("{} unchanged", report.unchanged.len()),
    ];
    for (names, what) in [
        (report.partial.len(), "in part"),
        (report.failed.len(), "failed"),
        (report.skipped.len(), "of no known format"),
    ] {
        if names > 0 {
            parts.push(format!("{names} {what}"));
        }
    }
    let mut line = parts.join(", ") + ".";
    if !report.gone.is_empty() {
        line.push_str(&match report.removed {
            true => format!(
                " Removed, as their files are gone: {}.",
                report.gone.join(", ")
            ),
            false => format!(
                " No longer in the folder: {}; --remove-gone removes them.",
                report.gone.join(", ")
            ),
        });
    }
    line
}
