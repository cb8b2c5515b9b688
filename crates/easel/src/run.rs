//! `easel run`: one workflow, in a terminal or in a pipe.

mod ask;
mod document;
mod downloads;
mod files;
pub mod input;
mod lines;
mod record;
mod results;
mod screen;
mod setup;
mod show;
mod timings;
mod tree;

use std::io::IsTerminal;
use std::sync::Arc;

use easel_runtime::{Ending, Input, Origin, Session, TurnError, Workflow};
use easel_server::auth::LOCAL;
use tokio::task::JoinSet;

use crate::cli::RunArguments;
use crate::config::HOW_TO_SET_A_MODEL;
use crate::exit::Exit;
use crate::memory;
use crate::out;
use crate::problem::Problem;
use crate::receipt;
use crate::source::Source;
use ask::Asker;
use files::LocalFiles;
use show::Show;

pub use input::{name_the_message, value_of};
pub use setup::models_and_tools;

/// What a shell reports of a program that was interrupted.
pub const INTERRUPTED: i32 = 130;

/// Runs a workflow.
pub fn run(arguments: &RunArguments) -> Result<Exit, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime
        .map_err(|error| Problem::usage("No runtime can be started.").because(error.to_string()))?;
    let ended = runtime.block_on(start(arguments));
    // A line that nobody types must not hold the program up.
    runtime.shutdown_background();
    ended
}

/// Reads everything the command names, then makes turns.
async fn start(arguments: &RunArguments) -> Result<Exit, Problem> {
    let source = Source::read(&arguments.file)?;
    let files = Arc::new(LocalFiles::new(&arguments.downloads));
    let mut input = input::first(arguments, &files)?;
    let engine = setup::engine(arguments, &files)?;
    let workflow = Arc::new(source.load(&engine)?);
    source.refuse(&workflow)?;
    if let Some(graph) = workflow.graph() {
        input::name_the_message(graph.document(), &mut input);
    }
    if workflow.is_pipeline() {
        document::bring(&mut input, &files)?;
    }
    let mut talk = Talk {
        asker: Asker::new(files.clone(), arguments.chat),
        files,
        session: engine.session(&workflow).with_origin(Origin {
            agent: memory::file_agent(&arguments.file)
                .unwrap_or_default()
                .into(),
            owner: LOCAL.into(),
            trigger: "cli".into(),
            ..Origin::default()
        }),
        show: Show::new(arguments),
        source: &source,
        chat: arguments.chat,
        receipt: arguments.receipt.as_deref(),
    };
    if arguments.chat && input.query.is_null() {
        talk.show.greeting(&workflow);
    }
    match talk.asker.complete(&workflow, &mut input).await {
        true => {
            Asker::doubts(&workflow, &input)
                .iter()
                .for_each(|doubt| out::tell(doubt));
            Ok(talk.go_on(input).await)
        }
        // Nobody answered, so there is nothing to run.
        false => {
            talk.show.end(&talk.session);
            Ok(Exit::Waiting)
        }
    }
}

/// A conversation in a terminal or a pipe.
struct Talk<'a> {
    session: Session,
    asker: Asker,
    files: Arc<LocalFiles>,
    show: Show,
    source: &'a Source,
    chat: bool,
    /// Where the receipt goes.
    receipt: Option<&'a std::path::Path>,
}

