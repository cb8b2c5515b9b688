//! Search on the web and its relatives: one provider, its parameters, its raw results.

use easel_core::{Object, Value};
use easel_secrets::Opened;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Asks search providers.
pub trait WebSearch: Send + Sync {
    /// The provider's results, in its own shape and order. No result is no error.
    fn search(&self, request: SearchRequest) -> BoxFuture<'_, Result<SearchResults, ToolError>>;
}

/// A question to one provider (`spec/canvas-components §7`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchRequest {
    /// The provider by its function name, see [`providers`].
    pub provider: String,
    /// The main argument: a query text, a list of addresses to extract, a stock code.
    pub subject: Value,
    /// The provider's other parameters, by its names.
    pub parameters: Object,
    /// The key to ask with, if the provider wants one. Never written with the rest.
    #[serde(skip)]
    pub api_key: Option<Opened>,
}

/// The raw items of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchResults {
    /// The items as the provider gave them.
    pub results: Vec<Value>,
}

/// Function names of the providers that this crate gives a meaning to. Others pass through as text.
pub mod providers {
    /// Web search by Tavily; the subject is a query.
    pub const TAVILY_SEARCH: &str = "tavily_search";
    /// Text of web pages by Tavily; the subject is a list of addresses.
    pub const TAVILY_EXTRACT: &str = "tavily_extract";
    /// Figures of a company by Yahoo Finance; the subject is a stock code. Each result is one section of the
    /// report: `title` (e.g. `Balance sheet`) and `content` (Markdown). The parameters are the component's
    /// switches (`info`, `balance_sheet`, ...).
    pub const YAHOO_FINANCE: &str = "yahoo_finance";
}
