//! Credentials that are written out in a workflow, and names to put in their place.

use easel_runtime::check::SecretUses;
use easel_runtime::secrets::Secret;
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
        let mut seen = std::collections::HashSet::new();
        let pairs = self.names.iter();
        pairs.filter_map(move |((value, _), name)| {
            seen.insert(name.as_str())
                .then(|| (name.as_str(), Secret::new(value.as_str())))
        })
    }

    /// The file with names in place of credentials, every other byte as it is.
    pub fn rewrite(&self, text: &str) -> String {
        easel_runtime::canvas::rewrite::member_texts(text, &mut |member, value| {
            let key = (value.to_owned(), member.to_owned());
            self.names.get(&key).map(|name| format!("${{{name}}}"))
        })
    }

    /// How many times a credential still stands in a text.
    pub fn left_in(&self, text: &str) -> usize {
        let masked = self.secrets().map(|(_, secret)| secret).collect::<Vec<_>>();
        match easel_runtime::secrets::Masker::new(&masked) {
            Ok(masker) => {
                masker
                    .mask(text)
                    .matches(easel_runtime::secrets::MASK)
                    .count()
                    - text.matches(easel_runtime::secrets::MASK).count()
            }
            Err(_) => 0,
        }
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
