//! Files that CPython may reach where there is no bubblewrap.

use std::ffi::OsString;
use std::io;

/// Devices that programs expect.
#[cfg(target_os = "linux")]
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

/// Keeps this process, and what it becomes, to these files and folders, for good. Paths that are not there are left
/// out; on a kernel without Landlock nothing changes.
///
/// # Errors
/// The kernel has Landlock and refuses.
#[cfg(target_os = "linux")]
pub(super) fn keep_to(readable: &[OsString], writable: &[OsString]) -> io::Result<()> {
    use landlock::{
        ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, path_beneath_rules,
    };

    const VERSION: ABI = ABI::V5;
    let every = AccessFs::from_all(VERSION);
    Ruleset::default()
        .handle_access(every)
        .and_then(Ruleset::create)
        .and_then(|rules| {
            rules.add_rules(path_beneath_rules(readable, AccessFs::from_read(VERSION)))
        })
        .and_then(|rules| rules.add_rules(path_beneath_rules(writable, every)))
        .and_then(|rules| {
            let use_it = AccessFs::ReadFile | AccessFs::WriteFile;
            rules.add_rules(path_beneath_rules(DEVICES, use_it))
        })
        .and_then(|rules| rules.restrict_self())
        .map(|_| ())
        .map_err(io::Error::other)
}

/// Elsewhere nothing keeps it.
#[cfg(not(target_os = "linux"))]
pub(super) fn keep_to(_: &[OsString], _: &[OsString]) -> io::Result<()> {
    Ok(())
}
