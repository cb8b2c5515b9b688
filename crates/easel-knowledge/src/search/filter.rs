//! Conditions on the metadata of documents.

use std::collections::HashSet;

use easel_core::Value;
use easel_core::condition::{Operator, Table};
use easel_tools::retrieval::{FilterLogic, MetadataCondition, RetrievalRequest};
use rusqlite::Transaction;

use crate::error::KnowledgeError;
use crate::store::Scope;

/// The rows of the documents for which the conditions hold. `None`: there are no conditions.
pub(super) fn documents(
    scope: &Scope,
    at: &Transaction<'_>,
    request: &RetrievalRequest,
) -> Result<Option<HashSet<i64>>, KnowledgeError> {
    if request.filters.is_empty() {
        return Ok(None);
    }
    let conditions = request.filters.iter().map(Condition::read);
    let conditions: Vec<_> = conditions.collect::<Result<_, _>>()?;
    let holds = |metadata: &Value| {
        let mut each = conditions.iter().map(|condition| condition.holds(metadata));
        match request.filter_logic {
            FilterLogic::And => each.all(|held| held),
            FilterLogic::Or => each.any(|held| held),
        }
    };
    let documents = scope.metadata(at)?.into_iter();
    let through = documents.filter(|(_, metadata)| holds(metadata));
    Ok(Some(through.map(|(row, _)| row).collect()))
}

/// One condition, read.
struct Condition<'r> {
    key: &'r str,
    operator: Operator,
    value: &'r Value,
}

impl<'r> Condition<'r> {
    fn read(raw: &'r MetadataCondition) -> Result<Condition<'r>, KnowledgeError> {
        let operator = Operator::parse(&raw.op).ok_or_else(|| KnowledgeError::Invalid {
            what: format!("the filter on \"{}\"", raw.key),
            problem: format!(
                "\"{}\" is no operator. Known are =, ≠, >, <, ≥, ≤, contains, not contains, in, not in, start with, end \
                 with, empty and not empty",
                raw.op
            ),
        })?;
        Ok(Condition {
            key: raw.key.trim(),
            operator,
            value: &raw.value,
        })
    }

    /// Whether it holds for a document. A list has a value if one of its items has it; a document without the field fails
    /// every condition but `empty` and those that say what is not.
    fn holds(&self, metadata: &Value) -> bool {
        let field = metadata.get(self.key).unwrap_or(&Value::Null);
        let test = |value: &Value| Table::Switch.test(value, self.operator, self.value);
        let negative = matches!(
            self.operator,
            Operator::NotEqual | Operator::NotContains | Operator::NotIn | Operator::IsNot
        );
        match (field, self.operator) {
            (_, Operator::Empty | Operator::NotEmpty) => test(field),
            (Value::Null, _) => negative,
            (Value::Array(items), _)
                if !matches!(self.value, Value::Array(_)) || self.is_list() =>
            {
                match negative {
                    true => items.iter().all(test),
                    false => items.iter().any(test),
                }
            }
            _ => test(field),
        }
    }

    /// Whether the value of the condition is a list to be looked in.
    fn is_list(&self) -> bool {
        matches!(self.operator, Operator::In | Operator::NotIn)
    }
}
