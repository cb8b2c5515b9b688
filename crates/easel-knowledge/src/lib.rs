//! Embedded knowledge bases.
mod error;
mod format;
mod limits;
mod reading;
mod text;

pub use error::KnowledgeError;
pub use format::Format;
pub use limits::Limits;
pub use reading::read;
pub use text::Text;
mod chunks;
pub mod tokens;
pub use chunks::{Chunk, Chunking, chunks};
