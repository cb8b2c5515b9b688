//! Answers and declarations that nobody meant: whatever comes is read or refused.

use std::sync::Arc;

use easel_core::Object;
use easel_tools::ToolError;
use easel_tools::http::{HttpRequest, HttpResponse, HttpSender};
use easel_tools::live::{Declaration, LiveSearch, SearchConfig};
use easel_tools::search::{SearchRequest, WebSearch};
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::{BoxFuture, ready};
use proptest::prelude::*;

use crate::tavily::key;

/// Answers everything with one body.
struct Says(String);

impl HttpSender for Says {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        ready(Ok(HttpResponse {
            status: 200,
            headers: vec![("set-cookie".into(), self.0.clone())],
            body: self.0.clone(),
        }))
        .boxed()
    }
}

const ANSWERS: [&str; 6] = [
    include_str!("answers/arxiv.xml"),
    include_str!("answers/duckduckgo.html"),
    include_str!("answers/pubmed.xml"),
    include_str!("answers/scholar.html"),
    r#"{"results": {"result": [{"title": 1}]}, "code": "200", "location": [{"id": "1"}], "now": {}, "daily": [null], "news": {}, "quoteSummary": {"result": [[]]}}"#,
    r#"{"results": ["x", 1, null], "items": [[]], "organic_results": {}, "query": {"pages": [1, {"index": "a"}]}, "chart": {"result": [{"timestamp": [1e300, 9223372036854775807, -9223372036854775808]}]}}"#,
];

fn answer() -> impl Strategy<Value = String> {
    let pieces = (
        "[<>{}\\[\\]\",:/a=' -]{0,6}",
        any::<prop::sample::Index>(),
        0..ANSWERS.len(),
    );
    pieces.prop_map(|(junk, at, which)| {
        let characters: Vec<char> = ANSWERS[which].chars().collect();
        let at = at.index(characters.len());
        let whole = junk.is_empty();
        let before = characters.iter().take(if whole { usize::MAX } else { at });
        let after = characters
            .iter()
            .skip(if whole { usize::MAX } else { at + 1 });
        before
            .copied()
            .chain(junk.chars())
            .chain(after.copied())
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_answer_of_any_provider_is_read_or_refused(body in answer()) {
        for provider in LiveSearch::known() {
            let config = SearchConfig::default();
            let search = LiveSearch::new(Arc::new(Says(body.clone())), config);
            let mut parameters = Object::new();
            for switch in ["history", "financials", "balance_sheet", "cash_flow_statement"] {
                parameters.insert(switch.into(), true.into());
            }
            parameters.insert("searxng_url".into(), "http://a.example".into());
            let request = SearchRequest {
                provider: provider.into(),
                subject: "x".into(),
                parameters,
                api_key: Some(key("k-123456")),
            };
            if let Err(error) = block_on(search.search(request)) {
                let read = matches!(
                    error,
                    ToolError::Malformed { .. } | ToolError::Failed { .. } | ToolError::InvalidRequest { .. }
                );
                prop_assert!(read, "{provider}: {error}");
            }
        }
    }

    #[test]
    fn any_declaration_is_usable_or_refused(
        junk in "[{}\\[\\]\"=.|/a-z# \n-]{0,12}",
        at in any::<prop::sample::Index>(),
    ) {
        let declared = include_str!("../../src/live/search/providers/qweather.toml");
        let characters: Vec<char> = declared.chars().collect();
        let at = at.index(characters.len());
        let text: String = characters[..at].iter().copied().chain(junk.chars()).chain(characters[at..].iter().copied()).collect();
        if let Err(error) = Declaration::from_toml("qweather", &text) {
            prop_assert_eq!(error.provider, "qweather");
            prop_assert!(!error.problem.is_empty());
        }
    }
}
