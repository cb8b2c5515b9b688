//! Texts of other nodes that are still arriving, passed on to a message.

use easel_core::Value;
use easel_core::bind::{Activation, Inputs, ReadId, Resolved};
use easel_core::event::Fault;
use easel_core::reference::Path;
use easel_core::template::Template;

use super::speech::{Shown, Speech};
use crate::behaviour::Call;
use crate::parameters::written;
use crate::stream::{StreamItem, StreamReader};

/// The streams that one message was handed.
pub(super) struct Streams<'a> {
    call: &'a Call,
    flows: Vec<(Activation, Flow)>,
}

enum Flow {
    /// On its way; so much of it was shown.
    Arriving(StreamReader, Shown),
    /// All of it is there.
    Whole(Value),
}

/// Why a message cannot go on from where it is.
pub(super) enum Interrupted {
    /// Something that was shown no longer counts: the message begins again.
    Again,
    /// A node whose text is shown failed.
    Broken(Fault),
}

impl<'a> Streams<'a> {
    pub fn new(call: &'a Call) -> Streams<'a> {
        Streams {
            call,
            flows: Vec::new(),
        }
    }

    /// Says what the reference stands for, while it arrives where it does.
    pub async fn say(&mut self, read: ReadId, speech: &mut Speech<'_>) -> Result<(), Interrupted> {
        match self.call.inputs().get(read) {
            Resolved::Missing => {}
            Resolved::Value(value) => speech.value(value),
            Resolved::Stream(producer) if self.path(read).is_empty() => {
                self.pass_on(*producer, read, speech).await?;
            }
            Resolved::Stream(producer) => {
                let part = self
                    .part(*producer, read)
                    .await
                    .map_err(Interrupted::Broken)?;
                if let Resolved::Value(value) = part {
                    speech.value(&value);
                }
            }
        }
        Ok(())
    }

    /// Waits for everything a text reads.
    pub async fn settle(&mut self, text: &Template) -> Result<Inputs, Fault> {
        let mut inputs = self.call.inputs().0.to_vec();
        for read in text.reads() {
            let Some(slot) = inputs.get_mut(read.0 as usize) else {
                continue;
            };
            if let Resolved::Stream(producer) = *slot {
                *slot = self.part(producer, read).await?;
            }
        }
        Ok(Inputs(inputs.into()))
    }

    /// What a reference into a stream's text leads to, once the text is whole.
    async fn part(&mut self, producer: Activation, read: ReadId) -> Result<Resolved, Fault> {
        let path = self.path(read).clone();
        let whole = self.whole(producer, read).await?;
        Ok(path.walk(&whole).map_or(Resolved::Missing, Resolved::Value))
    }

    async fn whole(&mut self, producer: Activation, read: ReadId) -> Result<Value, Fault> {
        let call = self.call;
        let flow = self.flow(producer);
        loop {
            let reader = match flow {
                Flow::Whole(value) => return Ok(value.clone()),
                Flow::Arriving(reader, _) => reader,
            };
            match reader.next().await {
                Some(StreamItem::Ended(value)) => *flow = Flow::Whole(value),
                Some(StreamItem::Broken(fault)) => return Err(broken(call, read, Some(fault))),
                None => return Err(broken(call, read, None)),
                Some(_) => {}
            }
        }
    }

    /// Shows a text while it arrives.
    async fn pass_on(
        &mut self,
        producer: Activation,
        read: ReadId,
        speech: &mut Speech<'_>,
    ) -> Result<(), Interrupted> {
        let call = self.call;
        let flow = self.flow(producer);
        loop {
            let (reader, shown) = match flow {
                Flow::Whole(value) => {
                    speech.value(value);
                    return Ok(());
                }
                Flow::Arriving(reader, shown) => (reader, shown),
            };
            match reader.next().await {
                Some(StreamItem::Text(text)) => {
                    shown.text(&text);
                    speech.arriving(&text);
                }
                Some(StreamItem::ThinkStart) => {
                    shown.think(true);
                    speech.think(true);
                }
                Some(StreamItem::ThinkEnd) => {
                    shown.think(false);
                    speech.think(false);
                }
                Some(StreamItem::Restart) => {
                    let nothing = std::mem::take(shown).is_empty();
                    if !nothing {
                        return Err(Interrupted::Again);
                    }
                }
                Some(StreamItem::Ended(value)) => {
                    if shown.is_empty() {
                        speech.value(&value);
                    } else if let Some(rest) = shown.rest(&value.to_string()) {
                        speech.arriving(&rest.into());
                        speech.arrived();
                    } else {
                        *flow = Flow::Whole(value);
                        return Err(Interrupted::Again);
                    }
                    *flow = Flow::Whole(value);
                    return Ok(());
                }
                Some(StreamItem::Broken(fault)) => {
                    return Err(Interrupted::Broken(broken(call, read, Some(fault))));
                }
                None => return Err(Interrupted::Broken(broken(call, read, None))),
            }
        }
    }

    fn flow(&mut self, producer: Activation) -> &mut Flow {
        let known = self.flows.iter().position(|(of, _)| *of == producer);
        let at = known.unwrap_or(self.flows.len());
        if known.is_none() {
            let reader = self.call.run.wire.stream(producer);
            self.flows
                .push((producer, Flow::Arriving(reader, Shown::default())));
        }
        &mut self.flows[at].1
    }

    fn path(&self, read: ReadId) -> &'a Path {
        static NONE: std::sync::LazyLock<Path> = std::sync::LazyLock::new(Path::default);
        let reference = self.call.node().draft.reads.get(read.0 as usize);
        reference.map_or(&NONE, |reference| &reference.path)
    }
}

fn broken(call: &Call, read: ReadId, fault: Option<Fault>) -> Fault {
    let node = call.node();
    let (name, reference) = (&node.draft.name, written(node, read));
    let why = match &fault {
        Some(fault) => &*fault.message,
        None => "The node that writes it went away.",
    };
    let code = fault.as_ref().map_or("stream", |fault| &*fault.code);
    let message = format!("\"{name}\" broke off because the text of {reference} did: {why}");
    Fault::new(code, message)
}
