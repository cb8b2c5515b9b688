//! Rows that take a process of their own: memory, and the time from start to exit.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use tokio::runtime::Runtime;

use crate::engine;
use crate::pairs::measure;

/// With this argument the program makes 1,000 runs at once and prints how much memory it had at most, in kB.
pub const AT_ONCE: &str = "--at-once";

/// With this argument, and a command behind it, the program prints how much memory the command had at most, in kB.
pub const PEAK: &str = "--peak";

/// See [`AT_ONCE`].
pub fn at_once(runtime: &Runtime) -> Result<(), Box<dyn Error>> {
    let engine = engine::engine(1_000)?;
    let ten = engine::load(&engine, &benches::chain(8))?;
    engine::runs(runtime, &engine, &ten, 1_000);
    // What the system counts for the process begins with what its parent had.
    let status = std::fs::read_to_string("/proc/self/status")?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!(
        "{}",
        most.unwrap_or_default().trim().trim_end_matches(" kB")
    );
    Ok(())
}

/// See [`PEAK`]. In a process of its own, for what a command is charged begins with what its parent has.
pub fn peak(command: impl Iterator<Item = OsString>) -> Result<(), Box<dyn Error>> {
    let command: Vec<_> = command.collect();
    run(&command);
    println!("{}", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
    Ok(())
}

/// Prints the rows.
pub fn rows() -> Result<(), Box<dyn Error>> {
    let this = std::env::current_exe()?;
    let most = said_by(Command::new(&this).arg(AT_ONCE))?;
    memory("1,000 runs of a 10-node canvas at once", "40 MB", most);

    let easel = this.with_file_name("easel");
    if !easel.exists() {
        println!("\nNo rows for the binary: build it with `cargo build --release -p easel`.");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let canvas = folder.path().join("canvas.json");
    std::fs::write(&canvas, benches::chain(0))?;
    let command = [
        easel.as_os_str(),
        OsStr::new("run"),
        canvas.as_os_str(),
        OsStr::new("Ada"),
    ];
    let pair = measure(|| run(&command), || run(&["true"]));
    let what = "`easel run` of Begin and Message, start to exit / `true`";
    crate::row(what, "20 ms", pair, 1);
    let most = said_by(Command::new(&this).arg(PEAK).args(command))?;
    memory("`easel run` of Begin and Message", "25 MB", most);
    Ok(())
}

fn run<S: AsRef<OsStr>>(command: &[S]) {
    let mut words = command.iter();
    let program = words.next().map(AsRef::as_ref).unwrap_or_default();
    let status = Command::new(program)
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// The number that a command prints.
fn said_by(command: &mut Command) -> Result<u32, Box<dyn Error>> {
    let said = command.output()?.stdout;
    Ok(String::from_utf8(said)?.trim().parse()?)
}

fn memory(what: &str, asked: &str, kilobytes: u32) {
    let megabytes = f64::from(kilobytes) / 1024.0;
    only(
        &format!("{what}, memory"),
        asked,
        format_args!("{megabytes:.1} MB"),
    );
}

/// Prints a row that has nothing beside it.
pub fn only(what: &str, asked: &str, came: impl Display) {
    println!("| {what} | {asked} | {came} | | | |");
}
