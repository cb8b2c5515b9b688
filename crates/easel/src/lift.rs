//! Credentials that are written out in a workflow, and names to put in their place.

use std::collections::HashSet;

use easel_runtime::canvas::rewrite::member_texts;
use easel_runtime::check::SecretUses;
use easel_runtime::secrets::{MASK, Masker, Secret};
use indexmap::IndexMap;

/// Credentials by the name that stands for each from now on.
pub struct Lifted {
    /// Value and parameter to name.
    names: IndexMap<(String, String), String>,
}

impl Lifted {
    /// Names for all credentials that are written out. Equal ones get one name. `taken`: whether a name stands for another
    /// value already.
    ///
    /// # Errors
    /// What `taken` says.
    pub fn of<E>(
        uses: &SecretUses,
        mut taken: impl FnMut(&str, &str) -> Result<bool, E>,
    ) -> Result<Lifted, E> {
        let mut named: IndexMap<String, String> = IndexMap::new();
        let mut names = IndexMap::new();
        for found in uses.written_out() {
            let field = found.path.rsplit('.').next().unwrap_or_default();
            let name = match named.get(&*found.value) {
                Some(name) => name.clone(),
                None => {
                    let base = format!("{}_{}", in_capitals(&found.component), in_capitals(field));
                    let mut name = base.clone();
                    let mut count = 2;
                    while named.values().any(|known| *known == name) || taken(&name, &found.value)?
                    {
                        name = format!("{base}_{count}");
                        count += 1;
                    }
                    named.insert(found.value.to_string(), name.clone());
                    name
                }
            };
            names.insert((found.value.to_string(), field.to_owned()), name);
        }
        Ok(Lifted { names })
    }

    /// Whether there is nothing to lift.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Each name with its value, once.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, Secret)> {
        let pairs = self
            .names
            .iter()
            .map(|((value, _), name)| (&**name, &**value));
        let values: IndexMap<&str, &str> = pairs.collect();
        let values = values.into_iter();
        values.map(|(name, value)| (name, Secret::new(value)))
    }

    /// The file with names in place of credentials, every other byte as it is; and without those credentials that could
    /// not be found in it by their names, of old shapes for example: these are left in the file.
    pub fn rewrite(mut self, text: &str) -> (String, Lifted, Vec<String>) {
        let mut found = HashSet::new();
        let rewritten = member_texts(text, &mut |member, value| {
            let name = self.names.get(&(value.to_owned(), member.to_owned()))?;
            found.insert(name.clone());
            Some(format!("${{{name}}}"))
        });
        let mut left: Vec<String> = Vec::new();
        self.names.retain(|(_, field), name| {
            let there = found.contains(name);
            if !there {
                left.push(field.clone());
            }
            there
        });
        (rewritten, self, left)
    }

    /// How many times a credential still stands in a text.
    pub fn left_in(&self, text: &str) -> usize {
        let secrets: Vec<Secret> = self.secrets().map(|(_, secret)| secret).collect();
        let Ok(masker) = Masker::new(&secrets) else {
            return 0;
        };
        let masks = |text: &str| text.matches(MASK).count();
        masks(&masker.mask(text)).saturating_sub(masks(text))
    }
}

/// A name as secrets have it: `TavilySearch` is `TAVILY_SEARCH`.
fn in_capitals(name: &str) -> String {
    let mut capitals = String::new();
    let mut before = '_';
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            capitals.push('_');
        } else {
            if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
                capitals.push('_');
            }
            capitals.push(c.to_ascii_uppercase());
        }
        before = c;
    }
    capitals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_capitals() {
        for (name, expected) in [
            ("TavilySearch", "TAVILY_SEARCH"),
            ("ExeSQL", "EXE_SQL"),
            ("api_key", "API_KEY"),
            ("web-apikey", "WEB_APIKEY"),
        ] {
            assert_eq!(in_capitals(name), expected);
        }
    }
}
