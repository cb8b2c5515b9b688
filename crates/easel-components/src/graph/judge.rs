//! What a loop asks after each pass: a function of the sidecar, or a model that judges a sentence (spec/graph-engine §7.8).

use std::sync::Arc;

use easel_core::bind::ReadId;
use easel_core::draft::{FEEDBACK, RESULTS, STOP};
use easel_core::event::{Completion, Fault, Ports};
use easel_core::{Object, Value};
use easel_models::Message;

use super::asking::{ask, said, settings};
use super::keywords::Named;
use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::chat::ask::Asker;
use crate::chat::settings::Settings;
use crate::site::Site;

/// Characters of a pass's output that a judge is shown, and of a bad answer that is quoted.
const SHOWN: usize = 3_000;
const QUOTED: usize = 200;

/// The port of a verdict that says whether the condition has to do with what the loop makes.
const RELATED: &str = "related";

pub(super) const JUDGES: &str = "You judge whether a loop is done. You are given its condition and what its last pass gave. Begin your \
answer with one word: STOP if the condition is met, CONTINUE if it is not, UNRELATED if the condition has nothing to do \
with what the loop makes. After CONTINUE, say in one sentence what the next pass should do better; after the others, why.";

struct Judge {
    by: By,
    maximum: i64,
    results: Option<ReadId>,
    feedback: Option<ReadId>,
}

enum By {
    Function { name: Arc<str>, variables: Named },
    Model(Box<Sentence>),
}

struct Sentence {
    settings: Settings,
    condition: Arc<str>,
    repair: bool,
}

pub(super) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let by = match site.get("function").and_then(Value::as_str) {
        Some(name) => By::Function {
            name: name.trim().into(),
            variables: Named::read(node, "vars"),
        },
        None => By::Model(Box::new(Sentence {
            settings: settings(node)?,
            condition: site.text("prose").into(),
            repair: site.flag("repair"),
        })),
    };
    let read = |port: &str| site.reference(port, None);
    Ok(Arc::new(Judge {
        by,
        maximum: site
            .get("max_iterations")
            .and_then(Value::as_i64)
            .unwrap_or(1),
        results: read(RESULTS)?,
        feedback: read(FEEDBACK)?,
    }))
}

impl Behaviour for Judge {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move {
            match &self.by {
                By::Function { name, variables } => {
                    let iteration = self.iteration(&call, variables);
                    let verdict = call
                        .run
                        .functions
                        .until(name, iteration, call.node().draft.timeout_s)
                        .await;
                    let verdict = verdict.map_err(|fault| {
                        let node = &call.node().draft.name;
                        let pass = self.passes(&call);
                        let message = format!(
                            "\"{node}\" failed after pass {pass}, in its function {name}: {}",
                            fault.message
                        );
                        Failure::from(Fault {
                            message: message.into(),
                            ..fault
                        })
                    })?;
                    Ok(Completion {
                        ports: ports(verdict.stop, Value::from(verdict.reason)),
                        ..Completion::default()
                    })
                }
                By::Model(sentence) => {
                    let id = call.node().draft.id.clone();
                    let mut asker = Asker::new(&call, &id, &sentence.settings);
                    match sentence.judge(&mut asker, &self).await {
                        Ok((stop, related, reason)) => {
                            let mut ports = ports(stop, Value::from(reason));
                            ports.set(RELATED, related);
                            Ok(Completion {
                                ports,
                                usage: asker.usage(),
                                ..Completion::default()
                            })
                        }
                        Err(fault) => Err(asker.failure(fault)),
                    }
                }
            }
        })
    }
}

fn ports(stop: bool, reason: Value) -> Ports {
    let mut ports = Ports::one(STOP, stop);
    ports.set(FEEDBACK, reason);
    ports
}

impl Judge {
    fn read(&self, call: &Call, read: Option<ReadId>) -> Value {
        read.map_or(Value::Null, |read| call.inputs().get(read).or_null())
    }

