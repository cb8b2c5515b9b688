//! One question to one provider: its steps, what is tried again, and what an error says.

use std::hash::BuildHasher;
use std::time::Duration;

use easel_core::Value;
use easel_secrets::{Masker, Opened};

use super::answer::Document;
use super::declaration::{Declaration, Step, address_fault};
use super::request;
use super::scope::Scope;
use crate::error::ToolError;
use crate::http::{HttpRequest, HttpResponse, HttpSender};
use crate::search::SearchRequest;

/// The largest answer that is read, in bytes.
pub(super) const LARGEST: u64 = 4 << 20;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// A question and what it is asked with.
pub(super) struct Question<'q> {
    pub declared: &'q Declaration,
    pub asked: &'q SearchRequest,
    pub http: &'q dyn HttpSender,
    /// The address that the deployment sets in place of the declared ones.
    pub address: Option<&'q str>,
    pub timeout: Duration,
    pub pause: Duration,
}

impl Question<'_> {
    /// The results of all steps, in their order.
    pub(super) async fn results(&self) -> Result<Vec<Value>, ToolError> {
        let mut scope = Scope::new(self.declared, self.asked)?;
        let address = self.named_address(&scope)?;
        let mut results = Vec::new();
        for step in &self.declared.steps {
            if !is_due(step, &scope) {
                continue;
            }
            let base = match &address {
                Some(address) => address.clone(),
                None => self.declared_address(step, &scope)?,
            };
            let timeout = self.timeout();
            let request = request::build(self.provider(), step, &base, &scope, timeout)?;
            let response = self.answer(&request, step).await?;
            results.extend(self.read(step, &response, &mut scope)?);
        }
        let limit = self
            .declared
            .limit
            .as_ref()
            .and_then(|name| scope.number(name));
        results.truncate(limit.unwrap_or(usize::MAX));
        Ok(results)
    }

    fn provider(&self) -> &str {
        &self.asked.provider
    }

    fn timeout(&self) -> Duration {
        let own = self.declared.seconds;
        own.map_or(self.timeout, Duration::from_secs_f64)
    }

    /// The address that the node names, else the one of the deployment.
    fn named_address(&self, scope: &Scope<'_>) -> Result<Option<String>, ToolError> {
        let parameter = self.declared.url_parameter.as_ref();
        let named = parameter.and_then(|name| scope.text(name));
        let address = named.or_else(|| self.address.map(str::to_owned));
        let problem = address.as_deref().and_then(address_fault);
        if let Some(problem) = problem {
            return Err(self.invalid(problem));
        }
        Ok(address)
    }

    fn declared_address(&self, step: &Step, scope: &Scope<'_>) -> Result<String, ToolError> {
        let Some(template) = step.url.as_ref().or(self.declared.url.as_ref()) else {
            let parameter = self.declared.url_parameter.as_deref().unwrap_or("url");
            return Err(self.invalid(format!(
                "it has no address: set {parameter}, or url under [search.{}] in easel.toml",
                self.provider()
            )));
        };
        let rendered = template.render(|place| scope.text(place));
        rendered.ok_or_else(|| self.invalid("a value that its address needs is missing".to_owned()))
    }

    fn invalid(&self, problem: String) -> ToolError {
        ToolError::InvalidRequest {
            what: self.provider().to_owned(),
            problem,
        }
    }

    /// The answer to a request that is made again while its failure may pass.
    async fn answer(&self, request: &HttpRequest, step: &Step) -> Result<HttpResponse, ToolError> {
        let mut attempt = 0;
        loop {
            let answered = self.attempt(request, step).await;
            match answered {
                Err(error) if attempt < self.declared.retries && passes(&error) => {
                    tokio::time::sleep(pause(self.pause, attempt)).await;
                    attempt += 1;
                }
                answered => return answered,
            }
        }
    }

    async fn attempt(&self, request: &HttpRequest, step: &Step) -> Result<HttpResponse, ToolError> {
        let response = self.http.send(request.clone()).await?;
        if response.body.len() as u64 > LARGEST {
            return Err(ToolError::TooLarge {
                what: self.provider().to_owned(),
                limit: LARGEST,
            });
        }
        if (200..300).contains(&response.status) || step.any_status {
            return Ok(response);
        }
        Err(ToolError::Status {
            what: self.provider().to_owned(),
            status: response.status,
            message: complaint(&response.body, self.asked.api_key.as_ref()),
        })
    }

    /// The results in an answer; what later steps need is kept.
    fn read(
        &self,
        step: &Step,
        response: &HttpResponse,
        scope: &mut Scope<'_>,
    ) -> Result<Vec<Value>, ToolError> {
        for (name, header) in &step.keep_header {
            if let Some(value) = response.header(header) {
                let value = value.split(';').next().unwrap_or_default();
                scope.keep(name, value.trim().to_owned());
            }
        }
        if step.items.is_none() && step.keep.is_empty() {
            return Ok(Vec::new());
        }
        let malformed = |cause: String| ToolError::Malformed {
            what: self.provider().to_owned(),
            cause,
        };
        let document = Document::read(step.format, &response.body).map_err(malformed)?;
        if self.has_failed(step, &document)? {
            return Ok(Vec::new());
        }
        for (name, template) in &step.keep {
            if let Some(text) = document.whole().lines(template) {
                scope.keep(name, text);
            }
        }
        document.results(step).map_err(malformed)
    }

    /// Whether the answer says that there is nothing to read in it. Errors: it says that the request failed.
    fn has_failed(&self, step: &Step, document: &Document) -> Result<bool, ToolError> {
        let whole = document.whole();
        let failed = |message: &str| ToolError::Failed {
            what: self.provider().to_owned(),
            message: complaint(message, self.asked.api_key.as_ref()),
        };
        for (path, wanted) in &step.expect {
            let found = whole.text(path).unwrap_or_default();
            if found != *wanted {
                return Err(failed(&format!(
                    "{path} is \"{found}\" and not \"{wanted}\""
                )));
            }
        }
        let failure = step.failure.as_ref();
        match failure.and_then(|failure| whole.lines(failure)) {
            None => Ok(false),
            Some(said) => match &step.no_results {
                Some(part) if said.contains(part.as_str()) => Ok(true),
                _ => Err(failed(&said)),
            },
        }
    }
}

