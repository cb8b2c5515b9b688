//! Crawler: a page of the web is fetched and read (spec/canvas-components §6.5).

use std::sync::Arc;
use std::time::Duration;

use easel_catalog as catalog;
use easel_core::Object;
use easel_core::event::{Fault, Ports};
use easel_secrets::SinkKind;
use easel_tools::ToolError;
use easel_tools::html::{clean_html, markdown};
use easel_tools::http::{HttpRequest, HttpResponse};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::behaviour::Call;
use crate::function::{Function, Outcome, Trouble, text};
use crate::given::Given;
use crate::site::Site;

/// Time that a page may take.
const TIME: Duration = Duration::from_secs(50);

/// Redirects that are followed.
const REDIRECTS: u8 = 5;

/// Characters of a page that are given.
const LENGTH: usize = 200_000;

/// What is asked for first, where a server has several.
const ACCEPT: &str = "text/html, application/xhtml+xml, text/*;q=0.9, */*;q=0.5";

/// Reads the parameters.
pub(crate) fn make(site: &Site<'_>, _: &catalog::Component) -> Result<Arc<dyn Function>, Fault> {
    Ok(Arc::new(Crawler {
        proxy: site.given("proxy", true),
        reading: match site.text("extract_type") {
            "html" => Reading::Source,
            "content" => Reading::Text,
            _ => Reading::Markdown,
        },
    }))
}

/// What is made of a page.
#[derive(Clone, Copy)]
enum Reading {
    Source,
    Text,
    Markdown,
}

struct Crawler {
    proxy: Given,
    reading: Reading,
}

impl Function for Crawler {
    fn call<'a>(
        &'a self,
        arguments: Object,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Outcome, Trouble>> {
        async move {
            let address = text(&arguments, "query");
            let address = address.trim();
            if address.is_empty() {
                return Ok(outcome(String::new()));
            }
            let address = match address.contains("://") {
                true => address.to_owned(),
                false => format!("https://{address}"),
            };
            let door = call.door(SinkKind::Tool, "web_crawler");
            let proxy = self.proxy.open(call, &door)?.expose().to_string();
            let proxy = proxy.trim().to_owned();
            let request = HttpRequest {
                headers: vec![("Accept".to_owned(), ACCEPT.to_owned())],
                timeout: TIME,
                proxy: (!proxy.is_empty()).then_some(proxy),
                max_redirects: REDIRECTS,
                ..HttpRequest::new("GET", &*address)
            };
            let host = request.host().unwrap_or_else(|| address.clone());
            let response = call.run.services.world.http.send(request).await;
            let response = response.map_err(refused)?;
            Ok(outcome(self.read(response, &host, &address)?))
        }
        .boxed()
    }
}

/// An address that may not be reached is told to a model in the words that the old tool has for it.
fn refused(error: ToolError) -> Trouble {
    match error {
        ToolError::Blocked(_) => Trouble::from(error).told("URL not valid"),
        error => error.into(),
    }
}

impl Crawler {
    fn read(&self, response: HttpResponse, host: &str, address: &str) -> Result<String, Trouble> {
        if response.status >= 300 {
            let message = clean_html(&response.body);
            return Err(Trouble::from(ToolError::Status {
                what: host.to_owned(),
                status: response.status,
                message: message.chars().take(200).collect(),
            }));
        }
        let media = response.header("content-type").unwrap_or("text/html");
        let media = media.split(';').next().unwrap_or_default();
        let media = media.trim().to_lowercase();
        let read = match (&*media, self.reading) {
            (_, Reading::Source) if is_text(&media) => response.body,
            ("" | "text/html" | "application/xhtml+xml", Reading::Text) => {
                clean_html(&response.body)
            }
            ("" | "text/html" | "application/xhtml+xml", Reading::Markdown) => {
                markdown(&response.body, address)
            }
            _ if is_text(&media) => response.body,
            _ => {
                let text = format!("{host} gave no page but {media}, which is no text to be read");
                return Err(Trouble::new("no_page", text));
            }
        };
        Ok(shortened(read))
    }
}

fn is_text(media: &str) -> bool {
    media.is_empty()
        || media.starts_with("text/")
        || matches!(
            media,
            "application/json" | "application/xml" | "application/xhtml+xml"
        )
        || media.ends_with("+json")
        || media.ends_with("+xml")
}

/// The beginning of a text that is longer than what is given.
fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LENGTH) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn outcome(page: String) -> Outcome {
    let page: Arc<str> = page.into();
    Outcome {
        ports: Ports::one("formalized_content", page.clone()),
        told: page,
        ..Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use easel_tools::ScriptedWorld;
    use serde_json::{Value as Json, json};

    use crate::testing::{Trial, Tried};

    const PAGE: &str = "<html><body><nav>Menu</nav><h1>Owls</h1><p>They see <a href=\"/n\">at night</a>.</p></body></html>";

    fn crawl(params: Json, rule: Json) -> (Tried, Vec<Json>) {
        let script = serde_json::from_value(json!({"http": [rule]})).unwrap();
        let world = ScriptedWorld::new(script);
        let tried = Trial::new("Crawler", params).world(world.world()).run();
        let calls = world.take_calls();
        (tried, calls.iter().map(|call| call.to_json()).collect())
    }

    #[test]
    fn a_page_is_given_as_markdown_as_text_or_as_it_came() {
        for (kind, expected) in [
            (
                "markdown",
                "# Owls\n\nThey see [at night](https://a.example/n).",
            ),
            ("content", "Menu\nOwls\nThey see at night."),
            ("html", PAGE),
        ] {
            let params = json!({"query": "https://a.example/owls", "extract_type": kind});
            let (tried, _) = crawl(params, json!({"text": PAGE, "content_type": "text/html"}));
            assert_eq!(tried.port("formalized_content"), expected, "{kind}");
        }
    }

    #[test]
    fn without_an_address_nothing_is_fetched() {
        let (tried, calls) = crawl(json!({"query": " "}), json!({"text": PAGE}));
        assert_eq!(tried.port("formalized_content"), "");
        assert!(calls.is_empty());
    }

    #[test]
    fn a_refusal_and_what_is_no_page_are_failures() {
        let params = json!({"query": "a.example/x"});
        let (tried, _) = crawl(
            params.clone(),
            json!({"status": 404, "text": "<p>Gone</p>"}),
        );
        assert_eq!(&*tried.fault().code, "tool.status");
        assert!(
            tried.fault().message.contains("404: Gone"),
            "{}",
            tried.fault().message
        );
        let (tried, _) = crawl(
            params.clone(),
            json!({"text": "x", "content_type": "image/png"}),
        );
        assert!(
            tried.fault().message.contains("image/png"),
            "{}",
            tried.fault().message
        );
        let (tried, _) = crawl(
            params,
            json!({"text": "a  b", "content_type": "text/plain"}),
        );
        assert_eq!(tried.port("formalized_content"), "a  b");
    }

    #[test]
    fn a_page_is_given_up_to_a_length() {
        let long = "ä".repeat(super::LENGTH + 5);
        let (tried, _) = crawl(json!({"query": "a.example"}), json!({"text": long}));
        let given = tried.port("formalized_content");
        let given = given.as_str().unwrap();
        assert_eq!(given.chars().count(), super::LENGTH + 1);
        assert!(given.ends_with('…'));
    }
}
