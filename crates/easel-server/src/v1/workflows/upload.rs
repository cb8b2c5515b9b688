//! What a client sends for a workflow: a graph as text, a graph in JSON, or a package.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{FromRequest, Multipart, Request};
use axum::http::StatusCode;
use easel_runtime::graphs::package::{MANIFEST, Package};
use easel_runtime::{Engine, LoadError, Requirements, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use utoipa::ToSchema;

use super::report::Validation;
use crate::App;
use crate::v1::problem::Problem;
use crate::v1::request::{bytes, is_json, json as read_json, media_type};

/// A graph in JSON, with what it is called.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct WorkflowBody {
    /// By what it is called; the graph's own name if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The graph: an object, or its YAML or JSON as a text.
    #[schema(value_type = GraphBody)]
    pub graph: Json,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its version, as the manifest has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// The Python and the schemas beside it, by file name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// A graph: as its YAML or JSON text, or as an object with `nodes`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum GraphBody {
    /// The text of its file.
    Text(String),
    /// The file as an object.
    Object(std::collections::HashMap<String, Json>),
}

/// A package as a form sends it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkflowForm {
    /// The package as a zip file. Instead, its files may be sent one by one, each under its name.
    #[schema(value_type = String, format = Binary)]
    pub package: Vec<u8>,
    /// By what it is called; the package's own name if there is none.
    pub name: Option<String>,
}

/// What a client sent.
#[derive(Debug, Default)]
pub struct Upload {
    /// What it is to be stored as: the text of a graph, or a package's archive.
    pub bytes: Vec<u8>,
    /// By what the client calls it.
    pub name: Option<String>,
    /// What the client says that it is for.
    pub description: Option<String>,
    /// Words to find it by.
    pub tags: Option<Vec<String>>,
}

/// A workflow that was sent, loaded and checked.
pub struct Loaded {
    /// The workflow.
    pub workflow: Arc<Workflow>,
    /// What it is called.
    pub name: Option<String>,
    /// What it is for.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What the check says.
    pub validation: Validation,
}

impl FromRequest<Arc<App>> for Upload {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Upload, Problem> {
        let media = media_type(request.headers());
        if media == "multipart/form-data" {
            return form(request, app).await;
        }
        let bytes = bytes(request, app).await?;
        if bytes.starts_with(ARCHIVE) {
            return Ok(Upload::of(bytes.to_vec()));
        }
        if is_json(&media) {
            return of_json(&bytes);
        }
        let text = [
            "",
            "application/yaml",
            "application/x-yaml",
            "text/yaml",
            "text/x-yaml",
            "text/plain",
            "application/octet-stream",
        ];
        if text.contains(&&*media) {
            return match bytes.iter().all(u8::is_ascii_whitespace) {
                true => Err(no_graph()),
                false => Ok(Upload::of(bytes.to_vec())),
            };
        }
        let message = format!("the body is `{media}`, which is no workflow");
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Err(Problem::new(status, "media_type", message).fix(
            "send the graph as application/yaml or in application/json, or a package as application/zip or multipart/form-data",
        ))
    }
}

/// How an archive begins.
const ARCHIVE: &[u8] = b"PK\x03\x04";

fn no_graph() -> Problem {
    Problem::unfit("no_graph", "the body has no graph")
        .fix("send {\"graph\": …}, the graph's YAML, or a package as a zip file")
}

impl Upload {
    fn of(bytes: Vec<u8>) -> Upload {
        Upload {
            bytes,
            ..Upload::default()
        }
    }
}

fn of_json(bytes: &[u8]) -> Result<Upload, Problem> {
    let body: Json = read_json(bytes)?;
    // A graph's own file is JSON too.
    if body.get("graph").is_none() && body.get("nodes").is_some() {
        return Ok(Upload::of(bytes.to_vec()));
    }
    if !body.is_object() || body.get("graph").is_none_or(Json::is_null) {
        return Err(no_graph());
    }
    let body: WorkflowBody =
        serde_json::from_value(body).map_err(|error| Problem::unfit("body", error.to_string()))?;
    let (text, file) = match body.graph.clone() {
        Json::String(text) => (text, "graph.yaml"),
        Json::Object(mut graph) => {
            // A graph has to have a name, and may have that of the request.
            if let (None, Some(name)) = (graph.get("name"), &body.name) {
                graph.shift_insert(0, "name".to_owned(), json!(name));
            }
            (Json::Object(graph).to_string(), "graph.json")
        }
        _ => return Err(no_graph()),
    };
    let bytes = match body.files.is_empty() {
        true => text.into_bytes(),
        false => package(&body, text, file)?,
    };
    Ok(Upload {
        bytes,
        name: body.name,
        description: body.description,
        tags: Some(body.tags).filter(|tags| !tags.is_empty()),
    })
}

