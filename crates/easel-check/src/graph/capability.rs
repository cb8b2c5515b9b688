//! Steps that are asked for what only a tool can do (spec/graph-engine §13).

use std::ops::Range;

use easel_graph::document::Node;
use easel_graph::kind::Kind;

use super::context::{Context, Findings, at};
use crate::code::Code;
use crate::findings::Found;

/// Something outside of a model.
struct Capability {
    /// To be read after "It takes a tool to".
    what: &'static str,
    /// How a clause begins that asks for it.
    verbs: &'static [&'static str],
    /// What stands behind.
    objects: &'static [&'static str],
    /// True if it brings something in: a step that depends on others may get that from them.
    brings: bool,
}

const fn capability(
    what: &'static str,
    verbs: &'static [&'static str],
    objects: &'static [&'static str],
    brings: bool,
) -> Capability {
    Capability {
        what,
        verbs,
        objects,
        brings,
    }
}

const CAPABILITIES: &[Capability] = &[
    capability(
        "send mail",
        &["send", "forward", "deliver"],
        &["email", "e-mail", "mail", "newsletter"],
        false,
    ),
    capability(
        "send messages",
        &["send", "post", "publish", "deliver"],
        &[
            "message",
            "notification",
            "slack",
            "sms",
            "telegram",
            "whatsapp",
            "discord",
            "teams",
        ],
        false,
    ),
    capability(
        "make a PDF",
        &["create", "generate", "export", "produce", "save", "make"],
        &["pdf"],
        false,
    ),
    capability(
        "draw a chart",
        &["draw", "plot", "render", "create", "generate"],
        &["chart", "plot", "histogram"],
        false,
    ),
    capability(
        "write files",
        &["save", "store", "create", "delete", "write", "append"],
        &["file", "disk"],
        false,
    ),
    capability(
        "read files",
        &["read", "open", "load", "import"],
        &["file", "disk"],
        true,
    ),
    capability(
        "look into folders",
        &["list", "scan", "walk", "create", "delete"],
        &["directory", "directories", "folder"],
        true,
    ),
    capability(
        "search the web",
        &[
            "search", "browse", "google", "crawl", "scrape", "look", "find", "research",
        ],
        &["web", "internet", "online", "google", "website"],
        true,
    ),
    capability(
        "fetch addresses",
        &[
            "fetch", "download", "call", "request", "visit", "open", "get", "query", "hit",
        ],
        &[
            "url", "api", "endpoint", "webpage", "website", "http", "https",
        ],
        true,
    ),
    capability(
        "run commands",
        &["run", "execute", "invoke"],
        &["command", "shell", "script", "terminal", "bash"],
        false,
    ),
    capability(
        "use a database",
        &["query", "select", "update", "insert", "look", "read", "run"],
        &["database", "sql", "db"],
        true,
    ),
];

/// Words behind an opening verb among which its object is looked for.
const REACH: usize = 8;

/// Words behind which a clause begins.
const OPENERS: &[&str] = &[
    "and", "then", "please", "also", "now", "first", "finally", "next", "must", "should",
];

/// Reports base steps without tools that are asked for what takes one.
pub(super) fn report(context: &Context<'_>, findings: &mut Findings) {
    for here in context.nodes() {
        let node = here.node;
        if *node.kind == Kind::Base && node.tools.is_empty() {
            step(context, node, findings);
        }
    }
}

fn step(context: &Context<'_>, node: &Node, findings: &mut Findings) {
    let id = &node.id;
    let fed = !node.depends_on.is_empty();
    let texts = [
        ("instructions", &node.instructions),
        ("goal", &node.goal),
        ("purpose", &node.purpose),
    ];
    let asked = texts.into_iter().find_map(|(key, text)| {
        let (capability, span) = asks_for(text.as_ref()?, fed)?;
        Some((capability, context.within(&node.key(key), &span)))
    });
    let asked = asked.or_else(|| {
        let (capability, _) = asks_for(&id.replace('_', " "), fed)?;
        Some((capability, at(id)))
    });
    if let Some((capability, place)) = asked {
        let message = format!(
            "It takes a tool to {}, and `{id}` has none.",
            capability.what
        );
        let found = Found::new(Code::CapabilityGap, message).node(id);
        let found = match capability.brings {
            true => found,
            false => found.fix("Name a tool for it under `tools`, or do it in a step of its own."),
        };
        findings.add(place, found);
    }
}

