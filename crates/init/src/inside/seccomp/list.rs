//! Which system calls work in a box, and why the others do not.

use alloc::vec::Vec;

use linux_raw_sys::general::*;

use super::assemble::{Action, Check, Segment};

const EPERM: u16 = 1;
const ENOSYS: u16 = 38;
const EAFNOSUPPORT: u16 = 97;

#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_00b7;

#[cfg(target_arch = "x86_64")]
const FSTATAT: u32 = __NR_newfstatat;
#[cfg(target_arch = "aarch64")]
const FSTATAT: u32 = __NR_fstatat;

/// Files: the mounts and Landlock decide which.
const FILES: &[u32] = &[
    __NR_read,
    __NR_write,
    __NR_pread64,
    __NR_pwrite64,
    __NR_readv,
    __NR_writev,
    __NR_preadv,
    __NR_pwritev,
    __NR_preadv2,
    __NR_pwritev2,
    __NR_openat,
    __NR_openat2,
    __NR_close,
    __NR_close_range,
    __NR_lseek,
    __NR_fstat,
    FSTATAT,
    __NR_statx,
    __NR_statfs,
    __NR_fstatfs,
    __NR_faccessat,
    __NR_faccessat2,
    __NR_fchmod,
    __NR_fchmodat,
    __NR_fchmodat2,
    __NR_fchown,
    __NR_fchownat,
    __NR_readlinkat,
    __NR_symlinkat,
    __NR_linkat,
    __NR_unlinkat,
    __NR_mkdirat,
    __NR_renameat,
    __NR_renameat2,
    __NR_getdents64,
    __NR_getcwd,
    __NR_chdir,
    __NR_fchdir,
    __NR_umask,
    __NR_truncate,
    __NR_ftruncate,
    __NR_fallocate,
    __NR_fadvise64,
    __NR_fsync,
    __NR_fdatasync,
    __NR_sync,
    __NR_syncfs,
    __NR_sync_file_range,
    __NR_sendfile,
    __NR_splice,
    __NR_tee,
    __NR_vmsplice,
    __NR_copy_file_range,
    __NR_readahead,
    __NR_fcntl,
    __NR_flock,
    __NR_dup,
    __NR_dup3,
    __NR_pipe2,
    __NR_utimensat,
    __NR_mknodat,
    __NR_getxattr,
    __NR_lgetxattr,
    __NR_fgetxattr,
    __NR_listxattr,
    __NR_llistxattr,
    __NR_flistxattr,
    __NR_setxattr,
    __NR_lsetxattr,
    __NR_fsetxattr,
    __NR_removexattr,
    __NR_lremovexattr,
    __NR_fremovexattr,
    __NR_inotify_init1,
    __NR_inotify_add_watch,
    __NR_inotify_rm_watch,
    __NR_memfd_create,
    __NR_cachestat,
];

/// Memory of the process itself.
const MEMORY: &[u32] = &[
    __NR_mmap,
    __NR_munmap,
    __NR_mprotect,
    __NR_mremap,
    __NR_madvise,
    __NR_brk,
    __NR_msync,
    __NR_mincore,
    __NR_mlock,
    __NR_mlock2,
    __NR_munlock,
    __NR_mlockall,
    __NR_munlockall,
    __NR_membarrier,
    __NR_pkey_alloc,
    __NR_pkey_free,
    __NR_pkey_mprotect,
    __NR_get_mempolicy,
    __NR_set_mempolicy,
    __NR_mbind,
    __NR_map_shadow_stack,
    __NR_mseal,
];

