/* What a guest may no longer do, in the one order that works:
 *
 *   session, stdio     no terminal, only the four descriptors it is given
 *   rlimits            while it may still be privileged enough to set them
 *   bounding set       dropping from it takes a capability
 *   ids                away from the owner of the namespaces
 *   capabilities       all of them
 *   no_new_privs       the condition for the two filters that follow
 *   landlock           after the root exists, since a restricted process may not mount
 *   signals            as a fresh program finds them
 *   descriptors        everything else closes, at exec or at once
 *   seccomp            last, so that the filter need not allow any of the above
 *
 * Each step checks what it brought about, not only what the call returned. Compiled twice: into jailpy-init, for a guest
 * that is executed, and into join.so, for a zygote's child, which joins a jail and runs on. */
#include "jail.h"
#include "kernel.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define K_PR_SET_SECCOMP_FILTER 2
#define GIVEN 5

static void take_stdio(const struct jail *jail)
{
	/* Lifted above the range of targets first, so that no dup2 overwrites a source. */
	const int given[GIVEN] = {jail->input, jail->output, jail->errors, jail->channel, jail->stamper};
	int lifted[GIVEN];

	for (int i = 0; i < GIVEN; i++) {
		lifted[i] = -1;
		if (given[i] >= 0)
			MUST(STAGE_STDIO, (unsigned)i, lifted[i] = fcntl(given[i], F_DUPFD_CLOEXEC, 16));
	}
	for (int i = 0; i < GIVEN; i++)
		if (lifted[i] >= 0)
			MUST(STAGE_STDIO, (unsigned)i + GIVEN, dup2(lifted[i], i));
}

static void set_rlimits(const struct spec *spec)
{
	for (uint32_t i = 0; i < spec->wire->rlimits.count; i++) {
		const struct rlimit_row *row = &spec->rlimits[i];
		struct k_rlimit limit = {row->soft, row->hard}, now;
		MUST(STAGE_RLIMITS, i, (int)syscall(SYS_prlimit64, 0, row->resource, &limit, NULL));
		MUST(STAGE_RLIMITS, i, (int)syscall(SYS_prlimit64, 0, row->resource, NULL, &now));
		CHECK(STAGE_RLIMITS, i, now.soft == row->soft && now.hard == row->hard);
	}
}

static void set_ids(const struct spec *spec)
{
	uid_t uid = spec->wire->guest_uid, real = 0, effective = 0, saved = 0;
	gid_t gid = spec->wire->guest_gid;

	if (!(spec->wire->flags & FLAG_DENY_SETGROUPS))
		MUST(STAGE_IDS, 0, setgroups(0, NULL));
	MUST(STAGE_IDS, 1, (int)syscall(SYS_setresgid, gid, gid, gid));
	MUST(STAGE_IDS, 2, (int)syscall(SYS_setresuid, uid, uid, uid));
	MUST(STAGE_IDS, 3, (int)syscall(SYS_getresuid, &real, &effective, &saved));
	CHECK(STAGE_IDS, 3, real == uid && effective == uid && saved == uid);
}

/* False only for an ordinary user on a host without user namespaces, who has none to bound. */
static bool has_capabilities(void)
{
	struct k_cap_header header = {.version = K_CAP_VERSION_3};
	struct k_cap_data now[2] = {{0}};

	MUST(STAGE_CAPABILITIES, 5, (int)syscall(SYS_capget, &header, now));
	return now[0].effective != 0;
}

/* The bounding set and the securebits can be set only while there are capabilities; with the securebits, a change of
 * ids no longer takes them away by itself, nor does an exec give any back. */
static void bound_capabilities(void)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		MUST(STAGE_CAPABILITIES, 0, prctl(PR_CAPBSET_DROP, cap, 0, 0, 0));
	MUST(STAGE_CAPABILITIES, 1, prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
	MUST(STAGE_CAPABILITIES, 2, prctl(PR_SET_SECUREBITS, K_SECUREBITS_LOCKED, 0, 0, 0));
}

static void drop_capabilities(void)
{
	struct k_cap_header header = {.version = K_CAP_VERSION_3};
	struct k_cap_data none[2] = {{0}}, now[2];

	MUST(STAGE_CAPABILITIES, 3, (int)syscall(SYS_capset, &header, none));
	MUST(STAGE_CAPABILITIES, 4, (int)syscall(SYS_capget, &header, now));
	CHECK(STAGE_CAPABILITIES, 4, memcmp(now, none, sizeof none) == 0);
}

