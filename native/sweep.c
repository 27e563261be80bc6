/* Where the host gives no pid namespace, PID 1's power is borrowed: as subreaper this process inherits every orphan of
 * the guest, and kills its children until it has none. SIGTERM, from the keeper or at the keeper's death, means now. */
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void kill_children(void)
{
	char list[4096];
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, list, sizeof list - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	list[n] = '\0';
	/* A number that the buffer cut in two is met whole in the next round. */
	for (char *at = list, *end; at < list + n; at = end + 1) {
		long pid = strtol(at, &end, 10);
		if (end == at || *end != ' ')
			break;
		kill((pid_t)pid, SIGKILL);
	}
}

static void sweep(pid_t guest, int *status)
{
	for (;;) {
		int ended = 0;
		kill_children();
		pid_t pid = waitpid(-1, &ended, __WALL);
		if (pid == guest)
			*status = ended;
		if (pid < 0 && errno == ECHILD)
			return;
	}
}

int sweep_reap(pid_t guest)
{
	int status = 0, sig = 0;
	sigset_t watched;

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	for (bool over = false; !over;) {
		pid_t pid;
		while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
			if (pid == guest)
				over = true;
		if (over || sigwait(&watched, &sig) != 0)
			break;
		over = sig == SIGTERM;
	}
	int last = status;
	sweep(guest, &last);
	return last;
}
