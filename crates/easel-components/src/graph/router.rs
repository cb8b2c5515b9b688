//! Router: chooses which of the nodes behind it run (spec/graph-engine §7.6).

use std::sync::Arc;

use easel_core::Value;
use easel_core::draft::Field;
use easel_core::event::{Completion, Fault, Ports};
use easel_core::expression::Expression;
use easel_core::format::FormatString;
use easel_core::value::Object;
use easel_models::Message;

use super::asking::{ask, said, settings};
use super::keywords::Named;
use super::{gives, prompt};
use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::chat::ask::Asker;
use crate::chat::settings::Settings;
use crate::site::Site;

/// Characters of one upstream result that are shown, and of a bad answer that is quoted.
const SHOWN: usize = 1_200;
const QUOTED: usize = 200;

pub(super) const SORTS: &str = "You decide where a workflow goes on. You are given a question, perhaps with results of earlier steps, \
and a list of routes. Answer with the name of the one route that fits best, exactly as it is written in the list, and \
with nothing else.";

/// Where a router may go.
#[derive(Clone, Debug)]
struct Choice {
    /// Its label; empty if it has none.
    label: Arc<str>,
    /// The node's id in the file, and in the workflow.
    id: Arc<str>,
    to: Arc<str>,
    /// What the router gives when it goes there because this was chosen, and because nothing was. Made once: routers
    /// decide often.
    chosen: Ports,
    not_chosen: Ports,
}

impl Choice {
    fn new(label: Arc<str>, id: Arc<str>, to: Arc<str>) -> Choice {
        let shown = match label.is_empty() {
            true => Value::Null,
            false => Value::from(label.clone()),
        };
        let value = Value::from(id.clone());
        Choice {
            label,
            id,
            to,
            chosen: given(value.clone(), shown),
            not_chosen: given(value, Value::Null),
        }
    }
}

/// What a router gives.
fn given(to: Value, label: Value) -> Ports {
    gives(to.clone(), [("selected", to), ("label", label)])
}

struct Router {
    way: Way,
    default: Option<Choice>,
    /// What it gives where there is no way on.
    nowhere: Ports,
    /// Nodes behind the router that it does not choose among.
    always: Vec<Arc<str>>,
}

enum Way {
    /// The first whose condition holds; one without a condition always does.
    Cases(Vec<(Option<Expression>, Choice)>),
    /// The one a model names.
    Routes(Box<Routes>),
}

struct Routes {
    settings: Settings,
    question: Option<FormatString>,
    upstream: Named,
    routes: Vec<Choice>,
    repair: bool,
    /// Whether the first label that is part of the answer is meant (`compat`).
    first_part: bool,
}

pub(super) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let default = site.get("default").and_then(Value::as_str).map(|to| {
        let to: Arc<str> = to.into();
        let known = (choices(&site, "cases").into_iter()).chain(choices(&site, "routes"));
        let named = known.into_iter().find(|choice| choice.to == to);
        named.unwrap_or_else(|| Choice::new(to.clone(), to.clone(), to))
    });
    let way = match site.get("cases") {
        Some(_) => {
            let cases = choices(&site, "cases").into_iter().enumerate();
            let cases = cases.map(|(at, choice)| {
                let when = match site.field(&format!("cases.{at}.when")) {
                    Some(Field::Expression(when)) => Some(when.clone()),
                    _ => None,
                };
                (when, choice)
            });
            Way::Cases(cases.collect())
        }
        None => Way::Routes(Box::new(Routes {
            settings: settings(node)?,
            question: prompt::format(node, "question"),
            upstream: Named::read(node, "depends_on"),
            routes: choices(&site, "routes"),
            repair: site.flag("repair"),
            first_part: site.flag("compat"),
        })),
    };
    Ok(Arc::new(Router {
        way,
        default,
        nowhere: given(Value::Null, Value::Null),
        always: site.texts("always").into_iter().map(Arc::from).collect(),
    }))
}

fn choices(site: &Site<'_>, list: &str) -> Vec<Choice> {
    let choice = |item: &Value| {
        let text = |name: &str| {
            item.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .into()
        };
        Choice::new(text("label"), text("id"), text("to"))
    };
    site.items(list).iter().map(choice).collect()
}

impl Behaviour for Router {
    fn run(self: Arc<Self>, call: Call) -> Run {
        match &self.way {
            Way::Cases(cases) => {
                let chosen = first_case(cases, &call);
                Run::Done(
                    chosen
                        .map(|choice| self.goes_to(choice))
                        .map_err(Failure::from),
                )
            }
            Way::Routes(_) => Run::later(async move {
                let Way::Routes(routes) = &self.way else {
                    return Ok(Completion::default());
                };
                let id = call.node().draft.id.clone();
                let mut asker = Asker::new(&call, &id, &routes.settings);
                match routes.choose(&mut asker, self.default.is_some()).await {
                    Ok(chosen) => Ok(Completion {
                        usage: asker.usage(),
                        ..self.goes_to(chosen)
                    }),
                    Err(fault) => Err(asker.failure(fault)),
                }
            }),
        }
    }
}

