//! HTTP requests over the network.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Method, Proxy, Response, StatusCode, redirect, retry};
use url::Url;

use super::body;
use super::resolve::GuardedResolver;
use crate::error::ToolError;
use crate::guard::{Allow, Cleared, GuardError, check_url};
use crate::http::{Fetched, HttpRequest, HttpResponse, HttpSender};

/// The header by which targets of writes know a repetition.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// How a deployment lets its workflows use HTTP.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// What may be reached beyond the public internet.
    pub allow: Allow,
    /// The deployment's own proxy. Everything then goes through it, and it decides which names may be reached;
    /// literal addresses are still checked here.
    pub proxy: Option<String>,
    /// The largest body that is read, in bytes.
    pub max_body: u64,
    /// The longest a request may take, whatever it asks for.
    pub max_time: Duration,
    /// Time for a connection to come about.
    pub connect_timeout: Duration,
}

impl Default for HttpConfig {
    /// The public internet only, no proxy, 16 MiB, ten minutes, ten seconds to connect.
    fn default() -> HttpConfig {
        HttpConfig {
            allow: Allow::default(),
            proxy: None,
            max_body: 16 << 20,
            max_time: Duration::from_secs(600),
            connect_timeout: Duration::from_secs(10),
        }
    }
}

/// Sends HTTP requests, each hop through the guard.
///
/// It keeps connections open between requests, follows redirects only where a request asks for it, and ignores
/// `HTTP_PROXY` and its kin: a proxy would resolve names out of the guard's sight.
#[derive(Clone, Debug)]
pub struct LiveHttp {
    config: Arc<HttpConfig>,
    allow: Arc<Allow>,
    own_proxy: Option<Proxy>,
    /// Dials public addresses and allowed networks only.
    guarded: Late,
    /// For names the deployment allows, wherever they lead, and for its own proxy.
    open: Late,
}

/// A client that is set up when it is first needed: reading the machine's certificates takes longer than many a run.
type Late = Arc<OnceLock<Client>>;

impl LiveHttp {
    /// A sender that connects when it is first asked to.
    ///
    /// Errors: the deployment's proxy is no URL.
    pub fn new(config: HttpConfig) -> Result<LiveHttp, ToolError> {
        Ok(LiveHttp {
            allow: Arc::new(config.allow.clone()),
            own_proxy: config.proxy.as_deref().map(proxy).transpose()?,
            guarded: Late::default(),
            open: Late::default(),
            config: Arc::new(config),
        })
    }

    /// The client for names the deployment allows. Errors: the machine's TLS cannot be used.
    fn open(&self) -> Result<&Client, ToolError> {
        ready(&self.open, || {
            build(&self.config, None, self.own_proxy.clone())
        })
    }

    /// The client for all others. Errors: as for [`LiveHttp::open`].
    fn guarded(&self) -> Result<&Client, ToolError> {
        if self.own_proxy.is_some() {
            return self.open();
        }
        let resolver = GuardedResolver(Arc::clone(&self.allow));
        ready(&self.guarded, || build(&self.config, Some(resolver), None))
    }

    /// A client for a library that makes its own requests, all to that address. It follows no redirects. A `trusted` address
    /// may be a private one; any other goes through the guard.
    ///
    /// Errors: the address may not be reached, or the machine's TLS cannot be used.
    pub fn client(&self, url: &str, trusted: bool) -> Result<Client, ToolError> {
        let client = match trusted {
            true => self.open()?,
            false => match check_url(url, &self.allow)?.1 {
                Cleared::AllowedName(_) => self.open()?,
                Cleared::Name(_) | Cleared::Address(_) => self.guarded()?,
            },
        };
        Ok(client.clone())
    }

    /// The response of the last hop, and the place it came from.
    async fn exchange(&self, request: &HttpRequest) -> Result<(Response, String), ToolError> {
        let through = self.proxy_client(request.proxy.as_deref())?;
        let mut hop = Hop::first(request)?;
        let mut redirects_left = request.max_redirects;
        loop {
            let (_, cleared) = check_url(hop.url.as_str(), &self.allow)?;
            let client = match (&through, cleared) {
                (Some(client), _) => client,
                (None, Cleared::AllowedName(_)) => self.open()?,
                (None, Cleared::Name(_) | Cleared::Address(_)) => self.guarded()?,
            };
            let response = hop.send(client).await?;
            match hop.next(&response)? {
                Some(next) if redirects_left > 0 => {
                    redirects_left -= 1;
                    hop = next;
                }
                _ => return Ok((response, hop.place())),
            }
        }
    }

    /// The response as text.
    async fn text(&self, request: &HttpRequest) -> Result<HttpResponse, ToolError> {
        let (response, place) = self.exchange(request).await?;
        let status = response.status().as_u16();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter();
        let headers = headers
            .map(|(name, value)| (name.as_str().to_owned(), text(value)))
            .collect();
        let interrupted = |error| failure(error, &place);
        let body = body::read(response, &place, self.config.max_body, interrupted).await?;
        Ok(HttpResponse {
            status,
            headers,
            body,
        })
    }

