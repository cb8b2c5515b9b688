//! Limits this process, takes rights away from it, and becomes CPython.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::Resource;

use super::limit::{address_space, limit};

/// Address space beyond the memory limit: for what is mapped and not written, such as the libraries of numpy.
const MAPPED: u64 = 1 << 30;

/// Descriptors that user code may have open.
const DESCRIPTORS: u64 = 256;

/// `--memory BYTES --cpu SECONDS --file BYTES [--network] [--processes] -- program arguments...`. Returns only if it
/// fails.
pub(super) fn become_program(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let mut memory = None;
    let mut cpu = None;
    let mut file = None;
    let mut network = false;
    let mut processes = false;
    loop {
        let argument = arguments.next();
        match argument.as_ref().and_then(|a| a.to_str()) {
            Some("--memory") => memory = number(arguments.next()),
            Some("--cpu") => cpu = number(arguments.next()),
            Some("--file") => file = number(arguments.next()),
            Some("--network") => network = true,
            Some("--processes") => processes = true,
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
    #[cfg(target_os = "linux")]
    calls::refuse(network, processes)?;
    #[cfg(not(target_os = "linux"))]
    let _ = (network, processes);
    Err(Command::new(program).args(arguments).exec())
}

fn number(argument: Option<OsString>) -> Option<u64> {
    argument?.to_str()?.parse().ok()
}

fn usage() -> io::Error {
    io::Error::other("confine takes --memory, --cpu and --file with numbers, then -- and a program")
}

/// System calls that user code doesn't get.
#[cfg(target_os = "linux")]
mod calls {
    use std::collections::BTreeMap;
    use std::io;

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    /// Calls that reach into other processes or change what this one may do.
    const NEVER: &[libc::c_long] = &[
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_send_signal,
        libc::SYS_tkill,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
    ];

    /// Takes the calls away from this thread, which is the only one, for good: they fail with `EPERM`.
    pub(super) fn refuse(network: bool, processes: bool) -> io::Result<()> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            NEVER.iter().map(|call| (*call, Vec::new())).collect();
        if !network {
            rules.insert(libc::SYS_socket, Vec::new());
        }
        let own = u64::from(std::process::id());
        for call in [libc::SYS_kill, libc::SYS_tgkill] {
            let others = condition(0, SeccompCmpOp::Ne, own)?;
            rules.insert(
                call,
                vec![SeccompRule::new(vec![others]).map_err(io::Error::other)?],
            );
        }
        if !processes {
            #[cfg(target_arch = "x86_64")]
            for call in [libc::SYS_fork, libc::SYS_vfork] {
                rules.insert(call, Vec::new());
            }
            let thread = libc::CLONE_THREAD as u64;
            let no_thread = condition(0, SeccompCmpOp::MaskedEq(thread), 0)?;
            let rule = SeccompRule::new(vec![no_thread]).map_err(io::Error::other)?;
            rules.insert(libc::SYS_clone, vec![rule]);
        }
        apply(rules, libc::EPERM)?;
        if !processes {
            // Its flags lie in memory where a filter cannot look; the C library falls back to `clone`.
            apply(
                BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
                libc::ENOSYS,
            )?;
        }
        Ok(())
    }

    fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> io::Result<SeccompCondition> {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
            .map_err(io::Error::other)
    }

    fn apply(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> io::Result<()> {
        let architecture =
            TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(errno.unsigned_abs()),
            architecture,
        )
        .map_err(io::Error::other)?;
        let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
        seccompiler::apply_filter(&program).map_err(io::Error::other)
    }
}
