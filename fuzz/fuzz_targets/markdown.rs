//! Markdown as documents of every format.
#![no_main]

use std::sync::LazyLock;

use easel_documents::{DocumentError, DocumentMaker, Limits};
use easel_runtime::tools::documents::{DocumentFormat, DocumentRequest};
use libfuzzer_sys::fuzz_target;

static MAKER: LazyLock<DocumentMaker> =
    LazyLock::new(|| DocumentMaker::new(Limits::default()).with_built_in_fonts());

const FORMATS: [&str; 6] = ["pdf", "docx", "xlsx", "html", "txt", "markdown"];

fuzz_target!(|text: &str| {
    for format in FORMATS.into_iter().filter_map(DocumentFormat::named) {
        match MAKER.make_now(&DocumentRequest::new(text, format)) {
            Ok(made) => assert!(format != DocumentFormat::Pdf || made.bytes.starts_with(b"%PDF-")),
            Err(DocumentError::TooManyPages(_) | DocumentError::TooWide { .. }) => {}
            Err(error) => panic!("{format:?}: {error}"),
        }
    }
});