fn is_due(step: &Step, scope: &Scope<'_>) -> bool {
    let holds = |(name, wanted): (&String, &Value)| scope.meets(name, wanted);
    step.when.is_empty() || step.when.iter().any(|all| all.iter().all(holds))
}

/// Whether a failure may be gone a little later. A request that took all its time is not made again: the node's own
/// time is over with it.
fn passes(error: &ToolError) -> bool {
    match error {
        ToolError::Status { status, .. } => matches!(status, 429 | 500..=599),
        ToolError::Unresolved { .. }
        | ToolError::NoConnection { .. }
        | ToolError::Interrupted { .. } => true,
        _ => false,
    }
}

/// The pause before the next attempt: twice as long each time, up to a cap, and shortened by chance so that those who
/// failed together do not come back together.
fn pause(first: Duration, attempt: u8) -> Duration {
    let whole = first
        .saturating_mul(1 << attempt.min(16))
        .min(LONGEST_PAUSE);
    let chance = std::hash::RandomState::new().hash_one(attempt) % 1000;
    whole.mul_f64(0.5 + chance as f64 / 2000.0)
}

/// What an error response says, in short: the innermost text of the members APIs use for it, else its beginning.
fn complaint(body: &str, key: Option<&Opened>) -> String {
    const LONGEST: usize = 300;
    let parsed = serde_json::from_str::<Value>(body).unwrap_or_default();
    let mut at = &parsed;
    while let Some(inner) = ["detail", "error", "message", "error_msg", "description"]
        .iter()
        .find_map(|name| at.get(name))
    {
        at = inner;
    }
    let said = at.as_str().unwrap_or(body).trim();
    // Masked before it is cut: half a key could not be found any more.
    match Masker::new(key.map(AsRef::as_ref)) {
        Ok(masker) => masker.mask(said).chars().take(LONGEST).collect(),
        Err(error) => error.to_string(),
    }
}
