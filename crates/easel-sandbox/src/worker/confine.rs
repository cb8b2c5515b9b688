//! Limits this process, takes rights away from it, and becomes CPython.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::Resource;

use super::calls;
use super::files;
use super::limit::{address_space, limit};

/// Address space beyond the memory limit: for what is mapped and not written, such as the libraries of numpy.
const MAPPED: u64 = 1 << 30;

/// Descriptors that user code may have open.
const DESCRIPTORS: u64 = 256;

/// `--memory BYTES --cpu SECONDS --file BYTES [--network] [--processes] [--read PATH]... [--write PATH]... -- program
/// arguments...`. With paths, the program reaches no other files, where the kernel has Landlock. Returns only if it
/// fails.
pub(super) fn become_program(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let mut memory = None;
    let mut cpu = None;
    let mut file = None;
    let mut network = false;
    let mut processes = false;
    let mut readable = Vec::new();
    let mut writable = Vec::new();
    loop {
        let argument = arguments.next();
        match argument.as_ref().and_then(|a| a.to_str()) {
            Some("--memory") => memory = number(arguments.next()),
            Some("--cpu") => cpu = number(arguments.next()),
            Some("--file") => file = number(arguments.next()),
            Some("--network") => network = true,
            Some("--processes") => processes = true,
            Some("--read") => readable.extend(arguments.next()),
            Some("--write") => writable.extend(arguments.next()),
            Some("--") => break,
            _ => return Err(usage()),
        }
    }
    let (Some(memory), Some(cpu), Some(file)) = (memory, cpu, file) else {
        return Err(usage());
    };
    let program = arguments.next().ok_or_else(usage)?;
    limit(Resource::Data, memory)?;
    limit(
        Resource::As,
        address_space()
            .saturating_add(memory)
            .saturating_add(MAPPED),
    )?;
    limit(Resource::Cpu, cpu)?;
    limit(Resource::Fsize, file)?;
    limit(Resource::Nofile, DESCRIPTORS)?;
    limit(Resource::Core, 0)?;
    if !readable.is_empty() {
        files::keep_to(&readable, &writable)?;
    }
    calls::refuse(calls::Rights {
        files: true,
        network,
        processes,
    })?;
    Err(Command::new(program).args(arguments).exec())
}

fn number(argument: Option<OsString>) -> Option<u64> {
    argument?.to_str()?.parse().ok()
}

fn usage() -> io::Error {
    io::Error::other("confine takes --memory, --cpu and --file with numbers, then -- and a program")
}
