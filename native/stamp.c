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

/* One request: the id map of the new jail, with its slot's network namespace and, where there is one, its leaf. */
static char maps[512];

static ssize_t receive(int requests, int *network, int *leaf)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec part = {maps, sizeof maps - 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
	                         .msg_controllen = sizeof control};
	ssize_t n = recvmsg(requests, &message, MSG_CMSG_CLOEXEC);

	*leaf = *network = -1;
	maps[n > 0 ? n : 0] = '\0';
	struct cmsghdr *rights = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (rights && rights->cmsg_type == SCM_RIGHTS) {
		size_t bytes = rights->cmsg_len - CMSG_LEN(0);
		memcpy(network, CMSG_DATA(rights), sizeof(int));
		if (bytes >= 2 * sizeof(int))
			memcpy(leaf, CMSG_DATA(rights) + sizeof(int), sizeof(int));
	}
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

_Noreturn void stamp_loop(pid_t zygote, int requests)
{
	int alive = -1;

	MUST(STAGE_SPAWN, 4, alive = k_pidfd_open(zygote));
	close(zygote_end);
	/* A change of ids took it away, and with it the right to write a child's id map. Nobody untrusted sees this pid. */
	MUST(STAGE_SPAWN, 5, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	/* A stamped jail's PID 1 is reaped by nobody in particular; its pidfd is what the others watch. */
	signal(SIGCHLD, SIG_IGN);
	stamped.reports = requests; /* a stamped jail reports to the zygote; this process still to the library */
	report_faults(stamped.spec.wire);
	for (;;) {
		struct pollfd watched[] = {{alive, POLLIN, 0}, {requests, POLLIN, 0}};
		if (poll(watched, 2, -1) < 0 && errno != EINTR)
			_exit(1);
		if (watched[0].revents)
			_exit(0);
		if (!watched[1].revents)
			continue;
		int pidfd = -1, network = -1;
		if (receive(requests, &network, &stamped.cgroup) <= 0)
			_exit(0);
		/* Joined here, by whom it belongs to: the new jail has no power over it. */
		MUST(STAGE_CLONE, 3, setns(network, (int)K_CLONE_NEWNET));
		close(network);
		stamped.maps = maps;
		pid_t pid = jail_clone(&stamped, &pidfd);
		answer(requests, pid, pidfd);
		close(stamped.gate), close(pidfd);
		if (stamped.cgroup >= 0)
			close(stamped.cgroup);
	}
}
