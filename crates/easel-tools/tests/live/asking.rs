//! Asking a provider of searches at a server on this machine, and what that server was told.

use std::time::Duration;

use easel_core::Value;
use easel_tools::ToolError;
use easel_tools::guard::Allow;
use easel_tools::live::{self, HttpConfig, SearchConfig};
use easel_tools::search::SearchRequest;
use serde_json::{Value as Json, json};
use url::Url;

use crate::server::{Server, respond};
use crate::tavily::key;

/// What a provider is asked.
pub struct Ask {
    pub provider: &'static str,
    pub subject: Json,
    pub parameters: Json,
    pub key: Option<&'static str>,
}

/// A question without parameters and without a key.
pub fn ask(provider: &'static str, subject: &str) -> Ask {
    Ask {
        provider,
        subject: json!(subject),
        parameters: json!({}),
        key: None,
    }
}

impl Ask {
    pub fn with(mut self, parameters: Json) -> Ask {
        self.parameters = parameters;
        self
    }

    pub fn key(mut self, key: &'static str) -> Ask {
        self.key = Some(key);
        self
    }

    /// Asks that server, as a deployment that has set the provider's address to it.
    pub async fn at(self, server: &Server) -> Result<Vec<Json>, ToolError> {
        let address = server.address.to_string();
        self.at_address(&address, Duration::from_secs(15)).await
    }

    /// The same of whatever listens there, with a time for each request.
    pub async fn at_address(
        self,
        address: &str,
        timeout: Duration,
    ) -> Result<Vec<Json>, ToolError> {
        let mut search = SearchConfig {
            timeout,
            ..SearchConfig::default()
        };
        search
            .set_address(self.provider, &format!("http://{address}"))
            .unwrap();
        self.by(address, search).await
    }

    /// Asks as that configuration says, where that address is allowed.
    pub async fn by(self, allowed: &str, mut search: SearchConfig) -> Result<Vec<Json>, ToolError> {
        let http = HttpConfig {
            allow: Allow::parse([allowed]).unwrap(),
            ..HttpConfig::default()
        };
        search.pause = Duration::ZERO;
        let world = live::world(http, search).unwrap();
        let request = SearchRequest {
            provider: self.provider.into(),
            subject: self.subject.into(),
            parameters: Value::from(self.parameters).as_object().unwrap().clone(),
            api_key: self.key.map(key),
        };
        let found = world.search.search(request).await?;
        Ok(found.results.iter().map(Value::to_json).collect())
    }
}

/// A server that answers by path.
pub async fn answering(answers: &'static [(&'static str, &'static str)]) -> Server {
    Server::start(move |request| {
        let path = path_of(request);
        match answers.iter().find(|(known, _)| *known == path) {
            Some((_, body)) => respond(200, ("content-type", "text/plain; charset=utf-8"), *body),
            None => respond(404, ("content-type", "text/plain"), "no such page"),
        }
    })
    .await
}

fn parsed(request: &Json) -> Url {
    let base = Url::parse("http://a.example").unwrap();
    base.join(request["uri"].as_str().unwrap()).unwrap()
}

pub fn path_of(request: &Json) -> String {
    parsed(request).path().to_owned()
}

/// The parameters of a request's query.
pub fn query(request: &Json) -> Json {
    let url = parsed(request);
    let pairs = url.query_pairs();
    pairs
        .map(|(name, value)| (name.into_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

pub fn body(request: &Json) -> Json {
    serde_json::from_str(request["body"].as_str().unwrap()).unwrap()
}
