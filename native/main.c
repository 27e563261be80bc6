/* jailpy-init: the native core of jailpy. Theory of operation.
 *
 *   library (Python)        decides everything, writes one spec (spec.h) into a memfd, starts the keeper
 *     └ keeper (this file)  outside of the jail, with the library's rights. Clones PID 1 into the jail's cgroup leaf and
 *         │                 namespaces, maps its ids, and waits for one of: the library's wish to kill, the library's
 *         │                 death, the jail's end. Then it kills what is left, removes the leaf, and goes.
 *         └ init (init.c)   PID 1 of the jail. Builds the root from nothing (mounts.c), forks the guest, drops
 *             │             everything, reaps, reports how the guest ended. Its end is the end of all in the jail.
 *             └ guest       confine.c: away from every privilege, step by step, then execve
 *
 * A warm start has one floor more: the first guest is a zygote (a trusted interpreter that keeps its capabilities over
 * the jail's user namespace), and init stays to make further jails for it on request (stamp.c).
 *
 * Nobody forks the library: it may have hundreds of threads and gigabytes. Nobody trusts what the guest says: reports
 * travel on a socket that it never holds, and a report is numbers (stage, index, errno); Python has the words.
 * Descriptors come as arguments, so that no number is assumed to be free in the library's process. */
#include "jail.h"
#include "kernel.h"
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum argument { ARG_SPEC = 1, ARG_REPORT, ARG_IN, ARG_OUT, ARG_ERR, ARG_CHANNEL, ARG_LEAF, ARG_PARENT, ARG_STAMP, ARGS };

static int given[ARGS];

/* Whatever else the library's process leaked into this one is closed before anything happens. */
static void close_all_others(void)
{
	for (unsigned fd = 3, next = 0; next != ~0U; fd = next + 1) {
		next = ~0U;
		for (int i = ARG_SPEC; i < ARGS; i++)
			if (given[i] >= (int)fd && (unsigned)given[i] < next)
				next = (unsigned)given[i];
		if (next > fd)
			k_close_range(fd, next == ~0U ? next : next - 1, 0);
	}
	k_close_range(3, ~0U, K_CLOSE_RANGE_CLOEXEC);
}

static void load_spec(struct jail *jail)
{
	struct stat st;
	void *blob = MAP_FAILED;

	MUST(STAGE_SPEC, 0, fstat(given[ARG_SPEC], &st));
	blob = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, given[ARG_SPEC], 0);
	CHECK(STAGE_SPEC, 0, blob != MAP_FAILED);
	int broken = spec_decode(blob, (size_t)st.st_size, &jail->spec);
	CHECK(STAGE_SPEC, (unsigned)broken, broken == 0);
	report_faults(jail->spec.wire);
}

static void kill_jail(const struct jail *jail, int pidfd)
{
	int fd = jail->cgroup < 0 ? -1 : openat(jail->cgroup, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, "1", 1) < 0)
			errno = 0; /* the signal below does for init, and with it for its namespace */
		close(fd);
	}
	k_pidfd_kill(pidfd, jail->spec.wire->namespaces & K_CLONE_NEWPID ? SIGKILL : SIGTERM);
}

/* Until the jail is empty. A byte or the end of the report socket is the library's wish to kill. */
static void watch(const struct jail *jail, int library, int pidfd)
{
	struct pollfd watched[] = {{pidfd, POLLIN, 0}, {library, POLLIN, 0}, {given[ARG_REPORT], POLLIN, 0}};

	for (;;) {
		if (poll(watched, 3, -1) < 0 && errno != EINTR)
			break;
		if (watched[0].revents)
			return;
		if (watched[1].revents || watched[2].revents) {
			kill_jail(jail, pidfd);
			watched[1].fd = watched[2].fd = -1;
		}
	}
}

/* The library reads the leaf's counters first; it closes its end when it has them, or when it dies. */
static void await_library(int library)
{
	struct pollfd watched[] = {{library, POLLIN, 0}, {given[ARG_REPORT], 0, 0}};

	while (poll(watched, 2, -1) < 0 && errno == EINTR)
		;
}

/* EBUSY while the last process is still on its way out; `tries` milliseconds for all that a keeper has to remove. */
static void remove_group(const char *name, int *tries)
{
	const struct timespec pause = {0, 1000000};

	while (unlinkat(given[ARG_PARENT], name, AT_REMOVEDIR) < 0 && errno == EBUSY && (*tries)-- > 0)
		nanosleep(&pause, NULL);
}

/* The library is gone, and what it kept for later with it: every group next to ours, as soon as it is empty (the guests of
 * a zygote die after it), and the folders of groups. */
static void remove_orphans(const struct spec *spec, int *tries)
{
	DIR *groups = fdopendir(given[ARG_PARENT]);

	for (struct dirent *entry; groups && (entry = readdir(groups));)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			remove_group(entry->d_name, tries);
	rmdir(spec_text(spec, spec->wire->cgroup_parent_path));
	rmdir(spec_text(spec, spec->wire->cgroup_home));
}

static void remove_leaf(const struct spec *spec, int library)
{
	struct pollfd gone = {library, POLLIN, 0};
	int tries = 5000;

	if (given[ARG_PARENT] < 0)
		return;
	remove_group(spec_text(spec, spec->wire->cgroup_leaf), &tries);
	if (poll(&gone, 1, 0) > 0)
		remove_orphans(spec, &tries);
}

int main(int argc, char **argv)
{
	static struct jail jail;
	int pidfd = -1, library = -1, status = 0;

	if (argc != ARGS)
		return 2;
	for (int i = ARG_SPEC; i < ARGS; i++)
		given[i] = atoi(argv[i]);
	close_all_others();
	report_to(given[ARG_REPORT]);
	MUST(STAGE_KEEPER, 0, library = k_pidfd_open(getppid()));
	load_spec(&jail);
	jail.input = given[ARG_IN], jail.output = given[ARG_OUT], jail.errors = given[ARG_ERR];
	jail.reports = given[ARG_REPORT];
	jail.channel = given[ARG_CHANNEL], jail.cgroup = given[ARG_LEAF], jail.stamper = -1;
	if (given[ARG_STAMP] >= 0)
		stamp_prepare(given[ARG_STAMP]);
	if (jail.spec.wire->flags & FLAG_SOURCES_OUTSIDE)
		mounts_open_sources(&jail);
	pid_t init = jail_clone(&jail, &pidfd);
	for (int i = ARG_IN; i <= ARG_CHANNEL; i++)
		if (given[i] >= 0)
			close(given[i]);
	watch(&jail, library, pidfd);
	kill_jail(&jail, pidfd);
	if (waitpid(init, &status, __WALL) != init)
		status = 0;
	struct report gone = {.kind = REPORT_GONE, .wait_status = status, .init_pid = (int32_t)init};
	report_send(&gone);
	await_library(library);
	remove_leaf(&jail.spec, library);
	return 0;
}
