//! Somebody makes a door, which no receipt would know of.

use easel_secrets::{Door, Gate, Sink};

fn open(gate: &Gate, sink: Sink) {
    let _ = Door { gate, sink };
}

fn main() {}
