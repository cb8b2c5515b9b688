//! What keeps a command from doing what it was asked, for people: what, where, why, and what to do.

use std::borrow::Cow;
use std::fmt;
use std::io::{ErrorKind, IsTerminal};

use easel_runtime::check::{Diagnostic, Place, Severity};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use crate::exit::Exit;
use crate::out;
use crate::snippet::Snippet;

/// Something to tell a person.
#[derive(Clone, Debug)]
pub struct Problem {
    exit: Exit,
    message: String,
    /// Why, in the words of whoever refused.
    cause: Option<Cause>,
    /// What to do.
    fix: Option<String>,
    file: Option<File>,
}

/// The file that a problem is in.
#[derive(Clone, Debug)]
struct File {
    name: String,
    text: String,
    place: Place,
}

#[derive(Clone, Debug)]
struct Cause(String);

impl Problem {
    /// The command was used wrongly.
    pub fn usage(message: impl Into<String>) -> Problem {
        Problem::new(Exit::Usage, message)
    }

    /// The command ends so.
    pub fn new(exit: Exit, message: impl Into<String>) -> Problem {
        Problem {
            exit,
            message: message.into(),
            cause: None,
            fix: None,
            file: None,
        }
    }

    /// A file that cannot be read or written.
    pub fn file(path: &std::path::Path, what: &str, error: &std::io::Error) -> Problem {
        let problem = Problem::usage(format!("{} cannot be {what}.", path.display()));
        let problem = problem.because(error.to_string());
        match error.kind() {
            ErrorKind::NotFound => problem.fix("Name a path that exists, seen from this folder."),
            ErrorKind::IsADirectory => problem.fix("Name a file in it."),
            ErrorKind::PermissionDenied => problem.fix("Give yourself the right to it."),
            _ => problem,
        }
    }

    /// Says why.
    pub fn because(mut self, cause: impl Into<String>) -> Problem {
        self.cause = Some(Cause(cause.into()));
        self
    }

    /// Says what to do.
    pub fn fix(mut self, fix: impl Into<String>) -> Problem {
        self.fix = Some(fix.into());
        self
    }

    /// Says where it is in a file.
    pub fn at(mut self, name: &str, text: &str, place: Option<Place>) -> Problem {
        self.file = place.map(|place| File {
            name: name.to_owned(),
            text: text.to_owned(),
            place,
        });
        self
    }

    /// What is wrong, and why.
    pub fn message(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{} {cause}", self.message),
            None => self.message.clone(),
        }
    }

    /// How the command ends.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Tells it on standard error.
    pub fn tell(&self) {
        let snippet = self
            .file
            .as_ref()
            .map(|file| Snippet::new(&file.name, &file.text, file.place));
        let shown = Shown {
            message: &self.message,
            severity: miette::Severity::Error,
            code: None,
            cause: self.cause.as_ref(),
            fix: self.fix.as_deref(),
            snippet,
        };
        out::tell(&rendered(&shown, std::io::stderr().is_terminal()));
    }
}

/// What the check found, as a person reads it.
pub fn diagnostic(found: &Diagnostic, name: &str, text: &str, terminal: bool) -> String {
    let cause = found.detail.as_ref().map(|detail| Cause(detail.clone()));
    let shown = Shown {
        message: &found.message,
        severity: match found.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        },
        code: Some(format!("{}[{}]", found.severity.name(), found.code)),
        cause: cause.as_ref(),
        fix: Some(&found.fix),
        snippet: found.place.map(|place| Snippet::new(name, text, place)),
    };
    let mut rendered = rendered(&shown, terminal);
    if found.place.is_none() {
        rendered.push_str(&format!("    in {name}\n"));
    }
    rendered
}

/// The width of what is no terminal.
const WIDTH: usize = 100;

/// The narrowest width for which lines are broken.
const NARROWEST: usize = 30;

fn rendered(shown: &Shown<'_>, terminal: bool) -> String {
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let theme = match colour {
        true => GraphicalTheme::unicode(),
        false => GraphicalTheme::unicode_nocolor(),
    };
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
    let columns = match terminal {
        true => terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
        false => None,
    };
    let handler = handler.with_width(columns.unwrap_or(WIDTH).max(NARROWEST));
    let mut text = String::new();
    match handler.render_report(&mut text, shown) {
        Ok(()) => text,
        Err(_) => format!("{}\n", shown.message),
    }
}

/// A problem as it is drawn.
struct Shown<'a> {
    message: &'a str,
    severity: miette::Severity,
    code: Option<String>,
    cause: Option<&'a Cause>,
    fix: Option<&'a str>,
    snippet: Option<Snippet<'a>>,
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for Shown<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause
            .map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

impl miette::Diagnostic for Shown<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code
            .as_ref()
            .map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.fix.map(|fix| Box::new(fix) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.snippet
            .as_ref()
            .map(|snippet| snippet as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let mark = self.snippet.as_ref()?.mark();
        Some(Box::new(std::iter::once(LabeledSpan::underline(mark))))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}

/// Text with its first letter in capitals and a full stop, as messages of others often are not.
pub fn sentence(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let ends = trimmed.ends_with(['.', '?', '!', ':']);
    match trimmed.chars().next() {
        Some(first) if first.is_lowercase() || !ends => {
            let rest = trimmed.get(first.len_utf8()..).unwrap_or_default();
            let stop = if ends { "" } else { "." };
            Cow::Owned(format!("{}{rest}{stop}", first.to_uppercase()))
        }
        _ => Cow::Borrowed(trimmed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_words_become_sentences() {
        assert_eq!(sentence("no such file"), "No such file.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence(""), "");
    }
}
