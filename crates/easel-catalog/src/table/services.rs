//! Further services on the web, and those that are gone
//! (spec/canvas-components §7).

use serde_json::json;

use crate::component::Component;
use crate::param::{Param, Type};
use crate::tool::{Argument, Tool};

use super::search::{api_key, flag, json_port, query, service, text_port, top_n};

/// The whole answer.
fn answer_port(component: Component) -> Component {
    component.port("json", "Object", "The answer as the service gave it.")
}

pub(super) fn all() -> Vec<Component> {
    vec![
        google_scholar(),
        keenable(),
        querit_search(),
        querit_contents(),
        bgpt(),
        deepl(),
        ak_share(),
        q_weather(),
        wen_cai(),
        tu_share(),
        jin10(),
        bing(),
    ]
}

fn google_scholar() -> Component {
    let year = |name: &str, doc: &str| Param::new(name, Type::at_least(0), doc);
    let search = service(
        "GoogleScholar",
        "Google Scholar",
        "Searches Google Scholar for papers.",
    )
    .tool(
        Tool::new(
            "google_scholar_search",
            "Searches Google Scholar for papers and gives their abstracts.",
        )
        .argument(query("The subject, an author or a title, in a few words.")),
    )
    .param(top_n(12))
    .param(
        Param::new(
            "sort_by",
            Type::choice(&["relevance", "date"]),
            "What comes first.",
        )
        .default(json!("relevance")),
    )
    .param(year("year_low", "The earliest year."))
    .param(year("year_high", "The latest year."))
    .param(flag("patents", true, "Whether patents are included."));
    json_port(text_port(search))
}

fn keenable() -> Component {
    let search = service(
        "KeenableSearch",
        "Keenable",
        "Searches the web with Keenable.",
    )
    .seconds(30.0)
    .tool(
        Tool::new(
            "keenable_search",
            "Searches the web and gives titles, addresses and extracts of pages.",
        )
        .argument(query("What to search for, in a few words."))
        .argument(Argument::new(
            "site",
            Type::Text,
            "The site to which the search is limited.",
        )),
    )
    .param(
        Param::new(
            "api_key",
            Type::Credential,
            "The key of the service; `pro` works without one.",
        )
        .default(json!(""))
        .required_when("mode", &["realtime"]),
    )
    .param(
        Param::new(
            "mode",
            Type::choice(&["pro", "realtime"]),
            "How it searches.",
        )
        .default(json!("pro")),
    )
    .param(top_n(10));
    json_port(text_port(search))
}

fn querit_search() -> Component {
    let list = |name: &str, doc: &str| Param::new(name, Type::texts(), doc).default(json!([]));
    let search = service("QueritSearch", "Querit search", "Searches the web with Querit.")
        .tool(
            Tool::new("querit_search", "Searches the web and gives the passages of pages that answer the query.")
                .argument(query("What to search for, in a few words.")),
        )
        .param(api_key().required())
        .param(Param::new("count", Type::at_least(1), "How many results it gives at most.").default(json!(10)))
        .param(Param::new("chunks_per_doc", Type::within(1, 3), "How many passages of a page.").default(json!(3)))
        .param(list("site_include", "Sites to which the search is limited."))
        .param(list("site_exclude", "Sites that are left out."))
        .param(list("country_include", "Countries to which the search is limited."))
        .param(list("language_include", "Languages to which the search is limited."))
        .param(Param::new(
            "time_range",
            Type::Text,
            "How old pages may be: `d7` for seven days, `w`, `m` and `y` for weeks, months and years, or two dates.",
        ));
    answer_port(text_port(search))
}

fn querit_contents() -> Component {
    let contents = service(
        "QueritContents",
        "Querit contents",
        "Gives the text of web pages with Querit.",
    )
    .seconds(70.0)
    .tool(
        Tool::new(
            "querit_contents",
            "Gives the text of web pages whose addresses are known.",
        )
        .argument(
            Argument::new(
                "urls",
                Type::texts(),
                "The addresses of the pages, ten at most.",
            )
            .required(),
        ),
    )
    .param(api_key().required())
    .param(
        Param::new(
            "format",
            Type::choice(&["text", "markdown", "html"]),
            "The format of the text.",
        )
        .default(json!("text")),
    )
    .param(
        Param::new(
            "crawl_timeout",
            Type::within(1, 60),
            "Seconds that fetching a page may take.",
        )
        .default(json!(10)),
    )
    .param(flag(
        "extras_meta",
        false,
        "Whether what the page says about itself is included.",
    ));
    answer_port(contents).primary("json")
}

