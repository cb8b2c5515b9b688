//! HTTP, documents and pages (spec/canvas-components §5).

use easel_core::draft::EffectClass;
use serde_json::json;

use crate::component::{Component, Family, TimeLimit};
use crate::param::{Param, Split, Type};

use super::model;

pub(super) fn all() -> Vec<Component> {
    vec![invoke(), doc_generator(), excel_processor(), browser()]
}

fn invoke() -> Component {
    let variable = Type::object(vec![
        Param::new("key", Type::Text, "The argument's name.").required(),
        Param::new("ref", Type::Reference, "The reference whose value it is."),
        Param::new(
            "value",
            Type::Rendered,
            "Its value where there is no reference or the reference gives null.",
        )
        .secrets(),
    ]);
    Component::new(
        "Invoke",
        Family::Io,
        "HTTP request",
        "Sends an HTTP request and gives the answer.",
    )
    .effect(EffectClass::Writes)
    .reads_when("method", &["get", "head"])
    .time_limit(TimeLimit::Own {
        param: "timeout".into(),
        plus_s: 5.0,
    })
    .param(
        Param::new(
            "url",
            Type::template(),
            "Where to; `http://` is put before it if it names no scheme.",
        )
        .required()
        .secrets(),
    )
    .param(
        Param::new(
            "method",
            Type::choice(&["get", "post", "put", "patch", "delete", "head"]),
            "The HTTP method.",
        )
        .default(json!("get")),
    )
    .param(
        Param::new(
            "headers",
            Type::json(Type::map(Type::template())),
            "The headers, by name.",
        )
        .default(json!({}))
        .secrets(),
    )
    .param(
        Param::new(
            "variables",
            Type::list(variable),
            "The arguments: of the query with `get`, `head` and `delete`, else of the body.",
        )
        .default(json!([])),
    )
    .param(
        Param::new(
            "datatype",
            Type::choice(&["json", "formdata"]),
            "Whether a body holds the arguments as JSON or as form fields.",
        )
        .default(json!("json")),
    )
    .param(
        Param::new(
            "body",
            Type::Rendered,
            "A body in place of the arguments: a text as it is, anything else as JSON.",
        )
        .secrets(),
    )
    .param(Param::new(
        "content_type",
        Type::Text,
        "The content type of `body`, if it is another than its form suggests.",
    ))
    .param(
        Param::new(
            "timeout",
            Type::at_least(1),
            "Seconds the request may take.",
        )
        .default(json!(60)),
    )
    .param(Param::new("proxy", Type::template(), "The proxy it goes through.").secrets())
    .param(
        Param::new(
            "clean_html",
            Type::Boolean,
            "Whether a page is reduced to its text.",
        )
        .default(json!(false)),
    )
    .param(
        Param::new(
            "fail_on_status",
            Type::Boolean,
            "Whether a status of 400 or more makes the node fail.",
        )
        .default(json!(false)),
    )
    .param(
        Param::new(
            "follow_redirects",
            Type::Boolean,
            "Whether redirects are followed; each target is checked like the first.",
        )
        .default(json!(false)),
    )
    .port("result", "string", "The body of the answer.")
    .port("status", "integer", "The HTTP status.")
    .port("headers", "object", "The headers of the answer.")
    .port("json", "any", "The body as data, if it is JSON; else null.")
    .primary("result")
}

fn doc_generator() -> Component {
    let text = |name: &str, doc: &str| Param::new(name, Type::template(), doc).default(json!(""));
    Component::new(
        "DocGenerator",
        Family::Io,
        "Document",
        "Makes a document of a text for the user to download.",
    )
    .alias("PDFGenerator")
    .alias("DocsGenerator")
    // What it keeps is kept under one key, so it may be done again.
    .effect(EffectClass::Reads)
    .seconds(600.0)
    .param(Param::new("content", Type::template(), "The text, in Markdown.").required())
    .param(
        Param::new(
            "output_format",
            Type::choice_also(
                &["pdf", "docx", "txt", "markdown", "html"],
                &[("md", "markdown")],
            ),
            "The format of the document.",
        )
        .default(json!("pdf")),
    )
    .param(text(
        "filename",
        "The name of the file; blank makes one up.",
    ))
    .param(text("header_text", "What stands above each page."))
    .param(text("footer_text", "What stands below each page."))
    .param(text("watermark_text", "What stands across each page."))
    .param(
        Param::new(
            "add_page_numbers",
            Type::Boolean,
            "Whether pages are numbered.",
        )
        .default(json!(true)),
    )
    .param(
        Param::new(
            "add_timestamp",
            Type::Boolean,
            "Whether the document says when it was made.",
        )
        .default(json!(true)),
    )
    .param(
        Param::new(
            "include_download_info_in_content",
            Type::Boolean,
            "Whether a message that names `download` shows its description as well.",
        )
        .default(json!(false)),
    )
    .param(
        Param::new(
            "font_size",
            Type::Number {
                min: Some(12.0),
                max: Some(72.0),
            },
            "The size of the text in points.",
        )
        .default(json!(12)),
    )
    .port("doc_id", "string", "The id of the stored file.")
    .port("filename", "string", "The name of the file.")
    .port("mime_type", "string", "The type of the file.")
    .port("size", "integer", "The size of the file in bytes.")
    .port("url", "string", "Where its owner gets it.")
    .port(
        "download",
        "string",
        "A description of the file as JSON, which a message turns into a download.",
    )
    .primary("download")
}

