//! The thread that starts workers.
//!
//! Bubblewrap ends what it holds when its parent dies, and to the kernel the parent is the thread that forked. A
//! runtime's threads come and go; this one lives as long as the sandbox.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// A command to start, the runtime that will watch the process, and where to say how it went.
type Order = (Command, Handle, oneshot::Sender<io::Result<Child>>);

/// Starts processes from one thread.
#[derive(Debug, Default)]
pub(super) struct Starter {
    orders: OnceLock<Sender<Order>>,
}

impl Starter {
    /// Starts a process.
    pub(super) async fn start(&self, command: Command) -> io::Result<Child> {
        let orders = match self.orders.get() {
            Some(orders) => orders,
            None => {
                let (sender, receiver) = channel();
                thread::Builder::new()
                    .name("easel-sandbox".into())
                    .spawn(move || serve(&receiver))?;
                // Where two come at once, one thread ends again at once.
                self.orders.get_or_init(|| sender)
            }
        };
        let gone = || io::Error::other("the thread that starts workers is gone");
        let (answer, started) = oneshot::channel();
        orders
            .send((command, Handle::current(), answer))
            .map_err(|_| gone())?;
        started.await.map_err(|_| gone())?
    }
}

fn serve(orders: &Receiver<Order>) {
    while let Ok((mut command, runtime, answer)) = orders.recv() {
        let _inside = runtime.enter();
        // Whoever gave up waiting drops the child, and so ends it.
        let _ = answer.send(command.spawn());
    }
}
