//! Ingestion pipelines (spec/canvas-components §9): they load, show and are checked, and do not run.

use easel_core::draft::EffectClass;
use serde_json::json;

use crate::component::{Component, Family};
use crate::param::{Param, Split, Type};

use super::model;

const WHY: &str =
    "Ingestion pipelines can be opened and checked here; run them where the documents are stored.";

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
        .seconds(600.0)
        .later(WHY)
        .param(Param::new(
            "timeout",
            Type::not_negative(),
            "Seconds the step may take.",
        ))
        .param(Param::new(
            "persist_logs",
            Type::Boolean,
            "Whether its progress is kept.",
        ))
}

fn chunks(component: Component) -> Component {
    component
        .port("chunks", "Array<Object>", "The pieces of the document.")
        .primary("chunks")
}

fn file() -> Component {
    stage(
        "File",
        "File",
        "The entry of an ingestion pipeline: the document.",
    )
    .port("name", "string", "The name of the document.")
    .port("file", "object", "A description of the uploaded file.")
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
        "Reads a document of any common format into text, tables and pictures.",
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
    .param(Param::new("delimiters", delimiters(), "Where it may be cut.").default(json!(["\n"])))
    .param(
        Param::new(
            "overlapped_percent",
            Type::number(0.0, 100.0),
            "How much of a piece the next one repeats.",
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
    .param(context("image_table_context_window", "a picture or table"))
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
            "The messages it answers; a reference to `chunks` stands for the piece.",
        )
        .required(),
    )
    .params(model::sampling())
}

fn tokenizer() -> Component {
    chunks(stage(
        "Tokenizer",
        "Indexer",
        "Makes the pieces of a document searchable and stores them.",
    ))
    .effect(EffectClass::Writes)
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
    chunks(stage(
        "Compiler",
        "Compiler",
        "Builds a wiki, a graph or a tree of the pieces of a document.",
    ))
    .effect(EffectClass::Writes)
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
