//! Categorize: a model sorts a message into one of several categories, and the run goes on where that one leads
//! (spec/canvas-components §2.4).

use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::ReadId;
use easel_core::event::{Completion, Fault, Ports};
use easel_models::Message;

use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::chat::ask::{Ask, Asker};
use crate::chat::lenient::after_thoughts;
use crate::chat::llm::done;
use crate::chat::prompt::dialogue;
use crate::chat::settings::Settings;
use crate::site::Site;

/// Reads a node's parameters.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let declared = site.get("category_description").and_then(Value::as_object);
    let categories: Vec<Category> = declared
        .into_iter()
        .flatten()
        .map(|(name, category)| Category::read(name, category))
        .collect();
    if categories.is_empty() {
        return Err(site.wrong(
            "category_description",
            "names no category",
            "Add one, and say where it leads",
        ));
    }
    Ok(Arc::new(Categorize {
        settings: Settings::read(&site)?,
        query: site.reference("query", site.get("query"))?,
        turns: site.count("message_history_window_size")?.unwrap_or(1) as usize,
        instructions: instructions(&categories).into(),
        categories,
    }))
}

struct Categorize {
    settings: Settings,
    query: Option<ReadId>,
    turns: usize,
    instructions: Arc<str>,
    /// Never empty.
    categories: Vec<Category>,
}

/// One category.
#[derive(Debug)]
struct Category {
    name: Arc<str>,
    description: String,
    examples: Vec<String>,
    /// The nodes at which the run goes on.
    to: Vec<Arc<str>>,
}

impl Category {
    fn read(name: &Arc<str>, category: &Value) -> Category {
        let texts = |member: &str| -> Vec<&str> {
            match category.get(member) {
                Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
                Some(Value::String(text)) => vec![text],
                _ => Vec::new(),
            }
        };
        let description = category.get("description").and_then(Value::as_str);
        Category {
            name: name.clone(),
            description: description.unwrap_or_default().trim().to_owned(),
            examples: texts("examples").into_iter().map(str::to_owned).collect(),
            to: texts("to").into_iter().map(Arc::from).collect(),
        }
    }
}

impl Behaviour for Categorize {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move { self.choose(&call).await })
    }
}

impl Categorize {
    async fn choose(&self, call: &Call) -> Result<Completion, Failure> {
        let id = call.node().draft.id.clone();
        let mut asker = Asker::new(call, &id, &self.settings);
        let query = match self.query {
            Some(read) => call.inputs().get(read).or_null().to_string(),
            None => call.run.turn.query.to_string(),
        };
        let ask = Ask {
            messages: vec![
                Message::system(self.instructions.clone()),
                Message::user(question(call, self.turns, &query)),
            ],
            ..Ask::default()
        };
        let reply = asker.ask(ask, None).await;
        let reply = reply.map_err(|fault| asker.failure(fault))?;
        let names: Vec<&str> = self.categories.iter().map(|c| &*c.name).collect();
        let chosen = chosen(after_thoughts(&reply.text), &names);
        // There is at least one category.
        let category = &self.categories[chosen];
        let to: Vec<Value> = category
            .to
            .iter()
            .map(|id| Value::from(id.clone()))
            .collect();
        let mut ports = Ports::one("category_name", category.name.clone());
        ports.set("_next", to);
        Ok(Completion {
            next: Some(category.to.clone()),
            ..done(&asker, Ok(ports))?
        })
    }
}

/// The conversation with the message in question as its last line.
fn question(call: &Call, turns: usize, query: &str) -> String {
    let before = match dialogue(call, turns) {
        [] => &[],
        [before @ .., _] => before,
    };
    let on_one_line = |text: &str| text.replace(['\n', '\r'], "");
    let mut lines: Vec<String> = before
        .iter()
        .map(|entry| {
            format!(
                "{}: \"{}\"",
                entry.role.to_uppercase(),
                on_one_line(&entry.text())
            )
        })
        .collect();
    lines.push(format!("USER: \"{}\"", on_one_line(query)));
    format!("\n---- Real Data ----\n{} →\n", lines.join(" | "))
}

fn instructions(categories: &[Category]) -> String {
    let mut text = String::from(
        "You sort messages. You are given a conversation and say which of the categories below its last message belongs to.\n\n\
         ## Categories\n",
    );
    for category in categories {
        text.push_str(&format!("\n- {}", category.name));
        if !category.description.is_empty() {
            text.push_str(&format!(": {}", category.description));
        }
    }
    text.push_str(
        "\n\n## Rules\n\n\
         - Go by what the message is about, whether it says so or only means it. The messages before it show what it \
         refers to.\n\
         - If several categories fit, take the narrowest.\n\
         - A category for everything else is only for what fits no other.\n\
         - Answer with the name of the category exactly as it is written above, and with nothing else.\n",
    );
    let examples = categories.iter().flat_map(|category| {
        let examples = category.examples.iter();
        examples.map(|example| (example, &category.name))
    });
    let examples: Vec<String> = examples
        .map(|(example, name)| format!("USER: \"{}\" → {name}\n", example.replace('\n', "    ")))
        .collect();
    if !examples.is_empty() {
        text.push_str("\n## Examples\n\n");
        text.push_str(&examples.concat());
    }
    text
}