impl Talk<'_> {
    /// Makes the first turn, and further ones while there is somebody to make them with.
    async fn go_on(mut self, first: Input) -> Exit {
        let mut next = Some(first);
        let mut exit = Exit::Done;
        while let Some(input) = next.take() {
            let ending = {
                // Gone with the turn: in the next one Ctrl-C is pressed for the first time again.
                let mut impatience = JoinSet::new();
                let show = &mut self.show;
                let mut observe = |event: easel_runtime::RunEvent| show.event(&event);
                self.session
                    .turn_until(input, &mut observe, stopped(&mut impatience))
                    .await
            };
            self.show.turn_over(&self.session, &ending);
            for path in self.files.downloads.news() {
                out::tell(&format!("Wrote {}", path.display()));
            }
            self.show.asks(self.asker.is_there());
            exit = exit_of(&ending);
            if let Some(problem) = self.problem(&ending) {
                problem.tell();
            }
            next = match (&ending, self.show.question()) {
                (Ok(Ending::Waiting | Ending::Unfit), Some((fields, _)))
                    if self.asker.is_there() =>
                {
                    self.asker.answers(fields).await
                }
                (Ok(Ending::Waiting | Ending::Unfit), _) => None,
                (Ok(_), _) if self.chat => self.asker.message().await,
                _ => None,
            };
        }
        if let Some(spent) = self.session.timings() {
            out::tell(&timings::table(&spent));
        }
        self.show.end(&self.session);
        if let Some(path) = &self.receipt
            && let Err(problem) = receipt::write(&self.session, path)
        {
            problem.tell();
            exit = problem.exit();
        }
        exit
    }

    /// What to tell about an ending that is none to be glad of.
    fn problem(&self, ending: &Result<Ending, TurnError>) -> Option<Problem> {
        match ending {
            Ok(Ending::Finished | Ending::Waiting | Ending::Unfit) => None,
            Ok(Ending::Uncertain(writes)) => {
                let questions = writes.iter().map(|write| &*write.question);
                let questions = Vec::from_iter(questions).join("\n");
                Some(Problem::new(Exit::Waiting, questions))
            }
            Ok(Ending::Cancelled) => Some(Problem::new(Exit::Failed, "The run was cancelled.")),
            Ok(Ending::Failed { node, fault }) => {
                let workflow: &Workflow = self.session.workflow();
                let place = node.as_ref().and_then(|node| workflow.place_of(node));
                let problem = Problem::new(Exit::Failed, &*fault.message);
                let problem = problem.at(&self.source.name, &self.source.text(), place);
                Some(match advice(&fault.code) {
                    Some(advice) => problem.fix(advice),
                    None => problem,
                })
            }
            Err(error) => {
                let said = error.to_string();
                let problem = Problem::new(exit_of(ending), crate::problem::sentence(&said));
                Some(match error {
                    TurnError::Inputs(_) => problem.fix(HOW_TO_GIVE_AN_INPUT),
                    _ => problem,
                })
            }
        }
    }
}

fn exit_of(ending: &Result<Ending, TurnError>) -> Exit {
    match ending {
        Ok(Ending::Finished) => Exit::Done,
        Ok(Ending::Waiting | Ending::Unfit | Ending::Uncertain(_)) => Exit::Waiting,
        Ok(Ending::Failed { .. } | Ending::Cancelled) => Exit::Failed,
        Err(TurnError::Refused(_)) => Exit::Refused,
        Err(TurnError::File(_) | TurnError::Inputs(_)) => Exit::Usage,
        Err(_) => Exit::Failed,
    }
}

/// What to do about inputs that a graph refuses.
const HOW_TO_GIVE_AN_INPUT: &str = "--input NAME=VALUE gives one: text as it is, anything else as JSON, such as --input 'items=[1, 2]'. \
     --inputs FILE gives all from a JSON file.";

/// What to do about a failure, beyond what its message says.
fn advice(code: &str) -> Option<&'static str> {
    match code {
        "model.no_default" | "model.unknown" | "model.key_missing" => Some(HOW_TO_SET_A_MODEL),
        "model.no_scripted_rule" => Some(
            "Add a rule to the file of --world that matches the request, or a `default_reply`.",
        ),
        _ => None,
    }
}

/// Resolves when somebody presses Ctrl-C. Pressed again, it ends the program at once.
async fn stopped(impatience: &mut JoinSet<()>) {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    impatience.spawn(async {
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Whether people watch what goes to standard error.
fn watched() -> bool {
    std::io::stderr().is_terminal()
}
