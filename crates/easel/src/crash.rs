//! `easel crash-test`: runs a workflow once undisturbed, then kills it after each commit in turn, and compares.
//!
//! The process that is killed is a real one, killed with SIGKILL at the moment that it reports. This process then takes the
//! run up, as a server does after a restart. The world is scripted, and keeps a record that no kill can touch.

mod examples;
mod killer;
mod life;
mod moments;
mod place;
mod record;
mod report;
mod script;
mod watch;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use easel_store::Location;
use tokio::runtime::Runtime;

use crate::cli::CrashTestArguments;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::read;
use life::{Life, Outcome, Spec};
use moments::Described;
use place::{Place, Places};
use record::History;
use report::{Killed, Report, Verdict};
use script::Script;

/// What a process that is to be killed is started with, behind `worker`.
pub const CRASH_RUN: &str = "crash-run";

/// Runs the test and says what it found.
pub fn crash_test(arguments: &CrashTestArguments) -> Result<Exit, Problem> {
    let began = Instant::now();
    let runtime = runtime()?;
    let script = Script::read(arguments)?;
    let places = runtime.block_on(Places::new(arguments))?;
    let workflow = places.file("workflow");
    let spec = Spec {
        graph: script.write_workflow(&workflow)?,
        workflow,
        turns: script.turns.clone(),
        goes_on: script.goes_on,
        examples: script.examples,
        world: script.world.clone(),
        config: arguments.config.clone(),
        concurrency: arguments.concurrency,
        every_event: arguments.every_event,
    };
    let spec_file = places.file("spec.json");
    let json = serde_json::to_vec(&spec).unwrap_or_default();
    std::fs::write(&spec_file, json)
        .map_err(|error| Problem::file(&spec_file, "written", &error))?;
    let undisturbed = runtime.block_on(undisturbed(&spec, &places))?;
    let test = Test {
        spec: &spec,
        spec_file: &spec_file,
        places: &places,
        undisturbed: &undisturbed,
    };
    let kills = test.kill_everywhere(|killed| {
        if !arguments.json {
            killed.print();
        }
    })?;
    let mut report = Report {
        file: arguments.file.display().to_string(),
        undisturbed: undisturbed.standings(),
        effects: undisturbed.effects.len(),
        same: 0,
        undecided: 0,
        differ: 0,
        milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        kills,
    };
    report.count();
    match arguments.json {
        true => report.print_json(),
        false => report.print_summary(),
    }
    Ok(match report.differ {
        0 => Exit::Done,
        _ => Exit::Failed,
    })
}

/// A process that runs a workflow and stops where it is to be killed: `easel worker crash-run SPEC LOCATION RECORD AT`.
pub fn crash_run(mut arguments: impl Iterator<Item = OsString>) -> Exit {
    let mut next = || arguments.next().unwrap_or_default();
    let (spec, location, record, at) = (next(), next(), next(), next());
    let lived = || -> Result<Outcome, Problem> {
        let spec: Spec = read::json(Path::new(&spec))?;
        let life = Life {
            number: 1,
            die_at: at.to_string_lossy().parse().ok(),
            location: &Location::parse(&location.to_string_lossy()),
            record: Path::new(&record),
            undisturbed: None,
        };
        runtime()?.block_on(life::live(&spec, &life))
    };
    match lived() {
        Ok(_) => Exit::Done,
        Err(problem) => {
            problem.tell();
            problem.exit()
        }
    }
}

fn runtime() -> Result<Runtime, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.map_err(|error| Problem::usage("No runtime can be started.").because(error.to_string()))
}

/// What an undisturbed run came to.
struct Undisturbed {
    outcome: Outcome,
    history: History,
    effects: Vec<String>,
}

impl Undisturbed {
    /// Where its runs stood in the end.
    fn standings(&self) -> Vec<String> {
        let runs = self.outcome.result["runs"].as_array();
        let state = |run: &serde_json::Value| {
            let state = run["standing"]["state"].as_str();
            state.unwrap_or_default().to_owned()
        };
        runs.into_iter().flatten().map(state).collect()
    }
}

async fn undisturbed(spec: &Spec, places: &Places) -> Result<Undisturbed, Problem> {
    const NAME: &str = "undisturbed";
    let place = places.fresh(NAME).await?;
    let life = Life {
        number: 1,
        die_at: None,
        location: &place.location,
        record: &place.record,
        undisturbed: None,
    };
    let lived = life::live(spec, &life).await;
    let history = history(&place);
    places.done_with(NAME).await;
    let (outcome, history) = (lived?, history?);
    if let Some(error) = &outcome.error {
        return Err(
            Problem::new(Exit::Failed, crate::problem::sentence(error).into_owned())
                .because("This is the undisturbed run, so nothing was killed."),
        );
    }
    Ok(Undisturbed {
        effects: history.effects(),
        outcome,
        history,
    })
}

