//! Searches as users set them up.

use easel_core::Value;
use easel_tools::ScriptedWorld;
use serde_json::{Value as Json, json};

use crate::testing::{Trial, Tried};

fn search(component: &str, params: Json, script: Json) -> (Tried, Vec<Json>) {
    let world = ScriptedWorld::new(serde_json::from_value(script).unwrap());
    let trial = Trial::new(component, params).given("sys.query", json!("hello"));
    let tried = trial.world(world.world()).run();
    let calls = world.take_calls().iter().map(Value::to_json).collect();
    (tried, calls)
}

fn text(tried: &Tried) -> String {
    tried
        .port("formalized_content")
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn results_are_passages_that_answers_may_cite() {
    let result = json!({"title": "T", "url": "http://e.com", "content": "found it", "raw_content": null, "score": 0.5});
    let (tried, calls) = search(
        "TavilySearch",
        json!({"api_key": "k"}),
        json!({"search": [{"results": [result]}]}),
    );
    assert_eq!(
        tried.ports(),
        json!({"formalized_content": "\nID: 335\n├── Title: T\n├── URL: http://e.com\n└── Content:\nfound it",
               "json": [result]})
    );
    assert_eq!(calls, [json!({"tavily_search": "hello"})]);
    let store = tried.completion().references[0].to_json();
    assert_eq!(store["chunks"]["335"]["similarity"], 0.5);
}

#[test]
fn each_provider_calls_things_by_its_own_names() {
    let results = json!({"search": [{"results": [
        {"title": "A", "link": "http://a", "snippet": "plain", "about_this_result": {"source": {"description": "better"}}},
        {"title": "B", "link": "http://b", "snippet": "second"}]}]});
    let (google, _) = search("Google", json!({"api_key": "k"}), results);
    assert!(
        text(&google).contains("URL: http://a\n└── Content:\nbetter"),
        "{}",
        text(&google)
    );
    assert!(text(&google).contains("Content:\nsecond"));
    let results = json!({"search": [{"results": [
        {"name": "easel", "html_url": "http://g", "description": "paints", "watchers": 3}]}]});
    let (github, _) = search("GitHub", json!({}), results);
    assert!(
        text(&github).contains("Title: easel\n├── URL: http://g\n└── Content:\npaints\nstars: 3"),
        "{}",
        text(&github)
    );
    let results =
        json!({"search": [{"results": [{"title": "D", "href": "http://d", "body": "duck"}]}]});
    let (duck, _) = search("DuckDuckGo", json!({}), results);
    assert!(
        text(&duck).contains("URL: http://d\n└── Content:\nduck"),
        "{}",
        text(&duck)
    );
}

#[test]
fn nothing_is_sent_for_a_blank_question() {
    let (tried, calls) = search("Wikipedia", json!({"query": " "}), json!({}));
    assert_eq!(
        (tried.ports(), calls.len()),
        (json!({"formalized_content": ""}), 0)
    );
}

#[test]
fn a_provider_that_fails_fails_the_node() {
    let (tried, _) = search(
        "TavilySearch",
        json!({"api_key": "k"}),
        json!({"search": [{"error": "quota"}]}),
    );
    assert_eq!(
        &*tried.fault().message,
        "\"X\" failed: tavily_search failed: quota."
    );
}

#[test]
fn pages_are_given_as_they_come() {
    let page = json!({"url": "http://e.com/a", "raw_content": "a fact"});
    let script = json!({"search": [{"results": [page]}]});
    let (tried, calls) = search(
        "TavilyExtract",
        json!({"api_key": "k", "urls": ["http://e.com/a"]}),
        script,
    );
    assert_eq!(tried.ports(), json!({"json": [page]}));
    assert_eq!(calls, [json!({"tavily_extract": ["http://e.com/a"]})]);
}

#[test]
fn a_report_has_a_section_for_each_title() {
    let table = "|       |   2024 |\n|:------|-------:|\n| Total |      1 |";
    let (tried, _) = search("YahooFinance", json!({"balance_sheet": true}), json!({}));
    assert_eq!(
        tried.ports(),
        json!({"report": format!("# Balance sheet:\n{table}\n\n\n# Quarterly balance sheet:\n{table}\n")})
    );
}

#[test]
fn a_translation_and_the_weather_are_texts_and_not_passages() {
    let results = json!({"search": [{"results": [{"content": "Good day"}, {"content": "Bye"}]}]});
    for (component, key) in [("DeepL", "auth_key"), ("QWeather", "web_apikey")] {
        let (tried, _) = search(component, json!({key: "k"}), results.clone());
        assert_eq!(
            tried.ports(),
            json!({"formalized_content": "Good day\n\nBye"})
        );
        assert_eq!(tried.completion().references.len(), 0);
    }
}

#[test]
fn every_service_that_is_connected_gives_passages_that_answers_may_cite() {
    let result =
        json!({"title": "T", "url": "http://e.com", "content": "found it", "snippet": "found it"});
    for component in [
        "GoogleScholar",
        "KeenableSearch",
        "BGPT",
        "AkShare",
        "PubMed",
        "SearXNG",
        "ArXiv",
    ] {
        let params = json!({"api_key": "k", "searxng_url": "http://s.example"});
        let (tried, _) = search(
            component,
            params,
            json!({"search": [{"results": [result]}]}),
        );
        assert!(
            text(&tried).ends_with("Title: T\n├── URL: http://e.com\n└── Content:\nfound it"),
            "{component}"
        );
        assert_eq!(tried.completion().references.len(), 1, "{component}");
    }
}

#[test]
fn querits_answers_are_given_whole() {
    let answer = json!({"took": 3, "results": {"result": [{"title": "T", "url": "http://e.com", "snippet": "found it"}]}});
    let script = json!({"search": [{"results": [answer]}]});
    let (found, _) = search("QueritSearch", json!({"api_key": "k"}), script.clone());
    assert!(text(&found).ends_with("Content:\nfound it"));
    assert_eq!(found.port("json"), answer);
    let (pages, _) = search(
        "QueritContents",
        json!({"api_key": "k", "urls": ["http://e.com"]}),
        script,
    );
    assert_eq!(pages.ports(), json!({"json": answer}));
}
