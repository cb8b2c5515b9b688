//! Pipelines as RAGFlow's templates are, and a model that answers them.

use serde_json::{Value, json};

use crate::easel::canvas;

/// Set-ups of a Parser as RAGFlow's editor writes them.
pub fn setups() -> Value {
    json!({
        "pdf": {"output_format": "json", "parse_method": "DeepDOC", "suffix": ["pdf"]},
        "spreadsheet": {"output_format": "html", "parse_method": "DeepDOC", "suffix": ["xls", "xlsx", "csv"]},
        "docx": {"output_format": "json", "suffix": ["docx"]},
        "slides": {"output_format": "json", "parse_method": "DeepDOC", "suffix": ["pptx", "ppt"]},
        "image": {"output_format": "text", "parse_method": "ocr", "suffix": ["jpg", "png"]},
        "markdown": {"output_format": "json", "suffix": ["md"]},
        "text&code": {"output_format": "json", "suffix": ["txt", "py"]},
        "html": {"output_format": "json", "suffix": ["htm", "html"]}
    })
}

pub fn extractor(field: &str, before: &str) -> Value {
    json!({
        "field_name": field, "llm_id": "", "sys_prompt": format!("Give the {field}."),
        "prompts": [{"role": "user", "content": format!("Text:\n{{{before}@chunks}}")}]
    })
}

pub fn by_size(tokens: u32) -> Value {
    json!({
        "delimiter_mode": "token_size", "chunk_token_size": tokens, "delimiters": [], "overlapped_percent": 0,
        "children_delimiters": [], "table_context_size": 0, "image_context_size": 0
    })
}

pub fn tokenizer() -> Value {
    json!({"search_method": ["embedding", "full_text"], "filename_embd_weight": 0.1, "fields": "text"})
}

/// A pipeline of these steps behind File and Parser.
pub fn pipeline(steps: &[(&str, &str, Value)]) -> Value {
    let parser = json!({"setups": setups()});
    let mut nodes = vec![("File", "File", json!({})), ("Parser:P", "Parser", parser)];
    nodes.extend(steps.iter().cloned());
    let next: Vec<Vec<&str>> = (1..=nodes.len())
        .map(|at| nodes.get(at).map(|(id, ..)| *id).into_iter().collect())
        .collect();
    let nodes: Vec<_> = nodes
        .into_iter()
        .zip(&next)
        .map(|((id, component, params), to)| (id, component, params, to.as_slice()))
        .collect();
    canvas(&nodes)
}

/// Pieces by size, each with a summary.
pub fn summaries(tokens: u32) -> Value {
    pipeline(&[
        ("TokenChunker:C", "TokenChunker", by_size(tokens)),
        (
            "Extractor:S",
            "Extractor",
            extractor("summary", "TokenChunker:C"),
        ),
        ("Tokenizer:T", "Tokenizer", tokenizer()),
    ])
}

/// Pieces by size with all that can be found out about them.
pub fn everything() -> Value {
    pipeline(&[
        ("TokenChunker:C", "TokenChunker", by_size(512)),
        (
            "Extractor:S",
            "Extractor",
            extractor("summary", "TokenChunker:C"),
        ),
        (
            "Extractor:K",
            "Extractor",
            extractor("keywords", "Extractor:S"),
        ),
        (
            "Extractor:Q",
            "Extractor",
            extractor("questions", "Extractor:K"),
        ),
        (
            "Extractor:M",
            "Extractor",
            extractor("metadata", "Extractor:Q"),
        ),
        ("Tokenizer:T", "Tokenizer", tokenizer()),
    ])
}

/// Pieces at headings.
pub fn by_titles() -> Value {
    let titles = json!({
        "method": "hierarchy", "hierarchy": 3, "include_heading_content": false,
        "levels": [["^#[^#]", "^##[^#]", "^###[^#]"], ["Chapter [0-9]+", "Section [0-9]+", "[\\(（][0-9]{,2}[\\)）]"]]
    });
    pipeline(&[
        ("TitleChunker:C", "TitleChunker", titles),
        (
            "Extractor:S",
            "Extractor",
            extractor("summary", "TitleChunker:C"),
        ),
        ("Tokenizer:T", "Tokenizer", tokenizer()),
    ])
}

/// Pieces by size for a compiler.
pub fn compiled() -> Value {
    let compiler = json!({"compilation_template_group_id": "", "llm_id": "", "plan": false});
    pipeline(&[
        ("TokenChunker:C", "TokenChunker", by_size(512)),
        ("Compiler:W", "Compiler", compiler),
    ])
}

/// What a model says about a piece: of all fields something that names its subject.
pub fn answer(request: &Value) -> Option<String> {
    let said = |at: usize| {
        request["messages"][at]["content"]
            .as_str()
            .unwrap_or_default()
    };
    let subject = said(1)
        .split("about ")
        .nth(1)
        .and_then(|rest| rest.split(['.', '<']).next());
    let subject = subject.unwrap_or("nothing").replace("subject ", "theme");
    Some(match said(0) {
        "Give the keywords." => format!("quokka{subject}, marsupials"),
        "Give the questions." => format!("Who studied wombats of {subject}?\nWhy?"),
        "Give the metadata." => format!("```json\n{{\"theme\": \"{subject}\"}}\n```"),
        _ => format!("A platypus digest of {subject}."),
    })
}
