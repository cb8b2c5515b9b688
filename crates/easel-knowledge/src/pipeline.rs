//! Documents that an ingestion pipeline adds to a knowledge base.

mod metadata;
mod passages;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_core::{Object, Value};
use easel_tools::ToolError;
use easel_tools::files::{FileContent, FileDescriptor, FileRequest, FileStore, KeptFile, MadeFile};
use easel_tools::ingestion::{
    CutRequest, DocumentPiece, Ingestion, KeepRequest, Kept, ReadDocument, ReadRequest,
};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use sha2::{Digest, Sha256};

use crate::add::{Outcome, READING, Source, check_name, clash};
use crate::embed::Embedder;
use crate::error::{KnowledgeError, ReadError};
use crate::knowledge::Knowledge;
use crate::reader::Reader;
use crate::store::{Base, BaseRow, Content, Known, NewDocument};

/// A knowledge base as a pipeline adds to it: the door through which its steps read, cut and keep documents. A clone is
/// another handle to the same.
///
/// A document is [begun](Pipeline::begin), a run of the pipeline goes over it, and it is [ended](Pipeline::end). It is there
/// wholly or not at all, whatever happens in between.
#[derive(Clone)]
pub struct Pipeline(Arc<Inner>);

struct Inner {
    knowledge: Knowledge,
    base: BaseRow,
    embedder: Option<Arc<dyn Embedder>>,
    reader: Reader,
    key: Vec<u8>,
    known: Mutex<HashMap<String, Known>>,
    open: Mutex<HashMap<String, Open>>,
}

/// A document on its way.
#[derive(Clone)]
struct Open {
    name: String,
    bytes: Arc<Vec<u8>>,
    metadata: Option<Object>,
    origin: Option<String>,
    hash: Vec<u8>,
    /// What became of it, once it was kept.
    outcome: Option<Outcome>,
}

/// What is to be done about a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// Nothing: this has become of it already.
    Ended(Outcome),
    /// A run goes over it; this names it.
    Open(FileDescriptor),
}

/// How the run over a document ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All steps are done.
    Finished,
    /// The document cannot be taken in; this is why. It is kept with the reason.
    Unfit(String),
    /// Something else failed; this is what. Nothing is written, and what was there before stays.
    Failed(String),
}

impl Knowledge {
    /// A knowledge base for a pipeline to add to. Documents that another pipeline added, by its `key`, are added anew.
    pub async fn pipeline(&self, base: &str, key: &[u8]) -> Result<Pipeline, KnowledgeError> {
        let base = self.row(base).await?;
        let embedder = self.embedder(&base.base)?;
        let asked = base.clone();
        let known = self.store.read(move |at| asked.known(at, None)).await?;
        Ok(Pipeline(Arc::new(Inner {
            reader: Reader::new(self.limits.clone()),
            knowledge: self.clone(),
            base,
            embedder,
            key: key.to_vec(),
            known: Mutex::new(known),
            open: Mutex::default(),
        })))
    }
}

impl Pipeline {
    /// The knowledge base, as it was when this was made.
    pub fn base(&self) -> &Base {
        &self.0.base.base
    }

    /// Begins with a document. One that is there, unchanged and through the same pipeline, is passed by; metadata that is
    /// new is written.
    pub async fn begin(
        &self,
        source: Source,
        origin: Option<&str>,
    ) -> Result<Begun, KnowledgeError> {
        let known = self.known().get(&source.name).cloned();
        let problem = check_name(&source.name)
            .err()
            .or_else(|| clash(known.as_ref(), &source.name, origin));
        if let Some(problem) = problem {
            return Ok(Begun::Ended(Outcome::Failed(problem.to_string())));
        }
        let hash = self.hash(&source.bytes);
        if let Some(known) = known.filter(|known| known.ready && known.hash == hash) {
            self.refresh(known, source).await?;
            return Ok(Begun::Ended(Outcome::Unchanged));
        }
        let document = FileDescriptor {
            id: self.0.base.document_key(&source.name),
            name: source.name.clone(),
            ..FileDescriptor::default()
        };
        let open = Open {
            name: source.name,
            bytes: Arc::new(source.bytes),
            metadata: source.metadata,
            origin: origin.map(str::to_owned),
            hash,
            outcome: None,
        };
        self.open().insert(document.id.clone(), open);
        Ok(Begun::Open(document))
    }

