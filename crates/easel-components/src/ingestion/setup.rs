//! How a Parser reads files of one kind.

use std::sync::Arc;

use easel_core::{Object, Value};

use crate::site::Site;

/// The kinds of files, the endings they have where no set-up names any, and the form in which they are handed on.
const KINDS: [(&str, &[&str], Form); 13] = [
    ("pdf", &["pdf"], Form::Json),
    (
        "spreadsheet",
        &["xls", "xlsx", "xlsm", "csv", "tsv"],
        Form::Html,
    ),
    ("doc", &["doc"], Form::Json),
    ("docx", &["docx", "docm"], Form::Json),
    ("slides", &["pptx", "pptm", "ppt"], Form::Json),
    (
        "image",
        &["jpg", "jpeg", "png", "gif", "bmp", "tif", "tiff", "webp"],
        Form::Text,
    ),
    ("email", &["eml", "msg"], Form::Text),
    ("markdown", &["md", "markdown", "mdx"], Form::Json),
    ("text&code", &["txt"], Form::Json),
    ("html", &["htm", "html", "xhtml"], Form::Json),
    (
        "audio",
        &["mp3", "wav", "m4a", "flac", "ogg", "aac", "wma"],
        Form::Text,
    ),
    ("video", &["mp4", "avi", "mkv", "mov", "webm"], Form::Text),
    ("epub", &["epub"], Form::Json),
];

/// The form in which a document is handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A list of blocks.
    Json,
    /// Markdown.
    Markdown,
    /// Text without marks.
    Text,
    /// HTML.
    Html,
}

impl Form {
    fn of(name: &str) -> Option<Form> {
        Some(match name {
            "json" => Form::Json,
            "markdown" => Form::Markdown,
            "text" => Form::Text,
            "html" => Form::Html,
            _ => return None,
        })
    }
}

/// How files of one kind are read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    /// The kind: `pdf`, `spreadsheet`, ... Blank for files that no set-up is for.
    pub kind: Arc<str>,
    /// Endings of its files, without the dot, in lower case.
    endings: Vec<String>,
    /// The form in which they are handed on.
    pub form: Form,
    /// The way of reading that was asked for.
    pub method: String,
    /// Leave out tables of contents.
    pub without_contents: bool,
    /// Leave out what stands at the edges of pages.
    pub without_margins: bool,
}

/// The set-ups of a Parser.
#[derive(Clone, Debug)]
pub(super) struct Setups(Vec<Setup>);

impl Setups {
    /// Reads the set-ups: those under `setups`, else those that stand among the parameters by their names. Without any, the
    /// usual ones hold.
    pub(super) fn read(site: &Site<'_>) -> Setups {
        let nested = site.get("setups").and_then(Value::as_object);
        let written = |kind: &str| match nested {
            Some(setups) => setups.get(kind),
            None => site.get(kind),
        };
        let read = |(kind, endings, form): &(&str, &[&str], Form)| {
            let setup = written(kind)?.as_object()?;
            Some(Setup::read(kind, setup, endings, *form))
        };
        let setups: Vec<Setup> = KINDS.iter().filter_map(read).collect();
        match setups.is_empty() {
            true => Setups(KINDS.iter().map(Setup::usual).collect()),
            false => Setups(setups),
        }
    }

    /// How a file of that name is read; `None` if no set-up names its ending.
    pub(super) fn of(&self, name: &str) -> Option<&Setup> {
        let ending = ending(name);
        self.0.iter().find(|setup| setup.endings.contains(&ending))
    }

    /// How a file is read that no set-up is for.
    pub(super) fn other() -> Setup {
        Setup {
            kind: "".into(),
            endings: Vec::new(),
            form: Form::Json,
            method: String::new(),
            without_contents: false,
            without_margins: false,
        }
    }
}

impl Setup {
    fn usual((kind, endings, form): &(&str, &[&str], Form)) -> Setup {
        Setup::read(kind, &Object::new(), endings, *form)
    }

    fn read(kind: &str, setup: &Object, endings: &[&str], form: Form) -> Setup {
        let text = |name: &str| setup.get(name).and_then(Value::as_str).unwrap_or_default();
        let flag = |name: &str| setup.get(name).is_some_and(Value::is_truthy);
        let named = setup.get("suffix").and_then(Value::as_array);
        let named = named.unwrap_or_default().iter().filter_map(Value::as_str);
        let mut named: Vec<String> = named
            .map(|ending| ending.trim_start_matches('.').to_lowercase())
            .collect();
        if !setup.contains_key("suffix") {
            named = endings.iter().map(|ending| (*ending).to_owned()).collect();
        }
        Setup {
            kind: kind.into(),
            endings: named,
            form: Form::of(text("output_format")).unwrap_or(form),
            method: text("parse_method").trim().to_owned(),
            without_contents: flag("remove_toc"),
            without_margins: flag("remove_header_footer"),
        }
    }
}

/// The ending of a name in lower case, without the dot; blank if it has none.
pub(super) fn ending(name: &str) -> String {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ending.to_lowercase()
}
