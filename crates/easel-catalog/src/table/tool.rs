//! Tools with logic of their own (spec/canvas-components §6).

use easel_core::draft::EffectClass;
use serde_json::json;

use crate::component::{Component, Family};
use crate::param::{Param, Split, Type};
use crate::tool::{Argument, Tool};

pub(super) fn all() -> Vec<Component> {
    vec![retrieval(), code_exec(), exe_sql(), email(), crawler()]
}

fn retrieval() -> Component {
    let condition = Type::object(vec![
        Param::new("key", Type::Text, "The name of the metadata.").required(),
        Param::new("op", Type::Text, "How it is compared.").default(json!("=")),
        Param::new("value", Type::Rendered, "What it is compared with."),
    ]);
    let filter = Type::open_object(vec![
        Param::new(
            "method",
            Type::choice(&["disabled", "auto", "semi_auto", "manual"]),
            "Who writes the conditions: nobody, a model, a model for chosen metadata, or `manual`.",
        ),
        Param::new(
            "logic",
            Type::choice(&["and", "or"]),
            "Whether all conditions have to hold, or one.",
        )
        .default(json!("and")),
        Param::new("manual", Type::list(condition), "The conditions."),
        Param::new(
            "semi_auto",
            Type::list(Type::Any),
            "The metadata a model may use.",
        ),
    ]);
    Component::new(
        "Retrieval",
        Family::Tool,
        "Retrieval",
        "Searches datasets for the passages that fit a question.",
    )
    .alias("SearchMyDataset")
    .alias("search_my_dataset")
    .alias("search_my_dateset")
    .effect(EffectClass::Reads)
    .seconds(15.0)
    .tool(
        Tool::new(
            "search_my_dateset",
            "Searches the user's own documents for passages about a subject. Answers come from there first.",
        )
        .argument(
            Argument::new("query", Type::Text, "What to look for: the subject in a few words, or the question.")
                .required(),
        ),
    )
    .param(
        Param::new(
            "dataset_ids",
            Type::list_split(Type::binding(Type::Text), Split::Whole),
            "The datasets that are searched: ids, or references to ids or names.",
        )
        .default(json!([]))
        .alias("kb_ids"),
    )
    .param(
        Param::new("top_n", Type::at_least(1), "How many passages it gives at most.").default(json!(8)),
    )
    .param(
        Param::new("top_k", Type::at_least(1), "How many candidates are ranked.").default(json!(1024)),
    )
    .param(
        Param::new("similarity_threshold", Type::number(0.0, 1.0), "Passages less similar are left out.")
            .default(json!(0.2)),
    )
    .param(
        Param::new(
            "keywords_similarity_weight",
            Type::number(0.0, 1.0),
            "The weight of shared words in the similarity; that of meaning is the rest to 1.",
        )
        .default(json!(0.5)),
    )
    .param(Param::new("rerank_id", Type::Model, "The model that ranks the passages once more."))
    .param(
        Param::new("empty_response", Type::Text, "The text if nothing is found.").default(json!("")),
    )
    .param(
        Param::new("use_kg", Type::Boolean, "Whether the knowledge graph is searched as well.").default(json!(false)),
    )
    .param(
        Param::new("toc_enhance", Type::Boolean, "Whether tables of contents help to choose.").default(json!(false)),
    )
    .param(
        Param::new("cross_languages", Type::texts(), "Languages into which the question is translated.")
            .default(json!([])),
    )
    .param(Param::new("meta_data_filter", filter, "Which documents are searched.").default(json!({})))
    .param(
        Param::new(
            "retrieval_from",
            Type::choice(&["dataset", "memory"]),
            "Whether datasets or memories are searched; where it is not set, whichever is chosen.",
        ),
    )
    .param(Param::new("memory_ids", Type::texts(), "The memories that are searched.").default(json!([])))
    .param(Param::new("user_id", Type::binding(Type::Text), "Whose memories are searched."))
    .port("formalized_content", "string", "The passages as text, with the ids that answers cite.")
    .port("json", "Array<Object>", "The passages with their sources.")
    .primary("formalized_content")
}

fn code_exec() -> Component {
    Component::new(
        "CodeExec",
        Family::Tool,
        "Code",
        "Runs a function in a sandbox and gives what it returns.",
    )
    .effect(EffectClass::Reads)
    .seconds(60.0)
    .param(
        Param::new("lang", language(), "The language.").default(json!("python")),
    )
    .tool(
        Tool::new(
            "execute_code",
            "Runs a program in a sandbox and gives what its function `main` returns. For exact computing and data work.",
        )
        .argument(Argument::new("lang", language(), "The language of the program.").required())
        .argument(
            Argument::new(
                "script",
                Type::Text,
                "The program. It defines `main`, whose result has to be data that JSON can hold; JavaScript exports it.",
            )
            .required(),
        ),
    )
    .param(
        Param::new("script", Type::binding(Type::Text), "The program, which defines the function `main`.").required(),
    )
    .param(
        Param::new("arguments", Type::map(Type::Reference), "What `main` is given: references by argument name.")
            .default(json!({})),
    )
    .param(
        Param::new(
            "outputs",
            Type::map(Type::Any),
            "The port that takes what `main` returns, with its type: `String`, `Number`, `Boolean`, `Object`, `Null`, \
             `Any` or `Array<…>`. Exactly one.",
        )
        .default(json!({"result": {"type": "Any"}})),
    )
    .port("content", "string", "The result as text.")
    .port("raw_result", "any", "The result, whatever type was declared.")
    .port("actual_type", "string", "The type of the result.")
    .port("attachments", "Array<string>", "Links to the files the program wrote.")
    .ports_from_keys("outputs")
    .primary_first()
}

