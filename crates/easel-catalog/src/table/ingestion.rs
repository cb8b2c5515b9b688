//! Ingestion pipelines (spec/canvas-components §9): chains whose steps hand on what became of a document.

use easel_core::draft::EffectClass;
use serde_json::json;

use crate::common;
use crate::component::{Component, Family, TimeLimit};
use crate::param::{Param, Split, Type};

use super::model;

/// Seconds that a step may take where it does not say.
const SECONDS: i64 = 600;

/// Seconds that asking a model about every piece of a document may take: a day.
const SECONDS_OF_MODELS: i64 = 86_400;

/// The kinds of files that a Parser has a set-up for.
const FORMATS: &[&str] = &[
    "pdf",
    "spreadsheet",
    "doc",
    "docx",
    "slides",
    "image",
    "email",
    "markdown",
    "text&code",
    "html",
    "audio",
    "video",
    "epub",
];

pub(super) fn all() -> Vec<Component> {
    vec![
        file(),
        parser(),
        token_chunker(),
        title_chunker(),
        extractor(),
        tokenizer(),
        compiler(),
    ]
}

fn stage(name: &str, title: &str, summary: &str) -> Component {
    Component::new(name, Family::Ingestion, title, summary)
        .effect(EffectClass::Reads)
        .time_limit(TimeLimit::Own {
            param: "timeout".into(),
            plus_s: 0.0,
        })
        .param(timeout(SECONDS))
        .param(Param::new(
            "persist_logs",
            Type::Boolean,
            "Whether its progress is kept. Runs are always recorded, so it changes nothing.",
        ))
        .port("name", "string", "The name of the document.")
        .port("file", "object", "What is known of the document's file.")
}

fn timeout(seconds: i64) -> Param {
    Param::new(
        "timeout",
        Type::not_negative(),
        "Seconds the step may take.",
    )
    .default(json!(seconds))
}

/// A step that hands on pieces.
fn chunks(component: Component) -> Component {
    component
        .port(
            "output_format",
            "string",
            "Which port the next step reads: `chunks`.",
        )
        .port("chunks", "Array<Object>", "The pieces of the document.")
        .primary("chunks")
}

/// A step that keeps pieces. The document's pieces are replaced as a whole, so doing it twice is as doing it once.
fn keeps(component: Component) -> Component {
    component.effect(EffectClass::Writes).param(
        Param::new(
            common::IDEMPOTENT,
            Type::Boolean,
            "Keeping a document again replaces it as a whole, so it may be repeated after a crash.",
        )
        .default(json!(true)),
    )
}

fn file() -> Component {
    stage(
        "File",
        "File",
        "The entry of an ingestion pipeline: the document.",
    )
    .primary("file")
}

fn parser() -> Component {
    let flat = FORMATS.iter().map(|format| {
        let doc = format!("How `{format}` files are read, where `setups` does not say it.");
        Param::new(format, Type::map(Type::Any), &doc)
    });
    stage(
        "Parser",
        "Parser",
        "Reads a document of any common format into text and tables.",
    )
    .param(Param::new(
        "setups",
        Type::Any,
        "How files are read, by their format.",
    ))
    .params(flat)
    .port("json", "Array<Object>", "The document as a list of parts.")
    .port("markdown", "string", "The document as Markdown.")
    .port("text", "string", "The document as plain text.")
    .port("html", "string", "The document as HTML.")
    .port(
        "output_format",
        "string",
        "Which of these the next step reads.",
    )
    .primary("json")
}

fn token_chunker() -> Component {
    let context = |name: &str, of: &str| {
        let doc = format!("How many tokens around {of} go with it.");
        Param::new(name, Type::at_least(0), &doc).default(json!(0))
    };
    let delimiters = || Type::list_split(Type::Text, Split::Whole);
    chunks(stage(
        "TokenChunker",
        "Chunker by size",
        "Cuts a document into pieces of about the same size.",
    ))
    .alias("Splitter")
    .param(
        Param::new(
            "delimiter_mode",
            Type::choice_also(&["delimiter", "one"], &[("token_size", "delimiter")]),
            "Whether it is cut at delimiters, or stays one piece.",
        )
        .default(json!("delimiter")),
    )
    .param(
        Param::new(
            "chunk_token_size",
            Type::at_least(1),
            "The size of a piece in tokens.",
        )
        .default(json!(512)),
    )
    .param(Param::new("delimiters", delimiters(), "Where it may be cut. One between backticks always cuts, and is left out.").default(json!(["\n"])))
    .param(
        Param::new(
            "overlapped_percent",
            Type::number(0.0, 100.0),
            "How much of a piece the next one repeats, in percent; a number below 1 is a share. At most 50 %.",
        )
        .default(json!(0)),
    )
    .param(
        Param::new(
            "children_delimiters",
            delimiters(),
            "Where pieces are cut into smaller ones for search.",
        )
        .default(json!([])),
    )
    .param(context("table_context_size", "a table"))
    .param(context("image_context_size", "a picture"))
    .param(context("image_table_context_window", "a picture or table, where it is not said for either"))
}