/// Processes, threads and signals, inside the pid namespace.
const PROCESSES: &[u32] = &[
    __NR_execve,
    __NR_execveat,
    __NR_exit,
    __NR_exit_group,
    __NR_wait4,
    __NR_waitid,
    __NR_kill,
    __NR_tkill,
    __NR_tgkill,
    __NR_getpid,
    __NR_getppid,
    __NR_gettid,
    __NR_getpgid,
    __NR_setpgid,
    __NR_getsid,
    __NR_setsid,
    __NR_getuid,
    __NR_geteuid,
    __NR_getgid,
    __NR_getegid,
    __NR_getresuid,
    __NR_getresgid,
    __NR_getgroups,
    __NR_setuid,
    __NR_setgid,
    __NR_setreuid,
    __NR_setregid,
    __NR_setresuid,
    __NR_setresgid,
    __NR_setgroups,
    __NR_setfsuid,
    __NR_setfsgid,
    __NR_capget,
    __NR_capset,
    __NR_prctl,
    __NR_getpriority,
    __NR_setpriority,
    __NR_getrlimit,
    __NR_setrlimit,
    __NR_prlimit64,
    __NR_getrusage,
    __NR_times,
    __NR_set_tid_address,
    __NR_set_robust_list,
    __NR_get_robust_list,
    __NR_rseq,
    __NR_futex,
    __NR_futex_waitv,
    __NR_sched_yield,
    __NR_sched_getaffinity,
    __NR_sched_setaffinity,
    __NR_sched_getparam,
    __NR_sched_getscheduler,
    __NR_sched_setscheduler,
    __NR_sched_setparam,
    __NR_sched_getattr,
    __NR_sched_setattr,
    __NR_sched_get_priority_max,
    __NR_sched_get_priority_min,
    __NR_sched_rr_get_interval,
    __NR_getcpu,
    __NR_ioprio_get,
    __NR_ioprio_set,
    __NR_pidfd_open,
    __NR_pidfd_send_signal,
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_rt_sigpending,
    __NR_rt_sigsuspend,
    __NR_rt_sigtimedwait,
    __NR_rt_sigqueueinfo,
    __NR_rt_tgsigqueueinfo,
    __NR_sigaltstack,
    __NR_signalfd4,
    __NR_restart_syscall,
    __NR_seccomp,
    __NR_landlock_create_ruleset,
    __NR_landlock_add_rule,
    __NR_landlock_restrict_self,
];

/// Clocks, timers, waiting.
const TIME: &[u32] = &[
    __NR_clock_gettime,
    __NR_clock_getres,
    __NR_clock_nanosleep,
    __NR_nanosleep,
    __NR_gettimeofday,
    __NR_timer_create,
    __NR_timer_settime,
    __NR_timer_gettime,
    __NR_timer_getoverrun,
    __NR_timer_delete,
    __NR_timerfd_create,
    __NR_timerfd_settime,
    __NR_timerfd_gettime,
    __NR_setitimer,
    __NR_getitimer,
    __NR_ppoll,
    __NR_pselect6,
    __NR_epoll_create1,
    __NR_epoll_ctl,
    __NR_epoll_pwait,
    __NR_epoll_pwait2,
    __NR_eventfd2,
];

/// Sockets; the net namespace and the gate decide what they reach. `socket` itself is checked.
const SOCKETS: &[u32] = &[
    __NR_socketpair,
    __NR_bind,
    __NR_listen,
    __NR_accept,
    __NR_accept4,
    __NR_connect,
    __NR_shutdown,
    __NR_getsockname,
    __NR_getpeername,
    __NR_getsockopt,
    __NR_setsockopt,
    __NR_sendto,
    __NR_recvfrom,
    __NR_sendmsg,
    __NR_recvmsg,
    __NR_sendmmsg,
    __NR_recvmmsg,
];

/// System V and POSIX communication, private by the ipc namespace.
const IPC: &[u32] = &[
    __NR_shmget,
    __NR_shmat,
    __NR_shmdt,
    __NR_shmctl,
    __NR_semget,
    __NR_semop,
    __NR_semtimedop,
    __NR_semctl,
    __NR_msgget,
    __NR_msgsnd,
    __NR_msgrcv,
    __NR_msgctl,
    __NR_mq_open,
    __NR_mq_unlink,
    __NR_mq_timedsend,
    __NR_mq_timedreceive,
    __NR_mq_notify,
    __NR_mq_getsetattr,
];

