//! How a workflow names a piece of user code.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A callable as a workflow names it: `module:attribute`, `module.attribute` (the last dot splits) or the bare name of
/// something in the sidecar.
///
/// ```
/// use easel_sandbox::Entry;
/// let entry: Entry = "nodes.fetch:run".parse().unwrap();
/// assert_eq!((entry.module(), entry.attribute()), (Some("nodes.fetch"), "run"));
/// assert_eq!("nodes.fetch.run".parse(), Ok(entry));
/// assert_eq!("score".parse::<Entry>().unwrap().module(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    module: Option<Arc<str>>,
    attribute: Arc<str>,
}

impl Entry {
    /// Something in the sidecar.
    ///
    /// # Errors
    /// The name is no Python identifier.
    pub fn in_sidecar(name: &str) -> Result<Entry, EntryError> {
        let attribute = identifiers(name, name)?;
        Ok(Entry {
            module: None,
            attribute,
        })
    }

    /// `main`, as scripts of code nodes call theirs.
    pub fn main() -> Entry {
        Entry {
            module: None,
            attribute: "main".into(),
        }
    }

    /// The dotted module, or `None` for the sidecar.
    pub fn module(&self) -> Option<&str> {
        self.module.as_deref()
    }

    /// The name in the module. After a colon it may have dots: an attribute of an attribute.
    pub fn attribute(&self) -> &str {
        &self.attribute
    }
}

impl FromStr for Entry {
    type Err = EntryError;

    fn from_str(text: &str) -> Result<Entry, EntryError> {
        let text = text.trim();
        let (module, attribute) = match text.split_once(':') {
            Some((module, attribute)) => (Some(module), attribute),
            None => match text.rsplit_once('.') {
                Some((module, attribute)) => (Some(module), attribute),
                None => (None, text),
            },
        };
        Ok(Entry {
            module: module.map(|module| identifiers(module, text)).transpose()?,
            attribute: identifiers(attribute, text)?,
        })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.module {
            Some(module) => write!(f, "{module}:{}", self.attribute),
            None => f.write_str(&self.attribute),
        }
    }
}

/// A text that names no callable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" does not name a callable: write module:name, module.name, or the name of a function in the sidecar"
)]
pub struct EntryError {
    /// The text as it was given.
    pub text: String,
}

/// Passes identifiers joined by dots; nothing else reaches an interpreter as code.
fn identifiers(path: &str, text: &str) -> Result<Arc<str>, EntryError> {
    if path.split('.').all(is_identifier) {
        Ok(Arc::from(path))
    } else {
        Err(EntryError { text: text.into() })
    }
}

/// True for a name that Python's grammar takes as an identifier and that is no keyword.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = characters
        .next()
        .is_some_and(|first| first == '_' || first.is_alphabetic());
    starts
        && characters.all(|next| next == '_' || next.is_alphanumeric())
        && !KEYWORDS.contains(&name)
}

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_smuggle_code_is_refused() {
        for text in [
            "",
            ":",
            "a:",
            ":b",
            "a b:c",
            "m:f()",
            "m:f\nimport os",
            "m:class",
            "1a",
            "a..b",
        ] {
            let refusal = text.parse::<Entry>().unwrap_err();
            assert_eq!(refusal.text, text.trim());
        }
    }

    #[test]
    fn an_attribute_of_a_class_is_named_after_the_colon() {
        let entry: Entry = "shop.prices:Table.lookup".parse().unwrap();
        assert_eq!(entry.module(), Some("shop.prices"));
        assert_eq!(entry.attribute(), "Table.lookup");
        assert_eq!(entry.to_string(), "shop.prices:Table.lookup");
    }
}
