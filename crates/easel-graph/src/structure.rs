//! How nodes hang together.

use crate::document::Document;

pub(crate) fn check(_document: &mut Document) {}
