//! Providers spoken to over HTTP: one transport, and a file for each protocol.
//!
//! The transport does what is the same for all: the key, time limits, retries, size limits, cutting the answer into
//! frames, and errors without keys in them. A protocol ([`wire::Wire`]) writes the request and reads the frames.

mod answer;
mod anthropic;
mod frames;
#[cfg(fuzzing)]
pub mod fuzzing;
mod gemini;
mod ollama;
mod openai;
mod retry;
mod wire;

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use easel_secrets::{Gate, Masker, Opened, Resolver, Sink, SinkKind};
use futures::{StreamExt, TryStreamExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Request, Response, StatusCode, Url, redirect};
use tokio::time::{Instant, sleep, timeout_at};

use self::answer::Answer;
use self::retry::{Retry, asked_wait, may_pass};
use self::wire::{Model, Reported, Wire};
use crate::chat::{ChatModel, ChatRequest, ChatStream, Credential, ModelInfo};
use crate::config::{ModelConfig, ProviderConfig, ProviderKind};
use crate::error::{ModelError, Stage, excerpt};
use crate::registry::ConfigError;

/// The largest body of a refusal that is looked at, in bytes.
const REFUSAL_LIMIT: usize = 64 << 10;

/// The models of one provider, over HTTP.
///
/// Nothing is sent before the stream of an answer is polled. Redirects are not followed: they would carry the key elsewhere.
#[derive(Clone)]
pub struct HttpModel {
    provider: Arc<HttpProvider>,
}

/// A provider as configured.
struct HttpProvider {
    name: Arc<str>,
    base: Url,
    /// Set up when it is first needed: reading the machine's certificates takes longer than many a run.
    client: OnceLock<Client>,
    headers: HeaderMap,
    wire: Box<dyn Wire>,
    key: Option<String>,
    secrets: Resolver,
    retry: Retry,
    config: ProviderConfig,
}

impl HttpModel {
    /// A provider by its configuration. The key is asked for at each request.
    ///
    /// Errors: [`ConfigError::Setting`] for a base URL, key name or header that cannot be used.
    pub fn new(
        name: &str,
        config: ProviderConfig,
        secrets: Resolver,
    ) -> Result<HttpModel, ConfigError> {
        let wrong = |setting, cause: String| ConfigError::Setting {
            provider: name.to_owned(),
            setting,
            cause,
        };
        let base = base_url(&config).map_err(|cause| wrong("base_url", cause))?;
        let host = base.host_str().unwrap_or_default();
        let wire: Box<dyn Wire> = match config.kind {
            ProviderKind::OpenAi => Box::new(openai::OpenAi::new(host, config.stream_usage)),
            ProviderKind::Anthropic => Box::new(anthropic::Anthropic),
            ProviderKind::Gemini => Box::new(gemini::Gemini),
            ProviderKind::Ollama => Box::new(ollama::Ollama),
        };
        let key = key_name(&config).map_err(|cause| wrong("key", cause))?;
        let headers = headers(&*wire, &config).map_err(|cause| wrong("headers", cause))?;
        Ok(HttpModel {
            provider: Arc::new(HttpProvider {
                name: name.into(),
                base,
                client: OnceLock::new(),
                headers,
                wire,
                key,
                secrets,
                retry: Retry {
                    count: config.retries,
                    delay: config.retry_delay_s,
                    cap: config.retry_delay_cap_s,
                },
                config,
            }),
        })
    }
}

impl ChatModel for HttpModel {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        Ok(self.provider.model(model).info)
    }

    fn credential(&self, _: &str) -> Option<Credential> {
        Some(Credential {
            provider: self.provider.name(),
            secret: self.provider.key.as_deref()?.into(),
        })
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let provider = Arc::clone(&self.provider);
        stream::once(async move { Ok(provider.ask(&request).await?.into_stream()) })
            .try_flatten()
            .boxed()
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let provider = &self.provider;
        f.debug_struct("HttpModel")
            .field("provider", &provider.name)
            .field("base_url", &provider.base.host_str())
            .finish_non_exhaustive()
    }
}