fn title_chunker() -> Component {
    chunks(stage(
        "TitleChunker",
        "Chunker by headings",
        "Cuts a document at its headings.",
    ))
    .alias("HierarchicalMerger")
    .param(
        Param::new(
            "method",
            Type::choice(&["hierarchy", "group"]),
            "Whether pieces keep the headings above them, or are grouped.",
        )
        .default(json!("hierarchy")),
    )
    .param(
        Param::new(
            "levels",
            Type::list(Type::list_split(Type::Text, Split::Whole)),
            "Sets of patterns, each with one pattern for each level of headings.",
        )
        .default(json!([])),
    )
    .param(Param::new(
        "hierarchy",
        Type::at_least(0),
        "The level down to which it is cut.",
    ))
    .param(
        Param::new(
            "include_heading_content",
            Type::Boolean,
            "Whether text right below a heading goes with it.",
        )
        .default(json!(false)),
    )
    .param(
        Param::new(
            "root_chunk_as_heading",
            Type::Boolean,
            "Whether the first piece heads all others.",
        )
        .default(json!(false)),
    )
    .param(
        Param::new(
            "chunk_token_cap",
            Type::within(128, 8000),
            "The largest piece in tokens.",
        )
        .default(json!(512)),
    )
    .ignored(&["rules"])
}

fn extractor() -> Component {
    chunks(stage(
        "Extractor",
        "Extractor",
        "Lets a model add something to each piece of a document.",
    ))
    .param(timeout(SECONDS_OF_MODELS))
    .param(
        Param::new(
            "field_name",
            Type::choice(&["summary", "keywords", "questions", "metadata", "toc"]),
            "What is added.",
        )
        .required(),
    )
    .param(
        Param::new(
            "sys_prompt",
            Type::template(),
            "What the model is told about its part.",
        )
        .default(json!("")),
    )
    .param(
        Param::new(
            "prompts",
            model::messages(),
            "The messages it answers, once for each piece; a reference to `chunks` stands for the piece.",
        )
        .required(),
    )
    .params(model::sampling())
}

fn tokenizer() -> Component {
    keeps(chunks(stage(
        "Tokenizer",
        "Indexer",
        "Makes the pieces of a document searchable and keeps them in the knowledge base.",
    )))
    .param(
        Param::new(
            "search_method",
            Type::list_split(Type::choice(&["full_text", "embedding"]), Split::Commas),
            "By what they are found.",
        )
        .default(json!(["full_text", "embedding"])),
    )
    .param(
        Param::new(
            "filename_embd_weight",
            Type::number(0.0, 1.0),
            "The weight of the file's name in the meaning.",
        )
        .default(json!(0.1)),
    )
    .param(
        Param::new(
            "fields",
            Type::list_split(Type::Text, Split::Commas),
            "The parts of a piece that are searched.",
        )
        .default(json!(["text"])),
    )
}

fn compiler() -> Component {
    keeps(chunks(stage(
        "Compiler",
        "Compiler",
        "Hands on the pieces of a document. RAGFlow builds a wiki, a graph or a tree of them here, by its groups of templates; \
         this version does not, and says so.",
    )))
    .param(
        Param::new(
            "compilation_template_group_id",
            Type::Text,
            "The set of templates by which it is built.",
        )
        .required(),
    )
    .param(
        Param::new("plan", Type::Boolean, "Whether it makes a plan first.").default(json!(false)),
    )
    .param(Param::new(
        "llm_id",
        Type::Model,
        "The model that builds it; blank takes the default one.",
    ))
}
