//! Plain HTTP requests.

use std::fmt;
use std::time::Duration;

use easel_core::{Object, Value};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::error::ToolError;

/// Sends one HTTP request.
pub trait HttpSender: Send + Sync {
    /// The response, whatever its status: a status is no error here.
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>>;

    /// A response with its body as it came, of at most `limit` bytes. A sender that knows texts only gives their bytes.
    fn fetch(&self, request: HttpRequest, limit: u64) -> BoxFuture<'_, Result<Fetched, ToolError>> {
        let what = request.url.clone();
        let sent = self.send(request);
        Box::pin(async move {
            let response = sent.await?;
            if response.body.len() as u64 > limit {
                return Err(ToolError::TooLarge { what, limit });
            }
            Ok(Fetched {
                status: response.status,
                media_type: response.header("content-type").map(str::to_owned),
                bytes: response.body.into_bytes(),
            })
        })
    }
}

/// A response whose body is no text, or need not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The status code.
    pub status: u16,
    /// What it says that the body is, as the header has it.
    pub media_type: Option<String>,
    /// The body.
    pub bytes: Vec<u8>,
}

/// One request. The sender checks `url` and `proxy` with [`crate::guard`], at every redirect anew.
///
/// URL, headers and body may hold the values of secrets, so `Debug` shows none of them, and whoever records a request
/// masks it first.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct HttpRequest {
    /// The method, in any case.
    pub method: String,
    /// An absolute `http` or `https` URL.
    pub url: String,
    /// Headers in the order of sending.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// By what the target of a write knows it again: goes as the header `Idempotency-Key`, unless `headers` has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Parameters appended to the URL's query: texts as they are, `null` left out, a list once an item, anything
    /// else as JSON text. `None` for methods that carry a body.
    #[serde(default)]
    pub query: Option<Object>,
    /// The body.
    #[serde(default)]
    pub body: HttpBody,
    /// Time allowed for the whole exchange, redirects included.
    pub timeout: Duration,
    /// An HTTP proxy the workflow names. The proxy's own address is checked; the target's name is the proxy's to resolve.
    #[serde(default)]
    pub proxy: Option<String>,
    /// Redirects followed at most; 0 hands the redirect back as the response.
    #[serde(default)]
    pub max_redirects: u8,
}

impl HttpRequest {
    /// A request without headers, key, query, body, proxy and redirects, with 60 s for the exchange.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> HttpRequest {
        HttpRequest {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            idempotency_key: None,
            query: None,
            body: HttpBody::Empty,
            timeout: Duration::from_secs(60),
            proxy: None,
            max_redirects: 0,
        }
    }
}

impl HttpRequest {
    /// The host of the URL, with its port where that isn't the usual one. `None`: it is no URL, or has no host.
    pub fn host(&self) -> Option<String> {
        let url = Url::parse(&self.url).ok()?;
        let host = url.host_str()?;
        Some(match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What a request carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpBody {
    /// Nothing.
    #[default]
    Empty,
    /// A JSON document.
    Json(Value),
    /// Form fields, URL-encoded; values as in [`HttpRequest::query`].
    Form(Object),
    /// Any text, with its media type.
    Text {
        /// The media type, for the `Content-Type` header.
        content_type: String,
        /// The text.
        text: String,
    },
}

/// A response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Headers in the order they came; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text: by the charset it declares, else UTF-8 with bad bytes replaced.
    pub body: String,
}

impl HttpResponse {
    /// The first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}
