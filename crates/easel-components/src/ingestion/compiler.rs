//! Compiler: RAGFlow builds a wiki, a graph or a tree of pieces, by templates that it keeps. Here the pieces are handed on.

use std::sync::Arc;

use easel_core::event::{Fault, Usage};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::handed::{Content, Handed};
use super::stage::{Step, put};
use crate::behaviour::{Behaviour, Call, Failure, Prepared};
use crate::site::Site;

struct Compiler {
    /// The group of templates that it names.
    group: Arc<str>,
}

/// Reads the parameters.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let group = site.text("compilation_template_group_id").trim().into();
    put(node, Compiler { group }, None)
}

impl Step for Compiler {
    fn take<'a>(
        &'a self,
        handed: Handed,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<(Handed, Usage), Failure>> {
        let named = match &*self.group {
            "" => "needs a group of templates and names none".to_owned(),
            group => format!("needs the group of templates {group}"),
        };
        call.warn(format!(
            "\"{}\" {named}; such groups are kept by RAGFlow and cannot be had here. It builds nothing, and hands on the pieces as \
             they are.",
            call.node().draft.name
        ));
        let chunks = Content::Chunks(handed.chunks());
        ready(Ok((handed.with(chunks), Usage::default()))).boxed()
    }
}