/// Questions that give nothing away beyond what a program must know.
const QUESTIONS: &[u32] = &[__NR_uname, __NR_sysinfo, __NR_getrandom];

/// Old forms of the above that only x86-64 has.
#[cfg(target_arch = "x86_64")]
const OLD_FORMS: &[u32] = &[
    __NR_open,
    __NR_creat,
    __NR_stat,
    __NR_lstat,
    __NR_access,
    __NR_chmod,
    __NR_chown,
    __NR_lchown,
    __NR_readlink,
    __NR_symlink,
    __NR_link,
    __NR_unlink,
    __NR_mkdir,
    __NR_rmdir,
    __NR_rename,
    __NR_getdents,
    __NR_dup2,
    __NR_pipe,
    __NR_utime,
    __NR_utimes,
    __NR_futimesat,
    __NR_mknod,
    __NR_inotify_init,
    __NR_fork,
    __NR_vfork,
    __NR_getpgrp,
    __NR_arch_prctl,
    __NR_poll,
    __NR_select,
    __NR_epoll_create,
    __NR_epoll_wait,
    __NR_epoll_ctl_old,
    __NR_epoll_wait_old,
    __NR_eventfd,
    __NR_signalfd,
    __NR_alarm,
    __NR_pause,
    __NR_time,
];
#[cfg(target_arch = "aarch64")]
const OLD_FORMS: &[u32] = &[];

/// Refused for good. A plain error, so that a program that can live without them does.
const REFUSED: &[(&[u32], &str)] = &[
    (
        &[
            __NR_mount,
            __NR_umount2,
            __NR_pivot_root,
            __NR_open_tree,
            __NR_move_mount,
            __NR_fsopen,
            __NR_fsconfig,
            __NR_fsmount,
            __NR_fspick,
            __NR_mount_setattr,
            __NR_swapon,
            __NR_swapoff,
            __NR_quotactl,
            __NR_quotactl_fd,
        ],
        "mounts are the wall around the box",
    ),
    (&[__NR_unshare, __NR_setns], "new namespaces bring back capabilities"),
    (
        &[
            __NR_ptrace,
            __NR_process_vm_readv,
            __NR_process_vm_writev,
            __NR_process_madvise,
            __NR_process_mrelease,
            __NR_pidfd_getfd,
            __NR_kcmp,
        ],
        "reaching into other processes",
    ),
    (
        &[__NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_lookup_dcookie],
        "kernel attack surface that programs do not need",
    ),
    (
        &[
            __NR_init_module,
            __NR_finit_module,
            __NR_delete_module,
            __NR_kexec_load,
            __NR_kexec_file_load,
            __NR_reboot,
            __NR_syslog,
            __NR_acct,
        ],
        "administration of the host",
    ),
    (&[__NR_add_key, __NR_request_key, __NR_keyctl], "keys are not namespaced and outlive the run"),
    (
        &[__NR_open_by_handle_at, __NR_name_to_handle_at, __NR_fanotify_init, __NR_fanotify_mark],
        "file handles walk around mounts",
    ),
    (
        &[
            __NR_settimeofday,
            __NR_clock_settime,
            __NR_clock_adjtime,
            __NR_adjtimex,
            __NR_sethostname,
            __NR_setdomainname,
            __NR_vhangup,
            __NR_nfsservctl,
            __NR_move_pages,
            __NR_migrate_pages,
            __NR_memfd_secret,
            __NR_chroot,
        ],
        "host settings and memory that cannot be accounted",
    ),
];

/// These answer "not implemented", on which libraries fall back to something that works.
const NOT_IMPLEMENTED: &[(&[u32], &str)] = &[
    (&[__NR_clone3], "its flags are in memory, where a filter cannot see them"),
    (
        &[__NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register],
        "walks around this filter",
    ),
];