    /// The response as it came.
    async fn bytes(&self, request: &HttpRequest, limit: u64) -> Result<Fetched, ToolError> {
        let (mut response, place) = self.exchange(request).await?;
        let status = response.status().as_u16();
        let media_type = response.headers().get(header::CONTENT_TYPE);
        let media_type = media_type.and_then(|value| value.to_str().ok());
        let media_type = media_type.map(str::to_owned);
        let interrupted = |error| failure(error, &place);
        let bytes = body::bytes(&mut response, &place, limit, interrupted).await?;
        Ok(Fetched {
            status,
            media_type,
            bytes,
        })
    }

    /// What comes of an exchange in the time that it may take.
    async fn in_time<T>(
        &self,
        request: &HttpRequest,
        exchange: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let after = request.timeout.min(self.config.max_time);
        match tokio::time::timeout(after, exchange).await {
            Ok(answer) => answer,
            Err(_) => Err(ToolError::Timeout {
                what: Url::parse(&request.url).map_or(request.url.clone(), |url| place(&url)),
                after,
            }),
        }
    }

    /// The client for a proxy that the workflow names.
    fn proxy_client(&self, named: Option<&str>) -> Result<Option<Client>, ToolError> {
        let Some(named) = named else { return Ok(None) };
        if self.config.proxy.is_some() {
            return Err(ToolError::InvalidRequest {
                what: "the proxy".to_owned(),
                problem: "this deployment sends everything through its own; leave the field empty"
                    .to_owned(),
            });
        }
        let resolver = match check_url(named, &self.allow)?.1 {
            Cleared::AllowedName(_) => None,
            Cleared::Name(_) | Cleared::Address(_) => {
                Some(GuardedResolver(Arc::clone(&self.allow)))
            }
        };
        build(&self.config, resolver, Some(proxy(named)?)).map(Some)
    }
}

impl HttpSender for LiveHttp {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        async move { self.in_time(&request, self.text(&request)).await }.boxed()
    }

    fn fetch(&self, request: HttpRequest, limit: u64) -> BoxFuture<'_, Result<Fetched, ToolError>> {
        async move { self.in_time(&request, self.bytes(&request, limit)).await }.boxed()
    }
}

/// One request on the way to an answer: the workflow's own, or one that a redirect led to.
struct Hop<'a> {
    method: Method,
    url: Url,
    headers: HeaderMap,
    /// The text of the body and its media type.
    body: Option<(String, &'a str)>,
}

impl<'a> Hop<'a> {
    fn first(request: &'a HttpRequest) -> Result<Hop<'a>, ToolError> {
        let mut url = Url::parse(&request.url).map_err(|e| GuardError::NotAUrl(e.to_string()))?;
        if let Some(query) = request.query.as_ref().filter(|query| !query.is_empty()) {
            url.query_pairs_mut().extend_pairs(body::pairs(query));
        }
        Ok(Hop {
            method: method(&request.method)?,
            url,
            headers: headers(request)?,
            body: body::written(&request.body),
        })
    }

    async fn send(&self, client: &Client) -> Result<Response, ToolError> {
        let mut builder = client.request(self.method.clone(), self.url.clone());
        if let Some((text, content_type)) = &self.body {
            builder = builder
                .header(header::CONTENT_TYPE, *content_type)
                .body(text.clone());
        }
        // The workflow's own headers come last and replace what was set before.
        let sent = builder.headers(self.headers.clone()).send().await;
        sent.map_err(|error| failure(error, &self.place()))
    }

    /// Where a response leads, if it is a redirect.
    ///
    /// To another origin go no headers of the workflow: they may be meant for the first one's eyes only.
    /// Nor does a body: the redirect is an error then.
    fn next(&self, response: &Response) -> Result<Option<Hop<'a>>, ToolError> {
        let status = response.status();
        let follows = matches!(
            status,
            StatusCode::MOVED_PERMANENTLY
                | StatusCode::FOUND
                | StatusCode::SEE_OTHER
                | StatusCode::TEMPORARY_REDIRECT
                | StatusCode::PERMANENT_REDIRECT
        );
        let location = response.headers().get(header::LOCATION);
        let Some(location) = location.filter(|_| follows) else {
            return Ok(None);
        };
        let url = std::str::from_utf8(location.as_bytes())
            .ok()
            .and_then(|location| self.url.join(location).ok())
            .ok_or_else(|| ToolError::Malformed {
                what: self.place(),
                cause: "it redirects to something that is no URL".to_owned(),
            })?;
        let becomes_get = match status {
            StatusCode::SEE_OTHER => self.method != Method::HEAD,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        let (method, body) = match becomes_get {
            true => (Method::GET, None),
            false => (self.method.clone(), self.body.clone()),
        };
        let same_origin = url.origin() == self.url.origin();
        if body.is_some() && !same_origin {
            return Err(ToolError::InvalidRequest {
                what: format!("the redirect of {} to {}", self.place(), place(&url)),
                problem: "it would carry the body to another host; name that host directly"
                    .to_owned(),
            });
        }
        let mut headers = match same_origin {
            true => self.headers.clone(),
            false => HeaderMap::new(),
        };
        if body.is_none() {
            headers.remove(header::CONTENT_TYPE);
        }
        Ok(Some(Hop {
            method,
            url,
            headers,
            body,
        }))
    }

    fn place(&self) -> String {
        place(&self.url)
    }
}

/// The host of a URL as errors name it, with its port where that isn't the usual one.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn method(name: &str) -> Result<Method, ToolError> {
    let name = name.trim().to_ascii_uppercase();
    match name.as_str() {
        "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" => {
            Method::from_bytes(name.as_bytes()).map_err(|e| unusable(&format!("method {name}"), &e))
        }
        _ => Err(ToolError::InvalidRequest {
            what: format!("method \"{name}\""),
            problem: "use GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS".to_owned(),
        }),
    }
}

