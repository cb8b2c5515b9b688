//! Credentials that are written out in a canvas stay in the store: who reads the canvas gets a mark for each, and who saves
//! it with the mark in it keeps what the mark stands for.
//!
//! Names in a vault would not do here: a vault has no owners, so the canvas of one owner could name the credential of another.

use std::sync::Arc;

use easel_runtime::Workflow;
use easel_runtime::secrets::Secret;
use easel_store::Store;
use indexmap::IndexMap;

use super::envelope::{Problem, Value};
use crate::auth::Caller;
use crate::host::Host;

/// How every mark begins; the hash of a document and the number of a credential in it follow.
const MARK: &str = "easel-kept-";
/// How long the hash of a document is.
const HASH: usize = 64;
/// The most documents that the marks in one canvas may name.
const DOCUMENTS: usize = 8;

/// The credentials that are written out in a document.
pub(super) struct Kept {
    hash: Arc<str>,
    values: Vec<Credential>,
}

struct Credential {
    number: usize,
    value: Arc<str>,
    /// Where a short one is looked for: what it says may stand elsewhere for other reasons.
    fields: Vec<String>,
    short: bool,
}

impl Kept {
    /// Those of the document with that hash.
    pub fn of(hash: &Arc<str>, workflow: &Workflow) -> Kept {
        let mut found: IndexMap<Arc<str>, Vec<String>> = IndexMap::new();
        for written in workflow.secrets().written_out() {
            let field = written.path.rsplit('.').next().unwrap_or_default();
            let fields = found.entry(written.value.clone()).or_default();
            fields.push(field.to_owned());
        }
        let credential = |(number, (value, fields)): (usize, (Arc<str>, _))| Credential {
            number,
            short: !Secret::new(&*value).is_masked(),
            value,
            fields,
        };
        found.retain(|value, _| !value.trim().is_empty());
        Kept {
            hash: hash.clone(),
            values: found.into_iter().enumerate().map(credential).collect(),
        }
    }

    fn mark(&self, number: usize) -> String {
        format!("{MARK}{}-{number}", self.hash)
    }

    /// Puts marks in the place of credentials.
    pub fn withhold(&self, document: &mut Value) {
        if self.values.is_empty() {
            return;
        }
        each_text(document, "", &mut |field, text| {
            let here = |credential: &&Credential| match credential.short {
                true => **text == *credential.value && credential.fields.iter().any(|f| f == field),
                false => true,
            };
            let values = self.values.iter().filter(here);
            if let Some(marked) = self.marked(text, &Vec::from_iter(values)) {
                *text = marked;
            }
        });
    }

    /// A text with marks in it; `None` if there is no credential in it. Of two that begin at one place the longer one counts.
    fn marked(&self, text: &str, credentials: &[&Credential]) -> Option<String> {
        let mut marked = String::new();
        let mut rest = text;
        loop {
            let places = credentials.iter().filter_map(|credential| {
                let at = rest.find(&*credential.value)?;
                Some((
                    at,
                    std::cmp::Reverse(credential.value.len()),
                    credential.number,
                ))
            });
            let Some((at, std::cmp::Reverse(length), number)) = places.min() else {
                break;
            };
            marked.push_str(rest.get(..at)?);
            marked.push_str(&self.mark(number));
            rest = rest.get(at + length..)?;
        }
        (rest.len() < text.len()).then(|| marked + rest)
    }
}

/// A canvas as people may read it.
pub(super) async fn shown(host: &Host, hash: &Arc<str>) -> Result<Value, Problem> {
    let workflow = host.workflow(hash).await?;
    let Some(canvas) = workflow.canvas() else {
        let message = "This agent is a graph and has no canvas; see /v1/workflows.";
        return Err(Problem::data(message));
    };
    let mut document = canvas.canvas().to_json();
    Kept::of(hash, &workflow).withhold(&mut document);
    Ok(document)
}

