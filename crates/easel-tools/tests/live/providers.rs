//! Each provider of searches, against a server on this machine that answers in its shape.

use easel_tools::ToolError;
use easel_tools::live::{LiveSearch, SearchConfig};
use serde_json::{Value as Json, json};

use crate::asking::{Ask, answering, ask, body, path_of, query};
use crate::server::{Server, respond};

#[tokio::test]
async fn duckduckgo_gives_pages_without_advertisements() {
    let server = answering(&[("/html/", include_str!("answers/duckduckgo.html"))]).await;
    let asked =
        ask("duckduckgo_search", "tea & cups").with(json!({"top_n": 5, "channel": "general"}));
    let found = asked.at(&server).await.unwrap();
    assert_eq!(
        found,
        [
            json!({"title": "Green tea & others", "href": "https://leaf.example/tea?kind=green&page=2", "body": "How tea is picked, dried and rolled."}),
            json!({"title": "A cup", "href": "https://cup.example/", "body": "What it is drunk from."}),
        ]
    );
    assert_eq!(
        query(&server.seen()[0]),
        json!({"q": "tea & cups", "kl": "wt-wt"})
    );
    let first = ask("duckduckgo_search", "tea").with(json!({"top_n": 1}));
    assert_eq!(first.at(&server).await.unwrap().len(), 1);
}

