//! The answer of a search provider, whichever it is.
#![no_main]

use std::sync::Arc;

use easel_runtime::tools::ToolError;
use easel_runtime::tools::http::{HttpRequest, HttpResponse, HttpSender};
use easel_runtime::tools::live::{LiveSearch, SearchConfig};
use easel_runtime::tools::search::{SearchRequest, WebSearch};
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::{BoxFuture, ready};
use libfuzzer_sys::fuzz_target;

/// Answers everything with one body.
struct Says(String);

impl HttpSender for Says {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        let body = self.0.clone();
        ready(Ok(HttpResponse {
            status: 200,
            headers: Vec::new(),
            body,
        }))
        .boxed()
    }
}

fuzz_target!(|asked: (u8, &str)| {
    let (which, body) = asked;
    let known: Vec<&str> = LiveSearch::known().collect();
    let request = SearchRequest {
        provider: known[usize::from(which) % known.len()].to_owned(),
        subject: "x".into(),
        parameters: [("searxng_url".into(), "http://a.example".into())]
            .into_iter()
            .collect(),
        api_key: None,
    };
    let search = LiveSearch::new(Arc::new(Says(body.to_owned())), SearchConfig::default());
    if let Err(error) = block_on(search.search(request)) {
        let refused = matches!(
            error,
            ToolError::Malformed { .. }
                | ToolError::Failed { .. }
                | ToolError::InvalidRequest { .. }
                | ToolError::TooLarge { .. }
        );
        assert!(refused, "{error}");
    }
});
