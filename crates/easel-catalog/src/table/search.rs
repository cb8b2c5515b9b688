//! Searches and services on the web (spec/canvas-components §7).

use easel_core::draft::EffectClass;
use serde_json::json;

use crate::component::{Component, Family};
use crate::param::{Param, Type};
use crate::tool::{Argument, Tool};

pub(super) fn all() -> Vec<Component> {
    let mut all = vec![
        tavily_search(),
        tavily_extract(),
        duck_duck_go(),
        wikipedia(),
        google(),
        yahoo_finance(),
        searxng(),
        arxiv(),
        pub_med(),
        github(),
    ];
    all.extend(super::services::all());
    all
}

/// A service that is asked over HTTP and changes nothing.
pub(super) fn service(name: &str, title: &str, summary: &str) -> Component {
    Component::new(name, Family::Search, title, summary)
        .effect(EffectClass::Reads)
        .seconds(15.0)
}

/// The argument most searches have.
pub(super) fn query(description: &str) -> Argument {
    Argument::new("query", Type::Text, description)
        .required()
        .default(json!("{sys.query}"))
}

pub(super) fn api_key() -> Param {
    Param::new("api_key", Type::Credential, "The key of the service.").default(json!(""))
}

/// How many results a search gives.
pub(super) fn top_n(default: i64) -> Param {
    Param::new(
        "top_n",
        Type::at_least(1),
        "How many results it gives at most.",
    )
    .default(default)
}

pub(super) fn flag(name: &str, default: bool, doc: &str) -> Param {
    Param::new(name, Type::Boolean, doc).default(default)
}

/// The results as text, with citations.
pub(super) fn text_port(component: Component) -> Component {
    component
        .port(
            "formalized_content",
            "string",
            "The results as text, with the ids that answers cite.",
        )
        .primary("formalized_content")
}

/// The results as the service gave them.
pub(super) fn json_port(component: Component) -> Component {
    component.port(
        "json",
        "Array<Object>",
        "The results as the service gave them.",
    )
}

fn tavily_search() -> Component {
    let domains = |name: &str, description: &str| {
        Argument::new(name, Type::texts(), description).default(json!([]))
    };
    let search = service("TavilySearch", "Tavily search", "Searches the web with Tavily.")
        .tool(
            Tool::new(
                "tavily_search",
                "Searches the web and gives the passages of pages that answer the query. For facts that are recent or \
                 that you do not know.",
            )
            .argument(query("What to search for: a few words that say exactly what is wanted."))
            .argument(
                Argument::new(
                    "topic",
                    Type::choice(&["general", "news"]),
                    "`news` for current events, `general` for everything else.",
                )
                .default(json!("general")),
            )
            .argument(domains("include_domains", "Domains to which the search is limited."))
            .argument(domains("exclude_domains", "Domains that are left out.")),
        )
        .param(api_key().required())
        .param(
            Param::new("search_depth", Type::choice(&["basic", "advanced"]), "How thorough the search is.")
                .default(json!("basic")),
        )
        .param(
            Param::new("max_results", Type::within(1, 20), "How many results it gives at most.").default(json!(6)),
        )
        .param(Param::new("days", Type::at_least(1), "How many days back news are looked for.").default(json!(14)))
        .param(flag("include_answer", false, "Whether the service adds an answer of its own."))
        .param(flag("include_raw_content", false, "Whether whole pages are fetched."))
        .param(flag("include_images", false, "Whether pictures are looked for."))
        .param(flag("include_image_descriptions", false, "Whether pictures are described."));
    json_port(text_port(search))
}

fn tavily_extract() -> Component {
    let extract = service(
        "TavilyExtract",
        "Tavily extract",
        "Gives the text of web pages with Tavily.",
    )
    .tool(
        Tool::new(
            "tavily_extract",
            "Gives the text of web pages whose addresses are known.",
        )
        .argument(Argument::new("urls", Type::texts(), "The addresses of the pages.").required()),
    )
    .param(api_key().required())
    .param(
        Param::new(
            "extract_depth",
            Type::choice(&["basic", "advanced"]),
            "How thorough it is.",
        )
        .default(json!("basic")),
    )
    .param(
        Param::new(
            "format",
            Type::choice(&["markdown", "text"]),
            "The format of the text.",
        )
        .default(json!("markdown")),
    );
    json_port(extract).primary("json")
}

fn duck_duck_go() -> Component {
    let channel = || Type::choice_also(&["text", "news"], &[("general", "text")]);
    let search = service(
        "DuckDuckGo",
        "DuckDuckGo",
        "Searches the web with DuckDuckGo.",
    )
    .tool(
        Tool::new(
            "duckduckgo_search",
            "Searches the web and gives titles, addresses and extracts of pages.",
        )
        .argument(query("What to search for, in a few words."))
        .argument(
            Argument::new(
                "channel",
                channel(),
                "`news` for current events, `text` for everything else.",
            )
            .default(json!("text")),
        ),
    )
    .param(top_n(10));
    json_port(text_port(search))
}

