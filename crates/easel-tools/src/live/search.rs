//! Search providers over HTTP.

use std::sync::Arc;
use std::time::Duration;

use easel_core::{Object, Value};
use easel_secrets::{Masker, Opened};
use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::error::ToolError;
use crate::http::{HttpBody, HttpRequest, HttpResponse, HttpSender};
use crate::search::{SearchRequest, SearchResults, WebSearch, providers};

/// Where search providers are.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// Tavily's address, without a path.
    pub tavily_url: String,
    /// Time for one request.
    pub timeout: Duration,
}

impl Default for SearchConfig {
    /// The providers' public addresses, 15 seconds.
    fn default() -> SearchConfig {
        SearchConfig {
            tavily_url: "https://api.tavily.com".to_owned(),
            timeout: Duration::from_secs(15),
        }
    }
}

/// Asks search providers over HTTP: Tavily so far, others answer [`ToolError::NotAvailable`].
#[derive(Clone)]
pub struct LiveSearch {
    http: Arc<dyn HttpSender>,
    config: SearchConfig,
}

impl LiveSearch {
    /// A client that sends through `http`.
    pub fn new(http: Arc<dyn HttpSender>, config: SearchConfig) -> LiveSearch {
        LiveSearch { http, config }
    }

    async fn ask(&self, request: SearchRequest) -> Result<SearchResults, ToolError> {
        let (path, body) = match request.provider.as_str() {
            providers::TAVILY_SEARCH => ("search", search_body(&request)?),
            providers::TAVILY_EXTRACT => ("extract", extract_body(&request)?),
            other => {
                return Err(ToolError::NotAvailable {
                    what: format!("search with {other}"),
                    instead: "use TavilySearch, or connect a search client of your own".to_owned(),
                });
            }
        };
        let key = key(&request)?;
        let url = format!("{}/{path}", self.config.tavily_url.trim_end_matches('/'));
        let mut post = HttpRequest::new("POST", url);
        post.headers = vec![(
            "Authorization".to_owned(),
            format!("Bearer {}", key.expose()),
        )];
        post.body = HttpBody::Json(Value::from(body));
        post.timeout = self.config.timeout;
        results(&request.provider, &self.http.send(post).await?, key)
    }
}

impl WebSearch for LiveSearch {
    fn search(&self, request: SearchRequest) -> BoxFuture<'_, Result<SearchResults, ToolError>> {
        self.ask(request).boxed()
    }
}

fn key(request: &SearchRequest) -> Result<&Opened, ToolError> {
    let given = request
        .api_key
        .as_ref()
        .filter(|key| !key.expose().trim().is_empty());
    given.ok_or_else(|| invalid(request, "it has no API key: set api_key"))
}

fn invalid(request: &SearchRequest, problem: &str) -> ToolError {
    ToolError::InvalidRequest {
        what: request.provider.clone(),
        problem: problem.to_owned(),
    }
}

/// The parameters that Tavily knows, of those given.
fn known(request: &SearchRequest, names: &[&str]) -> Object {
    let given = request.parameters.iter();
    let known = given.filter(|(name, value)| names.contains(&&***name) && !value.is_null());
    known
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn search_body(request: &SearchRequest) -> Result<Object, ToolError> {
    let query = request
        .subject
        .as_str()
        .filter(|query| !query.trim().is_empty());
    let query = query.ok_or_else(|| invalid(request, "the query must be a text"))?;
    let mut body = known(
        request,
        &[
            "search_depth",
            "topic",
            "max_results",
            "days",
            "include_answer",
            "include_image_descriptions",
            "include_domains",
            "exclude_domains",
        ],
    );
    body.insert("query".into(), Value::from(query));
    // Whole pages and pictures are never asked for, whatever the node says: they would flood the model.
    body.insert("include_raw_content".into(), false.into());
    body.insert("include_images".into(), false.into());
    Ok(body)
}

fn extract_body(request: &SearchRequest) -> Result<Object, ToolError> {
    let listed: Vec<&str> = match &request.subject {
        Value::String(text) => text.split(',').collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let addresses = listed
        .into_iter()
        .map(str::trim)
        .filter(|url| !url.is_empty());
    let addresses: Vec<Value> = addresses.map(Value::from).collect();
    if addresses.is_empty() {
        return Err(invalid(
            request,
            "the addresses must be a list of texts, or a text with commas between",
        ));
    }
    let mut body = known(request, &["extract_depth", "format"]);
    body.insert("urls".into(), Value::from(addresses));
    body.insert("include_images".into(), false.into());
    Ok(body)
}

fn results(
    provider: &str,
    response: &HttpResponse,
    key: &Opened,
) -> Result<SearchResults, ToolError> {
    let what = provider.to_owned();
    if !(200..300).contains(&response.status) {
        return Err(ToolError::Status {
            what,
            status: response.status,
            message: complaint(&response.body, key),
        });
    }
    let malformed = |cause: String| ToolError::Malformed {
        what: provider.to_owned(),
        cause,
    };
    let body: Value = serde_json::from_str(&response.body)
        .map_err(|e| malformed(format!("it is no JSON ({e})")))?;
    match body.get("results").and_then(Value::as_array) {
        Some(results) => Ok(SearchResults {
            results: results.to_vec(),
        }),
        None => Err(malformed("it has no list of results".to_owned())),
    }
}

/// What an error response says, in short: the innermost text of the members APIs use for it, else its beginning.
fn complaint(body: &str, key: &Opened) -> String {
    const LONGEST: usize = 300;
    let parsed = serde_json::from_str::<Value>(body).unwrap_or_default();
    let mut at = &parsed;
    while let Some(inner) = ["detail", "error", "message"]
        .iter()
        .find_map(|name| at.get(name))
    {
        at = inner;
    }
    let said = at.as_str().unwrap_or(body).trim();
    // Masked before it is cut: half a key could not be found any more.
    match Masker::new([key.as_ref()]) {
        Ok(masker) => masker.mask(said).chars().take(LONGEST).collect(),
        Err(error) => error.to_string(),
    }
}