fn bgpt() -> Component {
    let search = service(
        "BGPT",
        "BGPT",
        "Searches scientific papers for evidence with BGPT.",
    )
    .seconds(30.0)
    .tool(
        Tool::new(
            "bgpt_search",
            "Searches scientific papers and gives what they found and how sure it is.",
        )
        .argument(query("The question, in a few words.")),
    )
    .param(top_n(10))
    .param(
        Param::new(
            "api_key",
            Type::Credential,
            "The key of the service, if you have one.",
        )
        .default(json!("")),
    )
    .param(Param::new(
        "days_back",
        Type::at_least(1),
        "How many days back papers are looked for.",
    ));
    json_port(text_port(search))
}

fn deepl() -> Component {
    text_port(
        service("DeepL", "DeepL", "Translates a text with DeepL.")
            .tool(Tool::new("deepl_translate", "Translates a text.").argument(query("The text.")))
            .param(
                Param::new("auth_key", Type::Credential, "The key of the service.")
                    .default(json!(""))
                    .required(),
            )
            .param(
                Param::new("source_lang", Type::Text, "The language of the text.")
                    .default(json!("ZH")),
            )
            .param(
                Param::new("target_lang", Type::Text, "The language it gets.")
                    .default(json!("EN-GB")),
            ),
    )
}

fn ak_share() -> Component {
    text_port(
        service(
            "AkShare",
            "AkShare",
            "Gives news about a company listed in China.",
        )
        .tool(
            Tool::new(
                "akshare_stock_news",
                "Gives news about a company listed in China.",
            )
            .argument(query("The code of the share, six digits.")),
        )
        .param(top_n(10)),
    )
}

fn q_weather() -> Component {
    text_port(
        service(
            "QWeather",
            "QWeather",
            "Gives the weather of a place with QWeather.",
        )
        .tool(
            Tool::new("qweather", "Gives the weather of a place.")
                .argument(query("The name of the place.")),
        )
        .param(
            Param::new("web_apikey", Type::Credential, "The key of the service.")
                .default(json!(""))
                .required(),
        )
        .param(Param::new("lang", Type::Text, "The language of the answer.").default(json!("zh")))
        .param(
            Param::new(
                "type",
                Type::choice(&["weather", "indices", "airquality"]),
                "The weather, advice for the day, or the quality of the air.",
            )
            .default(json!("weather")),
        )
        .param(
            Param::new(
                "user_type",
                Type::choice(&["free", "paid"]),
                "The kind of account the key belongs to.",
            )
            .default(json!("free")),
        )
        .param(
            Param::new(
                "time_period",
                Type::choice(&["now", "3d", "7d", "10d", "15d", "30d"]),
                "How far ahead.",
            )
            .default(json!("now")),
        ),
    )
}

fn wen_cai() -> Component {
    service(
        "WenCai",
        "WenCai",
        "Answered questions about Chinese shares.",
    )
    .later("The service it asked takes no requests any more.")
    .tool(
        Tool::new("iwencai", "Answers questions about Chinese shares.")
            .argument(query("The question.")),
    )
    .param(top_n(10))
    .param(Param::new(
        "query_type",
        Type::Text,
        "What the question is about.",
    ))
    .port("report", "string", "The answer.")
    .primary("report")
}

fn tu_share() -> Component {
    text_port(
        service("TuShare", "TuShare", "Gives financial news from TuShare.")
            .later("No engine has ever run this kind.")
            .param(
                Param::new("token", Type::Credential, "The key of the service.")
                    .default(json!(""))
                    .required(),
            )
            .param(Param::new("src", Type::Text, "The source of the news."))
            .param(Param::new("start_date", Type::Text, "The first day."))
            .param(Param::new("end_date", Type::Text, "The last day."))
            .param(Param::new(
                "keyword",
                Type::Text,
                "A word the news must have.",
            )),
    )
}

fn jin10() -> Component {
    text_port(
        service("Jin10", "Jin10", "Gives financial news from Jin10.")
            .later("No engine has ever run this kind.")
            .param(
                Param::new(
                    "type",
                    Type::choice(&["flash", "calendar", "symbols", "news"]),
                    "What it gives.",
                )
                .default(json!("flash")),
            )
            .param(
                Param::new("secret_key", Type::Credential, "The key of the service.")
                    .default(json!(""))
                    .required(),
            ),
    )
}

fn bing() -> Component {
    let search = service("Bing", "Bing", "Searched the web with Bing.")
        .later("Microsoft has closed the interface it used; give the agent another search.")
        .tool(
            Tool::new(
                "bing_search",
                "Searches the web and gives titles, addresses and extracts of pages.",
            )
            .argument(query("What to search for, in a few words.")),
        )
        .param(top_n(10))
        .param(
            Param::new(
                "channel",
                Type::choice(&["Webpages", "News"]),
                "What is searched.",
            )
            .default(json!("Webpages")),
        )
        .param(api_key())
        .param(
            Param::new("country", Type::Text, "The country it searches from.").default(json!("CH")),
        )
        .param(
            Param::new("language", Type::Text, "The language of the results.").default(json!("en")),
        );
    json_port(text_port(search))
}