impl HttpProvider {
    /// The client that speaks to it. Errors: the machine's TLS cannot be used.
    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = client(
            &self.base,
            self.headers.clone(),
            self.config.connect_timeout_s,
        );
        let made = made.map_err(|cause| ModelError::Unsendable {
            provider: self.name(),
            cause,
        })?;
        Ok(self.client.get_or_init(|| made))
    }

    fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    fn model(&self, name: &str) -> Model {
        let unlisted = ModelConfig::default();
        let config = self.config.models.get(name).unwrap_or(&unlisted);
        let known = self.wire.known();
        Model {
            name: config.name.clone().unwrap_or_else(|| name.to_owned()),
            info: ModelInfo {
                context_window: config.context_window,
                vision: config.vision,
                tools: config.tools,
                json_schema: config.json_schema.unwrap_or(known.json_schema),
            },
            max_output_tokens: config.max_output_tokens,
            thinking: config
                .thinking
                .or(self.config.thinking)
                .unwrap_or(known.thinking),
        }
    }

    /// Sends a request until an answer begins or there is no point in trying again.
    async fn ask(self: Arc<Self>, request: &ChatRequest) -> Result<Answer, ModelError> {
        let key = self.fetch_key()?;
        let prepared = self.prepare(request, key.as_ref())?;
        let time = Time::start(&self.config, self.wire.streams(request));
        let mut retries = 0;
        loop {
            let (error, asked) = match self.send(&prepared, time, key.as_ref()).await {
                Ok(response) => return Ok(Answer::new(self, response, time, key)),
                Err(failed) => failed,
            };
            let wait = match may_ask_again(&error) {
                true => self.retry.wait(retries, asked),
                false => None,
            };
            match wait {
                Some(wait) if Instant::now() + wait < time.deadline => sleep(wait).await,
                _ => return Err(error),
            }
            retries += 1;
        }
    }

    /// The key, for this request. Whose run it is on whose receipt it belongs is for the caller to know, who asks
    /// [`ChatModel::credential`].
    fn fetch_key(&self) -> Result<Option<Opened>, ModelError> {
        let Some(name) = &self.key else {
            return Ok(None);
        };
        let gate = Gate::new(self.name(), self.secrets.clone());
        let door = gate.door(Sink::new(SinkKind::Model, self.name(), ""));
        let key = door.secret(name).map_err(|error| ModelError::Unsendable {
            provider: self.name(),
            cause: error.to_string(),
        })?;
        match key {
            Some(key) => Ok(Some(key)),
            None => Err(ModelError::KeyMissing {
                provider: self.name(),
                name: name.clone(),
            }),
        }
    }

    fn prepare(&self, request: &ChatRequest, key: Option<&Opened>) -> Result<Request, ModelError> {
        let unsendable = |cause: String| ModelError::Unsendable {
            provider: self.name(),
            cause,
        };
        let model = self.model(&request.model);
        let mut body = self.wire.body(request, &model).map_err(unsendable)?;
        wire::lay_over(&mut body, &self.config.body);
        if let Some(config) = self.config.models.get(&*request.model) {
            wire::lay_over(&mut body, &config.body);
        }
        let body = serde_json::to_vec(&body).map_err(|error| unsendable(error.to_string()))?;
        let mut post = self
            .client()?
            .post(self.url(&model.name))
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(key) = key {
            let (header, before) = self.wire.key_header();
            let mut value = HeaderValue::try_from(format!("{before}{}", key.expose().trim()))
                .map_err(|_| {
                    unsendable(
                        "its key holds characters that no header may hold; set it anew".to_owned(),
                    )
                })?;
            value.set_sensitive(true);
            post = post.header(header, value);
        }
        post.build().map_err(|error| unsendable(cause(error)))
    }

    fn url(&self, model: &str) -> Url {
        let (path, query) = self.wire.path(model);
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if let Some((name, value)) = query {
            url.query_pairs_mut().append_pair(name, value);
        }
        url
    }

    /// Sends the request once. A failure comes with the wait the provider asks for.
    async fn send(
        &self,
        request: &Request,
        time: Time,
        key: Option<&Opened>,
    ) -> Result<Response, (ModelError, Option<Duration>)> {
        // A body in memory can always be sent again.
        let again = request.try_clone().ok_or_else(|| {
            let cause = "its body cannot be sent twice".to_owned();
            (
                ModelError::Unsendable {
                    provider: self.name(),
                    cause,
                },
                None,
            )
        })?;
        let (until, stage) = time.next();
        let client = self.client().map_err(|error| (error, None))?;
        let sent = timeout_at(until, client.execute(again)).await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err((self.not_sent(error), None)),
            Err(_) => return Err((self.timeout(stage, time), None)),
        };
        match response.status().is_success() {
            true => Ok(response),
            false => Err(self.refusal(response, time, key).await),
        }
    }

    fn not_sent(&self, error: reqwest::Error) -> ModelError {
        let provider = self.name();
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => ModelError::Timeout {
                provider,
                stage: Stage::Connection,
                limit: self.config.connect_timeout_s,
            },
            (true, false) => ModelError::Connect {
                provider,
                cause: cause(error),
            },
            _ => ModelError::Broken {
                provider,
                cause: cause(error),
            },
        }
    }

    fn timeout(&self, stage: Stage, time: Time) -> ModelError {
        ModelError::Timeout {
            provider: self.name(),
            stage,
            limit: match stage {
                Stage::Whole => self.config.timeout_s,
                Stage::More | Stage::Connection => time.silence,
            },
        }
    }

    /// What a response that is no success means, and the wait it asks for.
    async fn refusal(
        &self,
        mut response: Response,
        time: Time,
        key: Option<&Opened>,
    ) -> (ModelError, Option<Duration>) {
        let status = response.status();
        let retry_after = asked_wait(response.headers(), SystemTime::now());
        let mut body = Vec::new();
        // What cannot be read of it is not needed: the status is known.
        while body.len() < REFUSAL_LIMIT
            && let Ok(Ok(Some(piece))) = timeout_at(time.next().0, response.chunk()).await
        {
            body.extend_from_slice(&piece);
        }
        let text = String::from_utf8_lossy(&body);
        let reported = serde_json::from_str(&text)
            .ok()
            .as_ref()
            .and_then(Reported::find);
        let excerpt = self.excerpt(
            reported
                .as_ref()
                .map_or(&text, |reported| &reported.message),
            key,
        );
        let provider = self.name();
        let error = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ModelError::Unauthorised {
                provider,
                status: status.as_u16(),
                excerpt,
            },
            StatusCode::TOO_MANY_REQUESTS
                if !reported.is_some_and(|reported| reported.out_of_credit()) =>
            {
                ModelError::RateLimited {
                    provider,
                    retry_after,
                    excerpt,
                }
            }
            _ => ModelError::Refused {
                provider,
                status: status.as_u16(),
                excerpt,
            },
        };
        (error, retry_after.filter(|_| may_pass(status)))
    }

    /// The start of what the provider said, without the key.
    fn excerpt(&self, text: &str, key: Option<&Opened>) -> String {
        match Masker::new(key.map(AsRef::as_ref)) {
            Ok(masker) => excerpt(&masker.mask(text)),
            Err(error) => error.to_string(),
        }
    }
}

