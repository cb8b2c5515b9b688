//! The page of the book that lists all routes, from their description.

use std::fmt::Write;

use serde_json::Value as Json;

/// What stands before the routes.
const HEAD: &str = "\
# The API

Every route of the server, from its own description: `GET /openapi.json` gives the same for programs. (This page is written by
`EASEL_WRITE=1 cargo test -p easel-server --test server api_page`.)

Requests name their key in `Authorization: Bearer KEY`; [The server](server.md) says when none is needed. What is not done is
answered with the right status and `{\"error\": {\"code\", \"message\", \"fix\"}}`; what is another owner's as if it were not there.
Times are seconds since 1970. `state` is Easel's word for where a run stands, `status` the one that clients of graph servers
know: `running`, `awaiting_input`, `interrupted`, `succeeded`, `failed`, `cancelled`.
";

/// The page.
pub fn page(described: &Json) -> String {
    let mut page = HEAD.to_owned();
    let tags = described["tags"].as_array().unwrap();
    for tag in tags {
        let name = tag["name"].as_str().unwrap();
        let operations = operations(described, name);
        if operations.is_empty() {
            continue;
        }
        let mut title = name.to_owned();
        title[..1].make_ascii_uppercase();
        writeln!(page, "\n## {title}\n\n{}\n", text(&tag["description"])).unwrap();
        let own = operations
            .iter()
            .any(|(.., operation)| operation["description"].is_string());
        if !own {
            page += "| route | |\n|---|---|\n";
            for (method, path, operation) in &operations {
                let summary = text(&operation["summary"]);
                writeln!(page, "| `{method} {path}` | {summary} |").unwrap();
            }
            continue;
        }
        for (method, path, operation) in &operations {
            describe(&mut page, described, method, path, operation);
        }
    }
    let forms = described["components"]["schemas"].as_object().unwrap();
    page += "\n## Forms\n";
    for (name, form) in forms {
        writeln!(page, "\n### {name}\n\n{}\n", text(&form["description"])).unwrap();
        members(&mut page, form);
    }
    page
}

/// The operations with a tag: method, path and description.
fn operations<'a>(described: &'a Json, tag: &str) -> Vec<(String, &'a str, &'a Json)> {
    let paths = described["paths"].as_object().unwrap().iter();
    let all = paths.flat_map(|(path, item)| {
        let operations = item.as_object().unwrap().iter();
        operations.map(move |(method, operation)| (method.to_uppercase(), path.as_str(), operation))
    });
    all.filter(|(.., operation)| operation["tags"][0] == tag)
        .collect()
}

fn describe(page: &mut String, described: &Json, method: &str, path: &str, operation: &Json) {
    writeln!(page, "### `{method} {path}`\n").unwrap();
    let (summary, more) = (text(&operation["summary"]), text(&operation["description"]));
    match more.is_empty() {
        true => writeln!(page, "{summary}.\n").unwrap(),
        false => writeln!(page, "{summary}. {more}\n").unwrap(),
    }
    let parameters = operation["parameters"].as_array();
    let parameters = parameters.into_iter().flatten();
    let parameters: Vec<_> = parameters.filter(|p| p["in"] != "path").collect();
    if !parameters.is_empty() {
        page.push_str("| parameter | |\n|---|---|\n");
        for parameter in parameters {
            let name = text(&parameter["name"]);
            let told = text(&parameter["description"]);
            writeln!(page, "| `{name}` | {told} |").unwrap();
        }
        page.push('\n');
    }
    if let Some(content) = operation["requestBody"]["content"].as_object() {
        let media = content
            .iter()
            .map(|(media, body)| match of(described, &body["schema"]) {
                Some(form) => format!("`{media}` ([{form}](#{}))", form.to_lowercase()),
                None => format!("`{media}`"),
            });
        writeln!(page, "Takes {}.\n", Vec::from_iter(media).join(", ")).unwrap();
    }
    page.push_str("| answer | |\n|---|---|\n");
    for (status, answer) in operation["responses"].as_object().unwrap() {
        let content = answer["content"].as_object().into_iter().flatten();
        let forms = content.filter_map(|(_, body)| of(described, &body["schema"]));
        let forms = forms.map(|form| format!("[{form}](#{})", form.to_lowercase()));
        let forms = Vec::from_iter(forms).join(", ");
        let told = text(&answer["description"]);
        let both = [told, forms].into_iter().filter(|part| !part.is_empty());
        let both = Vec::from_iter(both).join(": ");
        let status = match status.as_str() {
            "default" => "other",
            status => status,
        };
        writeln!(page, "| {status} | {both} |").unwrap();
    }
    page.push('\n');
}

/// The form that a schema refers to.
fn of<'a>(described: &Json, schema: &'a Json) -> Option<&'a str> {
    let reference = schema["$ref"].as_str()?;
    let name = reference.rsplit('/').next()?;
    described["components"]["schemas"][name]
        .is_object()
        .then_some(name)
}

fn members(page: &mut String, form: &Json) {
    if let Some(words) = form["enum"].as_array() {
        let words = words
            .iter()
            .map(|word| format!("`{}`", word.as_str().unwrap_or_default()));
        writeln!(page, "One of {}.", Vec::from_iter(words).join(", ")).unwrap();
        return;
    }
    let parts = form["allOf"].as_array().into_iter().flatten().chain([form]);
    let mut head = false;
    for part in parts {
        if let Some(reference) = part["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap();
            writeln!(
                page,
                "What is in [{name}](#{}), and:\n",
                name.to_lowercase()
            )
            .unwrap();
        }
        let Some(properties) = part["properties"].as_object() else {
            continue;
        };
        if !std::mem::replace(&mut head, true) {
            page.push_str("| member | type | |\n|---|---|---|\n");
        }
        let required = part["required"].as_array().cloned().unwrap_or_default();
        for (name, schema) in properties {
            let kind = kind(schema);
            let told = text(&schema["description"]);
            let needed = match required.iter().any(|r| r == name) {
                true => "",
                false => "?",
            };
            writeln!(page, "| `{name}`{needed} | {kind} | {told} |").unwrap();
        }
    }
}

/// A type in a word.
fn kind(schema: &Json) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        if let Some(parts) = schema[several].as_array() {
            let kinds = parts.iter().map(kind).filter(|kind| kind != "null");
            return Vec::from_iter(kinds).join(" or ");
        }
    }
    let named = match &schema["type"] {
        Json::String(name) => name.clone(),
        Json::Array(names) => {
            let names = names.iter().filter_map(Json::as_str);
            Vec::from_iter(names.filter(|name| *name != "null")).join(" or ")
        }
        _ => "any".to_owned(),
    };
    match named.as_str() {
        "array" => format!("list of {}", kind(&schema["items"])),
        _ => named,
    }
}

/// A text in one line.
fn text(value: &Json) -> String {
    let text = value.as_str().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}
