//! `easel kb`: knowledge bases.

mod add;
mod answers;
mod pipeline;
mod progress;

use std::path::Path;
use std::sync::Arc;

use easel_knowledge::{
    Base, Chunking, Document, HashedNgrams, Hit, Knowledge, KnowledgeError, NewBase, State,
};
use easel_runtime::Timestamp;
use easel_runtime::clock::local_date_time;
use easel_runtime::tools::World;
use easel_runtime::tools::retrieval::RetrievalRequest;
use serde_json::{Value as Json, json};

use crate::cli::{FolderArguments, KbCommand, ListKb, NewKb, RmKb, SearchKb};
use crate::columns::Columns;
use crate::data;
use crate::exit::Exit;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::reach::within;

/// How much of a passage is shown, in characters.
const SHOWN: usize = 240;

/// Does what is asked.
pub fn obey(command: &KbCommand) -> Result<Exit, Problem> {
    within(async {
        match command {
            KbCommand::New(arguments) => new(arguments).await,
            KbCommand::List(arguments) => list(arguments).await,
            KbCommand::Add(arguments) => add::add(arguments).await,
            KbCommand::Search(arguments) => search(arguments).await,
            KbCommand::Rm(arguments) => remove(arguments).await,
        }
    })
}

/// The knowledge bases of a data folder.
pub fn open(folder: &Path) -> Result<Knowledge, Problem> {
    Knowledge::open(folder).map_err(problem)
}

/// A world that searches the knowledge bases of a data folder, if there are any.
pub fn within_reach(world: World, folder: &Path) -> Result<World, Problem> {
    if !folder.join(easel_knowledge::FILE).exists() {
        return Ok(world);
    }
    Ok(World {
        retrieval: Arc::new(open(folder)?),
        ..world
    })
}

fn of(arguments: &FolderArguments) -> Result<Knowledge, Problem> {
    open(&data::folder(arguments.data.as_deref()))
}

fn problem(error: KnowledgeError) -> Problem {
    let text = error.to_string();
    let problem = Problem::usage(sentence(&text));
    match error {
        KnowledgeError::NoBase(_) => problem.fix("`easel kb list` shows which there are."),
        _ => problem,
    }
}

async fn new(arguments: &NewKb) -> Result<Exit, Problem> {
    let knowledge = of(&arguments.folder)?;
    let base = knowledge.create(NewBase {
        name: arguments.name.clone(),
        model: (!arguments.words).then(|| HashedNgrams::MODEL.to_owned()),
        chunking: Chunking {
            tokens: arguments.tokens,
            overlap_percent: arguments.overlap,
        },
    });
    let base = base.await.map_err(problem)?;
    if arguments.json {
        out::line(&format!("{:#}", shown(&base)));
    } else {
        out::line(&base.id);
        out::tell(&format!(
            "{:?} is there. Add documents with `easel kb add {} FILES`.",
            base.name, base.name
        ));
    }
    Ok(Exit::Done)
}

async fn list(arguments: &ListKb) -> Result<Exit, Problem> {
    let knowledge = of(&arguments.folder)?;
    if let Some(name) = &arguments.name {
        let documents = knowledge.documents(name).await.map_err(problem)?;
        list_documents(&documents, arguments.json);
        return Ok(Exit::Done);
    }
    let bases = knowledge.bases().await.map_err(problem)?;
    if arguments.json {
        let bases: Vec<Json> = bases.iter().map(shown).collect();
        out::line(&format!("{:#}", json!({"knowledge_bases": bases})));
    } else if bases.is_empty() {
        out::tell("There is no knowledge base. `easel kb new NAME` makes one.");
    } else {
        let mut table = Columns::new(&["NAME", "ID", "DOCUMENTS", "PASSAGES", "MODEL", "MADE"]);
        for base in &bases {
            table.row([
                base.name.clone(),
                base.id.clone(),
                base.documents.to_string(),
                base.chunks.to_string(),
                base.model.clone().unwrap_or_else(|| "words".to_owned()),
                local_date_time(Timestamp(base.created_ms)),
            ]);
        }
        out::print(&table.for_output());
    }
    Ok(Exit::Done)
}

