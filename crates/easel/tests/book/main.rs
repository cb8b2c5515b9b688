//! What the book says of graphs is so: its graphs load, its Python can be read, its commands print what it shows.
//!
//! A page is a row of sections, and each section (`##`) is a folder of its own. In it:
//!
//! | block | is |
//! |---|---|
//! | `yaml`, `yaml file=a.yaml` | a graph, or nodes of one, which has to be without errors |
//! | `yaml check=a,b` | a graph of which the check says just these errors and warnings, among others of no account |
//! | `json file=a.json`, `python file=a.py`, … | a file; Python has to be readable |
//! | `sh` | commands, run in the folder; `exit=3` says how they end, `sh not-run` is not run, `needs=python3` only where there is one |
//! | `text`, `json` right behind `sh` | what the commands print; `text part`: lines that stand in it, or on standard error |

#![expect(clippy::unwrap_used, reason = "what helps tests may fail as tests do")]

mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use easel_sandbox::Source;
use page::{Block, Section};
use serde_json::Value as Json;

/// The pages whose commands are run.
const RUN: [&str; 11] = [
    "graphs.md",
    "graph-kinds.md",
    "graph-control-flow.md",
    "graph-templates.md",
    "python.md",
    "packages.md",
    "python-api.md",
    "converting.md",
    "durability.md",
    "differences-neurosurfer.md",
    "upgrading.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages of the book with their sections.
fn book() -> Vec<(String, Vec<Section>)> {
    let entries = std::fs::read_dir(root().join("docs")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    // The page of the check is made from its rules, whose graphs have errors.
    let is_page = |path: &PathBuf| path.extension().is_some_and(|suffix| suffix == "md");
    paths.retain(|path| is_page(path) && !path.ends_with("check.md"));
    paths.push(root().join("README.md"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let sections = page::sections(&std::fs::read_to_string(&path).unwrap());
        (name, sections)
    };
    paths.into_iter().map(read).collect()
}

/// The folder of a section, with its files.
struct Folder {
    folder: tempfile::TempDir,
    place: String,
}

impl Folder {
    fn of(page: &str, section: &Section) -> Folder {
        let folder = Folder {
            folder: tempfile::tempdir().unwrap(),
            place: format!("{page}, \"{}\"", section.heading),
        };
        for (from, to) in [("examples", "examples"), ("python/easel.py", "easel.py")] {
            std::os::unix::fs::symlink(root().join(from), folder.path(to)).unwrap();
        }
        let mut names = BTreeSet::new();
        for (at, block) in section.blocks.iter().enumerate() {
            let Some(name) = name(at, block) else {
                continue;
            };
            assert!(
                names.insert(name.clone()),
                "{}: {name} stands twice",
                folder.place
            );
            let path = folder.path(&name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, contents(block)).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a program with nothing of this machine's settings.
    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let easel = Path::new(env!("CARGO_BIN_EXE_easel")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new(program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", easel.display()))
            .env("EASEL_HOME", self.path("home"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Whether a program can be run here.
    fn has(&self, program: &str) -> bool {
        let version = format!("{program} --version");
        self.run("sh", &["-c", &version]).status.success()
    }

    /// What the check says of a file.
    fn check(&self, name: &str) -> Vec<Json> {
        let done = self.run("easel", &["check", "--format", "json", name]);
        let said: Json = serde_json::from_slice(&done.stdout)
            .unwrap_or_else(|_| panic!("{}: {name}: {}", self.place, text(&done.stderr)));
        let files = said["files"].as_array().or(said.as_array()).unwrap();
        let found = files.iter().flat_map(|file| file["diagnostics"].as_array());
        found.flatten().cloned().collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// The file that a block is; graphs are files, named or not.
fn name(at: usize, block: &Block) -> Option<String> {
    let named = block.attribute("file").map(str::to_owned);
    named.or_else(|| (block.language == "yaml").then(|| format!("block-{at}.yaml")))
}

/// What is in the file of a block: nodes alone become a graph.
fn contents(block: &Block) -> String {
    let text = &block.text;
    let first = text
        .lines()
        .find(|line| !line.trim_start().starts_with('#'));
    match first.unwrap_or_default() {
        line if block.language != "yaml"
            || block.attribute("file").is_some()
            || line.starts_with("name:") =>
        {
            text.clone()
        }
        line if line.starts_with("- ") => format!("name: nodes\nnodes:\n{text}\n"),
        _ => format!("name: part\n{text}\n"),
    }
}

/// Whether a YAML file is a graph of its own.
fn is_graph(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("nodes:"))
}

/// The codes of findings of some severities.
fn codes(found: &[Json], of: impl Fn(&str) -> bool) -> BTreeSet<&str> {
    let text = |found: &'_ Json, key: &str| found[key].as_str().unwrap_or_default().to_owned();
    let found = found.iter().filter(|found| of(&text(found, "severity")));
    found.filter_map(|found| found["code"].as_str()).collect()
}

#[test]
fn every_graph_in_the_book_is_without_errors_but_for_those_it_is_to_have() {
    let mut graphs = 0;
    let mut wrong = Vec::new();
    for (page, sections) in book() {
        for section in &sections {
            let folder = Folder::of(&page, section);
            for (at, block) in section.blocks.iter().enumerate() {
                let name = name(at, block)
                    .filter(|_| block.language == "yaml" && is_graph(&contents(block)));
                let Some(name) = name else {
                    continue;
                };
                graphs += 1;
                let found = folder.check(&name);
                let said = codes(&found, |_| true);
                let wanted = block.attribute("check").unwrap_or_default();
                let wanted: BTreeSet<&str> =
                    wanted.split(',').filter(|code| !code.is_empty()).collect();
                let errors = codes(&found, |severity| severity == "error");
                if !wanted.is_subset(&said) || !errors.is_subset(&wanted) {
                    let said: Vec<_> = found.iter().map(|f| (&f["code"], &f["message"])).collect();
                    wrong.push(format!(
                        "{}: {name} is to have {wanted:?}, and has {said:#?}",
                        folder.place
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(graphs > 20, "{graphs} graphs");
}

#[test]
fn every_command_of_the_pages_on_graphs_prints_what_they_show() {
    let mut commands = 0;
    let mut wrong = Vec::new();
    for (page, sections) in book() {
        for section in &sections {
            let folder = Folder::of(&page, section);
            for (at, block) in section.blocks.iter().enumerate() {
                let runs = RUN.contains(&page.as_str()) && !block.is("not-run");
                if block.language != "sh" || !(runs || block.is("run")) {
                    continue;
                }
                commands += 1;
                if let Some(program) = block.attribute("needs")
                    && !folder.has(program)
                {
                    eprintln!("SKIPPED: {program} is not there for {}", folder.place);
                    continue;
                }
                let done = folder.run("sh", &["-ec", &block.text]);
                let ended = block.attribute("exit").unwrap_or("0").parse().ok();
                let shown = section.blocks.get(at + 1).filter(|next| next.follows);
                let different = match done.status.code() == ended {
                    false => Some("the exit code is another".to_owned()),
                    true => shown.and_then(|shown| difference(shown, &done)),
                };
                if let Some(different) = different {
                    let (out, err) = (text(&done.stdout), text(&done.stderr));
                    wrong.push(format!(
                        "{}: {}\n{different}\n--- out\n{out}\n--- err\n{err}",
                        folder.place, block.text
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(commands > 20, "{commands} commands");
}

/// How what commands printed differs from what the page shows behind them.
fn difference(shown: &Block, done: &Output) -> Option<String> {
    let printed = text(&done.stdout);
    match shown.language.as_str() {
        _ if shown.attribute("file").is_some() => None,
        "json" => {
            let wanted: Json = serde_json::from_str(&shown.text).unwrap();
            let printed = serde_json::from_str(&printed).unwrap_or(Json::from(printed));
            (printed != wanted).then(|| format!("{wanted:#} is shown"))
        }
        "text" if shown.is("part") => {
            let all = format!("{printed}\n{}", text(&done.stderr));
            let missing = shown.text.lines().find(|line| !all.contains(line.trim()));
            missing.map(|line| format!("\"{line}\" is not printed"))
        }
        "text" => (printed != shown.text).then(|| format!("{} is shown", shown.text)),
        _ => None,
    }
}

#[test]
fn python_in_the_book_is_python() {
    let mut files = 0;
    for (page, sections) in book() {
        for section in &sections {
            for block in section
                .blocks
                .iter()
                .filter(|block| block.language == "python")
            {
                let name = block.attribute("file").unwrap_or("block.py");
                let read = Source::read(name, &block.text);
                assert!(
                    read.is_ok(),
                    "{page}, \"{}\": {}",
                    section.heading,
                    read.unwrap_err()
                );
                files += 1;
            }
        }
    }
    assert!(files > 3, "{files} files");
}