/// The workflow's headers, without those that belong to the connection: the client sets them, and a second opinion
/// on where a message ends is how requests are smuggled.
fn headers(request: &HttpRequest) -> Result<HeaderMap, ToolError> {
    const OF_THE_CONNECTION: [HeaderName; 5] = [
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::TE,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let what = format!("header \"{name}\"");
        let parsed = HeaderName::try_from(name.trim()).map_err(|e| unusable(&what, &e))?;
        let value = HeaderValue::try_from(value.as_str()).map_err(|e| unusable(&what, &e))?;
        if !OF_THE_CONNECTION.contains(&parsed) {
            headers.append(parsed, value);
        }
    }
    if let Some(key) = request.idempotency_key.as_deref()
        && !headers.contains_key(IDEMPOTENCY_KEY)
    {
        let value = HeaderValue::try_from(key);
        let value = value.map_err(|e| unusable("the idempotency key", &e))?;
        headers.insert(IDEMPOTENCY_KEY, value);
    }
    Ok(headers)
}

fn proxy(url: &str) -> Result<Proxy, ToolError> {
    Proxy::all(url).map_err(|e| unusable("the proxy", &e.without_url()))
}

fn unusable(what: &str, error: &dyn Error) -> ToolError {
    ToolError::InvalidRequest {
        what: what.to_owned(),
        problem: error.to_string(),
    }
}

/// What was made before, or is made now.
fn ready(
    late: &OnceLock<Client>,
    make: impl FnOnce() -> Result<Client, ToolError>,
) -> Result<&Client, ToolError> {
    match late.get() {
        Some(client) => Ok(client),
        None => {
            let made = make()?;
            Ok(late.get_or_init(|| made))
        }
    }
}

fn build(
    config: &HttpConfig,
    resolver: Option<GuardedResolver>,
    proxy: Option<Proxy>,
) -> Result<Client, ToolError> {
    // An error means that the program around has chosen a provider already; that one serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = |extra: fn(ClientBuilder) -> ClientBuilder| {
        let mut builder = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .connect_timeout(config.connect_timeout)
            .user_agent(concat!("easel/", env!("CARGO_PKG_VERSION")));
        if let Some(resolver) = &resolver {
            builder = builder.dns_resolver(GuardedResolver(Arc::clone(&resolver.0)));
        }
        if let Some(proxy) = &proxy {
            builder = builder.proxy(proxy.clone());
        }
        extra(builder).build()
    };
    // A machine without root certificates can still speak plain HTTP; HTTPS then fails at each request.
    builder(|b| b)
        .or_else(|_| builder(|b| b.tls_certs_only([])))
        .map_err(|e| unusable("this machine's TLS", &e))
}

/// What a client's error means for the run.
fn failure(error: reqwest::Error, place: &str) -> ToolError {
    failure_of(&error.without_url(), place)
}

/// What an error of a client that [`LiveHttp::client`] gave means for the run; `place` is whom it asked.
pub fn failure_of(error: &reqwest::Error, place: &str) -> ToolError {
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        // The resolver's own words, wrapped by the client.
        if let Some(refused) = source.downcast_ref::<GuardError>() {
            return ToolError::Blocked(refused.clone());
        }
        if let Some(unresolved) = source.downcast_ref::<ToolError>() {
            return unresolved.clone();
        }
        innermost = source;
    }
    let host = place.to_owned();
    let cause = innermost.to_string();
    if error.is_builder() {
        ToolError::InvalidRequest {
            what: format!("the request to {host}"),
            problem: cause,
        }
    } else if error.is_connect() {
        ToolError::NoConnection { host, cause }
    } else {
        ToolError::Interrupted { host, cause }
    }
}