/// No model worked on the request, or the provider itself says that it failed. After a silence or a break a model may
/// still be at work, and asking again may cost twice; that is for the caller to decide.
fn may_ask_again(error: &ModelError) -> bool {
    error.retryable()
        && (error.certain_nothing_sent() || matches!(error, ModelError::Refused { .. }))
}

/// The time a request has.
#[derive(Clone, Copy)]
struct Time {
    /// When all of it must be over.
    deadline: Instant,
    /// How long nothing may come.
    silence: Duration,
}

impl Time {
    /// An answer in one piece is silent until it is there.
    fn start(config: &ProviderConfig, streams: bool) -> Time {
        // Far enough, where the sum goes beyond what a clock can tell.
        const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
        let whole = config.timeout_s.min(FAR);
        Time {
            deadline: Instant::now() + whole,
            silence: match streams {
                true => config.read_timeout_s.min(FAR),
                false => whole,
            },
        }
    }

    /// Until when the next piece must come, and what its absence then means.
    fn next(self) -> (Instant, Stage) {
        let silent = Instant::now() + self.silence;
        match silent < self.deadline {
            true => (silent, Stage::More),
            false => (self.deadline, Stage::Whole),
        }
    }
}

fn base_url(config: &ProviderConfig) -> Result<Url, String> {
    let text = config.base_url.as_deref().unwrap_or(config.kind.base_url());
    let url = Url::parse(text).map_err(|error| {
        format!("`{text}` is no URL ({error}); write one such as `https://host/v1`")
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!(
            "`{text}` is no web address; it begins with http:// or https://"
        ));
    }
    if url.password().is_some() || !url.username().is_empty() {
        return Err(
            "it holds a user name or password; keep the key as a secret and name it in `key`"
                .to_owned(),
        );
    }
    Ok(url)
}

/// The name of the secret that holds the key; `None`: no key is sent.
fn key_name(config: &ProviderConfig) -> Result<Option<String>, String> {
    let Some(name) = &config.key else {
        let own_service = config
            .base_url
            .as_deref()
            .is_none_or(|url| url == config.kind.base_url());
        return Ok(config.kind.key().filter(|_| own_service).map(str::to_owned));
    };
    // Not quoted: whoever takes it for the place of the key has put the key there.
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match is_name {
        true => Ok(Some(name.clone())),
        false => Err("is no name of a secret; write the name (letters, digits and `_`), and set the key as a secret of that name".to_owned()),
    }
}

fn headers(wire: &dyn Wire, config: &ProviderConfig) -> Result<HeaderMap, String> {
    let own = wire.headers().iter().map(|&(name, value)| (name, value));
    let configured = config
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let mut headers = HeaderMap::new();
    for (name, value) in own.chain(configured) {
        let parsed =
            HeaderName::try_from(name).map_err(|_| format!("`{name}` is no name of a header"))?;
        let value = HeaderValue::try_from(value).map_err(|_| {
            format!("the value of `{name}` holds characters that no header may hold")
        })?;
        headers.insert(parsed, value);
    }
    Ok(headers)
}

fn client(base: &Url, headers: HeaderMap, connect_timeout: Duration) -> Result<Client, String> {
    // An error means that the program around has chosen another; that is its right.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("easel/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .connect_timeout(connect_timeout)
        .redirect(redirect::Policy::none())
        // Trying again is done here, by rules of its own.
        .retry(reqwest::retry::never());
    if base.scheme() == "http" {
        // No certificate will be looked at, and a machine without any can still speak to a server beside it.
        builder = builder.tls_certs_only([]);
    }
    if is_local(base) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(cause)
}

fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// What the network says went wrong, without the address, in one line.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}
