"""What a guest may ask of the kernel: the seccomp allow list as data, grouped by reason.

    ALLOWED   calls that ordinary Python, numpy, C, C++, Java, Node, Go, Rust, Ruby and PHP programs make
    CHECKED   calls of which only some arguments are allowed
    DENIED    every other call that the kernel knows, with the attack or the leak that the denial stops
    anything  else (newer than these lists) is ENOSYS, for which programs have a fall-back

A foreign architecture, x32 included, kills the process: the numbers below mean other calls there. The same lists serve
x86_64 and aarch64; a call that one of them lacks is skipped there. Numbers of arguments are the same on both.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Final

#: Architectures with rules, as `platform.machine()` names them.
MACHINES: Final = ("x86_64", "aarch64")

#: The outcome "let it pass"; every other outcome is the errno that the caller sees.
ALLOW: Final = 0

#: Outcome of a call that is in no list.
UNKNOWN: Final = errno.ENOSYS

#: Arguments that the kernel reads as 32 bits: what a guest puts into the upper half must not matter.
INT: Final = 0xFFFF_FFFF
POINTER: Final = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True)
class Allowed:
    """Calls that are allowed whatever their arguments."""

    group: str
    why: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Denied:
    """Calls that never reach the kernel. EPERM by default; another errno where callers have a fall-back for it."""

    group: str
    why: str
    calls: tuple[str, ...]
    errno: int = errno.EPERM


@dataclass(frozen=True, slots=True)
class Match:
    """A branch: `inside` when argument number `arg`, masked, is one of `values`; else `outside`."""

    arg: int
    mask: int
    values: frozenset[int]
    inside: int | Match
    outside: int | Match


@dataclass(frozen=True, slots=True)
class Checked:
    """A call that is decided by its arguments; by `without` when a policy leaves out `group`.

    Refused arguments get an errno of their own only where programs look at it: each costs dozens of instructions in the
    filter, which every guest pays for when it is installed.
    """

    call: str
    why: str
    decision: Match
    group: str = ""
    without: Match | None = None


def _calls(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _only(arg: int, values: set[int], otherwise: int, mask: int = INT, then: int | Match = ALLOW) -> Match:
    return Match(arg, mask, frozenset(values), then, otherwise)


def _never(arg: int, bits: int, refusal: int) -> Match:
    return Match(arg, bits, frozenset({0}), ALLOW, refusal)


ALLOWED: Final = (
    Allowed(
        "descriptors",
        "reading and writing what is open",
        _calls("""
            read write readv writev pread64 pwrite64 preadv pwritev lseek close close_range dup dup2 dup3
            fsync fdatasync fallocate ftruncate fadvise64
        """),
    ),
    Allowed(
        "lookup",
        "finding and describing files",
        _calls("""
            open openat creat stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat
            getdents64 statfs fstatfs getcwd chdir fchdir
        """),
    ),
    Allowed(
        "changes",
        "changing files; what may be changed is the mount tree's and Landlock's to say",
        _calls("""
            mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat truncate
            chmod fchmod fchmodat chown fchown lchown fchownat umask utime utimes utimensat
        """),
    ),
    Allowed(
        "memory",
        "allocators, thread stacks, shared mappings, code made at run time; the kernel lets mincore see own files only",
        _calls("brk mmap munmap mremap mprotect madvise msync mincore membarrier"),
    ),
    Allowed(
        "memfd",
        "files without a name; a group of its own because a memory limit that samples processes does not see them",
        _calls("memfd_create"),
    ),
    # A jail's own files need locks: SQLite, PHP and Perl programs, Java's start-up. Where jails share a read-only file,
    # each sees the others' locks on it. That tells nothing about a test, since no expected value is in any jail; a
    # private layer over the shared files takes even that away, and a policy may leave the group out.
    Allowed("locks", "processes of one guest keep out of each other's way", _calls("flock")),
    Allowed(
        "processes",
        "starting, naming and awaiting children; pid namespace and pids limit bound them",
        _calls("""
            fork vfork execve exit exit_group wait4 waitid getpid getppid gettid getpgid setpgid getpgrp getsid setsid
            pidfd_open
        """),
    ),
    Allowed(
        "threads",
        "what every libc and the Go runtime need to run threads",
        _calls("futex set_robust_list set_tid_address rseq arch_prctl sched_yield getcpu"),
    ),
    Allowed(
        "signals",
        "handlers and signals; the pid namespace and Landlock's scope bound whom they reach",
        _calls("""
            kill tkill tgkill pidfd_send_signal rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait
            rt_sigsuspend rt_sigqueueinfo sigaltstack signalfd4 pause restart_syscall
        """),
    ),
    Allowed(
        "waiting",
        "event loops and pipes",
        _calls("""
            poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
            eventfd2 pipe pipe2
        """),
    ),
    Allowed(
        "time",
        "reading clocks, sleeping, own timers",
        _calls("""
            time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer setitimer
            timer_create timer_settime timer_gettime timer_getoverrun timer_delete
            timerfd_create timerfd_settime timerfd_gettime
        """),
    ),
    Allowed(
        "facts",
        "who and where am I, how much may I use",
        _calls("""
            getuid geteuid getgid getegid getresuid getresgid getgroups capget uname sysinfo times getrusage getrlimit
            getrandom
        """),
    ),
    Allowed(
        "scheduling",
        "thread pools pin threads and lower their own weight; cpuset and cpu limit stay above that",
        _calls("""
            sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler sched_get_priority_max
            sched_get_priority_min getpriority setpriority
        """),
    ),
    Allowed(
        "socketpairs",
        "asyncio, multiprocessing, subprocess and Node talk over socketpairs; there is no other socket to name",
        _calls("shutdown getsockname getpeername getsockopt"),
    ),
    Allowed(
        "narrowing",
        "Landlock takes rights away and never gives any; forked steps of one jail shut themselves off with it",
        _calls("landlock_create_ruleset landlock_add_rule landlock_restrict_self"),
    ),
)

# Every CLONE_NEW* flag, then CLONE_PARENT (a child that is a sibling of the guest: its parent, the zygote or
# jailpy-init, would reap a process that it never started and take its status for the guest's) and CLONE_PTRACE.
_CLONE_REFUSED: Final = 0x7E02_0000 | 0x8000 | 0x2000

_SOL_SOCKET: Final = 1
_AF_UNIX: Final = 1
_SOCK_STREAM: Final = 1
_SOCK_SEQPACKET: Final = 5
_SOCK_TYPE: Final = 0xF  # the kernel itself refuses bits above it other than SOCK_CLOEXEC and SOCK_NONBLOCK
_RLIMIT_CORE: Final = 4
_RLIMIT: Final = 0xF  # the kernel knows 16 limits and refuses higher numbers

# MSG_OOB: use-after-free bugs of AF_UNIX's out-of-band queue. MSG_SPLICE_PAGES: page-cache pages in socket buffers.
_MSG_REFUSED: Final = 0x1 | 0x0800_0000

_FCNTL: Final = {
    0,  # F_DUPFD
    1,  # F_GETFD
    2,  # F_SETFD
    3,  # F_GETFL
    4,  # F_SETFL
    1030,  # F_DUPFD_CLOEXEC
    1032,  # F_GETPIPE_SZ
    1033,  # F_ADD_SEALS
    1034,  # F_GET_SEALS
}

_FCNTL_LOCKS: Final = {
    5,  # F_GETLK: SQLite's WAL asks it
    6,  # F_SETLK
    7,  # F_SETLKW
}

_IOCTL: Final = {
    0x5401,  # TCGETS: isatty() asks it
    0x802C_542A,  # TCGETS2: isatty() of glibc from 2.42 on
    0x540F,  # TIOCGPGRP
    0x5413,  # TIOCGWINSZ
    0x541B,  # FIONREAD
    0x5421,  # FIONBIO
    0x5450,  # FIONCLEX
    0x5451,  # FIOCLEX
}

_PRCTL: Final = {
    1,  # PR_SET_PDEATHSIG
    2,  # PR_GET_PDEATHSIG
    3,  # PR_GET_DUMPABLE
    4,  # PR_SET_DUMPABLE
    15,  # PR_SET_NAME
    16,  # PR_GET_NAME
    21,  # PR_GET_SECCOMP
    23,  # PR_CAPBSET_READ
    29,  # PR_SET_TIMERSLACK
    30,  # PR_GET_TIMERSLACK
    38,  # PR_SET_NO_NEW_PRIVS
    39,  # PR_GET_NO_NEW_PRIVS
    42,  # PR_GET_THP_DISABLE
    51,  # PR_SVE_GET_VL
    0x5356_4D41,  # PR_SET_VMA: allocators name their mappings
    0x4155_5856,  # PR_GET_AUXV
}

_SOCKET_OPTIONS: Final = {
    2,  # SO_REUSEADDR
    7,  # SO_SNDBUF
    8,  # SO_RCVBUF
    13,  # SO_LINGER
    20,  # SO_RCVTIMEO
    21,  # SO_SNDTIMEO
}

CHECKED: Final = (
    Checked(
        "clone",
        "threads and children, never a namespace: 54 of 78 exploited kernel bugs began in a nested one",
        _never(0, _CLONE_REFUSED, errno.EPERM),
    ),
    Checked(
        "socketpair",
        "these ends stay with their peer; a datagram end can be reconnected to any socket file that is in sight",
        _only(
            0,
            {_AF_UNIX},
            errno.EAFNOSUPPORT,
            then=_only(1, {_SOCK_STREAM, _SOCK_SEQPACKET}, errno.EAFNOSUPPORT, mask=_SOCK_TYPE),
        ),
    ),
    Checked("sendto", "send() without out-of-band data", _never(3, _MSG_REFUSED, errno.EOPNOTSUPP)),
    Checked(
        "sendmsg", "descriptors and data between a guest's own processes", _never(2, _MSG_REFUSED, errno.EOPNOTSUPP)
    ),
    Checked("recvfrom", "recv() without out-of-band data", _never(3, _MSG_REFUSED, errno.EOPNOTSUPP)),
    Checked("recvmsg", "the other end of sendmsg", _never(2, _MSG_REFUSED, errno.EOPNOTSUPP)),
    Checked(
        "setsockopt",
        "buffer sizes and time-outs; no socket filters (BPF), no kernel TLS, no protocol's own options",
        _only(1, {_SOL_SOCKET}, UNKNOWN, then=_only(2, _SOCKET_OPTIONS, UNKNOWN)),
    ),
    Checked(
        "fcntl",
        "descriptor flags, duplicates, seals, record locks; no leases, F_NOTIFY, pipe sizes, owners or signals",
        _only(1, _FCNTL | _FCNTL_LOCKS, UNKNOWN),
        group="locks",
        without=_only(1, _FCNTL, UNKNOWN),
    ),
    Checked(
        "ioctl", "is it a terminal, how much is to be read; no TIOCSTI, no TIOCLINUX", _only(1, _IOCTL, errno.ENOTTY)
    ),
    Checked(
        "prctl", "names and questions; no ptracer, no seccomp, no core scheduling, no KSM", _only(0, _PRCTL, UNKNOWN)
    ),
    Checked("mknod", "mkfifo(), no devices", _only(1, {0, 0x1000, 0x8000}, errno.EPERM, mask=0xF000)),
    Checked("mknodat", "mkfifo(), no devices", _only(2, {0, 0x1000, 0x8000}, errno.EPERM, mask=0xF000)),
    Checked(
        "personality", "asking for the default; no READ_IMPLIES_EXEC, no fixed layout", _only(0, {0, INT}, UNKNOWN)
    ),
    # RLIMIT_CORE 1 keeps the host's core-dump helper, which runs as root, away from a guest's memory; 0 would call it.
    Checked(
        "setrlimit",
        "own limits, except the one on core files",
        Match(0, _RLIMIT, frozenset({_RLIMIT_CORE}), errno.EPERM, ALLOW),
    ),
    Checked(
        "prlimit64",
        # By number, a guest could set those of a process 1 that shares its user, and have the kernel end it by CPU time.
        "own limits, except setting the one on core files; no other process's, nor its own by its number",
        _only(
            0,
            {0},
            errno.EPERM,
            mask=POINTER,
            then=Match(1, _RLIMIT, frozenset({_RLIMIT_CORE}), _only(2, {0}, errno.EPERM, mask=POINTER), ALLOW),
        ),
    ),
)

DENIED: Final = (
    Denied(
        "mounts",
        "undoes the root that the guest was given; bugs of file system parsers",
        _calls("""
            mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree move_mount mount_setattr
            quotactl
        """),
    ),
    Denied("namespaces", "new capabilities inside a nested namespace, or a way into another", _calls("unshare setns")),
    Denied(
        "clone3",
        "its flags are in memory where no filter sees them; libc falls back to clone",
        _calls("clone3"),
        UNKNOWN,
    ),
    Denied(
        "other processes",
        "reads or steers processes from outside: memory, descriptors, comparison of kernel objects",
        _calls("ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise"),
    ),
    Denied(
        "io_uring and aio",
        "runs calls past this filter (io_uring); one counter for the whole host (aio)",
        _calls("""
            io_uring_setup io_uring_enter io_uring_register io_setup io_submit io_getevents io_pgetevents io_cancel
            io_destroy
        """),
        UNKNOWN,
    ),
    Denied(
        "keyrings",
        "per-user state that outlives the guest; loads modules",
        _calls("add_key request_key keyctl"),
        UNKNOWN,
    ),
    Denied(
        "programs in the kernel",
        "verifier and JIT bugs, JIT memory shared by the host; a listener could forge other processes' results",
        _calls("bpf seccomp perf_event_open userfaultfd"),
    ),
    Denied(
        "page cache",
        "puts pages of files that others read into pipes and buffers: Dirty Pipe, Copy Fail and their kin",
        _calls("splice tee vmsplice"),
    ),
    # Copying functions try these two first, then read and write: each at the errno that all of them know.
    Denied(
        "page cache: sendfile", "as above; Java and libuv fall back at EINVAL only", _calls("sendfile"), errno.EINVAL
    ),
    Denied("page cache: copies", "as above, inside the kernel", _calls("copy_file_range"), UNKNOWN),
    Denied(
        "residency",
        "tells which shared files a neighbour has just read (RWF_NOWAIT, cachestat), or changes that",
        _calls("preadv2 pwritev2 cachestat readahead"),
        UNKNOWN,
    ),
    Denied(
        "watches",
        "reports what neighbours do to shared files; instances are counted per user",
        _calls("inotify_init inotify_init1 inotify_add_watch inotify_rm_watch fanotify_init fanotify_mark"),
    ),
    Denied("handles", "opens any inode of a file system, past the root", _calls("name_to_handle_at open_by_handle_at")),
    Denied(
        "extended attributes",
        "storage beside every quota; as on a file system that has none",
        _calls("""
            setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
            removexattr lremovexattr fremovexattr
        """),
        errno.EOPNOTSUPP,
    ),
    Denied(
        "sockets",
        "no network, no families: AF_ALG, AF_VSOCK, AF_NETLINK and module loading by family number",
        _calls("socket"),
        errno.EAFNOSUPPORT,
    ),
    Denied("addresses", "a socketpair needs none", _calls("bind listen accept accept4 connect sendmmsg recvmmsg")),
    Denied(
        "ipc",
        "System V and POSIX queues outlive processes and are shared where the namespace is",
        _calls("""
            shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
            mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
        """),
    ),
    Denied(
        "identity",
        "one user, no capabilities, a fixed name",
        _calls("""
            setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset
            sethostname setdomainname
        """),
    ),
    Denied(
        "scheduling classes",
        "real-time and input/output classes are the host's to give",
        _calls("sched_setscheduler sched_setparam sched_setattr ioprio_set ioprio_get"),
    ),
    Denied(
        "memory placement",
        "moves pages between nodes of the machine, pins all of them or hides them",
        _calls("mbind set_mempolicy get_mempolicy migrate_pages move_pages mlockall munlockall remap_file_pages"),
    ),
    Denied(
        "the machine",
        "modules, kernels, swap, clocks, log, ports, accounting: the host's alone",
        _calls("""
            init_module finit_module delete_module create_module get_kernel_syms query_module kexec_load
            kexec_file_load reboot swapon swapoff acct settimeofday clock_settime clock_adjtime adjtimex syslog
            iopl ioperm vhangup nfsservctl lookup_dcookie modify_ldt sync syncfs
        """),
    ),
    # What libseccomp before 2.5.5 does not know is here and not above: every version compiles the same decisions.
    Denied(
        "old, new or rare",
        "nothing that an ordinary program needs, or a newer form of an allowed call; libc falls back",
        _calls("""
            _sysctl afs_syscall epoll_ctl_old epoll_pwait2 epoll_wait_old eventfd execveat fchmodat2 futex_requeue
            futex_wait futex_waitv futex_wake futimesat get_robust_list get_thread_area getdents getpmsg
            map_shadow_stack memfd_secret mlock mlock2 munlock openat2 pkey_alloc pkey_free pkey_mprotect
            process_mrelease putpmsg quotactl_fd rt_tgsigqueueinfo sched_getattr sched_rr_get_interval security
            set_mempolicy_home_node set_thread_area signalfd sync_file_range sysfs tuxcall uselib ustat vserver
        """),
        UNKNOWN,
    ),
)

#: Groups of allowed calls that a policy may leave out.
GROUPS: Final = frozenset(entry.group for entry in ALLOWED)