impl Router {
    /// What the router gives: the id of the node it goes to, null if there is none.
    fn goes_to(&self, chosen: Option<&Choice>) -> Completion {
        let way = match (chosen, &self.default) {
            (Some(chosen), _) => &chosen.chosen,
            (None, Some(default)) => &default.not_chosen,
            (None, None) => &self.nowhere,
        };
        let mut next = self.always.clone();
        next.extend(
            chosen
                .or(self.default.as_ref())
                .map(|choice| choice.to.clone()),
        );
        Completion {
            ports: way.clone(),
            next: Some(next),
            ..Completion::default()
        }
    }
}

/// The first case that holds.
fn first_case<'c>(
    cases: &'c [(Option<Expression>, Choice)],
    call: &Call,
) -> Result<Option<&'c Choice>, Fault> {
    for (when, choice) in cases {
        let holds = match when {
            None => true,
            Some(when) => when.truth(call.inputs()).map_err(|error| {
                let node = &call.node().draft.name;
                let message = format!(
                    "\"{node}\" cannot decide whether its case for \"{}\" holds: {error}.",
                    choice.id
                );
                Fault::new("expression", message)
            })?,
        };
        if holds {
            return Ok(Some(choice));
        }
    }
    Ok(None)
}

impl Routes {
    async fn choose(
        &self,
        asker: &mut Asker<'_>,
        has_default: bool,
    ) -> Result<Option<&Choice>, Fault> {
        let question = self.question(asker.call);
        let mut messages = vec![Message::system(SORTS), Message::user(question.clone())];
        let mut answer = said(&ask(asker, messages.clone()).await?);
        if let Some(chosen) = self.meant(&answer) {
            return Ok(Some(chosen));
        }
        if self.repair {
            let quoted: String = answer.trim().chars().take(QUOTED).collect();
            messages.truncate(1);
            messages.push(Message::user(format!(
                "{question}\n\nYou answered \"{quoted}\", which is none of these routes. Answer with one of them: {}.",
                self.labels()
            )));
            answer = said(&ask(asker, messages).await?);
            if let Some(chosen) = self.meant(&answer) {
                return Ok(Some(chosen));
            }
        }
        if has_default {
            return Ok(None);
        }
        let quoted: String = answer.trim().chars().take(QUOTED).collect();
        let cause = format!(
            "got an answer that is none of its routes: \"{quoted}\". It has no default; set one, or make its labels clearer."
        );
        Err(asker.trouble("no_route", &cause))
    }

    fn question(&self, call: &Call) -> String {
        let mut text = match &self.question {
            Some(question) => prompt::render(question, call),
            None => format!("Choose a route for {}.", call.node().draft.name),
        };
        if !self.upstream.is_empty() {
            let values = self.upstream.values(call.inputs());
            let shown: Object = values
                .filter_map(|(name, value)| {
                    let text: String = value?.python().to_string().chars().take(SHOWN).collect();
                    Some((name.clone(), Value::from(text)))
                })
                .collect();
            if !shown.is_empty() {
                let shown = Value::from(shown).to_json_text();
                text.push_str(&format!("\n\nResults of earlier steps:\n{shown}"));
            }
        }
        text.push_str(&format!("\n\nAllowed routes: {}", self.labels()));
        text
    }

    fn labels(&self) -> String {
        let labels: Vec<Value> = self
            .routes
            .iter()
            .map(|r| Value::from(r.label.clone()))
            .collect();
        Value::from(labels).python().to_string()
    }

    /// The route an answer means: the one it is, case aside; else the one with the longest label that stands in it as a
    /// word of its own.
    fn meant(&self, answer: &str) -> Option<&Choice> {
        let answer = answer
            .trim()
            .trim_matches(['"', '\'', '`', '.', '*'])
            .to_lowercase();
        let is = |choice: &&Choice| choice.label.trim().to_lowercase() == answer;
        let whole = self.routes.iter().find(is);
        if whole.is_none() && self.first_part {
            let part = |choice: &&Choice| answer.contains(&choice.label.trim().to_lowercase());
            return self.routes.iter().find(part);
        }
        whole.or_else(|| {
            let named = self.routes.iter().filter(|choice| {
                let label = choice.label.trim().to_lowercase();
                !label.is_empty() && has_word(&answer, &label)
            });
            named
                .rev()
                .max_by_key(|choice| choice.label.chars().count())
        })
    }
}

/// Whether a phrase stands in a text with no letter or digit right before or behind it.
fn has_word(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + found.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !behind.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(answer: &str, labels: &[&str]) -> Option<String> {
        let choice = |label: &&str| Choice::new((*label).into(), (*label).into(), (*label).into());
        let routes = Routes {
            settings: Settings::of_default_model(),
            question: None,
            upstream: Named::default(),
            routes: labels.iter().map(choice).collect(),
            repair: true,
            first_part: false,
        };
        routes.meant(answer).map(|choice| choice.label.to_string())
    }

    #[test]
    fn a_label_inside_a_longer_one_is_not_taken_for_it() {
        let labels = ["urgent", "not urgent"];
        assert_eq!(
            meant("This is not urgent.", &labels),
            Some("not urgent".into())
        );
        assert_eq!(meant("  URGENT \n", &labels), Some("urgent".into()));
        assert_eq!(meant("insurgent", &labels), None);
        assert_eq!(meant("\"Urgent\".", &labels), Some("urgent".into()));
        assert_eq!(meant("", &labels), None);
    }
}
