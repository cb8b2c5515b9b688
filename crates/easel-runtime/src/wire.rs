//! What attempts tell the driver while they are under way, and the streams between them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_components::{Note, Piece, StreamItem, StreamReader, StreamWriter, Wire};
use easel_core::bind::Activation;
use easel_core::effect::StreamTurn;
use easel_core::workflow::NodeId;
use futures::channel::mpsc;

/// Something an attempt told.
#[derive(Debug)]
pub(crate) enum Told {
    Shown(Piece),
    Opened(Activation),
    Note(NodeId, Note),
}

/// The driver's end of all attempts of one run.
#[derive(Debug)]
pub(crate) struct Switchboard {
    told: mpsc::UnboundedSender<Told>,
    /// How many things were told and not heard yet.
    unheard: AtomicUsize,
    streams: Mutex<HashMap<Activation, Stream>>,
}

/// A stream between the node that writes it and the one that drains it.
#[derive(Debug)]
struct Stream {
    writer: StreamWriter,
    /// Until somebody drains it.
    reader: Option<StreamReader>,
}

impl Stream {
    fn new() -> Stream {
        let (writer, reader) = StreamReader::pair();
        Stream {
            writer,
            reader: Some(reader),
        }
    }
}

impl Switchboard {
    /// A switchboard, and where what attempts tell comes out.
    pub fn new() -> (Arc<Switchboard>, mpsc::UnboundedReceiver<Told>) {
        let (told, receiver) = mpsc::unbounded();
        let switchboard = Switchboard {
            told,
            unheard: AtomicUsize::new(0),
            streams: Mutex::default(),
        };
        (Arc::new(switchboard), receiver)
    }

    /// Passes on how a stream went on.
    pub fn feed(&self, producer: Activation, turn: StreamTurn) {
        let mut streams = self.streams();
        let stream = streams.entry(producer).or_insert_with(Stream::new);
        let (item, last) = match turn {
            StreamTurn::Ended(value) => (StreamItem::Ended(value), true),
            StreamTurn::Broken(fault) => (StreamItem::Broken(fault), true),
            StreamTurn::Restarts => (StreamItem::Restart, false),
        };
        stream.writer.send(item);
        if last && stream.reader.is_none() {
            streams.remove(&producer);
        }
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<Activation, Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something was told and not heard yet.
    pub fn has_told(&self) -> bool {
        self.unheard.load(Ordering::Acquire) > 0
    }

    /// Counts something as heard.
    pub fn heard(&self) {
        self.unheard.fetch_sub(1, Ordering::AcqRel);
    }

    fn tell(&self, told: Told) {
        self.unheard.fetch_add(1, Ordering::AcqRel);
        // The receiver lives as long as the run.
        let _ = self.told.unbounded_send(told);
    }
}

impl Wire for Switchboard {
    fn show(&self, piece: Piece) {
        self.tell(Told::Shown(piece));
    }

    fn open(&self, producer: Activation) -> StreamWriter {
        let mut streams = self.streams();
        let stream = streams.entry(producer).or_insert_with(Stream::new);
        self.tell(Told::Opened(producer));
        stream.writer.clone()
    }

    fn stream(&self, producer: Activation) -> StreamReader {
        let mut streams = self.streams();
        let stream = streams.entry(producer).or_insert_with(Stream::new);
        stream.reader.take().unwrap_or_else(|| {
            let (writer, reader) = StreamReader::pair();
            stream.writer = writer;
            reader
        })
    }

    fn note(&self, node: NodeId, note: Note) {
        self.tell(Told::Note(node, note));
    }
}
