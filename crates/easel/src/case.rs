//! `easel test`: case folders with a scripted world.

mod canvas;
mod compare;
mod files;
mod record;

use crate::cli::TestArguments;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
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
        let case = match Case::read(folder) {
            Ok(case) => case,
            // The others are run all the same.
            Err(problem) => {
                problem.tell();
                unread += 1;
                continue;
            }
        };
        let trace = canvas::run(&case);
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
    fn of(case: &Case, trace: &serde_json::Value, level: u8) -> Verdict {
        let Some(expected) = &case.expected else {
            return Verdict::Unjudged(
                "There is no expected.json; --trace FILE writes what happened.",
            );
        };
        if !compare::is_trace(expected) {
            return Verdict::Unjudged(
                "expected.json is not the record of a run, so nothing was compared.",
            );
        }
        let canvas = serde_json::from_slice(&case.canvas).unwrap_or_default();
        match compare::canvas(expected, trace, level, &canvas) {
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
