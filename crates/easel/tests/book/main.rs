//! What the book says of graphs is so: its graphs load, its Python can be read, its commands print what it shows.
//!
//! A page is a row of sections, and each section (`##`) is a folder of its own. In it:
//!
//! | block | is |
//! |---|---|
//! | `yaml`, `yaml file=a.yaml` | a graph, or nodes of one, which has to be without errors |
//! | `yaml check=a,b` | a graph of which the check says just these errors and warnings, among others of no account |
//! | `json file=a.json`, `python file=a.py`, … | a file; Python has to be readable |
//! | `sh` | commands, run in the folder; `exit=3` says how they end, `sh not-run` is not run |
//! | `text`, `json` right behind `sh` | what the commands print; `text error`: lines that stand on standard error |

mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use easel_sandbox::Source;
use page::{Block, Section};
use serde_json::Value as Json;

/// The pages whose commands are run.
const RUN: [&str; 10] = [
    "graphs.md",
    "graph-kinds.md",
    "graph-control-flow.md",
    "graph-templates.md",
    "python.md",
    "packages.md",
    "secrets-in-graphs.md",
    "differences-neurosurfer.md",
    "upgrading.md",
    "graph-cases.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages of the book with their sections.
fn book() -> Vec<(String, Vec<Section>)> {
    let entries = std::fs::read_dir(root().join("docs")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "md"));
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
        std::os::unix::fs::symlink(root().join("examples"), folder.path("examples")).unwrap();
        let mut names = BTreeSet::new();
        for (at, block) in section.blocks.iter().enumerate() {
            let Some(name) = name(at, block) else {
                continue;
            };
            assert!(names.insert(name.clone()), "{}: {name} stands twice", folder.place);
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
    let first = text.lines().find(|line| !line.trim_start().starts_with('#'));
    match first.unwrap_or_default() {
        line if block.language != "yaml" || block.attribute("file").is_some() || line.starts_with("name:") => text.clone(),
        line if line.starts_with("- ") => format!("name: nodes\nnodes:\n{text}\n"),
        _ => format!("name: part\n{text}\n"),
    }
}

/// Whether a YAML file is a graph of its own.
fn is_graph(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("nodes:"))
}

fn codes<'a>(found: &'a [Json], severity: &str) -> BTreeSet<&'a str> {
    let found = found.iter().filter(|found| found["severity"] == severity);
    found.map(|found| found["code"].as_str().unwrap()).collect()
}

#[test]
fn every_graph_in_the_book_is_without_errors_but_for_those_it_is_to_have() {
    let mut graphs = 0;
    for (page, sections) in book() {
        for section in &sections {
            let folder = Folder::of(&page, section);
            for (at, block) in section.blocks.iter().enumerate() {
                let Some(name) = name(at, block).filter(|_| block.language == "yaml") else {
                    continue;
                };
                if !is_graph(&contents(block)) {
                    continue;
                }
                let found = folder.check(&name);
                let said: BTreeSet<&str> = found.iter().map(|f| f["code"].as_str().unwrap()).collect();
                let wanted = block.attribute("check").unwrap_or_default();
                let wanted: BTreeSet<&str> = wanted.split(',').filter(|code| !code.is_empty()).collect();
                let place = &folder.place;
                assert!(wanted.is_subset(&said), "{place}: {name}: {wanted:?} is not what is said: {found:#?}");
                let errors = codes(&found, "error");
                assert!(errors.is_subset(&wanted), "{place}: {name}: {found:#?}");
                graphs += 1;
            }
        }
    }
    assert!(graphs > 20, "{graphs} graphs");
}

#[test]
fn every_command_of_the_pages_on_graphs_prints_what_they_show() {
    let mut commands = 0;
    for (page, sections) in book() {
        if !RUN.contains(&page.as_str()) {
            continue;
        }
        for section in &sections {
            let folder = Folder::of(&page, section);
            for (at, block) in section.blocks.iter().enumerate() {
                if block.language != "sh" || block.is("not-run") {
                    continue;
                }
                let done = folder.run("sh", &["-ec", &block.text]);
                let place = format!("{}: {}", folder.place, block.text);
                let wanted: i32 = block.attribute("exit").unwrap_or("0").parse().unwrap();
                assert_eq!(done.status.code(), Some(wanted), "{place}\n{}\n{}", text(&done.stdout), text(&done.stderr));
                if let Some(shown) = section.blocks.get(at + 1).filter(|next| next.follows) {
                    compare(&place, shown, &done);
                }
                commands += 1;
            }
        }
    }
    assert!(commands > 20, "{commands} commands");
}

/// Compares what commands printed with what the page shows.
fn compare(place: &str, shown: &Block, done: &Output) {
    let printed = text(&done.stdout);
    match (shown.language.as_str(), shown.is("error")) {
        ("json", _) if shown.attribute("file").is_none() => {
            let wanted: Json = serde_json::from_str(&shown.text).unwrap();
            let printed: Json = serde_json::from_str(&printed).unwrap_or(Json::from(printed));
            assert_eq!(printed, wanted, "{place}");
        }
        ("text", true) => {
            let printed = text(&done.stderr);
            for line in shown.text.lines() {
                assert!(printed.contains(line.trim()), "{place}\n{line}\nis not in\n{printed}");
            }
        }
        ("text", false) => assert_eq!(printed, shown.text, "{place}"),
        _ => {}
    }
}

#[test]
fn python_in_the_book_is_python() {
    let mut files = 0;
    for (page, sections) in book() {
        for section in &sections {
            for block in section.blocks.iter().filter(|block| block.language == "python") {
                let name = block.attribute("file").unwrap_or("block.py");
                let read = Source::read(name, &block.text);
                assert!(read.is_ok(), "{page}, \"{}\": {}", section.heading, read.unwrap_err());
                files += 1;
            }
        }
    }
    assert!(files > 3, "{files} files");
}