fn excel_processor() -> Component {
    Component::new(
        "ExcelProcessor",
        Family::Io,
        "Spreadsheet",
        "Reads, merges, changes or writes spreadsheets.",
    )
    // What it keeps is kept under one key, so it may be done again.
    .effect(EffectClass::Reads)
    .seconds(600.0)
    .param(
        Param::new(
            "input_files",
            Type::list_split(Type::Reference, Split::Whole),
            "The files: fields of Begin or a form, `sys.files`, documents of other nodes.",
        )
        .files()
        .default(json!([])),
    )
    .param(
        Param::new(
            "operation",
            Type::choice(&["read", "merge", "transform", "output"]),
            "What is done with them.",
        )
        .default(json!("read")),
    )
    .param(
        Param::new(
            "sheet_selection",
            Type::Text,
            "`all`, `first`, or names of sheets with commas between.",
        )
        .default(json!("all")),
    )
    .param(
        Param::new(
            "merge_strategy",
            Type::choice(&["concat", "join"]),
            "`merge` puts rows below each other, or joins them on a column.",
        )
        .default(json!("concat")),
    )
    .param(Param::new("join_on", Type::Text, "The column `join` joins on.").default(json!("")))
    .param(Param::new(
        "transform_data",
        Type::Reference,
        "The data that `transform` and `output` take.",
    ))
    .param(
        Param::new(
            "output_format",
            Type::choice(&["xlsx", "csv"]),
            "The format that `output` writes.",
        )
        .default(json!("xlsx")),
    )
    .param(
        Param::new(
            "output_filename",
            Type::template(),
            "The name of the file that is written.",
        )
        .default(json!("output")),
    )
    .ignored(&["transform_instructions"])
    .port("data", "object", "The rows, by file and sheet.")
    .port("summary", "string", "What was found or done, in words.")
    .port("markdown", "string", "The first rows as tables.")
    .port("attachment", "object", "The file that was written.")
    .primary("data")
}

fn browser() -> Component {
    Component::new(
        "Browser",
        Family::Io,
        "Browser",
        "Lets a model work in a web browser until a task is done.",
    )
    .effect(EffectClass::Writes)
    .seconds(1200.0)
    .param(
        Param::new("prompts", Type::template(), "The task.")
            .default(json!("{sys.query}"))
            .required(),
    )
    .params(model::sampling())
    .param(
        Param::new(
            "max_steps",
            Type::at_least(1),
            "How many steps it may take.",
        )
        .default(json!(30)),
    )
    .param(
        Param::new(
            "headless",
            Type::Boolean,
            "Kept for canvases that have it: a browser of Easel's has no window.",
        )
        .default(json!(true)),
    )
    .param(
        Param::new(
            "enable_default_extensions",
            Type::Boolean,
            "Kept for canvases that have it: none is loaded.",
        )
        .default(json!(false)),
    )
    .param(
        Param::new(
            "chromium_sandbox",
            Type::Boolean,
            "Kept for canvases that have it: `sandbox` under `[browser]` in `easel.toml` decides.",
        )
        .default(json!(false)),
    )
    .param(
        Param::new(
            "persist_session",
            Type::Boolean,
            "Kept for canvases that have it: each browser is a new one, and its logins end with it.",
        )
        .default(json!(true)),
    )
    .param(Param::new(
        "upload_sources",
        Type::json(Type::list_split(Type::binding(Type::Text), Split::Commas)),
        "Files it may upload: ids, addresses or references.",
    ))
    .ignored(&["sys_prompt", "cite", "visual_files_var"])
    .port("content", "string", "What it found or did.")
    .port(
        "downloaded_files",
        "Array<Object>",
        "The files it downloaded.",
    )
    .primary("content")
}
