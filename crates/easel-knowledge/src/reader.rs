//! The door of pipelines to documents, without a knowledge base: it reads and cuts, and keeps nothing.

use easel_tools::ToolError;
use easel_tools::ingestion::{
    CutRequest, DocumentPiece, Ingestion, KeepRequest, Kept, ReadDocument, ReadRequest,
};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::add::unread;
use crate::blocks::blocks;
use crate::cut::cut;
use crate::error::{KnowledgeError, ReadError};
use crate::limits::Limits;
use crate::reading::{Leaving, read_leaving};
use crate::text::Full;
use crate::worker;

/// Reads documents and cuts them for pipelines. What they would keep is kept nowhere: for runs that only show it.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    limits: Limits,
}

impl Reader {
    /// A reader within these limits.
    pub fn new(limits: Limits) -> Reader {
        Reader { limits }
    }

    pub(crate) async fn read_document(
        &self,
        request: ReadRequest,
    ) -> Result<ReadDocument, KnowledgeError> {
        let limits = self.limits.clone();
        let leaving = Leaving {
            contents: request.without_contents,
            margins: request.without_margins,
        };
        let name = request.name.clone();
        self.within_time(&name, move || {
            let (format, text) = read_leaving(&request.name, &request.bytes, &limits, leaving)?;
            Ok(ReadDocument {
                format: format.name().to_owned(),
                blocks: blocks(&text),
                unread: unread(&text),
            })
        })
        .await
    }

    pub(crate) async fn cut_document(
        &self,
        request: CutRequest,
    ) -> Result<Vec<DocumentPiece>, KnowledgeError> {
        self.within_time("the document", move || cut(&request))
            .await
    }

    async fn within_time<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> Result<T, KnowledgeError> + Send + 'static,
    ) -> Result<T, KnowledgeError> {
        let (time, name) = (self.limits.time, name.to_owned());
        let late = move || ReadError::from(Full::Time(time)).of(&name);
        worker::run_within(time, late, work).await
    }
}

impl Ingestion for Reader {
    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<ReadDocument, ToolError>> {
        async move { Ok(self.read_document(request).await?) }.boxed()
    }

    fn cut(&self, request: CutRequest) -> BoxFuture<'_, Result<Vec<DocumentPiece>, ToolError>> {
        async move { Ok(self.cut_document(request).await?) }.boxed()
    }

    fn keep(&self, _: KeepRequest) -> BoxFuture<'_, Result<Kept, ToolError>> {
        ready(Ok(Kept::default())).boxed()
    }
}