/// A word of a text.
struct Word<'t> {
    text: &'t str,
    start: usize,
    /// True if a clause begins here.
    opens: bool,
    /// True if a sentence or a line begins here.
    breaks: bool,
}

/// What a text asks for first, and where. `fed`: the step is given something by others.
fn asks_for(text: &str, fed: bool) -> Option<(&'static Capability, Range<usize>)> {
    let words: Vec<Word<'_>> = words(text).collect();
    for (at, verb) in words.iter().enumerate().filter(|(_, word)| word.opens) {
        let behind = words.get(at + 1..).unwrap_or_default();
        let clause = behind.iter().take(REACH).take_while(|word| !word.breaks);
        for object in clause {
            let found = CAPABILITIES.iter().find(|it| {
                let verbs = it.verbs.iter();
                verbs
                    .clone()
                    .any(|known| known.eq_ignore_ascii_case(verb.text))
                    && it.objects.iter().any(|known| is_one(object.text, known))
                    && !(fed && it.brings)
            });
            if let Some(found) = found {
                return Some((found, verb.start..object.start + object.text.len()));
            }
        }
    }
    None
}

/// Whether a word is an object, or several of it.
fn is_one(word: &str, object: &str) -> bool {
    let single = word.strip_suffix(['s', 'S']);
    word.eq_ignore_ascii_case(object)
        || single.is_some_and(|word| word.eq_ignore_ascii_case(object))
}

/// The words of a text outside of placeholders.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '\'';
    let mut at = 0;
    let mut before: Option<&str> = None;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let mut inside = 0_usize;
        let mut breaks = before.is_none();
        let mut pause = false;
        let start = rest.char_indices().find_map(|(offset, c)| {
            match c {
                '{' => inside += 1,
                '}' => inside = inside.saturating_sub(1),
                '.' | ';' | ':' | '!' | '?' | '\n' => breaks = true,
                ',' | '(' | ')' | '*' | '•' | '"' => pause = true,
                _ => {}
            }
            // A dash or a number before a word is a mark of a list.
            (inside == 0 && c.is_alphabetic()).then_some(offset)
        })?;
        let word = rest.get(start..)?;
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let word = word.get(..end)?;
        let opener =
            before.is_some_and(|word| OPENERS.iter().any(|it| it.eq_ignore_ascii_case(word)));
        let found = Word {
            text: word,
            start: at + start,
            opens: breaks || pause || opener,
            breaks,
        };
        at += start + end;
        before = Some(word);
        Some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str, fed: bool) -> Option<&'static str> {
        asks_for(text, fed).map(|(capability, _)| capability.what)
    }

    #[test]
    fn what_takes_a_tool_is_known_by_how_a_clause_begins() {
        for (text, wanted) in [
            ("Search the web for {topic}.", Some("search the web")),
            (
                "Read the report, then send it as an e-mail to {name}.",
                Some("send mail"),
            ),
            (
                "1. Summarise.\n2. Save the result to a file.",
                Some("write files"),
            ),
            ("Please query the users database.", Some("use a database")),
            ("download report", None),
            ("Call the weather API.", Some("fetch addresses")),
            ("send newsletters", Some("send mail")),
        ] {
            assert_eq!(asked(text, false), wanted, "{text}");
        }
    }

    #[test]
    fn writing_about_something_is_not_doing_it() {
        for text in [
            "Draft an email to {name}.",
            "Do not send an email.",
            "Explain how to search the web.",
            "Send back one word. The email is {mail}.",
            "Summarise the file {file}.",
            "{send email}",
        ] {
            assert_eq!(asked(text, false), None, "{text}");
        }
    }

    #[test]
    fn what_others_may_bring_is_forgiven_to_a_step_that_depends_on_them() {
        assert_eq!(asked("Read the file and sum it up.", true), None);
        assert_eq!(asked("Send the email.", true), Some("send mail"));
    }

    #[test]
    fn the_place_is_from_the_verb_to_its_object() {
        let text = "Think. Then fetch é the URL now.";
        let (_, span) = asks_for(text, false).unwrap();
        assert_eq!(&text[span], "fetch é the URL");
    }
}