/// Puts back what marks stand for. A mark is good for the owner of the document it names, and for whoever saves a document of
/// the same agent.
pub(super) async fn restore(
    host: &Host,
    caller: &Caller,
    agent: Option<&str>,
    document: &mut Value,
) -> Result<(), Problem> {
    let mut named: IndexMap<String, Vec<Arc<str>>> = IndexMap::new();
    each_text(document, "", &mut |_, text| {
        for (hash, _, _) in marks(text) {
            named.entry(hash.to_owned()).or_default();
        }
    });
    if named.len() > DOCUMENTS {
        return Err(not_kept());
    }
    for (hash, values) in &mut named {
        if !may_take(host.store(), caller, agent, hash).await? {
            return Err(not_kept());
        }
        let hash: Arc<str> = hash.as_str().into();
        let kept = Kept::of(&hash, &*host.workflow(&hash).await?);
        *values = kept.values.into_iter().map(|c| c.value).collect();
    }
    let mut lost = false;
    each_text(document, "", &mut |_, text| {
        let mut restored = String::new();
        let mut done = 0;
        for (hash, number, range) in marks(text) {
            let value = named.get(hash).and_then(|values| values.get(number));
            lost |= value.is_none();
            restored.push_str(text.get(done..range.start).unwrap_or_default());
            restored.push_str(value.map(|value| &**value).unwrap_or_default());
            done = range.end;
        }
        if done > 0 {
            restored.push_str(text.get(done..).unwrap_or_default());
            *text = restored;
        }
    });
    match lost {
        true => Err(not_kept()),
        false => Ok(()),
    }
}

async fn may_take(
    store: &Store,
    caller: &Caller,
    agent: Option<&str>,
    hash: &str,
) -> Result<bool, Problem> {
    if let Some(agent) = agent
        && store.has_document(agent, hash).await?
    {
        return Ok(true);
    }
    Ok(store.owns_document(&caller.owner, hash).await?)
}

fn not_kept() -> Problem {
    Problem::argument(
        "The DSL has the mark of a credential that is kept with another agent. Write the credential itself, or `${NAME}` for a secret.",
    )
}

/// The marks in a text: hash, number, where.
fn marks(text: &str) -> Vec<(&str, usize, std::ops::Range<usize>)> {
    let found = text.match_indices(MARK).filter_map(|(at, _)| {
        let rest = text.get(at + MARK.len()..)?;
        let hash = rest.get(..HASH)?;
        let number = rest.get(HASH..)?.strip_prefix('-')?;
        let digits = number.len()
            - number
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let whole = hash.bytes().all(|b| b.is_ascii_hexdigit()) && digits > 0;
        let end = at + MARK.len() + HASH + 1 + digits;
        let number = number.get(..digits)?.parse().ok()?;
        whole.then_some((hash, number, at..end))
    });
    found.collect()
}

/// Looks at every text of a value; `field` is the name of the member it is the value of.
fn each_text(value: &mut Value, field: &str, look: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => look(field, text),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| each_text(item, field, look)),
        Value::Object(members) => {
            for (name, member) in members {
                each_text(member, name, look);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kept(values: &[(&str, &str)]) -> Kept {
        let credential = |(number, (value, field)): (usize, &(&str, &str))| Credential {
            number,
            short: value.len() < 6,
            value: (*value).into(),
            fields: vec![(*field).to_owned()],
        };
        Kept {
            hash: "a".repeat(HASH).into(),
            values: values.iter().enumerate().map(credential).collect(),
        }
    }

    #[test]
    fn credentials_are_withheld_wherever_they_stand() {
        let kept = kept(&[("hunter22", "password"), ("user", "password")]);
        let mut document = json!({"a": {"password": "hunter22"}, "form": ["Bearer hunter22"],
            "b": {"password": "user", "role": "user"}});
        kept.withhold(&mut document);
        let text = document.to_string();
        assert!(!text.contains("hunter22"), "{text}");
        assert_eq!(document["b"]["role"], "user");
        assert_eq!(document["b"]["password"], kept.mark(1));
        assert_eq!(document["form"][0], format!("Bearer {}", kept.mark(0)));
    }

    #[test]
    fn a_credential_that_is_part_of_another_does_not_break_its_mark() {
        let kept = kept(&[("secret", "key"), ("secret-and-more", "key")]);
        let mut document = json!({"key": "secret-and-more"});
        kept.withhold(&mut document);
        assert_eq!(document["key"], kept.mark(1));
    }

    #[test]
    fn a_credential_that_looks_like_part_of_a_mark_breaks_none() {
        let kept = kept(&[("aaaaaa", "key"), ("hunter22", "key")]);
        let mut document = json!({"key": "hunter22 aaaaaa"});
        kept.withhold(&mut document);
        assert_eq!(
            document["key"],
            format!("{} {}", kept.mark(1), kept.mark(0))
        );
    }

    #[test]
    fn marks_are_found_in_texts() {
        let kept = kept(&[]);
        let text = format!("Bearer {}, {}", kept.mark(7), kept.mark(12));
        let numbers: Vec<usize> = marks(&text).into_iter().map(|(_, n, _)| n).collect();
        assert_eq!(numbers, [7, 12]);
        assert!(marks("easel-kept-zz-1").is_empty());
        assert!(marks("easel-kept-ä").is_empty());
    }
}
