//! Documents that runs make: PDF, Word, Excel, HTML and text of Markdown; and workbooks, read and written.
//!
//! ```
//! use easel_documents::DocumentMaker;
//! use easel_tools::documents::{DocumentFormat, DocumentRequest, Documents};
//!
//! let maker = DocumentMaker::default();
//! let request = DocumentRequest {
//!     header: "Quarterly report".into(),
//!     page_numbers: true,
//!     ..DocumentRequest::new("# Results\n\nSales grew by **7 %**.", DocumentFormat::Pdf)
//! };
//! let made = futures::executor::block_on(maker.make(request))?;
//! assert!(made.bytes.starts_with(b"%PDF-"));
//! # Ok::<(), easel_tools::ToolError>(())
//! ```
//!
//! - `markdown` reads the text into blocks, once, whatever the format is; HTML tags in it are text.
//! - `pdf`, `docx`, `html`, `plain` and `tables` write the blocks in one format each.
//! - `workbook` reads and writes the sheets of workbooks and CSV files.
//! - `worker` has them compute on a thread of their own, within [`Limits`].

mod block;
mod docx;
mod error;
mod html;
mod limits;
mod maker;
mod markdown;
mod pdf;
mod plain;
mod tables;
mod workbook;
mod worker;

pub use error::DocumentError;
pub use limits::Limits;
pub use maker::DocumentMaker;
pub use workbook::{read_workbook, write_workbook};
