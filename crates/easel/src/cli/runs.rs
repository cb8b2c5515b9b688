//! What one types for runs.

use clap::{Args, Subcommand};

use super::{Age, WorldArguments};
use crate::data::DataArguments;

/// What to do with runs.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A run is named by its id; `last` stands for the one that began last. Verbs that act on a run go
through the server that holds the data folder; where there is none, the command drives the run
itself.

Examples:
  easel runs list --state waiting
  easel runs show last --steps
  easel runs answer last budget=Low
  easel runs gc --older-than 30d")]
pub enum RunsCommand {
    /// List runs, the newest first.
    List(ListRuns),
    /// Show where a run stands, what it was given and gave, and with --steps every attempt.
    Show(ShowRun),
    /// Look into a run: what a reference stood for, or everything, now or at any event.
    State(StateOfRun),
    /// Print what people saw of a run.
    Events(EventsOfRun),
    /// Take up a run that was under way when its process ended.
    Resume(ResumeRun),
    /// End a run as cancelled.
    Cancel(CancelRun),
    /// Answer a run that waits, or say what became of an uncertain write.
    Answer(AnswerRun),
    /// Delete runs that are over, with their journals.
    Delete(DeleteRuns),
    /// Delete runs that are over and old, and what only they held.
    Gc(GcRuns),
}

/// Arguments of `easel runs list`.
#[derive(Args, Debug)]
pub struct ListRuns {
    /// Of this agent or graph: its title, name or id.
    #[arg(long)]
    pub agent: Option<String>,
    /// Of this conversation.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// In these states: running, waiting, uncertain, finished, failed, cancelled.
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    pub state: Vec<String>,
    /// Of this owner.
    #[arg(long)]
    pub owner: Option<String>,
    /// On behalf of this user.
    #[arg(long)]
    pub user: Option<String>,
    /// That began at most so long ago: 30m, 12h, 7d.
    #[arg(long, value_name = "AGE")]
    pub since: Option<Age>,
    /// With this text in what is said about them.
    #[arg(long)]
    pub text: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: u32,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel runs show`.
#[derive(Args, Debug)]
pub struct ShowRun {
    /// The run's id, or last.
    pub run: String,
    /// Show every attempt, with what it read and gave.
    #[arg(long)]
    pub steps: bool,
    /// Only the steps of this node.
    #[arg(long, value_name = "ID", requires = "steps")]
    pub node: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel runs state`.
#[derive(Args, Debug)]
#[command(after_help = "\
A reference is written as in the workflow: Agent:X@content, sys.query, env.list, nodes.fetch.body,
inputs.topic, item. Values are masked as the journal has them.

Exit codes: 0 done, 1 the reference stood for nothing then, 2 there is no such run, reference or event.

Examples:
  easel runs state last
  easel runs state last Agent:Draft@content
  easel runs state last sys.query --at 12.3")]
pub struct StateOfRun {
    /// The run's id, or last.
    pub run: String,
    /// The reference; without one, everything.
    pub reference: Option<String>,
    /// The moment: the id of an event, or the number of an entry of the journal. Without it, now.
    #[arg(long, value_name = "EVENT")]
    pub at: Option<String>,
    /// The container that is meant, where several have a value of that name.
    #[arg(long, value_name = "NODE")]
    pub within: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel runs events`.
#[derive(Args, Debug)]
pub struct EventsOfRun {
    /// The run's id, or last.
    pub run: String,
    /// Only what is behind the event of this id.
    #[arg(long, value_name = "EVENT")]
    pub after: Option<String>,
    /// Go on until the run's turn ends.
    #[arg(long)]
    pub follow: bool,
    /// Print each event as a line of JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel runs resume`.
#[derive(Args, Debug)]
#[command(after_help = "\
What is done is not done again; it stays the same run. Started servers do this by themselves.

Exit codes: 0 the run is done, 1 it failed or was cancelled, 2 usage, 4 it waits for an answer or a decision.")]
pub struct ResumeRun {
    /// The run's id, or last.
    pub run: String,
    /// Print the run as one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub world: WorldArguments,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel runs cancel`.
#[derive(Args, Debug)]
pub struct CancelRun {
    /// The run's id, or last.
    pub run: String,
    /// Print the run as one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel runs answer`.
#[derive(Args, Debug)]
#[command(after_help = "\
A run that waits takes values by field, or a text where exactly one field is open. A value is text,
JSON, or @FILE for the text of a file.

An uncertain run does not know whether a write reached the outside. --repeat does it again with the
same idempotency key, --happened takes it as done, --failed as failed.

Exit codes: 0 the run is done, 1 it failed or was cancelled, 2 usage, 4 it waits again.

Examples:
  easel runs answer last                       what does it ask?
  easel runs answer last \"The blue one\"
  easel runs answer last budget=Low changes=\"no candles\"
  easel runs answer last --repeat
  easel runs answer last --happened '{\"status\": 201}'
  easel runs answer last --failed \"the mail bounced\"")]
pub struct AnswerRun {
    /// The run's id, or last.
    pub run: String,
    /// FIELD=VALUE for each field, or a text. Without it the question is shown.
    #[arg(value_name = "ANSWER")]
    pub answer: Vec<String>,
    /// The write did not happen, or does no harm twice: do it again.
    #[arg(long, conflicts_with_all = ["answer", "happened", "failed"], help_heading = "Uncertain writes")]
    pub repeat: bool,
    /// The write happened; its node gave these outputs.
    #[arg(long, value_name = "JSON", num_args = 0..=1, default_missing_value = "{}", conflicts_with_all = ["answer", "failed"], help_heading = "Uncertain writes")]
    pub happened: Option<String>,
    /// The write counts as failed, for this reason.
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "", conflicts_with = "answer", help_heading = "Uncertain writes")]
    pub failed: Option<String>,
    /// Which write, where there are several: the number that the question names.
    #[arg(long, value_name = "N", help_heading = "Uncertain writes")]
    pub write: Option<u64>,
    /// Print the run as one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub world: WorldArguments,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel runs delete`.
#[derive(Args, Debug)]
pub struct DeleteRuns {
    /// The runs' ids.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Cancel those that are not over, then delete them.
    #[arg(long)]
    pub cancel: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel runs gc`.
#[derive(Args, Debug)]
#[command(after_help = "\
Runs that wait, are uncertain or under way stay, whatever their age. Documents that no agent,
version, conversation or run names go too.

Examples:
  easel runs gc --older-than 30d --dry-run
  easel runs gc --older-than 7d --state finished --keep 100")]
pub struct GcRuns {
    /// How long ago they changed last: 12h, 30d, 8w.
    #[arg(long, value_name = "AGE")]
    pub older_than: Age,
    /// Only those in these states: finished, failed, cancelled.
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = ["finished", "failed", "cancelled"])]
    pub state: Vec<String>,
    /// Only those of this owner.
    #[arg(long)]
    pub owner: Option<String>,
    /// Keep so many of the newest runs of each agent, whatever their age.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub keep: u64,
    /// Only count.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}
