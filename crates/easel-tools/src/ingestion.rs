//! Documents on their way into a knowledge base: read, cut, kept.

use easel_core::Object;
use futures::future::BoxFuture;

use crate::error::ToolError;
use crate::files::FileDescriptor;

/// Reads documents, cuts what they say into pieces, and keeps the pieces.
pub trait Ingestion: Send + Sync {
    /// What a document says, block by block.
    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<ReadDocument, ToolError>>;

    /// Cuts blocks into pieces. Nothing touches the outside: the same request gives the same pieces.
    fn cut(&self, request: CutRequest) -> BoxFuture<'_, Result<Vec<DocumentPiece>, ToolError>>;

    /// Keeps the pieces of a document in the place of all that was kept of it before. Done twice it is as if done once.
    fn keep(&self, request: KeepRequest) -> BoxFuture<'_, Result<Kept, ToolError>>;
}

/// A document that is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadRequest {
    /// Its name. The ending says what it is where its content does not.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Leave out the lines of tables of contents.
    pub without_contents: bool,
    /// Leave out the lines that stand at the top or the bottom of most pages.
    pub without_margins: bool,
}

/// What a document says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadDocument {
    /// Its format: `pdf`, `md`, ...
    pub format: String,
    /// What it says.
    pub blocks: Vec<Block>,
    /// What of it could not be read, if something could not.
    pub unread: Option<String>,
}

/// What a block or a piece is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockKind {
    /// Text: a heading, a paragraph, a list.
    #[default]
    Text,
    /// A table.
    Table,
    /// What was said of a picture.
    Image,
}

impl BlockKind {
    /// The name that chunks carry under `doc_type_kwd`.
    pub fn name(self) -> &'static str {
        match self {
            BlockKind::Text => "text",
            BlockKind::Table => "table",
            BlockKind::Image => "image",
        }
    }

    /// The kind of that name; a name that nobody knows is text.
    pub fn of(name: &str) -> BlockKind {
        match name.trim().to_ascii_lowercase().as_str() {
            "table" => BlockKind::Table,
            "image" => BlockKind::Image,
            _ => BlockKind::Text,
        }
    }
}

/// A heading, a paragraph, a list or a table of a document, as Markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// What it says.
    pub text: String,
    /// What it is.
    pub kind: BlockKind,
    /// The page on which it begins, from 1.
    pub page: Option<usize>,
}

/// Blocks and how to cut them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutRequest {
    /// What is cut.
    pub blocks: Vec<Block>,
    /// How.
    pub cut: Cut,
    /// Where pieces of text are cut once more; each part then knows the whole piece.
    pub children: Vec<String>,
}

/// How a document is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// It stays in one piece.
    #[default]
    Whole,
    /// By size.
    Size(SizeCut),
    /// At its headings.
    Headings(HeadingCut),
}

/// Cutting by size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeCut {
    /// Tokens of a piece at most.
    pub tokens: usize,
    /// How much of a piece the next one repeats, in percent of `tokens`.
    pub overlap_percent: usize,
    /// Where it may be cut. None: between lines and sentences.
    pub delimiters: Vec<String>,
    /// Where it is always cut, whatever the size; these are left out.
    pub always: Vec<String>,
    /// How many tokens before and behind a table go with it. 0: tables are cut with the text.
    pub table_context: usize,
}

/// Cutting at headings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadingCut {
    /// Families of patterns. The one that fits most lines counts; the place of a pattern in it is the level of the heading.
    pub levels: Vec<Vec<String>>,
    /// Down to which of the levels that occur it is cut. 0: to the commonest.
    pub depth: usize,
    /// Sections are put together to pieces of a fair size; headings above are not repeated.
    pub grouped: bool,
    /// What stands right below a heading that has others under it is a piece of its own.
    pub own_text_apart: bool,
    /// What stands before the first heading heads each piece.
    pub root_heads: bool,
    /// Tokens of a piece at most.
    pub tokens: usize,
}

/// A piece of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentPiece {
    /// What it says.
    pub text: String,
    /// What it is.
    pub kind: BlockKind,
    /// The headings above it: `Guide > Install`. Empty where they stand in the text.
    pub heading: String,
    /// The page on which it begins, from 1.
    pub page: Option<usize>,
    /// The whole piece, if this is a part that was cut out of it for search.
    pub whole: Option<String>,
}

/// The pieces of a document, to be kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeepRequest {
    /// The document.
    pub document: FileDescriptor,
    /// Its format, if it is known.
    pub format: Option<String>,
    /// What of it could not be read, if something could not.
    pub unread: Option<String>,
    /// The pieces.
    pub passages: Vec<Passage>,
    /// They are found by their words.
    pub by_words: bool,
    /// They are found by their meaning, where the knowledge base has vectors.
    pub by_vectors: bool,
    /// The weight of the document's name in the meaning of each, from 0 to 1.
    pub name_weight: f64,
}

/// A piece and what was found out about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage {
    /// The piece.
    pub piece: DocumentPiece,
    /// A summary.
    pub summary: String,
    /// What it is about.
    pub keywords: Vec<String>,
    /// What it answers.
    pub questions: Vec<String>,
    /// The text whose meaning counts; blank: the piece's own.
    pub embedded: String,
    /// What is to be known of the document because of it.
    pub metadata: Object,
}

/// Where pieces were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The name of the knowledge base. `None`: nowhere, as in a run that only shows them.
    pub base: Option<String>,
}
