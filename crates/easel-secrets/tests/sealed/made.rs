//! Somebody opens a secret without a door.

use easel_secrets::{Opened, OpenedValue, Secret};

fn open(secret: Secret) {
    let _ = Opened(secret);
    let _ = OpenedValue(easel_core::Value::Null);
}

fn main() {}
