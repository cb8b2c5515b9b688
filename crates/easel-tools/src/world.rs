//! The capabilities of a run, bundled.

use std::fmt;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};

use crate::browser::{BrowserOpener, BrowserPage, BrowserRequest};
use crate::code::{CodeOutcome, CodeRequest, CodeRunner};
use crate::documents::{DocumentRequest, Documents, MadeDocument, Sheet, WorkbookFile};
use crate::error::{Capability, ToolError};
use crate::files::{FileContent, FileDescriptor, FileRequest, FileStore, KeptFile, MadeFile};
use crate::http::{HttpRequest, HttpResponse, HttpSender};
use crate::ingestion::{
    CutRequest, DocumentPiece, Ingestion, KeepRequest, Kept, ReadDocument, ReadRequest,
};
use crate::mail::{Mail, MailSender};
use crate::mcp::{McpAnswer, McpCall, McpServer, McpServers, McpTool, McpVisit};
use crate::memory::{MemoryQuery, MemorySave, MemoryStore};
use crate::retrieval::{RetrievalRequest, Retrieved, Retriever};
use crate::search::{SearchRequest, SearchResults, WebSearch};
use crate::sql::{SqlRequest, SqlRows, SqlRunner};

/// All ways to the outside but models. Cloning shares them.
///
/// Every call is cancelled by dropping its future.
#[derive(Clone)]
pub struct World {
    /// Search in datasets.
    pub retrieval: Arc<dyn Retriever>,
    /// Execution of a user's code.
    pub code: Arc<dyn CodeRunner>,
    /// Queries on a user's database.
    pub sql: Arc<dyn SqlRunner>,
    /// Search on the web.
    pub search: Arc<dyn WebSearch>,
    /// Plain HTTP requests.
    pub http: Arc<dyn HttpSender>,
    /// Files that people uploaded and that runs made.
    pub files: Arc<dyn FileStore>,
    /// Long-term memory.
    pub memory: Arc<dyn MemoryStore>,
    /// Mail.
    pub mail: Arc<dyn MailSender>,
    /// MCP servers.
    pub mcp: Arc<dyn McpServers>,
    /// Documents on their way into a knowledge base.
    pub ingestion: Arc<dyn Ingestion>,
    /// Documents and workbooks.
    pub documents: Arc<dyn Documents>,
    /// Web browsers.
    pub browser: Arc<dyn BrowserOpener>,
}

impl World {
    /// A world in which every call answers [`ToolError::NotConfigured`]. Replace what you have.
    pub fn none() -> World {
        World {
            retrieval: Arc::new(Unconfigured),
            code: Arc::new(Unconfigured),
            sql: Arc::new(Unconfigured),
            search: Arc::new(Unconfigured),
            http: Arc::new(Unconfigured),
            files: Arc::new(Unconfigured),
            memory: Arc::new(Unconfigured),
            mail: Arc::new(Unconfigured),
            mcp: Arc::new(Unconfigured),
            ingestion: Arc::new(Unconfigured),
            documents: Arc::new(Unconfigured),
            browser: Arc::new(Unconfigured),
        }
    }
}

impl Default for World {
    fn default() -> World {
        World::none()
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

struct Unconfigured;

fn absent<T: Send + 'static>(capability: Capability) -> BoxFuture<'static, Result<T, ToolError>> {
    ready(Err(ToolError::NotConfigured(capability))).boxed()
}

impl Retriever for Unconfigured {
    fn retrieve(&self, _: RetrievalRequest) -> BoxFuture<'_, Result<Retrieved, ToolError>> {
        absent(Capability::Retrieval)
    }
}

impl CodeRunner for Unconfigured {
    fn run(&self, _: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>> {
        absent(Capability::Code)
    }
}

impl SqlRunner for Unconfigured {
    fn query(&self, _: SqlRequest) -> BoxFuture<'_, Result<SqlRows, ToolError>> {
        absent(Capability::Sql)
    }
}

impl WebSearch for Unconfigured {
    fn search(&self, _: SearchRequest) -> BoxFuture<'_, Result<SearchResults, ToolError>> {
        absent(Capability::Search)
    }
}

impl HttpSender for Unconfigured {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        absent(Capability::Http)
    }
}

impl FileStore for Unconfigured {
    fn read(&self, _: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        absent(Capability::Files)
    }

    fn bytes(&self, _: &str, _: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        absent(Capability::Files)
    }

    fn keep(&self, _: MadeFile) -> BoxFuture<'_, Result<KeptFile, ToolError>> {
        absent(Capability::Files)
    }
}

impl Documents for Unconfigured {
    fn make(&self, _: DocumentRequest) -> BoxFuture<'_, Result<MadeDocument, ToolError>> {
        absent(Capability::Documents)
    }

    fn read_workbook(&self, _: WorkbookFile) -> BoxFuture<'_, Result<Vec<Sheet>, ToolError>> {
        absent(Capability::Documents)
    }

    fn write_workbook(&self, _: Vec<Sheet>) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        absent(Capability::Documents)
    }
}

impl MailSender for Unconfigured {
    fn deliver(&self, _: Mail) -> BoxFuture<'_, Result<(), ToolError>> {
        absent(Capability::Mail)
    }
}

impl Ingestion for Unconfigured {
    fn read(&self, _: ReadRequest) -> BoxFuture<'_, Result<ReadDocument, ToolError>> {
        absent(Capability::Ingestion)
    }

    fn cut(&self, _: CutRequest) -> BoxFuture<'_, Result<Vec<DocumentPiece>, ToolError>> {
        absent(Capability::Ingestion)
    }

    fn keep(&self, _: KeepRequest) -> BoxFuture<'_, Result<Kept, ToolError>> {
        absent(Capability::Ingestion)
    }
}

impl McpServers for Unconfigured {
    fn servers(&self) -> &[Arc<McpServer>] {
        &[]
    }

    fn tools(&self, _: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>> {
        absent(Capability::Mcp)
    }

    fn call(&self, _: McpVisit, _: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>> {
        absent(Capability::Mcp)
    }
}

impl BrowserOpener for Unconfigured {
    fn open(&self, _: BrowserRequest) -> BoxFuture<'_, Result<Box<dyn BrowserPage>, ToolError>> {
        absent(Capability::Browser)
    }
}

impl MemoryStore for Unconfigured {
    fn save(&self, _: MemorySave) -> BoxFuture<'_, Result<(), ToolError>> {
        absent(Capability::Memory)
    }

    fn search(&self, _: MemoryQuery) -> BoxFuture<'_, Result<Vec<easel_core::Object>, ToolError>> {
        absent(Capability::Memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;

    #[test]
    fn without_a_configuration_each_call_says_what_is_missing() {
        let world = World::none();
        let http = block_on(
            world
                .http
                .send(HttpRequest::new("GET", "http://a.example/")),
        );
        assert_eq!(http, Err(ToolError::NotConfigured(Capability::Http)));
        let found = block_on(world.retrieval.retrieve(RetrievalRequest::default()));
        assert_eq!(found, Err(ToolError::NotConfigured(Capability::Retrieval)));
        let searched = block_on(world.search.search(SearchRequest::default()));
        assert_eq!(searched, Err(ToolError::NotConfigured(Capability::Search)));
    }
}