    /// How many passes are over.
    fn passes(&self, call: &Call) -> i64 {
        let results = self.read(call, self.results);
        results.as_array().map_or(1, |results| results.len() as i64)
    }

    /// What `LoopIteration` shows of the pass that is over.
    fn iteration(&self, call: &Call, variables: &Named) -> Object {
        let passes = self.passes(call);
        let set = variables.values(call.inputs());
        let set: Object = set
            .filter_map(|(name, value)| Some((name.clone(), value?.clone())))
            .collect();
        let output = self.read(call, self.results);
        let output = output.as_array().and_then(<[Value]>::last).cloned();
        let output = output.unwrap_or_default();
        let feedback = match self.read(call, self.feedback) {
            Value::Null => Value::from(""),
            feedback => feedback,
        };
        let members = [
            ("index", Value::from(passes - 1)),
            ("iteration", Value::from(passes)),
            ("output", output.clone()),
            ("result", output),
            ("history", self.read(call, self.results)),
            ("feedback", feedback),
            ("max_iterations", Value::from(self.maximum)),
            ("vars", Value::from(set)),
            ("is_last", Value::from(passes >= self.maximum)),
        ];
        members.into_iter().map(|(k, v)| (k.into(), v)).collect()
    }
}

impl Sentence {
    /// Whether to stop, whether the condition has to do with the loop, and why.
    async fn judge(
        &self,
        asker: &mut Asker<'_>,
        judge: &Judge,
    ) -> Result<(bool, bool, String), Fault> {
        let call = asker.call;
        let results = judge.read(call, judge.results);
        let last = results.as_array().and_then(<[Value]>::last).cloned();
        let shown = last.unwrap_or_default().to_json_text();
        let shown: String = shown.chars().take(SHOWN).collect();
        let question = format!(
            "Condition: {}\nPass {} of at most {}.\n\nThe pass gave:\n{shown}",
            self.condition,
            judge.passes(call),
            judge.maximum
        );
        let ask_with = |text: String| vec![Message::system(JUDGES), Message::user(text)];
        let answer = said(&ask(asker, ask_with(question.clone())).await?);
        if let Some(verdict) = verdict(&answer) {
            return Ok(verdict);
        }
        if self.repair {
            let quoted: String = answer.trim().chars().take(QUOTED).collect();
            let again = format!(
                "{question}\n\nYou answered \"{quoted}\". Begin with one word: STOP, CONTINUE or UNRELATED."
            );
            let answer = said(&ask(asker, ask_with(again)).await?);
            if let Some(verdict) = verdict(&answer) {
                return Ok(verdict);
            }
        }
        // Going on is what the ceiling bounds; stopping on a misunderstanding is not.
        let node = &call.node().draft.name;
        call.warn(format!(
            "\"{node}\" got no verdict from its judge, so it goes on."
        ));
        Ok((false, true, String::new()))
    }
}

/// The verdict that an answer begins with, and the reason behind it.
fn verdict(answer: &str) -> Option<(bool, bool, String)> {
    let answer = answer
        .trim()
        .trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = answer
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(answer.len());
    let (word, rest) = answer.split_at(end);
    let (stop, related) = match word.to_lowercase().as_str() {
        "stop" => (true, true),
        "continue" => (false, true),
        "unrelated" => (true, false),
        _ => return None,
    };
    let reason =
        rest.trim_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation() || c == '—');
    Some((stop, related, reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_the_first_word_of_the_answer() {
        let said = verdict;
        assert_eq!(said("STOP - ok"), Some((true, true, "ok".into())));
        assert_eq!(
            said("**CONTINUE**: shorter."),
            Some((false, true, "shorter".into()))
        );
        assert_eq!(
            said("Unrelated to stop"),
            Some((true, false, "to stop".into()))
        );
        assert_eq!(said("I would not stop here"), None);
        assert_eq!(said("Stopping now"), None);
        assert_eq!(said("???"), None);
    }
}
