//! The `easel` command.

fn main() {}
