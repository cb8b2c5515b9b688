//! Serving calls: the loop that an interpreter is asked in, and the limits around it.

use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::thread;

use rustix::process::Resource;
use serde::de::DeserializeOwned;

use super::calls;
use super::limit::{address_space, limit};
use super::watch::Watch;
use crate::protocol::{Call, HEADER, Opening, Reply, frame};

/// Stack of an interpreter: its own limit is reached long before this is used up.
pub(super) const STACK: usize = 256 << 20;

/// Descriptors beyond the three that a process has anyway.
const DESCRIPTORS: u64 = 8;

/// What answers calls.
pub(super) trait Interpreter {
    /// Made of what the worker is given first.
    fn open(opening: Opening) -> Self;

    /// Answers a call.
    fn call(&mut self, call: &Call) -> Reply;
}

/// Serves calls until standard input ends. The input is read by a thread of its own, so that a worker whose host is
/// gone ends at once, whatever its code is doing.
pub(super) fn serve<I: Interpreter>() -> io::Result<()> {
    // Asked before files are out of reach.
    let used = address_space();
    let mut input = io::stdin().lock();
    let Some(opening) = read::<Opening>(&mut input)? else {
        return Ok(());
    };
    let (sender, waiting) = mpsc::channel::<Call>();
    let (memory, cpu) = (opening.memory, opening.cpu);
    let watch = Watch::start(memory)?;
    // An interpreter has none of these rights to give; this is for its bugs. It works on kernels without filters too.
    let _ = calls::refuse(calls::Rights::default());
    thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || work::<I>(opening, &waiting, &watch))?;
    limit(
        Resource::As,
        used.saturating_add(STACK as u64).saturating_add(memory),
    )?;
    limit(Resource::Cpu, cpu)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, DESCRIPTORS)?;
    limit(Resource::Core, 0)?;
    while let Some(call) = read(&mut input)? {
        if sender.send(call).is_err() {
            break;
        }
    }
    std::process::exit(0)
}

fn work<I: Interpreter>(opening: Opening, waiting: &mpsc::Receiver<Call>, watch: &Watch) {
    let mut interpreter = I::open(opening);
    let mut output = io::stdout().lock();
    while let Ok(call) = waiting.recv() {
        watch.working(true);
        let reply = interpreter.call(&call);
        let sent = frame(&reply).and_then(|bytes| {
            output.write_all(&bytes)?;
            output.flush()
        });
        watch.working(false);
        if let Err(error) = sent {
            eprintln!("cannot answer: {error}");
            std::process::exit(1);
        }
    }
}

/// The next message, or `None` at the end of the input.
fn read<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<T>> {
    let mut header = [0; HEADER];
    match input.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; u32::from_le_bytes(header) as usize];
    input.read_exact(&mut bytes)?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}