/// A package of a graph and the files beside it.
fn package(body: &WorkflowBody, graph: String, file: &str) -> Result<Vec<u8>, Problem> {
    let mut manifest = json!({
        "name": body.name.as_deref().unwrap_or("workflow"),
        "version": body.version.as_deref().unwrap_or("1.0.0"),
        "description": body.description.as_deref().unwrap_or_default(),
        "entrypoint": file,
    });
    if !body.tags.is_empty() {
        manifest["tags"] = json!(body.tags);
    }
    if let Some(maker) = &body.created_by {
        manifest["created_by"] = json!(maker);
    }
    let beside = body.files.iter();
    let beside = beside.map(|(name, text)| (name.clone(), text.clone().into_bytes()));
    let own = [
        (file.to_owned(), graph.into_bytes()),
        (MANIFEST.to_owned(), manifest.to_string().into_bytes()),
    ];
    archived(beside.chain(own).collect())
}

fn archived(files: Vec<(String, Vec<u8>)>) -> Result<Vec<u8>, Problem> {
    let packed = Package::from_files(files).and_then(|package| package.to_archive());
    packed.map_err(|error| refused(&LoadError::from(error)))
}

/// A package in a form: as an archive, or file by file.
async fn form(request: Request, app: &Arc<App>) -> Result<Upload, Problem> {
    let multipart = Multipart::from_request(request, app).await;
    let mut multipart = multipart.map_err(|error| Problem::bad("form", error.body_text()))?;
    let unread = |error: axum::extract::multipart::MultipartError| {
        Problem::new(error.status(), "form", error.body_text())
    };
    let mut upload = Upload::default();
    let mut files = Vec::new();
    while let Some(field) = multipart.next_field().await.map_err(unread)? {
        let key = field.name().unwrap_or_default().to_owned();
        let Some(file) = field.file_name().map(str::to_owned) else {
            let text = field.text().await.map_err(unread)?;
            match &*key {
                "name" => upload.name = Some(text).filter(|name| !name.trim().is_empty()),
                "description" => upload.description = Some(text),
                "graph" => upload.bytes = text.into_bytes(),
                _ => {}
            }
            continue;
        };
        let bytes = field.bytes().await.map_err(unread)?;
        match bytes.starts_with(ARCHIVE) {
            true => upload.bytes = bytes.to_vec(),
            false => files.push((file, bytes.to_vec())),
        }
    }
    if upload.bytes.is_empty() {
        upload.bytes = match files.len() {
            0 => return Err(no_graph()),
            1 if files[0].0 != MANIFEST => files.swap_remove(0).1,
            _ => archived(files)?,
        };
    }
    Ok(upload)
}

/// Why something is no workflow.
fn refused(error: &LoadError) -> Problem {
    let validation = Validation::of(&[error.diagnostic()]);
    let message = format!("this is no workflow: {error}");
    Problem::unfit("invalid", message).with_validation(validation)
}

/// Loads what was sent, and checks it.
///
/// # Errors
/// It is no graph.
pub async fn load(app: &App, upload: &Upload) -> Result<Loaded, Problem> {
    let (engine, bytes) = (app.host.engine().clone(), upload.bytes.clone());
    let loaded = tokio::task::spawn_blocking(move || read(&engine, &bytes));
    let mut loaded = match loaded.await {
        Ok(loaded) => loaded?,
        Err(_) => return Err(Problem::unfit("invalid", "the workflow cannot be read")),
    };
    if let Some(name) = &upload.name {
        loaded.name = Some(name.trim().to_owned());
    }
    if let Some(description) = &upload.description {
        loaded.description.clone_from(description);
    }
    if let Some(tags) = &upload.tags {
        loaded.tags.clone_from(tags);
    }
    Ok(loaded)
}

fn read(engine: &Engine, bytes: &[u8]) -> Result<Loaded, Problem> {
    let allowed = engine.python_allowed();
    let package = match bytes.starts_with(ARCHIVE) {
        true => {
            let package = Package::from_archive(bytes);
            Some(package.map_err(|error| refused(&LoadError::from(error)))?)
        }
        false => None,
    };
    let workflow = match &package {
        Some(package) => engine.package(package),
        None => engine.load(bytes).map_err(|error| refused(&error))?,
    };
    let Some(graph) = workflow.graph() else {
        return Err(
            Problem::unfit("canvas", "this is a canvas, and workflows here are graphs")
                .fix("make an agent of it with POST /api/v1/agents"),
        );
    };
    let document = graph.document();
    let own = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let description = document.description.as_ref();
    let (name, description, tags) = match &package {
        Some(Package { manifest, .. }) => (
            own(&manifest.name),
            manifest.description.clone(),
            manifest.tags.clone(),
        ),
        None => (
            own(&document.name),
            description.map(|text| text.to_string()).unwrap_or_default(),
            Vec::new(),
        ),
    };
    let diagnostics = engine.check(&workflow);
    let with_code = package.as_ref().map(|package| (package, &allowed));
    let requirements = Requirements::of(engine, &workflow, with_code);
    Ok(Loaded {
        validation: Validation::of(&diagnostics).with_gaps(&requirements),
        workflow: Arc::new(workflow),
        name,
        description,
        tags,
    })
}
