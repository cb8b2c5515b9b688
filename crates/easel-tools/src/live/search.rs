//! Search providers over HTTP: each is declared by data, one engine asks them all.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use indexmap::IndexMap;

use crate::error::ToolError;
use crate::http::HttpSender;
use crate::search::{SearchRequest, SearchResults, WebSearch};

mod answer;
mod ask;
mod declaration;
mod known;
mod lookup;
mod markup;
mod request;
mod scope;
mod section;
mod template;

use ask::Question;
pub use declaration::{Declaration, DeclarationError};

/// How a deployment asks search providers.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// Addresses in place of the providers' own, by the name of their function.
    pub addresses: IndexMap<String, String>,
    /// Providers in place of those that come with Easel or beside them, by the name of the function they answer.
    pub declared: IndexMap<String, Declaration>,
    /// Time for one request, where the provider's declaration sets no other.
    pub timeout: Duration,
    /// The pause before a request that failed for the moment is made again; the next is twice as long, 3 s at most.
    pub pause: Duration,
}

impl Default for SearchConfig {
    /// The providers that come with Easel at their public addresses, 15 seconds, a first pause of 0.2 seconds.
    fn default() -> SearchConfig {
        SearchConfig {
            addresses: IndexMap::new(),
            declared: IndexMap::new(),
            timeout: Duration::from_secs(15),
            pause: Duration::from_millis(200),
        }
    }
}

impl SearchConfig {
    /// Sets the address of a provider in place of its own.
    ///
    /// Errors: it is no address, or there is no such provider.
    pub fn set_address(&mut self, provider: &str, url: &str) -> Result<(), DeclarationError> {
        let fault = |problem: String| DeclarationError {
            provider: provider.to_owned(),
            problem,
        };
        if !self.declared.contains_key(provider) && !known::all()?.contains_key(provider) {
            let names: Vec<&str> = known::all()?.keys().map(String::as_str).collect();
            return Err(fault(format!(
                "there is none of that name; there are {}",
                names.join(", ")
            )));
        }
        if let Some(problem) = declaration::address_fault(url) {
            return Err(fault(problem));
        }
        self.addresses.insert(provider.to_owned(), url.to_owned());
        Ok(())
    }
}

/// Asks search providers over HTTP, by their declarations.
#[derive(Clone)]
pub struct LiveSearch {
    http: Arc<dyn HttpSender>,
    config: Arc<SearchConfig>,
}

impl LiveSearch {
    /// A client that sends through `http`.
    pub fn new(http: Arc<dyn HttpSender>, config: SearchConfig) -> LiveSearch {
        LiveSearch {
            http,
            config: Arc::new(config),
        }
    }

    /// The names of the functions that it answers without a declaration of yours.
    pub fn known() -> impl Iterator<Item = &'static str> {
        known::FILES.iter().map(|(name, _)| *name)
    }

    async fn ask(&self, request: SearchRequest) -> Result<SearchResults, ToolError> {
        let provider = request.provider.as_str();
        let known = known::all().map_err(|error| ToolError::NotAvailable {
            what: format!("search with {provider}"),
            instead: error.to_string(),
        })?;
        let declared = self.config.declared.get(provider);
        let declared = declared.or(known.get(provider).map(|known| &**known));
        let Some(declared) = declared else {
            return Err(ToolError::NotAvailable {
                what: format!("search with {provider}"),
                instead: "use another search, or declare this one under [search] in easel.toml"
                    .to_owned(),
            });
        };
        let question = Question {
            declared,
            asked: &request,
            http: &*self.http,
            address: self.config.addresses.get(provider).map(String::as_str),
            timeout: self.config.timeout,
            pause: self.config.pause,
        };
        let results = question.results().await?;
        Ok(SearchResults { results })
    }
}

impl WebSearch for LiveSearch {
    fn search(&self, request: SearchRequest) -> BoxFuture<'_, Result<SearchResults, ToolError>> {
        self.ask(request).boxed()
    }
}
