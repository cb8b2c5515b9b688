//! A program that does nothing but work for a sandbox: for hosts that cannot offer a verb of their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    easel_sandbox::worker::main(std::env::args_os().skip(1))
}
