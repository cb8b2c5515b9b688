//! Adding documents: only what changed, each wholly or not at all.

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::{Object, Value};
use sha2::{Digest, Sha256};

use crate::chunks::{Chunk, Chunking, chunks};
use crate::embed::{Embedder, Purpose, normalise};
use crate::error::{KnowledgeError, ReadError};
use crate::format::Format;
use crate::knowledge::Knowledge;
use crate::reading::read;
use crate::store::{BaseRow, Content, Known, NewDocument, NewPassage, searched_text};
use crate::text::Text;
use crate::worker;

/// Raised when documents are read or cut in another way, so that they are added anew.
pub(crate) const READING: u32 = 2;

/// A document that is to be added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// Its name, by which it is known from then on.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// What is known of it beside its text. `None` keeps what was known.
    pub metadata: Option<Object>,
}

/// What became of a document that was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Added,
    /// It had changed, and took the place of the old one.
    Replaced,
    /// It is there but for some pages, which could not be read.
    Partial(String),
    /// It was there as it is.
    Unchanged,
    /// It could not be read; this is why.
    Failed(String),
}

/// How far adding is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress<'a> {
    /// The document at hand.
    pub name: &'a str,
    /// How many documents come before it.
    pub done: usize,
    /// How many documents there are.
    pub total: usize,
    /// What happens to it.
    pub step: Step,
}

/// What happens to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is read and cut into passages.
    Reading,
    /// Its passages are embedded: so many of so many are done.
    Embedding(usize, usize),
    /// It is in the knowledge base, or the outcome says why it is not.
    Ended(Outcome),
}

/// What adding did. Names are in the order of the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Documents that are new.
    pub added: Vec<String>,
    /// Documents that had changed.
    pub replaced: Vec<String>,
    /// Documents some pages of which could not be read, with the pages.
    pub partial: Vec<(String, String)>,
    /// Documents that were there already.
    pub unchanged: Vec<String>,
    /// Documents that could not be read, with the reasons.
    pub failed: Vec<(String, String)>,
    /// Files of a folder that are of no known format.
    pub skipped: Vec<String>,
    /// Documents whose files are no longer in the folder.
    pub gone: Vec<String>,
    /// Whether those were removed.
    pub removed: bool,
}

impl Report {
    pub(crate) fn note(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Added => self.added.push(name.into()),
            Outcome::Replaced => self.replaced.push(name.into()),
            Outcome::Partial(why) => self.partial.push((name.into(), why)),
            Outcome::Unchanged => self.unchanged.push(name.into()),
            Outcome::Failed(why) => self.failed.push((name.into(), why)),
        }
    }
}

impl Knowledge {
    /// Adds documents. One that is there unchanged is passed by; one that changed takes the place of the old one; one that
    /// cannot be read is kept with the reason, and the others go on.
    ///
    /// Each is committed by itself, so what a crash or an error of the embedding model interrupts goes on where it was when
    /// the same is added again.
    pub async fn add(
        &self,
        base: &str,
        sources: Vec<Source>,
        mut progress: impl FnMut(Progress<'_>) + Send,
    ) -> Result<Report, KnowledgeError> {
        let mut adding = Adding::begin(self, base).await?;
        let total = sources.len();
        let mut report = Report::default();
        for (done, source) in sources.into_iter().enumerate() {
            let name = source.name.clone();
            let mut tell = |step| {
                progress(Progress {
                    name: &name,
                    done,
                    total,
                    step,
                });
            };
            let outcome = adding.add(source, None, &mut tell).await?;
            report.note(&name, outcome);
        }
        Ok(report)
    }
}

/// A knowledge base that is being added to.
pub(crate) struct Adding<'k> {
    knowledge: &'k Knowledge,
    base: BaseRow,
    embedder: Option<Arc<dyn Embedder>>,
    known: HashMap<String, Known>,
}