fn list_documents(documents: &[Document], json: bool) {
    if json {
        let documents: Vec<Json> = documents.iter().map(document).collect();
        out::line(&format!("{:#}", json!({"documents": documents})));
        return;
    }
    if documents.is_empty() {
        out::tell("It holds no document. `easel kb add NAME FILES` adds some.");
        return;
    }
    let mut table = Columns::new(&["DOCUMENT", "FORMAT", "BYTES", "PASSAGES", "ADDED", "STATE"]);
    for document in documents {
        table.row([
            document.name.clone(),
            document.format.clone().unwrap_or_default(),
            document.bytes.to_string(),
            document.chunks.to_string(),
            local_date_time(Timestamp(document.updated_ms)),
            match &document.state {
                State::Ready => "ready".to_owned(),
                State::Partial(why) | State::Failed(why) => why.clone(),
            },
        ]);
    }
    out::print(&table.for_output());
}

async fn search(arguments: &SearchKb) -> Result<Exit, Problem> {
    if arguments.query.trim().is_empty() {
        return Err(
            Problem::usage("There is nothing to look for: the query is blank.")
                .fix("Write what to look for behind the name, in quotes if it has blanks."),
        );
    }
    let knowledge = of(&arguments.folder)?;
    let names = std::iter::once(&arguments.name).chain(&arguments.others);
    let request = RetrievalRequest {
        query: arguments.query.clone(),
        dataset_ids: names.cloned().collect(),
        top_n: arguments.top_n,
        similarity_threshold: arguments.threshold,
        keywords_similarity_weight: arguments.words,
        ..RetrievalRequest::default()
    };
    let hits = knowledge.search(&request).await.map_err(problem)?;
    if arguments.json {
        let hits: Vec<Json> = hits.iter().map(hit).collect();
        out::line(&format!("{:#}", json!({"passages": hits})));
        return Ok(Exit::Done);
    }
    if hits.is_empty() {
        out::tell("Nothing fits. A lower --threshold finds more.");
    }
    for hit in &hits {
        let page = hit.page.map(|page| format!(", page {page}"));
        let heading = match hit.heading.is_empty() {
            true => String::new(),
            false => format!(" · {}", hit.heading),
        };
        out::line(&format!(
            "{:.2}  {}{}{heading}",
            hit.similarity,
            hit.document,
            page.unwrap_or_default()
        ));
        let text: String = hit.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut: String = text.chars().take(SHOWN).collect();
        let more = if cut.len() < text.len() { "…" } else { "" };
        out::line(&format!("      {cut}{more}\n"));
    }
    Ok(Exit::Done)
}

async fn remove(arguments: &RmKb) -> Result<Exit, Problem> {
    let knowledge = of(&arguments.folder)?;
    match &arguments.document {
        Some(document) => {
            let removed = knowledge.remove_document(&arguments.name, document).await;
            removed.map_err(problem)?;
            out::tell(&format!("{document} is gone from {:?}.", arguments.name));
        }
        None => {
            knowledge.remove(&arguments.name).await.map_err(problem)?;
            out::tell(&format!("{:?} is gone.", arguments.name));
        }
    }
    Ok(Exit::Done)
}

fn shown(base: &Base) -> Json {
    json!({
        "id": base.id, "name": base.name, "model": base.model, "documents": base.documents, "passages": base.chunks,
        "tokens": base.chunking.tokens, "overlap_percent": base.chunking.overlap_percent, "created": base.created_ms,
    })
}

fn document(document: &Document) -> Json {
    let error = match &document.state {
        State::Ready => None,
        State::Partial(why) | State::Failed(why) => Some(why),
    };
    json!({
        "id": document.id, "name": document.name, "format": document.format, "bytes": document.bytes,
        "passages": document.chunks, "metadata": document.metadata, "error": error, "updated": document.updated_ms,
    })
}

fn hit(hit: &Hit) -> Json {
    json!({
        "text": hit.text, "heading": hit.heading, "page": hit.page, "document": hit.document,
        "similarity": hit.similarity, "word_similarity": hit.term_similarity, "vector_similarity": hit.vector_similarity,
        "metadata": hit.metadata, "fields": hit.fields,
    })
}