#[tokio::test]
async fn duckduckgo_gives_news_with_the_token_of_its_page() {
    let server = answering(&[
        ("/", r#"<script>DDG.init({vqd="4-1234"});</script>"#),
        ("/news.js", r#"{"results": [{"title": "Rain", "url": "https://n.example/1", "excerpt": "It <b>rains</b>.", "source": "N"}]}"#),
    ])
    .await;
    let found = ask("duckduckgo_search", "rain")
        .with(json!({"channel": "news"}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(
        found,
        [
            json!({"title": "Rain", "url": "https://n.example/1", "excerpt": "It <b>rains</b>.", "source": "N", "body": "It rains."})
        ]
    );
    assert_eq!(query(&server.seen()[1])["vqd"], "4-1234");
}

#[tokio::test]
async fn duckduckgo_says_when_it_wants_proof_of_a_person() {
    let server = answering(&[(
        "/html/",
        "<html><div class='anomaly-modal__title'>Are you a duck?</div></html>",
    )])
    .await;
    let error = ask("duckduckgo_search", "tea")
        .at(&server)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "duckduckgo_search failed: Are you a duck?"
    );
}

#[tokio::test]
async fn wikipedia_gives_articles_in_the_order_of_the_search() {
    let server = answering(&[(
        "/w/api.php",
        r#"{"query": {"pages": {
            "7": {"pageid": 7, "title": "Second", "index": 2, "fullurl": "https://en.wikipedia.org/wiki/Second", "extract": "b"},
            "9": {"pageid": 9, "title": "First", "index": 1, "fullurl": "https://en.wikipedia.org/wiki/First", "extract": "a"}}}}"#,
    )])
    .await;
    let found = ask("wikipedia_search", "order")
        .with(json!({"top_n": "2", "language": "de"}))
        .at(&server)
        .await
        .unwrap();
    let titles: Vec<&Json> = found.iter().map(|page| &page["title"]).collect();
    assert_eq!(titles, ["First", "Second"]);
    let asked = query(&server.seen()[0]);
    assert_eq!(
        (&asked["gsrsearch"], &asked["gsrlimit"]),
        (&json!("order"), &json!("2"))
    );
    assert_eq!(
        (&asked["generator"], &asked["prop"]),
        (&json!("search"), &json!("extracts|info"))
    );
    // Without a hit there is no `query` in its answer.
    let server = answering(&[("/w/api.php", r#"{"batchcomplete": ""}"#)]).await;
    assert_eq!(
        ask("wikipedia_search", "qzx").at(&server).await.unwrap(),
        [] as [Json; 0]
    );
}

#[tokio::test]
async fn google_is_asked_through_serpapi() {
    let server = answering(&[(
        "/search.json",
        r#"{"organic_results": [{"title": "A", "link": "http://a", "snippet": "s"}, {"title": "B", "link": "http://b", "snippet": "t"}]}"#,
    )])
    .await;
    let asked = ask("google_search", "sun")
        .key("serp-key-1")
        .with(json!({"num": 1, "start": 10, "country": "de", "language": "de"}));
    assert_eq!(
        asked.at(&server).await.unwrap(),
        [json!({"title": "A", "link": "http://a", "snippet": "s"})]
    );
    assert_eq!(
        query(&server.seen()[0]),
        json!({"engine": "google", "api_key": "serp-key-1", "q": "sun", "start": "10", "num": "1",
               "google_domain": "google.com", "gl": "de", "hl": "de"})
    );
    let server = answering(&[(
        "/search.json",
        r#"{"error": "Google hasn't returned any results for this query."}"#,
    )])
    .await;
    assert_eq!(
        ask("google_search", "x")
            .key("serp-key-1")
            .at(&server)
            .await
            .unwrap(),
        [] as [Json; 0]
    );
    let server = answering(&[(
        "/search.json",
        r#"{"error": "Your account has run out of searches (serp-key-1)."}"#,
    )])
    .await;
    let error = ask("google_search", "x")
        .key("serp-key-1")
        .at(&server)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("google_search failed: Your account has run out of searches ("),
        "{error}"
    );
    assert!(!error.to_string().contains("serp-key-1"), "{error}");
}

#[tokio::test]
async fn searxng_is_asked_where_the_node_or_the_deployment_says() {
    let server = answering(&[(
        "/in/search",
        r#"{"results": [{"title": "A", "url": "http://a", "content": "c"}, {"title": "B"}]}"#,
    )])
    .await;
    let by_node = ask("searxng_search", "moss")
        .with(json!({"searxng_url": server.url("/in/"), "top_n": "1"}));
    let found = by_node
        .by(&server.address.to_string(), SearchConfig::default())
        .await
        .unwrap();
    assert_eq!(
        found,
        [json!({"title": "A", "url": "http://a", "content": "c"})]
    );
    assert_eq!(
        query(&server.seen()[0]),
        json!({"q": "moss", "format": "json", "categories": "general", "language": "auto", "safesearch": "1", "pageno": "1"})
    );
    let error = ask("searxng_search", "moss")
        .by(&server.address.to_string(), SearchConfig::default())
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it has no address: set searxng_url, or url under [search.searxng_search]"),
        "{error}"
    );
    let elsewhere =
        ask("searxng_search", "moss").with(json!({"searxng_url": "http://127.0.0.1:1/"}));
    let error = elsewhere
        .by(&server.address.to_string(), SearchConfig::default())
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::Blocked(_)), "{error}");
}