fn language() -> Type {
    Type::choice_also(
        &["python", "javascript"],
        &[
            ("python3", "python"),
            ("nodejs", "javascript"),
            ("js", "javascript"),
        ],
    )
}

fn exe_sql() -> Component {
    /// Databases that are no server with a login.
    const LOCAL: &[&str] = &["sqlite"];
    Component::new(
        "ExeSQL",
        Family::Tool,
        "SQL",
        "Runs SQL queries that only read and gives the rows.",
    )
    .effect(EffectClass::Reads)
    .seconds(60.0)
    .tool(
        Tool::new(
            "execute_sql",
            "Runs SQL on the database and gives the rows. Only statements that read are run.",
        )
        .argument(
            Argument::new(
                "sql",
                Type::Text,
                "The statement; several are parted by `;`.",
            )
            .required()
            .default(json!("{sys.query}")),
        ),
    )
    .param(
        Param::new(
            "db_type",
            Type::choice_also(
                &[
                    "mysql",
                    "mariadb",
                    "oceanbase",
                    "postgres",
                    "mssql",
                    "trino",
                    "IBM DB2",
                    "sqlite",
                ],
                &[("postgresql", "postgres")],
            ),
            "The kind of database.",
        )
        .default(json!("mysql")),
    )
    .param(
        Param::new(
            "database",
            Type::Text,
            "The database's name; for `trino` `catalog.schema`, for `sqlite` the file.",
        )
        .required()
        .secrets(),
    )
    .param(
        Param::new("host", Type::Text, "The server's name or address.")
            .required_unless("db_type", LOCAL)
            .secrets(),
    )
    .param(Param::new("port", Type::within(1, 65_535), "The server's port.").default(json!(3306)))
    .param(
        Param::new("username", Type::Text, "The user name.")
            .required_unless("db_type", LOCAL)
            .secrets(),
    )
    .param(
        Param::new("password", Type::Credential, "The password.")
            .required_unless("db_type", &["sqlite", "trino"]),
    )
    .param(
        Param::new(
            "max_records",
            Type::at_least(1),
            "How many rows a statement gives at most.",
        )
        .default(json!(1024)),
    )
    .ignored(&["top_n"])
    .port(
        "formalized_content",
        "string",
        "The rows as tables in Markdown.",
    )
    .port(
        "json",
        "Array<Object>",
        "The rows, a list for each statement.",
    )
    .primary("formalized_content")
}

fn email() -> Component {
    Component::new("Email", Family::Tool, "Email", "Sends an e-mail.")
        .effect(EffectClass::Writes)
        .seconds(60.0)
        .tool(
            Tool::new("email", "Sends an e-mail from the account that was set up.")
                .argument(Argument::new("to_email", Type::Text, "Who gets it.").required())
                .argument(Argument::new(
                    "cc_email",
                    Type::Text,
                    "Who gets a copy; several are parted by commas.",
                ))
                .argument(Argument::new("content", Type::Text, "The text, in HTML."))
                .argument(Argument::new("subject", Type::Text, "The subject line.")),
        )
        .param(
            Param::new("smtp_server", Type::Text, "The server that sends it.")
                .required()
                .secrets(),
        )
        .param(
            Param::new(
                "smtp_port",
                Type::within(1, 65_535),
                "Its port; 465 is encrypted from the start.",
            )
            .default(json!(465)),
        )
        .param(
            Param::new("email", Type::Text, "The sender's address.")
                .required()
                .secrets(),
        )
        .param(
            Param::new(
                "smtp_username",
                Type::Text,
                "The account's name; blank is the address.",
            )
            .default(json!(""))
            .secrets(),
        )
        .param(Param::new("password", Type::Credential, "The account's password.").required())
        .param(Param::new("sender_name", Type::Text, "The sender's name.").required())
        .port("success", "boolean", "Whether it was sent.")
        .primary("success")
}

fn crawler() -> Component {
    Component::new("Crawler", Family::Tool, "Web page", "Fetches a page and gives its text.")
        .effect(EffectClass::Reads)
        .seconds(60.0)
        .tool(
            Tool::new("web_crawler", "Fetches a web page and gives its text.").argument(
                Argument::new("query", Type::Text, "The address of the page.")
                    .required()
                    .default(json!("{sys.query}")),
            ),
        )
        .param(Param::new("proxy", Type::Text, "The proxy it goes through.").secrets())
        .param(
            Param::new(
                "extract_type",
                Type::choice(&["html", "markdown", "content"]),
                "What is made of the page: `markdown` what it says, without menus and footers, `content` its text, `html` nothing.",
            )
            .default(json!("markdown")),
        )
        .port("formalized_content", "string", "The text of the page.")
        .primary("formalized_content")
}
