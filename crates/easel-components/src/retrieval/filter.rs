//! Conditions on the metadata of documents: written in the node, or made by a model from the question.

use easel_core::Value;
use easel_core::event::Fault;
use easel_models::Message;
use easel_tools::retrieval::{FilterLogic, MetadataCondition};

use crate::chat::ask::{Ask, Asker};
use crate::chat::lenient;
use crate::given::Given;
use crate::site::Site;

/// The comparisons a model may choose among.
const OPERATORS: [&str; 12] = [
    "=",
    "≠",
    ">",
    "<",
    "≥",
    "≤",
    "contains",
    "not contains",
    "in",
    "not in",
    "start with",
    "end with",
];

/// Which documents are searched.
pub(super) enum Filter {
    /// All.
    None,
    /// Those for which conditions hold that stand in the file. Their values are resolved at each call.
    Manual {
        /// Whether all must hold, or one.
        logic: FilterLogic,
        /// Key, comparison and value.
        conditions: Vec<(String, String, Given)>,
    },
    /// A model makes conditions on these keys, each with its comparison if that is fixed.
    Chosen {
        /// The keys.
        keys: Vec<(String, Option<String>)>,
    },
    /// A model would make conditions on any key, but nobody tells which there are.
    Unknown,
}

impl Filter {
    /// Reads `meta_data_filter`.
    pub(super) fn read(site: &Site<'_>) -> Filter {
        let Some(filter) = site.get("meta_data_filter") else {
            return Filter::None;
        };
        let text = |name| filter.get(name).and_then(Value::as_str).unwrap_or_default();
        let items = |name| {
            filter
                .get(name)
                .and_then(Value::as_array)
                .unwrap_or_default()
        };
        match text("method") {
            "manual" => {
                let conditions =
                    items("manual")
                        .iter()
                        .enumerate()
                        .filter_map(|(at, condition)| {
                            let member = |name| condition.get(name).and_then(Value::as_str);
                            let key = member("key").filter(|key| !key.trim().is_empty())?;
                            let op = member("op").filter(|op| !op.trim().is_empty());
                            let value = condition.get("value").cloned().unwrap_or_default();
                            let path = format!("meta_data_filter.manual.{at}.value");
                            let value = site.given_at(&path, &value, false);
                            Some((key.to_owned(), op.unwrap_or("=").to_owned(), value))
                        });
                Filter::Manual {
                    logic: match text("logic") {
                        "or" => FilterLogic::Or,
                        _ => FilterLogic::And,
                    },
                    conditions: conditions.collect(),
                }
            }
            "semi_auto" => {
                let keys = items("semi_auto").iter().filter_map(|key| match key {
                    Value::String(key) => Some((key.to_string(), None)),
                    other => {
                        let op = other.get("op").and_then(Value::as_str);
                        let op = op.filter(|op| !op.trim().is_empty()).map(str::to_owned);
                        Some((other.get("key")?.as_str()?.to_owned(), op))
                    }
                });
                Filter::Chosen {
                    keys: keys.collect(),
                }
            }
            "auto" => Filter::Unknown,
            _ => Filter::None,
        }
    }

    /// How the conditions combine.
    pub(super) fn logic(&self) -> FilterLogic {
        match self {
            Filter::Manual { logic, .. } => *logic,
            Filter::None | Filter::Chosen { .. } | Filter::Unknown => FilterLogic::And,
        }
    }

    /// The conditions for one question. A model that gives none that can be used leaves all documents in, with a warning.
    pub(super) async fn conditions(
        &self,
        query: &str,
        asker: &mut Asker<'_>,
    ) -> Result<Vec<MetadataCondition>, Fault> {
        match self {
            Filter::None => Ok(Vec::new()),
            Filter::Manual { conditions, .. } => conditions
                .iter()
                .map(|(key, op, value)| {
                    Ok(MetadataCondition {
                        key: key.clone(),
                        op: op.clone(),
                        value: value.value(asker.call),
                    })
                })
                .collect(),
            Filter::Chosen { keys } if keys.is_empty() => Ok(Vec::new()),
            Filter::Chosen { keys } => Ok(made_by_model(query, keys, asker).await),
            Filter::Unknown => {
                asker.call.warn(
                    "All documents were searched: nobody tells which metadata they have, so no condition could be made. \
                     Name the metadata with `semi_auto`.",
                );
                Ok(Vec::new())
            }
        }
    }
}

async fn made_by_model(
    query: &str,
    keys: &[(String, Option<String>)],
    asker: &mut Asker<'_>,
) -> Vec<MetadataCondition> {
    let ask = Ask {
        messages: vec![Message::system(instructions(keys)), Message::user(query)],
        ..Ask::default()
    };
    match asker.ask(ask, None).await {
        Ok(reply) => usable(&reply.text, keys),
        Err(fault) => {
            asker
                .call
                .warn(format!("All documents were searched: {}", fault.message));
            Vec::new()
        }
    }
}

fn instructions(keys: &[(String, Option<String>)]) -> String {
    let keys = keys.iter().map(|(key, op)| match op {
        Some(op) => format!("- {key}, compared with `{op}`"),
        None => format!("- {key}"),
    });
    format!(
        "Documents are searched for a question, and some can be ruled out by their metadata. You write down the conditions \
         that the question itself states.\n\nThe metadata:\n{}\n\nComparisons: {}.\n\n\
         Answer with a JSON list such as [{{\"key\": \"year\", \"op\": \"≥\", \"value\": \"2020\"}}], and with [] if the \
         question states no condition. Use no other metadata, and guess nothing.",
        keys.collect::<Vec<_>>().join("\n"),
        OPERATORS.join(", "),
    )
}

/// The conditions in an answer that are about the keys in question.
fn usable(answer: &str, keys: &[(String, Option<String>)]) -> Vec<MetadataCondition> {
    let answer = lenient::json(answer).unwrap_or_default();
    let one = std::slice::from_ref(&answer);
    let stated = answer.as_array().unwrap_or(one).iter();
    let usable = stated.filter_map(|condition| {
        let key = condition.get("key")?.as_str()?;
        let (key, fixed) = keys.iter().find(|(known, _)| known == key)?;
        let op = condition.get("op").and_then(Value::as_str);
        let op = op.filter(|op| OPERATORS.contains(op)).unwrap_or("=");
        Some(MetadataCondition {
            key: key.clone(),
            op: fixed.clone().unwrap_or_else(|| op.to_owned()),
            value: condition
                .get("value")
                .filter(|value| !value.is_null())?
                .clone(),
        })
    });
    usable.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_conditions_on_the_chosen_metadata_are_used() {
        let keys = [
            ("year".to_owned(), None),
            ("author".to_owned(), Some("contains".to_owned())),
        ];
        let answer = r#"```json
            [{"key": "year", "op": "≥", "value": 2020}, {"key": "author", "op": "=", "value": "Ann"},
             {"key": "secret", "value": "x"}, {"key": "year", "value": null}]```"#;
        let used: Vec<String> = usable(answer, &keys)
            .iter()
            .map(|c| format!("{} {} {}", c.key, c.op, c.value))
            .collect();
        assert_eq!(used, ["year ≥ 2020", "author contains Ann"]);
        assert!(usable("There are none.", &keys).is_empty());
    }
}