fn wikipedia() -> Component {
    text_port(
        service(
            "Wikipedia",
            "Wikipedia",
            "Searches Wikipedia and gives the beginnings of its articles.",
        )
        .tool(
            Tool::new(
                "wikipedia_search",
                "Searches Wikipedia and gives the beginnings of its articles.",
            )
            .argument(query(
                "The subject: the title of an article, or words close to it.",
            )),
        )
        .param(top_n(10))
        .param(
            Param::new(
                "language",
                Type::Text,
                "The language, as its addresses begin: `en`, `de`, `zh`.",
            )
            .default(json!("en")),
        ),
    )
}

fn google() -> Component {
    let search = service("Google", "Google", "Searches Google through SerpApi.")
        .tool(
            Tool::new(
                "google_search",
                "Searches Google and gives titles, addresses and extracts of pages.",
            )
            .argument(
                Argument::new("q", Type::Text, "What to search for, in a few words.")
                    .required()
                    .default(json!("{sys.query}")),
            )
            .argument(
                Argument::new(
                    "start",
                    Type::at_least(0),
                    "How many results to skip; 10 is the second page.",
                )
                .default(json!(0)),
            )
            .argument(
                Argument::new("num", Type::within(1, 100), "How many results to give.")
                    .default(json!(6)),
            ),
        )
        .param(api_key().required())
        .param(
            Param::new(
                "country",
                Type::Text,
                "The country it searches from: `us`, `de`, `cn`.",
            )
            .default(json!("us")),
        )
        .param(
            Param::new("language", Type::Text, "The language: `en`, `de`, `zh-cn`.")
                .default(json!("en")),
        );
    json_port(text_port(search))
}

fn yahoo_finance() -> Component {
    service(
        "YahooFinance",
        "Yahoo Finance",
        "Reports on a listed company: prices, statements and news.",
    )
    .seconds(60.0)
    .tool(
        Tool::new(
            "yahoo_finance",
            "Reports on a listed company: its business, prices, statements and news.",
        )
        .argument(
            Argument::new(
                "stock_code",
                Type::Text,
                "The company's ticker symbol, or its name.",
            )
            .required()
            .default(json!("{sys.query}")),
        ),
    )
    .param(flag(
        "info",
        true,
        "Whether the report says what the company does.",
    ))
    .param(flag(
        "history",
        false,
        "Whether it has the prices of the last month.",
    ))
    .param(flag(
        "financials",
        false,
        "Whether it has the calendar of reports.",
    ))
    .param(flag(
        "balance_sheet",
        false,
        "Whether it has the balance sheet.",
    ))
    .param(flag(
        "cash_flow_statement",
        false,
        "Whether it has the cash flow statement.",
    ))
    .param(flag("news", true, "Whether it has news."))
    .ignored(&["count", "income_stmt"])
    .port("report", "string", "The report, in Markdown.")
    .primary("report")
}

fn searxng() -> Component {
    let search = service(
        "SearXNG",
        "SearXNG",
        "Searches the web with a SearXNG server of your own.",
    )
    .tool(
        Tool::new(
            "searxng_search",
            "Searches the web and gives titles, addresses and extracts of pages.",
        )
        .argument(query("What to search for, in a few words.")),
    )
    .param(top_n(10))
    .param(
        Param::new(
            "searxng_url",
            Type::Text,
            "The address of the server, where the deployment sets none.",
        )
        .default(json!(""))
        .secrets(),
    );
    json_port(text_port(search))
}

fn arxiv() -> Component {
    text_port(
        service(
            "ArXiv",
            "arXiv",
            "Searches arXiv for papers and gives their summaries.",
        )
        .tool(
            Tool::new(
                "arxiv_search",
                "Searches arXiv for scientific papers and gives their summaries.",
            )
            .argument(query("The subject, an author or a title, in a few words.")),
        )
        .param(top_n(12))
        .param(
            Param::new(
                "sort_by",
                Type::choice(&["submittedDate", "lastUpdatedDate", "relevance"]),
                "What comes first.",
            )
            .default(json!("submittedDate")),
        ),
    )
}

fn pub_med() -> Component {
    text_port(
        service(
            "PubMed",
            "PubMed",
            "Searches PubMed for medical papers and gives their abstracts.",
        )
        .tool(
            Tool::new(
                "pubmed_search",
                "Searches PubMed for medical and biological papers and gives their abstracts.",
            )
            .argument(query("The subject, an author or a title, in a few words.")),
        )
        .param(top_n(12))
        .param(Param::new(
            "email",
            Type::Text,
            "An address the service may write to if it is asked too often.",
        )),
    )
}

fn github() -> Component {
    let search = service(
        "GitHub",
        "GitHub",
        "Searches GitHub for repositories, those with most stars first.",
    )
    .tool(
        Tool::new(
            "github_search",
            "Searches GitHub for repositories and gives their descriptions.",
        )
        .argument(query("What the repository is about, in a few words.")),
    )
    .param(
        Param::new(
            "top_n",
            Type::within(1, 100),
            "How many results it gives at most.",
        )
        .default(json!(10)),
    );
    json_port(text_port(search))
}