impl<'k> Adding<'k> {
    pub(crate) async fn begin(
        knowledge: &'k Knowledge,
        base: &str,
    ) -> Result<Adding<'k>, KnowledgeError> {
        let base = knowledge.row(base).await?;
        let embedder = knowledge.embedder(&base.base)?;
        let asked = base.clone();
        let known = knowledge
            .store
            .read(move |at| asked.known(at, None))
            .await?;
        Ok(Adding {
            knowledge,
            base,
            embedder,
            known,
        })
    }

    /// What was known when adding began.
    pub(crate) fn known(&self) -> &HashMap<String, Known> {
        &self.known
    }

    /// Adds one document, and says what becomes of it.
    pub(crate) async fn add(
        &mut self,
        source: Source,
        origin: Option<&str>,
        tell: &mut (dyn FnMut(Step) + Send),
    ) -> Result<Outcome, KnowledgeError> {
        tell(Step::Reading);
        let outcome = match check_name(&source.name)
            .err()
            .or_else(|| clash(self.known.get(&source.name), &source.name, origin))
        {
            Some(problem) => Outcome::Failed(problem.to_string()),
            None => self.put(source, origin, tell).await?,
        };
        tell(Step::Ended(outcome.clone()));
        Ok(outcome)
    }

    async fn put(
        &mut self,
        source: Source,
        origin: Option<&str>,
        tell: &mut (dyn FnMut(Step) + Send),
    ) -> Result<Outcome, KnowledgeError> {
        let hash = content_hash(&source.bytes, self.base.base.chunking);
        let known = self.known.get(&source.name);
        if let Some(known) = known.filter(|known| known.ready && known.hash == hash) {
            self.refresh(known.clone(), source.name, source.metadata)
                .await?;
            return Ok(Outcome::Unchanged);
        }
        let there = known.is_some();
        let Source {
            name,
            bytes,
            metadata,
        } = source;
        let size = bytes.len() as u64;
        let content = match self.passages(&name, bytes).await {
            Ok((format, chunks, unread)) => {
                let vectors = self.vectors(&name, &chunks, tell).await?;
                let mut vectors = vectors.into_iter();
                let passages = chunks
                    .into_iter()
                    .map(|chunk| NewPassage::of(&name, chunk, vectors.next()));
                Ok(Content {
                    format: Some(format.name().to_owned()),
                    passages: passages.collect(),
                    unread,
                })
            }
            Err(error @ KnowledgeError::Document { .. }) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        let ended = match &content {
            Err(why) => Outcome::Failed(why.clone()),
            Ok(content) => match &content.unread {
                Some(why) => Outcome::Partial(why.clone()),
                None if there => Outcome::Replaced,
                None => Outcome::Added,
            },
        };
        let document = NewDocument {
            name,
            origin: origin.map(str::to_owned),
            hash,
            bytes: size,
            metadata,
            content,
        };
        let base = self.base.clone();
        let written = self.knowledge.store.write(move |at| {
            base.put_document(at, &document)?;
            base.known(at, Some(&document.name))
        });
        self.known.extend(written.await?);
        Ok(ended)
    }

    /// Writes metadata that is new for a document whose content is not.
    async fn refresh(
        &self,
        known: Known,
        name: String,
        metadata: Option<Object>,
    ) -> Result<(), KnowledgeError> {
        let Some(metadata) = metadata else {
            return Ok(());
        };
        let was: Value = serde_json::from_str(&known.metadata).unwrap_or_default();
        if was == Value::from(metadata.clone()) {
            return Ok(());
        }
        let base = self.base.clone();
        let set = move |at: &rusqlite::Transaction<'_>| base.set_metadata(at, &name, &metadata);
        self.knowledge.store.write(set).await
    }

    /// Reads and cuts a document, on another thread and within the time there is.
    async fn passages(&self, name: &str, bytes: Vec<u8>) -> Result<Cut, KnowledgeError> {
        let limits = self.knowledge.limits.clone();
        let (time, chunking) = (limits.time, self.base.base.chunking);
        let late = {
            let name = name.to_owned();
            move || ReadError::from(crate::text::Full::Time(time)).of(&name)
        };
        let name = name.to_owned();
        worker::run_within(time, late, move || {
            let (format, text) = read(&name, &bytes, &limits)?;
            Ok((format, chunks(&text, chunking), unread(&text)))
        })
        .await
    }

    /// Embeds passages, batch by batch. None if the knowledge base is searched by words alone.
    async fn vectors(
        &self,
        name: &str,
        chunks: &[Chunk],
        tell: &mut (dyn FnMut(Step) + Send),
    ) -> Result<Vec<Vec<f32>>, KnowledgeError> {
        let Some(embedder) = &self.embedder else {
            return Ok(Vec::new());
        };
        let texts = chunks.iter().map(|chunk| searched_text(name, chunk));
        let texts: Vec<String> = texts.collect();
        embedded(&**embedder, texts, tell).await
    }
}