    /// Ends with a document, and says what became of it.
    pub async fn end(
        &self,
        document: &FileDescriptor,
        end: RunEnd,
    ) -> Result<Outcome, KnowledgeError> {
        let Some(open) = self.open().remove(&document.id) else {
            let cause = format!("{} was not begun", document.name);
            return Err(KnowledgeError::Broken(cause));
        };
        let why = match (open.outcome.clone(), end) {
            // What came behind the step that kept it does not undo that.
            (Some(kept), RunEnd::Finished) => return Ok(kept),
            (Some(_), RunEnd::Unfit(why) | RunEnd::Failed(why)) => {
                return Ok(Outcome::Partial(format!("it is kept, and then: {why}")));
            }
            (None, RunEnd::Failed(why)) => return Ok(Outcome::Failed(why)),
            (None, RunEnd::Unfit(why)) => why,
            (None, RunEnd::Finished) => {
                let cause = "the pipeline made no pieces of it";
                let fix = "Let it end with a step that gives pieces, such as Tokenizer";
                ReadError::new(cause, fix).of(&open.name).to_string()
            }
        };
        self.put(&open, None, Err(why.clone())).await?;
        Ok(Outcome::Failed(why))
    }

    /// The documents that came from a folder and are not among these names.
    pub fn gone(&self, origin: &str, names: &[&str]) -> Vec<String> {
        let known = self.known();
        let gone = known.iter().filter(|(name, known)| {
            known.origin.as_deref() == Some(origin) && !names.contains(&name.as_str())
        });
        let mut gone: Vec<String> = gone.map(|(name, _)| name.clone()).collect();
        gone.sort_unstable();
        gone
    }

    /// What a model answered to a request about a document that is on its way, if it is known.
    pub async fn answer(
        &self,
        document: &FileDescriptor,
        request: &[u8],
    ) -> Result<Option<String>, KnowledgeError> {
        let (base, id, request) = (self.0.base.clone(), document.id.clone(), request.to_vec());
        let read = move |at: &rusqlite::Transaction<'_>| base.answer(at, &id, &request);
        self.0.knowledge.store.read(read).await
    }

    /// Keeps what a model answered to a request about a document, until the document is there.
    pub async fn keep_answer(
        &self,
        document: &FileDescriptor,
        request: &[u8],
        answer: &str,
    ) -> Result<(), KnowledgeError> {
        let (base, id) = (self.0.base.clone(), document.id.clone());
        let (request, answer) = (request.to_vec(), answer.to_owned());
        let write =
            move |at: &rusqlite::Transaction<'_>| base.put_answer(at, &id, &request, &answer);
        self.0.knowledge.store.write(write).await
    }

    fn hash(&self, bytes: &[u8]) -> Vec<u8> {
        let hash = Sha256::new()
            .chain_update(READING.to_le_bytes())
            .chain_update(b"pipeline")
            .chain_update((self.0.key.len() as u64).to_le_bytes())
            .chain_update(&self.0.key)
            .chain_update(bytes);
        hash.finalize().to_vec()
    }

    async fn refresh(&self, known: Known, source: Source) -> Result<(), KnowledgeError> {
        let was = metadata_of(&known);
        let mut is = was.clone();
        is.extend(source.metadata.into_iter().flatten());
        if is == was {
            return Ok(());
        }
        let (base, name) = (self.0.base.clone(), source.name);
        let set = move |at: &rusqlite::Transaction<'_>| base.set_metadata(at, &name, &is);
        self.0.knowledge.store.write(set).await
    }

