//! The command line.

mod age;
mod agents;
mod kb;
mod keys;
mod mcp;
mod memory;
mod runs;
mod world;

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use easel_server::Settings;
use easel_server::host::Busy;
use easel_server::rate::Rate;

use crate::data::DataArguments;

pub use age::Age;
pub use agents::*;
pub use kb::*;
pub use keys::*;
pub use mcp::*;
pub use memory::*;
pub use runs::*;
pub use world::WorldArguments;
use world::perhaps_a_path;

/// Run agent workflows drawn as canvases or written as graphs.
#[derive(Debug, Parser)]
#[command(name = "easel", version = crate::VERSION, about, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  easel new hello.json                      write a small canvas
  easel new hello.yaml                      write a small graph
  easel new --list                          show the templates
  easel run hello.yaml \"Ada\"                run it
  easel check my-canvas.json                say what is wrong with a workflow
  easel explain maybe-missing               say more about one of its remarks
  easel components Switch                   show what a component takes and gives")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a workflow and show its answer.
    Run(Box<RunArguments>),
    /// Serve workflows over HTTP: agents, runs, webhooks, OpenAI and MCP, with everything kept.
    Serve(Box<ServeArguments>),
    /// Say what is wrong or doubtful about workflows, without running them.
    Check(CheckArguments),
    /// Run case folders with their scripted worlds and compare what happens with what is expected.
    Test(TestArguments),
    /// Kill a run after each commit in turn, take it up, and say whether it ends as if nothing had happened.
    CrashTest(CrashTestArguments),
    /// Explain a code that the check prints; without one, list them.
    Explain {
        /// The code, as it stands in brackets.
        code: Option<String>,
    },
    /// List the components, or show what one of them takes and gives.
    Components(ComponentsArguments),
    /// Print a workflow in today's form: old shapes rewritten, everything else kept.
    Export {
        /// The workflow; - reads standard input.
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Write a workflow to begin with: a small one that runs as it is, or one of the templates.
    New(NewArguments),
    /// Put a graph with everything that belongs to it into one archive.
    Pack(PackArguments),
    /// Take an archive apart into a folder.
    Unpack(UnpackArguments),
    /// Say what a workflow asks for, and what of it is missing here: secrets, models, tools, Python.
    Requirements(RequirementsArguments),
    /// Write a canvas as a graph, or a graph as a canvas, and say what could not be carried over.
    Convert(ConvertArguments),
    /// Print the JSON Schema of graph.yaml, for editors that complete and check while one types.
    #[command(after_help = "\
Example:
  easel schema > graph.schema.json
and as the first line of graph.yaml:
  # yaml-language-server: $schema=graph.schema.json")]
    Schema,
    /// Keep secrets for workflows, and say which ones a workflow needs.
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Look at runs that are kept, answer them, drive them on, end and delete them.
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Take agents in from files, release them, compare and restore versions.
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Make and revoke API keys of the server.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Keep documents for Retrieval: add them, list them, search them.
    #[command(subcommand)]
    Kb(KbCommand),
    /// Look at MCP servers: list them and their tools, call a tool.
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Show and forget what agents remember of their users.
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Show which secrets a run used and where they went, or verify that a receipt was not changed.
    Receipt(ReceiptArguments),
    /// Move the credentials that are written out in a workflow into the vault, and put their names in their place.
    Import(ImportArguments),
    /// Print completions for a shell.
    #[command(
        after_help = "Example:\n  easel completions bash > ~/.local/share/bash-completion/completions/easel"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Arguments of `easel run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 done, 1 the run failed, 2 usage, 3 the check refused, 4 waiting for input.

The answer goes to standard output, everything else to standard error. With --concurrency 1
nodes start in the order of the file; otherwise steps that do not depend on each other run at
the same time.

Examples:
  easel run examples/hello.json \"Ada\"
  easel run canvas.json --model gpt-4o-mini@openai \"What is new?\"      (with OPENAI_API_KEY set)
  easel run canvas.json --model qwen3 --base-url http://localhost:8000/v1 \"What is new?\"
  easel run canvas.json --input topic=owls --input notes=@notes.txt
  easel run canvas.json --world llm.json --json \"Try it without a model\"
  easel run canvas.json --chat")]
pub struct RunArguments {
    /// The workflow; - reads standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// What the user says; - reads standard input.
    pub query: Option<String>,

    /// Attempts under way at once. With 1, nodes start in the order of the file.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: u32,

    /// An input by name: text, JSON, or @FILE for the text of a file. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Input")]
    pub input: Vec<String>,
    /// Inputs by name from a JSON file.
    #[arg(long, value_name = "FILE", help_heading = "Input", value_hint = ValueHint::FilePath)]
    pub inputs: Option<PathBuf>,
    /// A file to hand in: text, an image, or an Excel file. May be repeated.
    #[arg(long = "file", value_name = "PATH", help_heading = "Input", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// The user's id.
    #[arg(long, value_name = "ID", help_heading = "Input")]
    pub user: Option<String>,
    /// A header for MCP servers and tools that declare it. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Input")]
    pub header: Vec<String>,
    /// What a webhook brings, as JSON or @FILE: an object with query, headers and body.
    #[arg(long, value_name = "JSON", help_heading = "Input")]
    pub webhook: Option<String>,
    /// Go on talking: each further line is a turn, or answers an open question.
    #[arg(long, help_heading = "Input")]
    pub chat: bool,

    #[command(flatten)]
    pub world: WorldArguments,

    /// Print one JSON object at the end: ending, outputs, history with every attempt, usage.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print each event as a line of JSON.
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub events: bool,
    /// The folder for files that the run makes; it is made with the first.
    #[arg(long, value_name = "FOLDER", default_value = "downloads", help_heading = "Output", value_hint = ValueHint::DirPath)]
    pub downloads: PathBuf,
    /// Say at the end where the time went.
    #[arg(long, help_heading = "Output")]
    pub timings: bool,
    /// Write the receipt of the last run to this file: which secrets went where. `easel receipt` shows it.
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub receipt: Option<PathBuf>,
}

/// Arguments of `easel serve`.
#[derive(Args, Debug)]
#[command(after_help = "\
The server ends on Ctrl-C or SIGTERM once turns under way are done, or after --patience; what is
left then, or after any crash, goes on at the next start.

Examples:
  easel serve
  easel keys new laptop && easel serve --listen 0.0.0.0:9380
  easel serve --database postgres://easel@db/easel --model gpt-4o-mini@openai")]
pub struct ServeArguments {
    /// Where to listen. Port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value_t = Settings::LISTEN, env = "EASEL_LISTEN", value_parser = address)]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub data: DataArguments,
    #[command(flatten)]
    pub world: WorldArguments,

    /// What becomes of a message to a conversation that is answering another.
    #[arg(long, value_enum, default_value_t = WhenBusy::Queue, help_heading = "Limits")]
    pub busy: WhenBusy,
    /// Turns under way at once; further ones are refused.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4096,
        help_heading = "Limits"
    )]
    pub turns: usize,
    /// Requests to models under way at once, over all runs.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1024,
        help_heading = "Limits"
    )]
    pub models: usize,
    /// Calls of tools under way at once, over all runs.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1024,
        help_heading = "Limits"
    )]
    pub tools: usize,
    /// Scripts under way at once, over all runs.
    #[arg(long, value_name = "N", default_value_t = 64, help_heading = "Limits")]
    pub code: usize,
    /// Requests that each key may make: N/second, N/minute, N/hour or N/day.
    #[arg(long, value_name = "N/TIME", value_parser = rate, help_heading = "Limits")]
    pub rate: Option<Rate>,
    /// Seconds that turns under way may take when the server is asked to stop.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 20,
        help_heading = "Limits"
    )]
    pub patience: u64,
    /// An origin whose pages may call the server from a browser: scheme, host and port. May be repeated.
    #[arg(long, value_name = "ORIGIN", help_heading = "Limits")]
    pub cors: Vec<String>,
}

/// What becomes of a message to a busy conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhenBusy {
    /// It waits for its turn.
    Queue,
    /// It is refused.
    Refuse,
}

impl From<WhenBusy> for Busy {
    fn from(when: WhenBusy) -> Busy {
        match when {
            WhenBusy::Queue => Busy::Queue,
            WhenBusy::Refuse => Busy::Refuse,
        }
    }
}

/// Takes an address, or a name with a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().ok();
    found
        .and_then(|mut addresses| addresses.next())
        .ok_or_else(|| "write it as 127.0.0.1:9380 or localhost:9380".to_owned())
}

fn rate(text: &str) -> Result<Rate, String> {
    let wrong = || format!("`{text}` is no rate; write it as 100/minute");
    let (limit, per) = text.split_once('/').ok_or_else(wrong)?;
    let seconds = match per {
        "second" | "s" => 1,
        "minute" | "m" => 60,
        "hour" | "h" => 3_600,
        "day" | "d" => 86_400,
        _ => return Err(wrong()),
    };
    let limit: u32 = limit.parse().map_err(|_| wrong())?;
    match limit {
        0 => Err("a rate of 0 would let nobody in".to_owned()),
        limit => Ok(Rate {
            limit,
            per: Duration::from_secs(seconds),
        }),
    }
}

/// Arguments of `easel check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 no errors, 2 a file cannot be read, 3 there are errors. Warnings do not keep a
workflow from running.

Examples:
  easel check canvas.json
  easel check --format sarif canvases/*.json > easel.sarif")]
pub struct CheckArguments {
    /// The workflows; - reads standard input.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// How to write what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Settings: which models there are. Without it ./easel.toml is read if it is there.
    #[arg(long, value_name = "FILE", env = "EASEL_CONFIG", value_hint = ValueHint::FilePath, value_parser = perhaps_a_path())]
    pub config: Option<PathBuf>,
}

/// How to write what the check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For code hosts and editors.
    Sarif,
}

/// Arguments of `easel components`.
#[derive(Args, Debug)]
pub struct ComponentsArguments {
    /// The component, in any case.
    pub name: Option<String>,
    /// Print the reference page as Markdown.
    #[arg(long)]
    pub markdown: bool,
    /// Print the JSON Schema.
    #[arg(long, conflicts_with = "markdown")]
    pub schema: bool,
}

/// Arguments of `easel test`.
#[derive(Args, Debug)]
#[command(after_help = "\
A case is a folder: canvas.json is the workflow, turns.json what the caller does, llm.json what
models and tools answer, expected.json what should happen. Nothing outside the folder is touched,
and the clock stands still.

Exit codes: 0 all cases are as expected, 1 one differs, 2 one cannot be read.

Examples:
  easel test cases/*                                              run all cases
  easel test cases/refund --level 3                               compare the model requests too
  easel test cases/new --record --from canvas.json --query \"Hi\"   make a case from a real run")]
pub struct TestArguments {
    /// Case folders.
    #[arg(required = true, value_name = "CASE", value_hint = ValueHint::DirPath)]
    pub cases: Vec<PathBuf>,
    /// Write what happened to this file, in the form of expected.json.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
    /// How closely to compare: 1 messages and nodes, 2 also outputs and variables, 3 also requests to models and tools.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub level: u8,
    /// Run against real models and tools, and write what they answer (llm.json) and what happens (expected.json).
    #[arg(long, help_heading = "Recording", conflicts_with = "trace")]
    pub record: bool,
    /// The workflow to record; it is copied into the folder. Without it the folder's own.
    #[arg(long, value_name = "FILE", help_heading = "Recording", requires = "record", value_hint = ValueHint::FilePath)]
    pub from: Option<PathBuf>,
    /// What the user says, a turn each. May be repeated. Without it the folder's own turns.json.
    #[arg(
        long,
        value_name = "TEXT",
        help_heading = "Recording",
        requires = "record"
    )]
    pub query: Vec<String>,
    #[command(flatten)]
    pub world: WorldArguments,
}

/// Arguments of `easel crash-test`.
#[derive(Args, Debug)]
#[command(after_help = "\
The workflow runs in a scripted world: nothing outside is touched, and the clock stands still. It runs
once undisturbed; then, for each commit, a process of its own runs it and is killed right there
(SIGKILL), and another one takes the run up. Standing, outputs, messages, the conversation and what was
changed outside have to be the same.

A write that was under way, and whose target does not know it again, is decided by what the world saw:
it happened, or it is made. One that was cut in half (an agent between two of its tools) waits for you.

Exit codes: 0 all the same, 1 one differs, 2 usage, 3 the check refused.

Examples:
  easel crash-test canvas.json --say \"Hi\"
  easel crash-test graph.yaml --input topic=owls --world llm.json --every-event
  easel crash-test canvas.json --say order --answer colour=red --answer yes
  easel crash-test cases/refund --json                a case folder: canvas.json, turns.json, llm.json")]
pub struct CrashTestArguments {
    /// The workflow, or a case folder.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub file: PathBuf,
    /// Kill also right before each commit, and in the midst of each call of a model or a tool.
    #[arg(long)]
    pub every_event: bool,
    /// Attempts under way at once. With 1, nodes start in the order of the file.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: u32,

    /// What the user says.
    #[arg(long, value_name = "TEXT", help_heading = "Input")]
    pub say: Option<String>,
    /// An input by name: text, JSON, or @FILE for the text of a file. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Input")]
    pub input: Vec<String>,
    /// The answer to the next question: NAME=VALUE, a JSON object, or text. May be repeated. Further questions get example values.
    #[arg(long, value_name = "ANSWER", help_heading = "Input")]
    pub answer: Vec<String>,

    /// What models and tools answer. Without it they say yes to everything.
    #[arg(long, value_name = "FILE", help_heading = "World", value_hint = ValueHint::FilePath)]
    pub world: Option<PathBuf>,
    /// Settings: Python. Without it ./easel.toml is read if it is there.
    #[arg(long, value_name = "FILE", env = "EASEL_CONFIG", help_heading = "World", value_hint = ValueHint::FilePath, value_parser = perhaps_a_path())]
    pub config: Option<PathBuf>,

    /// Keep the stores in this folder, to be looked at; it has to be new or empty. Without it they are gone at the end.
    #[arg(long, value_name = "DIR", help_heading = "Store", value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// Test with this PostgreSQL database instead of SQLite, in schemas that are gone at the end.
    #[arg(long, value_name = "URL", help_heading = "Store")]
    pub database: Option<String>,

    /// Print one JSON object.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// What to do with secrets.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A workflow names a secret as ${NAME}. Its value is looked for in the environment, then in .env in
this folder, then in the vault; values are never printed and never taken from the command line.

The vault and its key are in ~/.config/easel, or where EASEL_HOME says; EASEL_VAULT_KEY gives the
key instead of the file.

Examples:
  easel secrets set TAVILY_API_KEY                 asks for the value
  pass show tavily | easel secrets set TAVILY_API_KEY
  easel secrets check canvas.json                  what it needs, and what is missing")]
pub enum SecretsCommand {
    /// Put a secret into the vault. The value is asked for, or read from standard input.
    Set {
        /// Its name: letters, digits and _.
        name: String,
    },
    /// List the secrets that are kept, without their values.
    List,
    /// Take a secret out of the vault.
    Rm {
        /// Its name.
        name: String,
    },
    /// Say which secrets a workflow needs, and whether they are set.
    #[command(
        after_help = "Exit codes: 0 all are set, 2 the file cannot be read, 3 one is missing or cannot be used."
    )]
    Check {
        /// The workflow; - reads standard input.
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
}

/// Arguments of `easel pack`.
#[derive(Args, Debug)]
#[command(after_help = "\
The graph is read and nothing of it is run. Of a folder everything goes along but names that begin
with a dot, __pycache__ and .pyc files; of a graph alone, the Python files that it names. The same
files give the same archive.

Examples:
  easel pack reports                        writes reports.zip
  easel pack graph.yaml -o reports.zip")]
pub struct PackArguments {
    /// A folder with workflow.yaml, or a graph.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub workflow: PathBuf,
    /// Where to write it; without this beside the workflow, with its name.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it is there.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `easel unpack`.
#[derive(Args, Debug)]
#[command(after_help = "\
Nothing of the package is run. Names that lead out of the folder are refused, and so is an archive
with more than 64 MB or 1,000 files in it.

Example:
  easel unpack reports.zip")]
pub struct UnpackArguments {
    /// The archive.
    #[arg(value_hint = ValueHint::FilePath)]
    pub archive: PathBuf,
    /// The folder to make; it has to be new or empty. Without this it is named after the archive.
    #[arg(value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// Arguments of `easel convert`.
#[derive(Args, Debug)]
#[command(after_help = "\
What both say alike is carried over. Everything else is named on standard error, a line each: the
node, the key, and what became of it. docs/converting.md says what goes over.

Exit codes: 0 done, 1 with --strict, something was not carried over, 2 usage, 3 not readable.

Examples:
  easel convert canvas.json -o graph.yaml
  easel convert graph.yaml -o canvas.json --strict")]
pub struct ConvertArguments {
    /// The workflow; - reads standard input.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub file: PathBuf,
    /// Where to write it; without this to standard output. A file that is there is never overwritten.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Fail, and write nothing, if something cannot be carried over.
    #[arg(long)]
    pub strict: bool,
    /// Print what could not be carried over as JSON, on standard error.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `easel requirements`.
#[derive(Args, Debug)]
#[command(after_help = "\
Secrets are looked for where a run looks for them. Nothing of the workflow is run.

Exit codes: 0 all is there, 2 the file cannot be read, 3 something is missing or cannot be used.

Examples:
  easel requirements reports.zip
  easel requirements graph.yaml --json")]
pub struct RequirementsArguments {
    /// The workflow; - reads standard input.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub world: WorldArguments,
}

/// Arguments of `easel new`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without a template the workflow is a graph (.yaml) or a canvas (.json) that runs without a model or
a key. A template is a canvas.

Examples:
  easel new hello.yaml
  easel new hello.json
  easel new --list
  easel new --template support-triage
  easel new triage.json --template support-triage")]
pub struct NewArguments {
    /// Where to write it: hello.json, or the template's name, if this is not given. A file that is there is never overwritten.
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// The template to begin with.
    #[arg(long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// List the templates.
    #[arg(long, conflicts_with_all = ["file", "template"])]
    pub list: bool,
}

/// Arguments of `easel receipt`.
#[derive(Args, Debug)]
#[command(after_help = "\
The receipt is that of a file which `easel run --receipt` wrote, or of a run that is kept. It is signed
with a key of this machine's user.

Exit codes: 0 done, 1 the receipt was changed or signed by somebody else, 2 it cannot be read.

Examples:
  easel receipt receipt.json
  easel receipt last --data ./easel-data
  easel receipt RUN --json > receipt.json                what a run that is kept did, signed now
  easel receipt --verify receipt.json                    signed here, and unchanged?
  easel receipt --public-key                             what others verify with
  easel receipt --verify --signer KEY receipt.json       signed by the owner of that key?")]
pub struct ReceiptArguments {
    /// The receipt's file, or the id of a run that is kept, or last.
    #[arg(value_name = "RECEIPT", value_hint = ValueHint::FilePath, required_unless_present = "public_key")]
    pub file: Option<PathBuf>,
    /// Print the signed receipt as JSON.
    #[arg(long, conflicts_with_all = ["verify", "public_key"])]
    pub json: bool,
    /// Verify its signature.
    #[arg(long)]
    pub verify: bool,
    /// The public key of whoever should have signed it; without it this user's.
    #[arg(long, value_name = "KEY", requires = "verify")]
    pub signer: Option<String>,
    /// Print the public key that this user's receipts are verified with.
    #[arg(long, conflicts_with_all = ["file", "verify"])]
    pub public_key: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel import`.
#[derive(Args, Debug)]
#[command(after_help = "\
Only credentials change (api_key, password and the like, as `easel components` shows them); every
other byte of the file stays. A credential is named after its component and its parameter.

Example:
  easel import canvas.json -o canvas-without-keys.json")]
pub struct ImportArguments {
    /// The workflow.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Where to write it. Without this the file itself is rewritten.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}
