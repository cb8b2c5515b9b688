//! The providers that come with Easel: a file of `providers/` each, under the name of the function it answers.

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;

use super::declaration::{Declaration, DeclarationError};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("providers/", $name, ".toml")))),*]
    };
}

/// Name and declaration of each.
pub(super) const FILES: [(&str, &str); 18] = files![
    "akshare_stock_news",
    "arxiv_search",
    "bgpt_search",
    "deepl_translate",
    "duckduckgo_search",
    "github_search",
    "google_scholar_search",
    "google_search",
    "keenable_search",
    "pubmed_search",
    "querit_contents",
    "querit_search",
    "qweather",
    "searxng_search",
    "tavily_extract",
    "tavily_search",
    "wikipedia_search",
    "yahoo_finance",
];

/// Providers by the name of their function.
pub(super) type Providers = IndexMap<String, Arc<Declaration>>;

/// All of them, read once. Errors: one is not well-formed, which a test rules out.
pub(super) fn all() -> Result<&'static Providers, DeclarationError> {
    static ALL: LazyLock<Result<Providers, DeclarationError>> = LazyLock::new(|| {
        let read = |(name, text): &(&str, &str)| {
            let declared = Declaration::from_toml(name, text)?;
            Ok(((*name).to_owned(), Arc::new(declared)))
        };
        FILES.iter().map(read).collect()
    });
    ALL.as_ref().map_err(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_is_well_formed() {
        for (name, text) in FILES {
            if let Err(error) = Declaration::from_toml(name, text) {
                panic!("{error}");
            }
        }
        assert_eq!(all().unwrap().len(), FILES.len());
    }
}