/// Which category an answer means: the one it is; else, upper and lower case aside, the one it is; else the one it names
/// most often, where a name inside a longer one does not count; else the last.
fn chosen(answer: &str, names: &[&str]) -> usize {
    let bare = answer.trim().trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '`' | '*' | '.' | '。' | '“' | '”' | '「' | '」'
            )
    });
    let whole = |same: &dyn Fn(&str) -> bool| names.iter().position(|name| same(name));
    let lower = bare.to_lowercase();
    let exact = whole(&|name| name == bare).or_else(|| whole(&|name| name.to_lowercase() == lower));
    exact
        .or_else(|| most_named(answer, names, true))
        .or_else(|| most_named(answer, names, false))
        .unwrap_or(names.len().saturating_sub(1))
}

/// The name that occurs most often; the first of several. `words`: only where it is no part of a longer word.
fn most_named(answer: &str, names: &[&str], words: bool) -> Option<usize> {
    let answer = answer.to_lowercase();
    let mut by_length: Vec<(usize, String)> =
        names.iter().map(|n| n.to_lowercase()).enumerate().collect();
    by_length.retain(|(_, name)| !name.trim().is_empty());
    by_length.sort_by_key(|(_, name)| std::cmp::Reverse(name.len()));
    let mut counts = vec![0_usize; names.len()];
    let mut at = 0;
    while let Some(next) = answer[at..].chars().next() {
        let found = by_length.iter().find(|(_, name)| {
            answer[at..].starts_with(name.as_str())
                && (!words || stands_alone(&answer, at, name.len()))
        });
        match found {
            Some((which, name)) => {
                counts[*which] += 1;
                at += name.len();
            }
            None => at += next.len_utf8(),
        }
    }
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    counts.iter().position(|count| *count == most)
}

/// True if no letter or digit of the Latin script runs on beyond the ends of a word. Other scripts do not part words.
fn stands_alone(text: &str, start: usize, length: usize) -> bool {
    let runs_on = |a: Option<char>, b: Option<char>| {
        [a, b]
            .iter()
            .all(|c| c.is_some_and(|c| c.is_ascii_alphanumeric()))
    };
    let (before, rest) = text.split_at(start);
    let (word, after) = rest.split_at(length);
    !runs_on(before.chars().next_back(), word.chars().next())
        && !runs_on(word.chars().next_back(), after.chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn choice<'n>(answer: &str, names: &[&'n str]) -> &'n str {
        names[chosen(answer, names)]
    }

    #[test]
    fn an_answer_that_is_a_name_means_it() {
        let names = ["Billing", "Billing Dispute", "Other"];
        assert_eq!(choice("Billing Dispute", &names), "Billing Dispute");
        assert_eq!(choice(" **billing**. ", &names), "Billing");
        assert_eq!(choice("\"Billing\"", &names), "Billing");
        let cased = ["other", "Other"];
        assert_eq!(choice("Other", &cased), "Other");
    }

    #[test]
    fn an_answer_in_a_sentence_means_what_it_names_most() {
        let names = ["Billing", "Billing Dispute", "Other"];
        assert_eq!(
            choice(
                "It is a Billing Dispute, not Other. A billing dispute!",
                &names
            ),
            "Billing Dispute"
        );
        assert_eq!(choice("Other or Billing", &names), "Billing");
        assert_eq!(choice("Category B because it fits", &["A", "B", "C"]), "B");
        assert_eq!(
            choice("这是打招呼类", &["检索", "打招呼", "其它"]),
            "打招呼"
        );
        assert_eq!(choice("Orders", &["Order", "Other"]), "Order");
    }

    #[test]
    fn an_answer_that_names_nothing_means_the_last() {
        assert_eq!(
            choice("I do not know", &["Greeting", "Order", "Other"]),
            "Other"
        );
        assert_eq!(choice("", &["A", "B"]), "B");
    }

    #[test]
    fn the_model_is_told_names_descriptions_and_examples() {
        let categories = [
            Category {
                name: "Order".into(),
                description: "about orders".into(),
                examples: vec!["where\nis it".into()],
                to: Vec::new(),
            },
            Category {
                name: "Other".into(),
                description: String::new(),
                examples: Vec::new(),
                to: Vec::new(),
            },
        ];
        let text = instructions(&categories);
        assert!(text.contains("\n- Order: about orders\n- Other\n"));
        assert!(text.contains("USER: \"where    is it\" → Order\n"));
    }

    proptest! {
        #[test]
        fn any_answer_means_a_category(answer in "\\PC{0,30}", names in prop::collection::vec("\\PC{0,5}", 1..4)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            prop_assert!(chosen(&answer, &names) < names.len());
        }
    }
}