fn history(place: &Place) -> Result<History, Problem> {
    let entries = record::read(&place.record);
    let entries = entries.map_err(|error| Problem::file(&place.record, "read", &error))?;
    Ok(History::new(entries))
}

/// Everything that the kills have in common.
struct Test<'a> {
    spec: &'a Spec,
    spec_file: &'a PathBuf,
    places: &'a Places,
    undisturbed: &'a Undisturbed,
}

impl Test<'_> {
    /// Kills at each moment, several at a time, and shows what came of it in order.
    fn kill_everywhere(&self, show: impl Fn(&Killed) + Sync) -> Result<Vec<Killed>, Problem> {
        let moments = &self.undisturbed.outcome.moments;
        let next = AtomicU64::new(0);
        let done = Mutex::new(Done::default());
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(moments.len()) {
                scope.spawn(|| {
                    let runtime = runtime();
                    loop {
                        let at = next.fetch_add(1, Ordering::SeqCst);
                        let Some(moment) = moments.get(usize::try_from(at).unwrap_or(usize::MAX))
                        else {
                            return;
                        };
                        let killed = match &runtime {
                            Ok(runtime) => self.kill(runtime, at + 1, moment),
                            Err(_) => Err(Problem::usage("No runtime can be started.")),
                        };
                        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                        done.take(at + 1, killed, &show);
                    }
                });
            }
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        match done.problem {
            Some(problem) => Err(problem),
            None => Ok(done.shown),
        }
    }

    /// Kills at one moment, takes the run up, and compares.
    fn kill(&self, runtime: &Runtime, number: u64, moment: &Described) -> Result<Killed, Problem> {
        let name = format!("kill_{number}");
        let place = runtime.block_on(self.places.fresh(&name))?;
        let came = self.die(&place, number)?;
        let life = Life {
            number: 2,
            die_at: None,
            location: &place.location,
            record: &place.record,
            undisturbed: Some(&self.undisturbed.history),
        };
        let lived = runtime.block_on(life::live(self.spec, &life));
        let history = history(&place)?;
        runtime.block_on(self.places.done_with(&name));
        let mut differences = Vec::new();
        let mut questions = Vec::new();
        if !came {
            differences.push("the run went another way and did not come here".to_owned());
        }
        match lived {
            Err(problem) => {
                differences.push(format!("it could not be taken up: {}", problem.message()))
            }
            Ok(outcome) if !outcome.undecided.is_empty() => questions = outcome.undecided,
            Ok(outcome) => {
                differences.extend(
                    outcome
                        .error
                        .map(|error| format!("it could not go on: {error}")),
                );
                let undisturbed = &self.undisturbed.outcome.result;
                differences.extend(report::differences(undisturbed, &outcome.result));
                let effects = history.effects();
                differences.extend(report::effects(&self.undisturbed.effects, &effects));
            }
        }
        let verdict = match (differences.is_empty(), questions.is_empty()) {
            (false, _) => Verdict::Differs { differences },
            (true, false) => Verdict::Undecided { questions },
            (true, true) => Verdict::Same,
        };
        Ok(Killed {
            number,
            moment: moment.clone(),
            made_again: history.made_again(),
            verdict,
        })
    }

    /// Starts a process and kills it when it says that it is at that moment. False if it came to its end before.
    fn die(&self, place: &Place, number: u64) -> Result<bool, Problem> {
        let failed = |error: std::io::Error| {
            Problem::usage("No process can be started to be killed.").because(error.to_string())
        };
        let program = std::env::current_exe().map_err(failed)?;
        let location = match &place.location {
            Location::Folder(folder) => folder.clone().into_os_string(),
            Location::Database(url) => url.into(),
        };
        let mut child = Command::new(program)
            .args([crate::WORKER, CRASH_RUN])
            .arg(self.spec_file)
            .arg(location)
            .arg(&place.record)
            .arg(number.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            // What cannot be read is no word from it.
            let _ = BufReader::new(out).read_line(&mut line);
        }
        // SIGKILL, where there are signals.
        let _ = child.kill();
        child.wait().map_err(failed)?;
        Ok(line.trim() == killer::HERE)
    }
}

/// Kills that are done, shown in order.
#[derive(Default)]
struct Done {
    early: BTreeMap<u64, Killed>,
    shown: Vec<Killed>,
    problem: Option<Problem>,
}

impl Done {
    fn take(&mut self, number: u64, killed: Result<Killed, Problem>, show: &impl Fn(&Killed)) {
        match killed {
            Ok(killed) => drop(self.early.insert(number, killed)),
            Err(problem) => drop(self.problem.get_or_insert(problem)),
        }
        while let Some(killed) = self.early.remove(&(self.shown.len() as u64 + 1)) {
            show(&killed);
            self.shown.push(killed);
        }
    }
}