/// The vectors of texts, of length 1, batch by batch.
pub(crate) async fn embedded(
    embedder: &dyn Embedder,
    texts: Vec<String>,
    tell: &mut (dyn FnMut(Step) + Send),
) -> Result<Vec<Vec<f32>>, KnowledgeError> {
    let failed = |cause| KnowledgeError::Model {
        model: embedder.model().to_owned(),
        cause,
    };
    let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
    for batch in texts.chunks(embedder.batch().max(1)) {
        tell(Step::Embedding(vectors.len(), texts.len()));
        let made = embedder.embed(Purpose::Passage, batch.to_vec()).await;
        let made = made.map_err(failed)?;
        if made.len() != batch.len() {
            let cause = format!("it gave {} vectors for {} texts", made.len(), batch.len());
            return Err(failed(cause));
        }
        vectors.extend(made);
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors
        .iter()
        .any(|vector| vector.len() != length || length == 0)
    {
        return Err(failed(
            "it gave vectors of different lengths, or empty ones".into(),
        ));
    }
    vectors.iter_mut().for_each(|vector| normalise(vector));
    Ok(vectors)
}

/// A document that was read and cut: its format, its passages, and what could not be read of it.
type Cut = (Format, Vec<Chunk>, Option<String>);

/// Names the pages that could not be read, the first of them.
pub(crate) fn unread(text: &Text) -> Option<String> {
    const NAMED: usize = 20;
    let pages: Vec<_> = text
        .unread
        .iter()
        .take(NAMED)
        .map(usize::to_string)
        .collect();
    let more = match text.unread.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!(" and {more} more"),
        _ => String::new(),
    };
    (!pages.is_empty()).then(|| {
        format!(
            "page {}{more} could not be read. Save the document anew, and add it again",
            pages.join(", ")
        )
    })
}

/// What tells whether a document has changed, or how it is cut.
fn content_hash(bytes: &[u8], chunking: Chunking) -> Vec<u8> {
    let hash = Sha256::new()
        .chain_update(READING.to_le_bytes())
        .chain_update(chunking.tokens.to_le_bytes())
        .chain_update(chunking.overlap_percent.to_le_bytes())
        .chain_update(bytes);
    hash.finalize().to_vec()
}

/// Two folders with files of one name would replace each other's without end.
pub(crate) fn clash(
    known: Option<&Known>,
    name: &str,
    origin: Option<&str>,
) -> Option<KnowledgeError> {
    let other = known?.origin.as_deref()?;
    (other != origin?).then(|| {
        ReadError::new(
            format!("a document of this name is there from {other}"),
            "Add this folder to another knowledge base, or rename one of the files",
        )
        .of(name)
    })
}

pub(crate) fn check_name(name: &str) -> Result<(), KnowledgeError> {
    let good = !name.trim().is_empty() && name.len() <= 1_024 && !name.contains(char::is_control);
    match good {
        true => Ok(()),
        false => Err(KnowledgeError::Invalid {
            what: "the name of the document".into(),
            problem: "it is empty, longer than 1,024 bytes or has control characters".into(),
        }),
    }
}