#[tokio::test]
async fn arxiv_gives_papers_with_their_pdf() {
    let server = answering(&[("/api/query", include_str!("answers/arxiv.xml"))]).await;
    let found = ask("arxiv_search", "snow")
        .with(json!({"top_n": 3, "sort_by": "relevance"}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(
        found,
        [
            json!({"title": "Snow that falls upward", "url": "http://arxiv.org/abs/2501.00001v1",
                "pdf_url": "http://arxiv.org/pdf/2501.00001v1", "summary": "We watch snow < 1 mm. It rises.",
                "authors": "Ann Frost, Bo Rime", "published": "2025-01-02T00:00:00Z"})
        ]
    );
    let asked = query(&server.seen()[0]);
    assert_eq!(
        asked,
        json!({"search_query": "all:snow", "max_results": "3", "sortBy": "relevance", "sortOrder": "descending"})
    );
}

#[tokio::test]
async fn pubmed_is_searched_and_then_read() {
    let server = answering(&[
        (
            "/entrez/eutils/esearch.fcgi",
            r#"{"esearchresult": {"idlist": ["11", "12"]}}"#,
        ),
        (
            "/entrez/eutils/efetch.fcgi",
            include_str!("answers/pubmed.xml"),
        ),
    ])
    .await;
    let found = ask("pubmed_search", "naps")
        .with(json!({"email": "me@a.example"}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(
        found,
        [
            json!({"title": "Naps and memory in H2O divers", "url": "https://pubmed.ncbi.nlm.nih.gov/11",
                   "content": "Title: Naps and memory in H2O divers\nAuthors: Doze Dora, Nod Ned\nJournal: Annals of Sleep\nVolume: 7\n\
                               Issue: 2\nPages: 1-9\nDOI: 10.1/nap\nAbstract: To see who naps.\nAll do."}),
            json!({"title": "Untold", "url": "https://pubmed.ncbi.nlm.nih.gov/12", "content": "Title: Untold"}),
        ]
    );
    let seen = server.seen();
    assert_eq!(
        query(&seen[0]),
        json!({"db": "pubmed", "term": "naps", "retmax": "12", "retmode": "json", "email": "me@a.example"})
    );
    assert_eq!(query(&seen[1])["id"], "11,12");
    let server = answering(&[(
        "/entrez/eutils/esearch.fcgi",
        r#"{"esearchresult": {"idlist": []}}"#,
    )])
    .await;
    assert_eq!(
        ask("pubmed_search", "qzx").at(&server).await.unwrap(),
        [] as [Json; 0]
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn github_gives_the_repositories_with_most_stars() {
    let server = answering(&[(
        "/search/repositories",
        r#"{"items": [{"name": "easel", "html_url": "https://g.example/easel", "description": "paints", "watchers": 3}]}"#,
    )])
    .await;
    let found = ask("github_search", "language:rust easel & more")
        .with(json!({"top_n": 5}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(found[0]["watchers"], 3);
    let seen = &server.seen()[0];
    assert_eq!(
        query(seen),
        json!({"q": "language:rust easel & more", "sort": "stars", "order": "desc", "per_page": "5"})
    );
    assert_eq!(seen["headers"]["x-github-api-version"], "2022-11-28");
}

#[tokio::test]
async fn google_scholar_gives_papers() {
    let server = answering(&[("/scholar", include_str!("answers/scholar.html"))]).await;
    let asked = ask("google_scholar_search", "owls")
        .with(json!({"top_n": 4, "sort_by": "date", "year_low": 2020, "patents": false}));
    assert_eq!(
        asked.at(&server).await.unwrap(),
        [
            json!({"title": "How owls turn", "url": "https://press.example/owls",
                "content": "O Wise, H Hoot - Night Journal, 2021\nWe turned our heads with theirs."})
        ]
    );
    assert_eq!(
        query(&server.seen()[0]),
        json!({"q": "owls", "hl": "en", "num": "4", "scisbd": "1", "as_ylo": "2020", "as_sdt": "1,33"})
    );
    let _ = ask("google_scholar_search", "owls")
        .at(&server)
        .await
        .unwrap();
    assert_eq!(
        query(&server.seen()[1]),
        json!({"q": "owls", "hl": "en", "num": "12", "as_sdt": "0,33"})
    );
}

#[tokio::test]
async fn google_scholar_says_when_it_wants_proof_of_a_person() {
    let page = "<html><div id=gs_captcha_ccl><h1>Are you an owl?</h1></div></html>";
    let server = Server::start(move |_| respond(200, ("content-type", "text/html"), page)).await;
    let error = ask("google_scholar_search", "owls")
        .at(&server)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "google_scholar_search failed: Are you an owl?"
    );
}

#[tokio::test]
async fn deepl_translates() {
    let server = answering(&[(
        "/v2/translate",
        r#"{"translations": [{"detected_source_language": "DE", "text": "Good day"}]}"#,
    )])
    .await;
    for key in ["deepl-key-1", "deepl-key-2:fx"] {
        let asked = ask("deepl_translate", "Guten Tag & so")
            .key(key)
            .with(json!({"source_lang": "DE"}));
        let found = asked.at(&server).await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["content"], "Good day");
    }
    let seen = server.seen();
    assert_eq!(
        seen[0]["headers"]["authorization"],
        "DeepL-Auth-Key deepl-key-1"
    );
    assert_eq!(
        seen[1]["headers"]["authorization"],
        "DeepL-Auth-Key deepl-key-2:fx"
    );
    let mut form: Vec<&str> = seen[0]["body"].as_str().unwrap().split('&').collect();
    form.sort_unstable();
    assert_eq!(
        form,
        [
            "source_lang=DE",
            "target_lang=EN-GB",
            "text=Guten+Tag+%26+so"
        ]
    );
}

#[tokio::test]
async fn qweather_looks_the_place_up_and_tells_its_weather() {
    let server = answering(&[
        ("/v2/city/lookup", r#"{"code": "200", "location": [{"name": "Rome", "id": "101"}, {"name": "Rome", "id": "102"}]}"#),
        ("/v7/weather/now", r#"{"code": "200", "now": {"obsTime": "12:00", "temp": "21", "text": "Sunny", "humidity": "40"}}"#),
        ("/v7/weather/3d", r#"{"code": "200", "daily": [{"fxDate": "2025-05-01", "textDay": "Rain", "textNight": "Fog", "tempMin": "9", "tempMax": "15"}]}"#),
        ("/v7/indices/1d", r#"{"code": "200", "daily": [{"name": "Sport", "category": "Fine", "text": "Go out."}]}"#),
        ("/v7/air/now", r#"{"code": "402"}"#),
    ])
    .await;
    let asked = |parameters| ask("qweather", "Rome").key("weather-key").with(parameters);
    let content = |found: Vec<Json>| found[0]["content"].as_str().unwrap().to_owned();
    let now = asked(json!({"lang": "en"})).at(&server).await.unwrap();
    assert_eq!(
        content(now),
        "Time: 12:00\nWeather: Sunny\nTemperature: 21 °C\nHumidity: 40 %"
    );
    let seen = server.seen();
    assert_eq!(
        query(&seen[0]),
        json!({"location": "Rome", "key": "weather-key", "lang": "en"})
    );
    assert_eq!(
        query(&seen[1]),
        json!({"location": "101", "key": "weather-key", "lang": "en"})
    );
    let days = asked(json!({"time_period": "3d"}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(
        content(days),
        "Date: 2025-05-01\nWeather: Rain, at night Fog\nTemperature: 9 to 15 °C"
    );
    let advice = asked(json!({"type": "indices"})).at(&server).await.unwrap();
    assert_eq!(content(advice), "Sport: Fine\nGo out.");
    let error = asked(json!({"type": "airquality"}))
        .at(&server)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "qweather failed: code is \"402\" and not \"200\""
    );
    let error = asked(json!({"time_period": "../x"}))
        .at(&server)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "time_period of qweather cannot be used: it must be one of now, 3d, 7d, 10d, 15d, 30d"
    );
}

#[tokio::test]
async fn yahoo_finance_reports_what_the_node_wants() {
    let server = Server::start(|request| {
        let (path, modules) = (path_of(request), query(request)["modules"].as_str().unwrap_or_default().to_owned());
        let body = match (path.as_str(), modules.as_str()) {
            ("/", _) => return respond(404, ("set-cookie", "A3=crumbs; Path=/; Secure"), "nothing here"),
            ("/v1/test/getcrumb", _) => "cr/umb",
            ("/v8/finance/chart/EASL", _) => {
                r#"{"chart": {"result": [{"timestamp": [1735689600], "indicators": {"quote": [{"open": [1.5], "high": [2.0], "low": [1.0], "close": [1.75], "volume": [900]}]}}], "error": null}}"#
            }
            ("/v1/finance/search", _) => r#"{"news": [{"title": "Easel paints", "link": "https://n.example/e", "publisher": "N"}]}"#,
            (_, "balanceSheetHistory") => {
                r#"{"quoteSummary": {"result": [{"balanceSheetHistory": {"balanceSheetStatements": [
                    {"maxAge": 1, "endDate": {"raw": 1, "fmt": "2024-12-31"}, "totalAssets": {"raw": 10, "fmt": "10", "longFmt": "10"}},
                    {"maxAge": 1, "endDate": {"raw": 0, "fmt": "2023-12-31"}, "cash": {"raw": 4, "fmt": "4"}}]}}], "error": null}}"#
            }
            (_, "balanceSheetHistoryQuarterly") => r#"{"quoteSummary": {"result": [{}], "error": null}}"#,
            (_, _) => r#"{"quoteSummary": {"result": [{"assetProfile": {"sector": "Art", "companyOfficers": [{"name": "P"}]}, "price": {"marketCap": {"raw": 5, "fmt": "5"}}}], "error": null}}"#,
        };
        respond(200, ("content-type", "application/json"), body)
    })
    .await;
    let all = json!({"history": true, "balance_sheet": true});
    let found = ask("yahoo_finance", "EASL")
        .with(all)
        .at(&server)
        .await
        .unwrap();
    assert_eq!(
        found,
        [
            json!({"title": "Information", "content": "|  | value |\n|:---|:---|\n| sector | Art |\n| marketCap | 5 |"}),
            json!({"title": "History", "content": "| date | open | high | low | close | volume |\n|:---|:---|:---|:---|:---|:---|\n| 2025-01-01 | 1.5 | 2.0 | 1.0 | 1.75 | 900 |"}),
            json!({"title": "Balance sheet", "content": "|  | 2024-12-31 | 2023-12-31 |\n|:---|:---|:---|\n| totalAssets | 10 |  |\n| cash |  | 4 |"}),
            json!({"title": "News", "content": "- [Easel paints](https://n.example/e), N"}),
        ]
    );
    let seen = server.seen();
    assert_eq!(seen[1]["headers"]["cookie"], "A3=crumbs");
    assert_eq!(
        (path_of(&seen[2]), query(&seen[2])["crumb"].clone()),
        ("/v10/finance/quoteSummary/EASL".to_owned(), json!("cr/umb"))
    );
    let quiet = ask("yahoo_finance", "EASL").with(json!({"info": false}));
    assert_eq!(quiet.at(&server).await.unwrap().len(), 1);
    assert_eq!(server.seen().len(), seen.len() + 1);
}

#[tokio::test]
async fn news_about_chinese_shares_are_read_out_of_a_call() {
    let server = answering(&[(
        "/search/jsonp",
        r#"easel({"result": {"cmsArticleWebOld": [{"title": "<em>600000</em> rises", "content": "By <em>one</em>.", "date": "2025-05-01", "mediaName": "Bund (Shanghai)", "code": "2025"}]}})"#,
    )])
    .await;
    let found = ask("akshare_stock_news", "600000")
        .with(json!({"top_n": 3}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(
        (&found[0]["title"], &found[0]["url"]),
        (
            &json!("600000 rises"),
            &json!("https://finance.eastmoney.com/a/2025.html")
        )
    );
    assert_eq!(found[0]["content"], "By one.\n2025-05-01\nBund (Shanghai)");
    let asked = query(&server.seen()[0]);
    assert_eq!(asked["cb"], "easel");
    let wanted: Json = serde_json::from_str(asked["param"].as_str().unwrap()).unwrap();
    assert_eq!(
        (
            &wanted["keyword"],
            &wanted["param"]["cmsArticleWebOld"]["pageSize"]
        ),
        (&json!("600000"), &json!(3))
    );
}

#[tokio::test]
async fn keenable_works_with_a_key_and_without() {
    let answer = r#"{"results": [{"title": "A", "url": "http://a", "snippet": "s"}, {"title": "B", "url": "http://b", "description": "d"}]}"#;
    let server =
        Server::start(move |_| respond(200, ("content-type", "application/json"), answer)).await;
    let found = ask("keenable_search", "kelp")
        .with(json!({"top_n": 1, "site": "a.example"}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    let keyed = ask("keenable_search", "kelp")
        .key("keen-key-1")
        .with(json!({"mode": "realtime"}));
    assert_eq!(keyed.at(&server).await.unwrap().len(), 2);
    let seen = server.seen();
    assert_eq!(
        (path_of(&seen[0]), body(&seen[0])),
        (
            "/v1/search/public".to_owned(),
            json!({"query": "kelp", "mode": "pro", "site": "a.example"})
        )
    );
    assert_eq!(seen[0]["headers"].get("x-api-key"), None);
    assert_eq!(
        (path_of(&seen[1]), &seen[1]["headers"]["x-api-key"]),
        ("/v1/search".to_owned(), &json!("keen-key-1"))
    );
}

#[tokio::test]
async fn querit_searches_and_reads_pages() {
    let server = answering(&[
        (
            "/v1/search",
            r#"{"results": {"result": [{"title": "A", "url": "http://a", "snippet": "s"}]}}"#,
        ),
        (
            "/v1/contents",
            r#"{"results": [{"url": "http://a", "content": "page"}]}"#,
        ),
    ])
    .await;
    let asked = ask("querit_search", "quartz").key("querit-key").with(json!({"count": 4, "site_exclude": ["b.example"], "country_include": "ch,de", "time_range": "d7"}));
    assert_eq!(
        asked.at(&server).await.unwrap(),
        [json!({"results": {"result": [{"title": "A", "url": "http://a", "snippet": "s"}]}})]
    );
    let pages = Ask {
        subject: json!(["http://a"]),
        ..ask("querit_contents", "")
    };
    let pages = pages
        .key("querit-key")
        .with(json!({"format": "markdown"}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(
        pages,
        [json!({"results": [{"url": "http://a", "content": "page"}]})]
    );
    let seen = server.seen();
    assert_eq!(seen[0]["headers"]["authorization"], "Bearer querit-key");
    assert_eq!(
        body(&seen[0]),
        json!({"query": "quartz", "count": 4, "chunksPerDoc": 3,
               "filters": {"sites": {"exclude": ["b.example"]}, "timeRange": {"date": "d7"}, "geo": {"countries": {"include": ["ch", "de"]}}}})
    );
    assert_eq!(
        body(&seen[1]),
        json!({"urls": ["http://a"], "format": "markdown", "crawlTimeout": 10, "extrasMeta": false})
    );
}

#[tokio::test]
async fn bgpt_gives_the_evidence_of_papers() {
    let server = answering(&[("/api/mcp-search", r#"{"results": [{"title": "T", "doi": "10.1/x", "authors": ["A", "B"], "year": 2024, "methods": "m", "how_to_falsify": "f"}]}"#)]).await;
    let found = ask("bgpt_search", "sleep")
        .key("bgpt-key-1")
        .with(json!({"days_back": 30}))
        .at(&server)
        .await
        .unwrap();
    assert_eq!(found[0]["url"], "10.1/x");
    assert_eq!(
        found[0]["content"],
        "Title: T\nAuthors: A, B\nYear: 2024\nDOI: 10.1/x\nMethods: m\nWhat would refute it: f"
    );
    assert_eq!(
        body(&server.seen()[0]),
        json!({"query": "sleep", "num_results": 10, "api_key": "bgpt-key-1", "days_back": 30})
    );
}

#[test]
fn every_provider_has_a_test_here() {
    let here = include_str!("providers.rs");
    let tavily = include_str!("tavily.rs");
    for provider in LiveSearch::known() {
        let tested =
            here.contains(&format!("\"{provider}\"")) || tavily.contains(&provider.to_uppercase());
        assert!(tested, "{provider}");
    }
}