const NAMESPACE_FLAGS: u32 = CLONE_NEWUSER
    | CLONE_NEWNS
    | CLONE_NEWPID
    | CLONE_NEWNET
    | CLONE_NEWIPC
    | CLONE_NEWUTS
    | CLONE_NEWCGROUP
    | CLONE_NEWTIME;

/// Unix, IPv4, IPv6 and netlink (which only answers questions about interfaces here). Not vsock,
/// which is not namespaced; not packet, alg and the dozens that nobody should meet.
const SOCKET_FAMILIES: &[u32] = &[1, 2, 10, 16];

/// Pushing characters into a terminal as if they had been typed.
const TERMINAL_INJECTION: &[u32] = &[0x5412, 0x541c];

/// The default, and the default without address randomization, and the question.
const PERSONALITIES: &[u32] = &[0, 0x0004_0000, u32::MAX];

const CHECKED: &[(u32, Check)] = &[
    (__NR_clone, Check::NoBits { argument: 0, bits: NAMESPACE_FLAGS, error: EPERM }),
    (__NR_socket, Check::OneOf { argument: 0, values: SOCKET_FAMILIES, error: EAFNOSUPPORT }),
    (__NR_ioctl, Check::NoneOf { argument: 1, values: TERMINAL_INJECTION, error: EPERM }),
    (__NR_personality, Check::OneOf { argument: 0, values: PERSONALITIES, error: EPERM }),
];

/// The table as segments of numbers. What is in no list is not implemented.
pub(super) fn segments() -> Vec<Segment> {
    let mut entries: Vec<(u32, Action)> = Vec::new();
    for list in [FILES, MEMORY, PROCESSES, TIME, SOCKETS, IPC, QUESTIONS, OLD_FORMS] {
        entries.extend(list.iter().map(|number| (*number, Action::Allow)));
    }
    for (list, _) in REFUSED {
        entries.extend(list.iter().map(|number| (*number, Action::Fail(EPERM))));
    }
    for (list, _) in NOT_IMPLEMENTED {
        entries.extend(list.iter().map(|number| (*number, Action::Fail(ENOSYS))));
    }
    entries.extend(CHECKED.iter().map(|(number, check)| (*number, Action::Check(*check))));
    entries.sort_by_key(|(number, _)| *number);

    let mut segments: Vec<Segment> = Vec::new();
    let mut push = |first: u32, action: Action| {
        if segments.last().is_none_or(|last| last.action != action) {
            segments.push(Segment { first, action });
        }
    };
    let mut next = 0;
    for (number, action) in entries {
        if number > next {
            push(next, Action::Fail(ENOSYS));
        }
        push(number, action);
        next = number + 1;
    }
    push(next, Action::Fail(ENOSYS));
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action_of(number: u32) -> Action {
        segments().iter().rev().find(|segment| segment.first <= number).unwrap().action
    }

    #[test]
    fn no_call_is_in_two_lists() {
        let mut all: std::vec::Vec<u32> = std::vec::Vec::new();
        for list in [FILES, MEMORY, PROCESSES, TIME, SOCKETS, IPC, QUESTIONS, OLD_FORMS] {
            all.extend(list);
        }
        for (list, _) in REFUSED.iter().chain(NOT_IMPLEMENTED) {
            all.extend(*list);
        }
        all.extend(CHECKED.iter().map(|(number, _)| number));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn the_table_says_what_the_lists_say() {
        assert_eq!(action_of(__NR_read), Action::Allow);
        assert_eq!(action_of(__NR_mount), Action::Fail(EPERM));
        assert_eq!(action_of(__NR_clone3), Action::Fail(ENOSYS));
        assert_eq!(action_of(__NR_io_uring_setup), Action::Fail(ENOSYS));
        assert!(matches!(action_of(__NR_clone), Action::Check(_)));
        assert_eq!(action_of(100_000), Action::Fail(ENOSYS));
        assert_eq!(action_of(0x4000_0000 + __NR_read), Action::Fail(ENOSYS));
    }
}