    async fn keep_passages(&self, request: KeepRequest) -> Result<Kept, KnowledgeError> {
        let open = self.open().get(&request.document.id).cloned();
        let Some(open) = open else {
            return Err(KnowledgeError::NoDocument {
                base: self.base().name.clone(),
                name: request.document.name,
            });
        };
        if request.passages.is_empty() {
            let cause = "no piece was left of it";
            let fix = "Leave it out, or change the steps before";
            return Err(ReadError::new(cause, fix).of(&open.name));
        }
        let known = self.known().get(&open.name).cloned();
        let found = metadata::merged(&request.passages);
        let mut metadata = known.as_ref().map(metadata_of).unwrap_or_default();
        metadata.extend(found);
        metadata.extend(open.metadata.clone().into_iter().flatten());
        let outcome = match (&request.unread, known) {
            (Some(unread), _) => Outcome::Partial(unread.clone()),
            (None, Some(_)) => Outcome::Replaced,
            (None, None) => Outcome::Added,
        };
        let id = request.document.id.clone();
        let (format, unread) = (request.format.clone(), request.unread.clone());
        let passages = passages::new(&open.name, request, self.0.embedder.as_deref()).await?;
        let content = Content {
            format,
            passages,
            unread,
        };
        self.put(&open, Some(metadata), Ok(content)).await?;
        if let Some(open) = self.open().get_mut(&id) {
            open.outcome = Some(outcome);
        }
        Ok(Kept {
            base: Some(self.base().name.clone()),
        })
    }

    async fn put(
        &self,
        open: &Open,
        metadata: Option<Object>,
        content: Result<Content, String>,
    ) -> Result<(), KnowledgeError> {
        let document = NewDocument {
            name: open.name.clone(),
            origin: open.origin.clone(),
            hash: open.hash.clone(),
            bytes: open.bytes.len() as u64,
            metadata: metadata.or_else(|| open.metadata.clone()),
            content,
        };
        let base = self.0.base.clone();
        let write = move |at: &rusqlite::Transaction<'_>| {
            base.put_document(at, &document)?;
            base.known(at, Some(&document.name))
        };
        let written = self.0.knowledge.store.write(write).await?;
        self.known().extend(written);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn metadata_of(known: &Known) -> Object {
    let metadata: Value = serde_json::from_str(&known.metadata).unwrap_or_default();
    metadata.as_object().cloned().unwrap_or_default()
}

impl Ingestion for Pipeline {
    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<ReadDocument, ToolError>> {
        self.0.reader.read(request)
    }

    fn cut(&self, request: CutRequest) -> BoxFuture<'_, Result<Vec<DocumentPiece>, ToolError>> {
        self.0.reader.cut(request)
    }

    fn keep(&self, request: KeepRequest) -> BoxFuture<'_, Result<Kept, ToolError>> {
        async move { Ok(self.keep_passages(request).await?) }.boxed()
    }
}

/// The files of a pipeline are the documents that are on their way.
impl FileStore for Pipeline {
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        let refused = ToolError::NotAvailable {
            what: format!(
                "reading {} as a text of the conversation",
                request.file.name
            ),
            instead: "steps of a pipeline read documents by Parser".into(),
        };
        ready(Err(refused)).boxed()
    }

    fn keep(&self, file: MadeFile) -> BoxFuture<'_, Result<KeptFile, ToolError>> {
        let refused = ToolError::NotAvailable {
            what: format!("keeping {}", file.name),
            instead: "steps of a pipeline keep passages".into(),
        };
        ready(Err(refused)).boxed()
    }

    fn bytes(&self, _: &str, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        let bytes = self.open().get(&file.id).map(|open| open.bytes.to_vec());
        let bytes = bytes.ok_or(ToolError::NotFound {
            what: "document",
            id: file.name,
        });
        ready(bytes).boxed()
    }
}
