/* The launch spec and the reports: all that crosses between Python and this program.
 *
 * A spec is one flat little-endian blob in a memfd: `struct spec_wire`, then tables and strings at offsets from its
 * start. Python (jailpy/kernel/spec.py, tested against this file) decides every value; nothing here has a default.
 * Reports go back as fixed structs over a SOCK_SEQPACKET socket, one a message. Words are added by Python.
 */
#ifndef JAILPY_SPEC_H
#define JAILPY_SPEC_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* every source includes this first */
#endif

#include <stddef.h>
#include <stdint.h>

#define SPEC_MAGIC 0x4c49414aU /* "JAIL" */
#define SPEC_VERSION 1U
#define SPEC_MAX_BYTES (256U << 20)
#define SPEC_MAX_ROWS 4096U

/* Where set-up can stop; kernel/spec.py reads this list, so a row is a name and nothing else. */
enum stage {
	STAGE_NONE,
	STAGE_SPEC,
	STAGE_KEEPER,
	STAGE_SOURCES,
	STAGE_CLONE,
	STAGE_IDMAP,
	STAGE_PARENT_DEATH,
	STAGE_CGROUP_NAMESPACE,
	STAGE_HOSTNAME,
	STAGE_PRIVATE_MOUNTS,
	STAGE_ROOT,
	STAGE_MOUNTS,
	STAGE_SYSCTLS,
	STAGE_PIVOT,
	STAGE_SEAL_ROOT,
	STAGE_SPAWN,
	STAGE_SESSION,
	STAGE_STDIO,
	STAGE_RLIMITS,
	STAGE_IDS,
	STAGE_CAPABILITIES,
	STAGE_NO_NEW_PRIVS,
	STAGE_LANDLOCK,
	STAGE_SIGNALS,
	STAGE_WORKDIR,
	STAGE_FDS,
	STAGE_SECCOMP,
	STAGE_EXEC,
	STAGE_DROP_INIT,
	STAGE_JOIN,
	STAGE_COUNT
};

enum report_kind { REPORT_STARTED = 1, REPORT_FAULT, REPORT_EXITED, REPORT_GONE, REPORT_STAMPED };

struct report {
	uint32_t kind, stage, index;
	int32_t error;       /* errno of a FAULT */
	int32_t wait_status; /* of the guest (EXITED) or of init (GONE) */
	int32_t init_pid;    /* as the keeper sees it (GONE, STAMPED) */
	uint32_t disk_full;  /* at the guest's end no block or no inode was left where it may write (EXITED) */
	uint32_t reserved;
	uint64_t cpu_us, maxrss_kb;
};

enum mount_kind { MOUNT_BIND = 1, MOUNT_TMPFS, MOUNT_PROC, MOUNT_DIR, MOUNT_FILE, MOUNT_SYMLINK };

enum spec_flag {
	FLAG_SOURCES_OUTSIDE = 1, /* open bind sources before the user namespace exists (started with CAP_SYS_ADMIN) */
	FLAG_DENY_SETGROUPS = 2,  /* an ordinary user may map its group only without setgroups */
	FLAG_NEW_ROOT = 4,        /* build and enter the root; off only where mounts are given up */
	FLAG_SET_IDS = 8,         /* become the guest's ids; off where the host grants none */
	FLAG_STAMP = 16,          /* stay, with capabilities, and make further jails on request */
	FLAG_PARKED = 32,         /* PID 1 only: the guest arrives from a zygote */
	FLAG_KEEP_CAPS = 64       /* the program is a zygote: trusted, and has to enter the jails it fills */
};

struct mount_row {
	uint32_t kind, source, target, text; /* offsets of strings; 0 is the empty string */
	uint32_t mode, owner;
	uint64_t attributes; /* MOUNT_ATTR_* */
	uint64_t device;     /* st_rdev that a bound device must have, or 0 */
	uint64_t content, content_bytes;
};
struct rlimit_row {
	uint64_t resource, soft, hard;
};
struct landlock_row {
	uint32_t path, unused;
	uint64_t access;
};
struct sysctl_row {
	uint32_t path, value;
};

/* A table is `count` rows at offset `at`. */
struct table {
	uint32_t at, count;
};

struct spec_wire {
	uint32_t magic, version, bytes, flags;
	uint64_t namespaces; /* CLONE_NEW* */
	uint32_t uid_map, gid_map, hostname, root_at, workdir, cgroup_leaf, cgroup_parent_path, cgroup_home;
	uint32_t guest_uid, guest_gid;
	struct table mounts, rlimits, landlock, sysctls, argv, envp; /* argv and envp: rows of one string offset */
	struct table filter;                                         /* rows of 8 bytes: struct sock_filter */
	uint64_t landlock_fs, landlock_net, landlock_scoped;
	uint32_t fault_stage, fault_index; /* injected failure, for tests: this step fails with fault_errno */
	int32_t fault_errno;
	uint32_t unused;
};

struct spec {
	const struct spec_wire *wire;
	const char *base;
	const struct mount_row *mounts;
	const struct rlimit_row *rlimits;
	const struct landlock_row *landlock;
	const struct sysctl_row *sysctls;
	const uint32_t *argv, *envp;
	const void *filter;
};

/* Checks every number in the blob against its bounds. 0, or the number of the rule that the blob breaks. */
int spec_decode(const void *blob, size_t bytes, struct spec *out);

/* A string of a decoded spec. */
static inline const char *spec_text(const struct spec *spec, uint32_t at)
{
	return spec->base + at;
}

#endif
