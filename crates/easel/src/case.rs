//! `easel test`: case folders with a scripted world.

mod canvas;
mod compare;
mod files;
mod graph;
mod record;

use crate::cli::TestArguments;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use std::path::Path;

pub use canvas::input as turn_input;
use easel_runtime::Timestamp;
use files::Case;

/// Runs the cases and says how each went.
pub fn test(arguments: &TestArguments) -> Result<Exit, Problem> {
    if arguments.record {
        return record::record(arguments);
    }
    if arguments.trace.is_some() && arguments.cases.len() > 1 {
        let problem = Problem::usage("--trace writes down one case, and several are named.");
        return Err(problem.fix("Name one folder."));
    }
    let (mut failed, mut unread) = (0, 0);
    for folder in &arguments.cases {
        let case = match AnyCase::read(folder) {
            Ok(case) => case,
            // The others are run all the same.
            Err(problem) => {
                problem.tell();
                unread += 1;
                continue;
            }
        };
        let trace = case.run();
        if let Some(path) = &arguments.trace {
            let text = serde_json::to_string_pretty(&trace).unwrap_or_default();
            std::fs::write(path, text + "\n")
                .map_err(|error| Problem::file(path, "written", &error))?;
        }
        let verdict = Verdict::of(&case, &trace, arguments.level);
        failed += usize::from(!verdict.is_pass());
        out::line(&format!("{} {}", verdict.mark(), folder.display()));
        for line in verdict.lines() {
            out::line(&format!("    {line}"));
        }
    }
    let count = arguments.cases.len();
    if count > 1 {
        let unread = match unread {
            0 => String::new(),
            unread => format!(", {unread} not readable"),
        };
        out::line(&format!("{count} cases, {failed} not as expected{unread}"));
    }
    Ok(match (unread, failed) {
        (0, 0) => Exit::Done,
        (0, _) => Exit::Failed,
        _ => Exit::Usage,
    })
}

/// 2026-01-02 03:04:05 UTC, the time of every scripted run.
const NOW: Timestamp = Timestamp(1_767_323_045_000);

/// A case of either dialect.
enum AnyCase {
    Canvas(Case),
    Graph(Box<graph::Case>),
}

impl AnyCase {
    /// A folder with a canvas is a case of a canvas; any other is one of a graph.
    fn read(folder: &Path) -> Result<AnyCase, Problem> {
        let has = |name: &str| folder.join(name).exists();
        match has("inputs.json") && !has("canvas.json") {
            true => Ok(AnyCase::Graph(Box::new(graph::Case::read(folder)?))),
            false => Ok(AnyCase::Canvas(Case::read(folder)?)),
        }
    }

    fn run(&self) -> serde_json::Value {
        match self {
            AnyCase::Canvas(case) => canvas::run(case),
            AnyCase::Graph(case) => graph::run(case),
        }
    }

    fn expected(&self) -> Option<&serde_json::Value> {
        match self {
            AnyCase::Canvas(case) => case.expected.as_ref(),
            AnyCase::Graph(case) => case.expected.as_ref(),
        }
    }

    /// Where a run differs from what is expected.
    fn compare(
        &self,
        expected: &serde_json::Value,
        trace: &serde_json::Value,
        level: u8,
    ) -> Vec<compare::Difference> {
        match self {
            AnyCase::Canvas(case) => {
                let canvas = serde_json::from_slice(&case.canvas).unwrap_or_default();
                compare::canvas(expected, trace, level, &canvas)
            }
            AnyCase::Graph(_) => compare::graph(expected, trace, level),
        }
    }
}

/// How a case went.
enum Verdict {
    /// As expected.
    Same,
    /// Not as expected.
    Differs(Vec<compare::Difference>),
    /// There is nothing to compare with.
    Unjudged(&'static str),
}

impl Verdict {
    fn of(case: &AnyCase, trace: &serde_json::Value, level: u8) -> Verdict {
        let Some(expected) = case.expected() else {
            return Verdict::Unjudged(
                "There is no expected.json; --trace FILE writes what happened.",
            );
        };
        if !compare::is_trace(expected) {
            return Verdict::Unjudged(
                "expected.json is not the record of a run, so nothing was compared.",
            );
        }
        match case.compare(expected, trace, level) {
            differences if differences.is_empty() => Verdict::Same,
            differences => Verdict::Differs(differences),
        }
    }

    fn is_pass(&self) -> bool {
        matches!(self, Verdict::Same)
    }

    fn mark(&self) -> &'static str {
        match self {
            Verdict::Same => "✓",
            Verdict::Differs(_) => "✗",
            Verdict::Unjudged(_) => "?",
        }
    }

    /// Why, in lines.
    fn lines(&self) -> Vec<String> {
        /// Differences shown of one case, at most.
        const SHOWN: usize = 12;
        match self {
            Verdict::Same => Vec::new(),
            Verdict::Unjudged(why) => vec![(*why).to_owned()],
            Verdict::Differs(differences) => {
                let shown = differences
                    .iter()
                    .take(SHOWN)
                    .map(compare::Difference::to_string);
                let mut lines: Vec<String> = shown
                    .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
                    .collect();
                if differences.len() > SHOWN {
                    lines.push(format!("and {} more", differences.len() - SHOWN));
                }
                lines
            }
        }
    }
}
