//! Parser: a document of any format is read (spec/canvas-components §9).

use std::sync::Arc;

use easel_core::event::{Fault, Usage};
use easel_tools::ingestion::ReadRequest;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::handed::{Content, Handed};
use super::setup::{Form, Setup, Setups, ending};
use super::stage::{Step, put, unable, with_member};
use super::{pieces, render};
use crate::behaviour::{Behaviour, Call, Failure, Prepared};
use crate::site::Site;

/// Kinds of files that nothing here can read: what they would need, and what to do instead.
const CLOSED: [(&str, &str, &str); 3] = [
    (
        "image",
        "text recognition or a vision model",
        "Have the text of the picture recognised, and add that as txt or md",
    ),
    (
        "audio",
        "speech recognition",
        "Have it written down, and add that as txt or md",
    ),
    (
        "video",
        "speech recognition and a vision model",
        "Have it written down, and add that as txt or md",
    ),
];

/// Ways of reading a PDF that take its text as it is.
const AS_IT_IS: [&str; 4] = ["", "plain_text", "plain text", "naive"];

struct Parser {
    setups: Setups,
}

/// Reads the parameters.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let setups = Setups::read(&Site::of_node(node));
    put(node, Parser { setups }, None)
}

impl Step for Parser {
    fn take<'a>(
        &'a self,
        handed: Handed,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<(Handed, Usage), Failure>> {
        async move { Ok((self.read(handed, call).await?, Usage::default())) }.boxed()
    }
}

impl Parser {
    async fn read(&self, handed: Handed, call: &Call) -> Result<Handed, Fault> {
        let name = handed.name.clone();
        let setup = self.setup(&name, call);
        refuse(&setup, &name, call)?;
        warn_of_method(&setup, call);
        let document = handed.document();
        let world = &call.run.services.world;
        let failed = |error| unable(call, &error);
        let request = ReadRequest {
            bytes: world
                .files
                .bytes(&call.run.id, document)
                .await
                .map_err(failed)?,
            name: name.to_string(),
            without_contents: setup.without_contents,
            without_margins: setup.without_margins,
        };
        let read = world.ingestion.read(request).await.map_err(failed)?;
        let mut file = with_member(&handed.file, "format", &read.format);
        if let Some(unread) = &read.unread {
            call.warn(format!("{name}: {unread}."));
            file = with_member(&file, "unread", unread);
        }
        let blocks = read.blocks;
        let content = match setup.form {
            Form::Json => Content::Blocks(blocks.into_iter().map(pieces::of_block).collect()),
            Form::Markdown => Content::Markdown(render::markdown(&blocks).into()),
            Form::Text => Content::Text(render::text(&blocks).into()),
            Form::Html => Content::Html(render::html(&blocks).into()),
        };
        Ok(Handed {
            name,
            file,
            content,
        })
    }

    /// How a file of that name is read.
    fn setup(&self, name: &str, call: &Call) -> Setup {
        match self.setups.of(name) {
            Some(setup) => setup.clone(),
            None => {
                let ending = match ending(name) {
                    ending if ending.is_empty() => "files without an ending".to_owned(),
                    ending => format!("files that end in .{ending}"),
                };
                call.warn(format!(
                    "\"{}\" has no set-up for {ending}; they are read as what they hold.",
                    call.node().draft.name
                ));
                Setups::other()
            }
        }
    }
}

/// Refuses what cannot be read here.
fn refuse(setup: &Setup, name: &str, call: &Call) -> Result<(), Fault> {
    let closed = CLOSED.iter().find(|(kind, ..)| **kind == *setup.kind);
    let (needed, instead) = match (closed, &*ending(name)) {
        (Some((_, needed, instead)), _) => (needed, instead),
        (None, "msg") => (&"a reader of Outlook's own format", &"Save the mail as eml"),
        (None, _) => return Ok(()),
    };
    let node = &call.node().draft.name;
    let message = format!(
        "\"{node}\" cannot read {name}: that takes {needed}, which this version does not have. {instead}."
    );
    Err(Fault::new("document.unreadable", message).without_trace())
}

/// Says that a PDF is read in another way than was asked for.
fn warn_of_method(setup: &Setup, call: &Call) {
    let method = setup.method.to_lowercase();
    if &*setup.kind == "pdf" && !AS_IT_IS.contains(&&*method) {
        call.warn(format!(
            "\"{}\" reads the text of PDFs page by page; {}, which recognises columns, tables and scanned pages, is not part of this \
             version.",
            call.node().draft.name,
            setup.method
        ));
    }
}
