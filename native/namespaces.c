/* A process in namespaces of its own: clone3 into the cgroup leaf, then the id maps, written from outside. */
#include "jail.h"
#include "kernel.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* "/proc/<pid>/<name>" without stdio, which a static binary is better off without. */
static void proc_path(char *out, size_t room, pid_t pid, const char *name)
{
	char digits[16];
	size_t n = sizeof digits, used = 6;

	do
		digits[--n] = (char)('0' + pid % 10);
	while ((pid /= 10) > 0);
	memcpy(out, "/proc/", used);
	memcpy(out + used, digits + n, sizeof digits - n);
	used += sizeof digits - n;
	out[used++] = '/';
	strncpy(out + used, name, room - used - 1);
	out[room - 1] = '\0';
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -1;
	ssize_t done = write(fd, text, strlen(text));
	int error = errno;
	close(fd);
	errno = error;
	return done == (ssize_t)strlen(text) ? 0 : -1;
}

static void map_ids(const struct jail *jail, pid_t pid)
{
	const struct spec *spec = &jail->spec;
	const char *uids = jail->maps ? jail->maps : spec_text(spec, spec->wire->uid_map);
	const char *gids = jail->maps ? jail->maps : spec_text(spec, spec->wire->gid_map);
	char path[64];

	if (spec->wire->flags & FLAG_DENY_SETGROUPS) {
		proc_path(path, sizeof path, pid, "setgroups");
		MUST(STAGE_IDMAP, 0, write_file(path, "deny"));
	}
	proc_path(path, sizeof path, pid, "uid_map");
	MUST(STAGE_IDMAP, 1, write_file(path, uids));
	proc_path(path, sizeof path, pid, "gid_map");
	MUST(STAGE_IDMAP, 2, write_file(path, gids));
}

/* The gate stays open on the maker's side for as long as the maker lives, so its end of file is the maker's death: a
 * parent in another pid namespace has no number to ask for. Asked after PDEATHSIG is set, so that no moment is missed.
 * A stamped jail lies in its maker's pid namespace and ends with that. */
void jail_die_with_maker(struct jail *jail)
{
	int signal_sent = jail->spec.wire->namespaces & K_CLONE_NEWPID ? SIGKILL : SIGTERM;
	char unused;

	if (jail->spec.wire->flags & FLAG_PARKED)
		return;
	MUST(STAGE_PARENT_DEATH, 0, prctl(PR_SET_PDEATHSIG, signal_sent, 0, 0, 0));
	if (recv(jail->gate, &unused, 1, MSG_DONTWAIT) == 0)
		_exit(1);
}

pid_t jail_clone(struct jail *jail, int *pidfd)
{
	const struct spec_wire *wire = jail->spec.wire;
	int gate[2];
	/* The cgroup namespace takes its root from where its first process is, so it comes after the move (init.c). */
	struct k_clone_args args = {
		.flags = (wire->namespaces & ~K_CLONE_NEWCGROUP) | K_CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};
	if (jail->cgroup >= 0) {
		args.flags |= K_CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)jail->cgroup;
	}
	MUST(STAGE_CLONE, 0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate));
	pid_t pid = -1;
	MUST(STAGE_CLONE, 1, pid = k_clone3(&args));
	if (pid == 0) {
		char mapped = 0;
		close(gate[0]);
		if (read(gate[1], &mapped, 1) != 1)
			_exit(1); /* the maker failed and has said so */
		jail->gate = gate[1];
		init_run(jail);
	}
	close(gate[1]);
	if (wire->namespaces & K_CLONE_NEWUSER)
		map_ids(jail, pid);
	MUST(STAGE_CLONE, 2, write(gate[0], "", 1));
	jail->gate = gate[0];
	return pid;
}
