//! System calls that user code doesn't get.

use std::io;

/// What a process may still do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rights {
    /// Open, change and run files.
    pub(super) files: bool,
    /// Make sockets.
    pub(super) network: bool,
    /// Start processes.
    pub(super) processes: bool,
}

/// Takes all other calls away from this thread and those it starts, for good. They fail with `EPERM`.
///
/// # Errors
/// The kernel has no filters, or not for this architecture.
#[cfg(target_os = "linux")]
pub(super) fn refuse(rights: Rights) -> io::Result<()> {
    linux::refuse(rights)
}

/// Elsewhere there are no filters: the limits and the operating system's own means have to do.
#[cfg(not(target_os = "linux"))]
pub(super) fn refuse(_: Rights) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::io;

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    use super::Rights;

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

    /// Calls that need the right to files. Opened files can still be read and written.
    const FILES: &[libc::c_long] = &[
        libc::SYS_openat,
        libc::SYS_openat2,
        libc::SYS_unlinkat,
        libc::SYS_renameat2,
        libc::SYS_mkdirat,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_fchmodat,
        libc::SYS_fchownat,
        libc::SYS_mknodat,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_memfd_create,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_creat,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_unlink,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rmdir,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_link,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_symlink,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mknod,
    ];

    /// Calls that start a process without saying so in an argument.
    const FORKS: &[libc::c_long] = &[
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_vfork,
    ];

    /// For each refused call the conditions, one of which must hold; none: always.
    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    pub(super) fn refuse(rights: Rights) -> io::Result<()> {
        let mut rules = Rules::new();
        let always = |calls: &[libc::c_long], rules: &mut Rules| {
            rules.extend(calls.iter().map(|call| (*call, Vec::new())));
        };
        always(NEVER, &mut rules);
        if !rights.files {
            always(FILES, &mut rules);
        }
        if !rights.network {
            always(&[libc::SYS_socket], &mut rules);
        }
        let own = u64::from(std::process::id());
        for call in [libc::SYS_kill, libc::SYS_tgkill] {
            rules.insert(call, vec![when(0, SeccompCmpOp::Ne, own)?]);
        }
        if !rights.processes {
            always(FORKS, &mut rules);
            let thread = libc::CLONE_THREAD.unsigned_abs().into();
            rules.insert(
                libc::SYS_clone,
                vec![when(0, SeccompCmpOp::MaskedEq(thread), 0)?],
            );
        }
        apply(rules, libc::EPERM)?;
        if !rights.processes {
            // Its flags lie in memory, where a filter cannot look. The C library falls back to `clone`.
            apply(Rules::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)?;
        }
        Ok(())
    }

    fn when(argument: u8, operator: SeccompCmpOp, value: u64) -> io::Result<SeccompRule> {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
            .map_err(io::Error::other)
    }

    fn apply(rules: Rules, errno: i32) -> io::Result<()> {
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
