//! How the results of each provider are read.

/// What is made of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Each result is a passage that answers may cite.
    Passages,
    /// The main argument is a list of addresses, and the results stay as they are.
    Pages,
    /// The results are the sections of one report.
    Report,
    /// The results are texts, and no passages that answers may cite.
    Texts,
}

/// Where in a result of one provider its parts stand: dotted paths, the preferred one first. The usual names come after.
#[derive(Debug)]
pub(super) struct Provider {
    /// The name of its function.
    function: &'static str,
    pub reading: Reading,
    /// Where the results are in its answer, if the component gives that answer whole: dotted, blank for the answer itself.
    pub within: Option<&'static str>,
    pub title: &'static [&'static str],
    pub url: &'static [&'static str],
    pub content: &'static [&'static str],
    /// What is added to the content, each under a label.
    pub notes: &'static [(&'static str, &'static str)],
}

/// A provider that calls things by their usual names.
pub(super) const USUAL: Provider = Provider {
    function: "",
    reading: Reading::Passages,
    within: None,
    title: &["title", "name"],
    url: &["url", "link", "href"],
    content: &["content", "snippet", "summary", "description", "body"],
    notes: &[],
};

static PROVIDERS: [Provider; 14] = [
    Provider {
        function: "tavily_search",
        content: &["raw_content", "content"],
        ..USUAL
    },
    Provider {
        function: "tavily_extract",
        reading: Reading::Pages,
        ..USUAL
    },
    Provider {
        function: "duckduckgo_search",
        url: &["href", "url"],
        content: &["body"],
        ..USUAL
    },
    Provider {
        function: "wikipedia_search",
        url: &["fullurl", "url"],
        content: &["extract", "summary"],
        ..USUAL
    },
    Provider {
        function: "google_search",
        url: &["link"],
        content: &["about_this_result.source.description", "snippet"],
        ..USUAL
    },
    Provider {
        function: "yahoo_finance",
        reading: Reading::Report,
        ..USUAL
    },
    Provider {
        function: "searxng_search",
        ..USUAL
    },
    Provider {
        function: "arxiv_search",
        url: &["pdf_url", "url", "link"],
        content: &["summary"],
        ..USUAL
    },
    Provider {
        function: "pubmed_search",
        ..USUAL
    },
    Provider {
        function: "github_search",
        title: &["name", "full_name"],
        url: &["html_url"],
        content: &["description"],
        notes: &[("stars", "watchers")],
        ..USUAL
    },
    Provider {
        function: "querit_search",
        within: Some("results.result"),
        ..USUAL
    },
    Provider {
        function: "querit_contents",
        reading: Reading::Pages,
        within: Some(""),
        ..USUAL
    },
    Provider {
        function: "deepl_translate",
        reading: Reading::Texts,
        ..USUAL
    },
    Provider {
        function: "qweather",
        reading: Reading::Texts,
        ..USUAL
    },
];

/// The provider with that function; one of its own kind is read by the usual names.
pub(super) fn named(function: &str) -> &'static Provider {
    let known = PROVIDERS
        .iter()
        .find(|provider| provider.function == function);
    known.unwrap_or(const { &USUAL })
}
