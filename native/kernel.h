/* The Linux interfaces that this program uses and that libc headers have only in part: numbers and structures of the
 * kernel's user API, spelled out so that any C compiler and libc will do. */
#ifndef JAILPY_KERNEL_H
#define JAILPY_KERNEL_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Calls numbered alike on every architecture since Linux 5.1. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#define K_CLONE_NEWTIME 0x00000080ULL
#define K_CLONE_PIDFD 0x00001000ULL
#define K_CLONE_PARENT 0x00008000ULL
#define K_CLONE_NEWNS 0x00020000ULL
#define K_CLONE_NEWCGROUP 0x02000000ULL
#define K_CLONE_NEWUTS 0x04000000ULL
#define K_CLONE_NEWIPC 0x08000000ULL
#define K_CLONE_NEWUSER 0x10000000ULL
#define K_CLONE_NEWPID 0x20000000ULL
#define K_CLONE_NEWNET 0x40000000ULL
#define K_CLONE_INTO_CGROUP 0x200000000ULL

struct k_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	uint64_t set_tid, set_tid_size, cgroup;
};

#define K_OPEN_TREE_CLONE 1U
#define K_OPEN_TREE_CLOEXEC 02000000U
#define K_AT_RECURSIVE 0x8000U
#define K_AT_EMPTY_PATH 0x1000U
#define K_AT_SYMLINK_NOFOLLOW 0x100U
#define K_MOVE_MOUNT_F_EMPTY_PATH 4U
#define K_MS_PRIVATE (1ULL << 18)

struct k_mount_attr {
	uint64_t attr_set, attr_clr, propagation, userns_fd;
};

#define K_CLOSE_RANGE_CLOEXEC 4U
#define K_P_PIDFD 3

struct k_landlock_ruleset_attr {
	uint64_t handled_access_fs, handled_access_net, scoped;
};

struct k_landlock_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

#define K_LANDLOCK_RULE_PATH_BENEATH 1

struct k_cap_header {
	uint32_t version;
	int pid;
};
struct k_cap_data {
	uint32_t effective, permitted, inheritable;
};
struct k_rlimit {
	uint64_t soft, hard;
};

#define K_CAP_VERSION_3 0x20080522U
/* NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off, NO_CAP_AMBIENT_RAISE, and the lock of each. */
#define K_SECUREBITS_LOCKED 0xefUL

struct k_sock_fprog {
	unsigned short len;
	const void *filter;
};

static inline int k_clone3(struct k_clone_args *args)
{
	return (int)syscall(SYS_clone3, args, sizeof *args);
}
static inline int k_pidfd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0U);
}
static inline int k_pidfd_kill(int pidfd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, (void *)0, 0U);
}
static inline int k_open_tree(const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, -100 /* AT_FDCWD */, path, flags);
}
static inline int k_mount_setattr(int fd, const char *path, unsigned flags, const struct k_mount_attr *attr)
{
	return (int)syscall(SYS_mount_setattr, fd, path, flags, attr, sizeof *attr);
}
static inline int k_move_mount(int fd, const char *target)
{
	return (int)syscall(SYS_move_mount, fd, "", -100, target, K_MOVE_MOUNT_F_EMPTY_PATH);
}
static inline int k_close_range(unsigned first, unsigned last, unsigned flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}
static inline int k_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}

#endif
