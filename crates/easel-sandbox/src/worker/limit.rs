//! Limits that the kernel keeps.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Sets a limit for this process and all it becomes; it cannot be raised again.
pub(super) fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let most = Some(most);
    Ok(setrlimit(
        resource,
        Rlimit {
            current: most,
            maximum: most,
        },
    )?)
}

/// Bytes of a page of memory, as `/proc` counts them.
pub(super) const PAGE: u64 = 4_096;

/// Bytes of address space that this process has now.
pub(super) fn address_space() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    // Without /proc: more than any worker has.
    pages.map_or(1 << 30, |pages| pages.saturating_mul(PAGE))
}
