//! Text on its way: from a model to whoever shows it, and from a message to people.

use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::Activation;
use easel_core::event::Fault;
use futures::StreamExt;
use futures::channel::mpsc;

/// What comes out of another node's stream.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamItem {
    /// A piece of text.
    Text(Arc<str>),
    /// The model begins to think; the texts up to [`StreamItem::ThinkEnd`] are its thoughts.
    ThinkStart,
    /// It stops thinking.
    ThinkEnd,
    /// The text so far no longer counts; it starts again from the beginning.
    Restart,
    /// The node is done; this is its whole value. The last item.
    Ended(Value),
    /// The node failed for good. The last item.
    Broken(Fault),
}

/// Where a node that drains a stream takes it from.
#[derive(Debug)]
pub struct StreamReader(mpsc::UnboundedReceiver<StreamItem>);

impl StreamReader {
    /// A reader, and the writer that feeds it.
    pub fn pair() -> (StreamWriter, StreamReader) {
        let (sender, receiver) = mpsc::unbounded();
        (StreamWriter(sender), StreamReader(receiver))
    }

    /// The next item; `None` if the producer went away without a last one.
    pub async fn next(&mut self) -> Option<StreamItem> {
        self.0.next().await
    }
}

/// Where a node whose value streams puts its text. Nobody has to listen.
#[derive(Clone, Debug)]
pub struct StreamWriter(mpsc::UnboundedSender<StreamItem>);

impl StreamWriter {
    /// Sends one item on. Errors: none; what nobody reads is lost.
    pub fn send(&self, item: StreamItem) {
        // A receiver that is gone has lost interest.
        let _ = self.0.unbounded_send(item);
    }
}

/// A piece of a message on its way to people. Observable, never journaled.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The firing of the node that speaks.
    pub speaker: Activation,
    /// What is said.
    pub kind: PieceKind,
}

/// What a [`Piece`] says.
#[derive(Clone, Debug, PartialEq)]
pub enum PieceKind {
    /// Text to append.
    Text(Arc<str>),
    /// Thoughts begin.
    ThinkStart,
    /// Thoughts end.
    ThinkEnd,
    /// What this node said so far no longer counts.
    Reset,
}
