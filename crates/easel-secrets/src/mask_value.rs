//! Taking secret values out of values: texts at any depth, and the names of members.

use std::borrow::Cow;
use std::sync::Arc;

use easel_core::{Object, Value};

use crate::mask::{Masker, Tally};

/// A secret that stands in something other than a text, where nothing can be put in its place: a number has no form in
/// which its digits are hidden. It is told instead.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unmasked {
    /// The secret's name.
    pub secret: Arc<str>,
}

impl Masker {
    /// The value without secrets in its texts and in the names of its members; borrowed if there are none. What could not
    /// be masked is put into `unmasked`.
    pub fn mask_value<'v>(&self, value: &'v Value, unmasked: &mut Vec<Unmasked>) -> Cow<'v, Value> {
        match self.masked(value, &mut Tally::default(), unmasked) {
            Some(masked) => Cow::Owned(masked),
            None => Cow::Borrowed(value),
        }
    }

    /// What becomes of a value; `None` if it stays as it is.
    pub(crate) fn masked(
        &self,
        value: &Value,
        tally: &mut Tally,
        unmasked: &mut Vec<Unmasked>,
    ) -> Option<Value> {
        match value {
            Value::Null | Value::Bool(_) => None,
            Value::Number(_) => {
                let secret = self.secret_in_number(&value.to_json_text())?.clone();
                unmasked.push(Unmasked { secret });
                None
            }
            Value::String(text) => match self.mask_counted(text, tally) {
                Cow::Borrowed(_) => None,
                Cow::Owned(masked) => Some(Value::from(masked)),
            },
            Value::Array(items) => {
                let mut changed: Option<Vec<Value>> = None;
                for (at, item) in items.iter().enumerate() {
                    if let Some(masked) = self.masked(item, tally, unmasked) {
                        changed.get_or_insert_with(|| items.to_vec())[at] = masked;
                    }
                }
                changed.map(Value::from)
            }
            Value::Object(members) => {
                let masked = self.masked_members(members, tally, unmasked)?;
                Some(Value::from(masked))
            }
        }
    }

    /// What becomes of members; `None` if they stay as they are.
    pub(crate) fn masked_members(
        &self,
        members: &Object,
        tally: &mut Tally,
        unmasked: &mut Vec<Unmasked>,
    ) -> Option<Object> {
        let mut changed = false;
        let mut masked = Object::with_capacity(members.len());
        for (name, member) in members {
            let new_name = match self.mask_counted(name, tally) {
                Cow::Borrowed(_) => name.clone(),
                Cow::Owned(new) => {
                    changed = true;
                    free_name(&masked, new)
                }
            };
            let new_member = self.masked(member, tally, unmasked);
            changed |= new_member.is_some();
            masked.insert(new_name, new_member.unwrap_or_else(|| member.clone()));
        }
        changed.then_some(masked)
    }
}

/// A name that no member has: two names that differed only in their secrets stay two.
fn free_name(members: &Object, name: String) -> Arc<str> {
    let mut free: Arc<str> = name.as_str().into();
    let mut count = 2;
    while members.contains_key(&free) {
        free = format!("{name} ({count})").into();
        count += 1;
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;
    use serde_json::json;

    fn masker() -> Masker {
        let secrets = [Secret::new("s3cr3t-value"), Secret::new("12345678")];
        let names = ["TOKEN", "PIN"].map(Arc::from);
        Masker::named(names.into_iter().zip(&secrets)).unwrap()
    }

    fn mask(value: serde_json::Value) -> (serde_json::Value, Vec<Unmasked>) {
        let mut unmasked = Vec::new();
        let value = Value::from(value);
        let masked = masker().mask_value(&value, &mut unmasked).to_json();
        (masked, unmasked)
    }

    #[test]
    fn texts_and_names_are_masked_at_any_depth() {
        let (masked, _) = mask(json!({"a": ["s3cr3t-value", {"s3cr3t-value": 1}], "b": "x"}));
        assert_eq!(masked, json!({"a": ["••••••", {"••••••": 1}], "b": "x"}));
    }

    #[test]
    fn names_that_become_alike_stay_two() {
        let (masked, _) = mask(json!({"s3cr3t-value": 1, "12345678": 2, "c": 3}));
        assert_eq!(masked, json!({"••••••": 1, "•••••• (2)": 2, "c": 3}));
    }

    #[test]
    fn a_value_without_secrets_is_not_copied() {
        let value = Value::from(json!({"a": ["b", null, true, 1.5]}));
        let mut unmasked = Vec::new();
        let masked = masker();
        assert!(matches!(
            masked.mask_value(&value, &mut unmasked),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn a_secret_in_a_number_is_told_and_left() {
        for number in [json!(12345678), json!(912345678.5)] {
            let (masked, unmasked) = mask(json!([number]));
            assert_eq!(masked, json!([number]));
            let secret = "PIN".into();
            assert_eq!(unmasked, [Unmasked { secret }]);
        }
        assert!(mask(json!(1234567)).1.is_empty());
    }
}
