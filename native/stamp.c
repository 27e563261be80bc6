/* PID 1 of a zygote's jail. The zygote asks over a socket, and gets a finished jail that lacks only its guest: a PID 1
 * in namespaces of its own below this one's, in the cgroup leaf that came with the request. The zygote then forks a
 * child into it. When this process ends, the zygote and every jail made here end with it. */
#include "jail.h"
#include "kernel.h"
#include "report.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct jail stamped;
static int zygote_end = -1;

/* The second spec is mapped before the first jail is entered: its file descriptor does not outlive that. */
void stamp_prepare(int spec_fd)
{
	struct stat st;
	void *blob = MAP_FAILED;

	MUST(STAGE_SPEC, 10, fstat(spec_fd, &st));
	blob = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, spec_fd, 0);
	CHECK(STAGE_SPEC, 11, blob != MAP_FAILED);
	int broken = spec_decode(blob, (size_t)st.st_size, &stamped.spec);
	CHECK(STAGE_SPEC, 12 + (unsigned)broken, broken == 0);
	stamped.input = stamped.output = stamped.errors = stamped.channel = stamped.stamper = -1;
}

int stamp_socket(struct jail *zygote)
{
	int ends[2];

	MUST(STAGE_SPAWN, 2, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	zygote->stamper = zygote_end = ends[1];
	return ends[0];
}

/* What the zygote sends: the id map of a new jail, with its slot's network namespace and, where there is one, its leaf;
 * or ADOPT, with where to report a guest's end, and pidfds of the guest and of its PID 1. */
#define ADOPT 'A'
#define MOST_FDS 3
static char request[512];

static ssize_t receive(int requests, int *fds)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(MOST_FDS * sizeof(int))];
	} control;
	struct iovec part = {request, sizeof request - 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
	                         .msg_controllen = sizeof control};
	ssize_t n = recvmsg(requests, &message, MSG_CMSG_CLOEXEC);

	request[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < MOST_FDS; i++)
		fds[i] = -1;
	struct cmsghdr *rights = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (rights && rights->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(rights), rights->cmsg_len - CMSG_LEN(0));
	return n;
}

static void answer(int requests, pid_t pid, int pidfd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct report report = {.kind = REPORT_STAMPED, .init_pid = (int32_t)pid};
	struct iovec part = {&report, sizeof report};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
	                         .msg_controllen = sizeof control};

	memcpy(CMSG_DATA(&control.header), &pidfd, sizeof pidfd);
	MUST(STAGE_SPAWN, 3, (int)sendmsg(requests, &message, MSG_NOSIGNAL));
}

/* Processes to reap. A guest has `out` and the pidfd of its PID 1; a PID 1 has neither. */
#define MOST_CHILDREN 1024
static struct child {
	int out, init;
} children[MOST_CHILDREN];
static struct pollfd watched[MOST_CHILDREN + 2];
static nfds_t count = 2; /* the zygote and its requests come first */

static void keep(int pidfd, int out, int init)
{
	CHECK(STAGE_SPAWN, 6, count < MOST_CHILDREN + 2);
	children[count - 2] = (struct child){out, init};
	watched[count++] = (struct pollfd){pidfd, POLLIN, 0};
}

static uint64_t micros(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000U + (uint64_t)time.tv_usec;
}

static int wait_status(const siginfo_t *info)
{
	return info->si_code == CLD_EXITED ? info->si_status << 8 : info->si_status | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

/* A guest's end goes to the library at once; its PID 1, and with it whatever the guest left running, is killed. */
static void reap(nfds_t at)
{
	struct child child = children[at - 2];
	struct rusage usage;
	siginfo_t info = {0};

	if (syscall(SYS_waitid, K_P_PIDFD, watched[at].fd, &info, WEXITED | __WALL, &usage) == 0 && child.out >= 0) {
		struct report report = {.kind = REPORT_EXITED,
		                        .wait_status = wait_status(&info),
		                        .cpu_us = micros(usage.ru_utime) + micros(usage.ru_stime),
		                        .maxrss_kb = (uint64_t)usage.ru_maxrss};
		k_pidfd_kill(child.init, SIGKILL);
		if (write(child.out, &report, sizeof report) < 0)
			errno = 0; /* nobody listens any more */
	}
	if (child.out >= 0)
		close(child.out), close(child.init);
	close(watched[at].fd);
	children[at - 2] = children[--count - 2];
	watched[at] = watched[count];
}

static void stamp(int requests, int network, int leaf)
{
	int pidfd = -1;

	/* Joined here, by whom it belongs to: the new jail has no power over it. */
	MUST(STAGE_CLONE, 3, setns(network, (int)K_CLONE_NEWNET));
	stamped.cgroup = leaf;
	stamped.maps = request;
	pid_t pid = jail_clone(&stamped, &pidfd);
	answer(requests, pid, pidfd);
	keep(pidfd, -1, -1);
	close(stamped.gate), close(network);
	if (leaf >= 0)
		close(leaf);
}

_Noreturn void stamp_loop(pid_t zygote, int requests)
{
	MUST(STAGE_SPAWN, 4, watched[0].fd = k_pidfd_open(zygote));
	watched[1].fd = requests;
	watched[0].events = watched[1].events = POLLIN;
	close(zygote_end);
	/* A change of ids took it away, and with it the right to write a child's id map. Nobody untrusted sees this pid. */
	MUST(STAGE_SPAWN, 5, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	stamped.reports = requests; /* a stamped jail reports to the zygote; this process still to the library */
	report_faults(stamped.spec.wire);
	for (;;) {
		int fds[MOST_FDS];
		if (poll(watched, count, -1) < 0 && errno != EINTR)
			_exit(1);
		for (nfds_t at = count; at-- > 2;) /* downwards: the last one takes a reaped one's place */
			if (watched[at].revents)
				reap(at);
		if (watched[0].revents)
			_exit(0);
		if (!watched[1].revents)
			continue;
		if (receive(requests, fds) <= 0)
			_exit(0);
		if (request[0] == ADOPT)
			keep(fds[1], fds[0], fds[2]);
		else
			stamp(requests, fds[0], fds[1]);
	}
}