static void no_new_privs(void)
{
	MUST(STAGE_NO_NEW_PRIVS, 0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(STAGE_NO_NEW_PRIVS, 1, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
}

static void landlock(const struct spec *spec)
{
	const struct spec_wire *wire = spec->wire;
	struct k_landlock_ruleset_attr attr = {wire->landlock_fs, wire->landlock_net, wire->landlock_scoped};
	/* An older kernel refuses a longer structure with set fields; Python asks for no more than it probed. */
	size_t size = wire->landlock_scoped ? 24 : wire->landlock_net ? 16 : 8;
	int ruleset = -1;

	if (!wire->landlock_fs)
		return;
	MUST(STAGE_LANDLOCK, 0, ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0U));
	for (uint32_t i = 0; i < wire->landlock.count; i++) {
		struct k_landlock_path_beneath_attr beneath = {.allowed_access = spec->landlock[i].access};
		MUST(STAGE_LANDLOCK, i + 1,
		     beneath.parent_fd = open(spec_text(spec, spec->landlock[i].path), O_PATH | O_CLOEXEC));
		MUST(STAGE_LANDLOCK, i + 1,
		     (int)syscall(SYS_landlock_add_rule, ruleset, K_LANDLOCK_RULE_PATH_BENEATH, &beneath, 0U));
		close(beneath.parent_fd);
	}
	MUST(STAGE_LANDLOCK, wire->landlock.count + 1, (int)syscall(SYS_landlock_restrict_self, ruleset, 0U));
	close(ruleset);
}

/* Asked of the kernel itself: libc keeps two or three signals to itself, and an ignored one would stay ignored. */
static void reset_signals(void)
{
	static const unsigned long as_at_birth[8]; /* struct sigaction of the kernel: SIG_DFL, no flags, nothing blocked */
	sigset_t none;

	for (int sig = 1; sig < 65; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			MUST(STAGE_SIGNALS, (unsigned)sig, (int)syscall(SYS_rt_sigaction, sig, as_at_birth, NULL, 8));
	sigemptyset(&none);
	MUST(STAGE_SIGNALS, 0, sigprocmask(SIG_SETMASK, &none, NULL));
}

static void install_filter(const struct spec *spec)
{
	struct k_sock_fprog program = {(unsigned short)spec->wire->filter.count, spec->filter};

	if (spec->wire->filter.count)
		MUST(STAGE_SECCOMP, 0, prctl(PR_SET_SECCOMP, K_PR_SET_SECCOMP_FILTER, &program, 0, 0));
}

static char *const *pointers(const struct spec *spec, const uint32_t *offsets, uint32_t count, char **out)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = (char *)(uintptr_t)spec_text(spec, offsets[i]);
	out[count] = NULL;
	return out;
}

static char *argv[SPEC_MAX_ROWS + 1], *envp[SPEC_MAX_ROWS + 1];

/* The part that both ways into a jail share: from all power over the jail to none. */
static void give_up(const struct spec *spec)
{
	bool keep = spec->wire->flags & FLAG_KEEP_CAPS;

	set_rlimits(spec);
	if (!keep && has_capabilities())
		bound_capabilities();
	if (spec->wire->flags & FLAG_SET_IDS)
		set_ids(spec);
	if (!keep)
		drop_capabilities();
	no_new_privs();
	landlock(spec);
	MUST(STAGE_WORKDIR, 0, chdir(spec_text(spec, spec->wire->workdir)));
}

void confine_and_exec(const struct jail *jail)
{
	const struct spec *spec = &jail->spec;

	pointers(spec, spec->argv, spec->wire->argv.count, argv);
	pointers(spec, spec->envp, spec->wire->envp.count, envp);

	MUST(STAGE_SESSION, 0, setsid());
	take_stdio(jail);
	give_up(spec);
	reset_signals();
	unsigned first_other = jail->stamper >= 0 ? 5 : jail->channel >= 0 ? 4 : 3;
	MUST(STAGE_FDS, 0, k_close_range(first_other, ~0U, K_CLOSE_RANGE_CLOEXEC));
	install_filter(spec);
	MUST(STAGE_EXEC, 0, execve(argv[0], argv, envp));
	_exit(1);
}

/* A zygote's child maps all that the zygote maps, and to unmap that takes a third of the time that a small program needs
 * in all. So another process holds on to the memory: the guest's end does not wait for it to be given back, and the
 * holder ends with the jail. It is confined like the guest, for the guest can make it run what it likes. */
static int hold(void *unused)
{
	sigset_t all;

	(void)unused;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	k_close_range(0, ~0U, 0);
	for (;;)
		pause();
	return 0;
}

int confine_joined(const struct jail *jail, int init)
{
	static char stack[4096] __attribute__((aligned(16)));
	int holder = -1;

	MUST(STAGE_SESSION, 0, setsid());
	take_stdio(jail);
	report_to(3);
	MUST(STAGE_JOIN, 0, setns(init, (int)(jail->spec.wire->namespaces | K_CLONE_NEWNET)));
	MUST(STAGE_JOIN, 1, k_pidfd_kill(init, SIGUSR1)); /* PID 1 may hide itself now */
	give_up(&jail->spec);
	/* A change of ids took it away; a program that was executed would have it. */
	MUST(STAGE_JOIN, 2, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	MUST(STAGE_FDS, 0, k_close_range(4, ~0U, 0));
	install_filter(&jail->spec);
	/* Under the filter like the guest, which can write to its memory and so decide what it does. No signal at its end: a
	 * guest that waits for its children does not meet this one. */
	MUST(STAGE_JOIN, 3, clone(hold, stack + sizeof stack, CLONE_VM | (int)K_CLONE_PIDFD, NULL, &holder));
	return holder;
}

/* PID 1 needs nothing once the guest runs; the guest may share its user id, so it must not be readable either. */
void confine_hide(void)
{
	MUST(STAGE_DROP_INIT, 0, prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	CHECK(STAGE_DROP_INIT, 1, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
}

void confine_drop_privileges(void)
{
	if (has_capabilities())
		bound_capabilities();
	drop_capabilities();
	no_new_privs();
}
