/* PID 1 of a jail: enters it, starts the guest as PID 2, reaps whoever is left to it, and says how the guest ended.
 * When it exits, the kernel kills all that is left in the pid namespace; nothing else is needed for that. */
#include "jail.h"
#include "kernel.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

static void enter(struct jail *jail)
{
	const struct spec *spec = &jail->spec;
	const struct spec_wire *wire = spec->wire;
	const char *hostname = spec_text(spec, wire->hostname);

	if (wire->flags & FLAG_SET_IDS) {
		MUST(STAGE_IDMAP, 3, (int)syscall(SYS_setresgid, 0, 0, 0));
		MUST(STAGE_IDMAP, 4, (int)syscall(SYS_setresuid, 0, 0, 0));
	}
	jail_die_with_maker(jail); /* after the ids: a change of ids cancels it */
	if (wire->namespaces & K_CLONE_NEWCGROUP)
		MUST(STAGE_CGROUP_NAMESPACE, 0, unshare((int)K_CLONE_NEWCGROUP));
	if (wire->namespaces & K_CLONE_NEWUTS)
		MUST(STAGE_HOSTNAME, 0, sethostname(hostname, strlen(hostname)));
	if (!(wire->flags & FLAG_NEW_ROOT))
		return;
	if (!(wire->flags & FLAG_SOURCES_OUTSIDE))
		mounts_open_sources(jail);
	mounts_enter_root(jail);
}

/* Forks the guest, gives up this process's own power, lets the guest go on, and waits until it has been reached: its end
 * of the second pipe closes at exec, or with it. A guest that failed before has reported why, so an ending without EXITED
 * is never taken for the guest's own; and no guest runs beside a PID 1 that could not give up what it had. */
static pid_t start_guest(struct jail *jail)
{
	int go[2], started[2];
	char byte = 0;
	pid_t pid = -1;

	MUST(STAGE_SPAWN, 0, pipe2(go, O_CLOEXEC));
	MUST(STAGE_SPAWN, 0, pipe2(started, O_CLOEXEC));
	MUST(STAGE_SPAWN, 1, pid = fork());
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		confine_and_exec(jail);
	}
	if (!(jail->spec.wire->flags & FLAG_STAMP)) {
		confine_hide();
		confine_drop_privileges();
	}
	MUST(STAGE_SPAWN, 7, write(go[1], &byte, 1));
	close(go[0]), close(go[1]), close(started[1]);
	while (read(started[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(started[0]);
	return pid;
}

static uint64_t micros(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000U + (uint64_t)time.tv_usec;
}

static void report_exit(const struct spec *spec, int status)
{
	struct report report = {.kind = REPORT_EXITED, .wait_status = status};
	struct rusage usage;
	struct statfs disk;

	if (statfs(spec_text(spec, spec->wire->workdir), &disk) == 0 && disk.f_blocks)
		report.disk_full = disk.f_bfree == 0 || disk.f_ffree == 0;

	if (getrusage(RUSAGE_CHILDREN, &usage) == 0) {
		report.cpu_us = micros(usage.ru_utime) + micros(usage.ru_stime);
		report.maxrss_kb = (uint64_t)usage.ru_maxrss;
	}
	report_send(&report);
}

/* Waits for the guest; other children are orphans of the jail, reaped so that they do not count against its limit. */
static int reap_until(pid_t guest)
{
	for (;;) {
		int status = 0;
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid == guest)
			return status;
		if (pid < 0 && errno != EINTR)
			_exit(1);
	}
}

/* PID 1 of a stamped jail. The guest comes from a zygote by setns, for which this process has to be readable; SIGUSR1
 * says that it has come. The guest may send that too: it only closes what is closed. */
static _Noreturn void await_guest(void)
{
	struct report stamped = {.kind = REPORT_STAMPED};
	sigset_t watched;
	int sig = 0;

	sigemptyset(&watched);
	sigaddset(&watched, SIGUSR1);
	sigaddset(&watched, SIGCHLD);
	MUST(STAGE_SIGNALS, 0, sigprocmask(SIG_BLOCK, &watched, NULL));
	confine_drop_privileges();
	report_send(&stamped);
	k_close_range(0, ~0U, 0);
	for (;;) {
		if (sigwait(&watched, &sig) == 0 && sig == SIGUSR1)
			prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
	}
}

_Noreturn void init_run(struct jail *jail)
{
	const struct spec_wire *wire = jail->spec.wire;
	struct report begun = {.kind = REPORT_STARTED};

	report_to(jail->reports);
	enter(jail);
	if (wire->flags & FLAG_PARKED)
		await_guest();
	int requests = wire->flags & FLAG_STAMP ? stamp_socket(jail) : -1;
	pid_t guest = start_guest(jail);
	close(jail->input), close(jail->output), close(jail->errors);
	if (jail->channel >= 0)
		close(jail->channel);
	if (requests >= 0) {
		report_send(&begun);
		stamp_loop(guest, requests);
	}
	report_send(&begun);
	report_exit(&jail->spec, wire->namespaces & K_CLONE_NEWPID ? reap_until(guest) : sweep_reap(guest));
	_exit(0);
}
