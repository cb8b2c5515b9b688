//! The floor: what the machine can do at best, with tokio's tasks and channels on one thread and nothing else.

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// One hop after the other: a task is spawned, sends one value over a channel, and the next starts when it came.
pub fn hops(runtime: &Runtime, count: usize) {
    runtime.block_on(async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for n in 0..count {
            let sender = sender.clone();
            tokio::spawn(async move { sender.send(n) });
            std::hint::black_box(receiver.recv().await);
        }
    });
}

/// A fan-out: tasks are spawned, and all their values come back over one channel.
pub fn fan_out(runtime: &Runtime, width: usize) {
    runtime.block_on(async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for n in 0..width {
            let sender = sender.clone();
            tokio::spawn(async move { sender.send(n) });
        }
        for _ in 0..width {
            std::hint::black_box(receiver.recv().await);
        }
    });
}

/// Many runs at once, each a task that makes its hops one after the other.
pub fn runs(runtime: &Runtime, runs: usize, hops: usize) {
    runtime.block_on(async {
        let tasks: Vec<_> = (0..runs)
            .map(|_| {
                tokio::spawn(async move {
                    let (sender, mut receiver) = mpsc::unbounded_channel();
                    for n in 0..hops {
                        let sender = sender.clone();
                        tokio::spawn(async move { sender.send(n) });
                        std::hint::black_box(receiver.recv().await);
                    }
                })
            })
            .collect();
        for task in tasks {
            assert!(task.await.is_ok());
        }
    });
}
