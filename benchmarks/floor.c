/* What no jail can do without: the kernel's own price of its namespaces, mounts and forks, from a small C program.
 *
 * For every line "f N" on stdin, N times: fork a child that writes two bytes into a pipe and ends; read, wait.
 * For every line "j N", N times: clone PID 1 into new user, pid, mount, net, ipc, uts and cgroup namespaces; map its ids;
 * mount a tmpfs as root with the system folders bound read-only, /proc and a private tmpfs; pivot; fork the guest, which
 * writes and ends; wait for all. No filter, no limits, no cgroup, no interpreter.
 *
 * Answers one line a run: total, and for "j" the stages clone (to the mapped ids), mounts, guest, end; nanoseconds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SPACES (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
#define TRY(call) do { if ((call) < 0) { perror(#call); _exit(1); } } while (0)

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	TRY(fd);
	TRY(write(fd, text, strlen(text)));
	close(fd);
}

/* The guest: two bytes, and out. Gives the time when it was waited for. */
static long long guest(int out)
{
	pid_t pid = fork();
	TRY(pid);
	if (pid == 0)
		_exit(write(out, "1\n", 2) != 2);
	TRY(waitpid(pid, NULL, 0));
	return now();
}

static void bind_read_only(const char *from, const char *to)
{
	struct stat st;
	if (stat(from, &st) < 0)
		return;
	TRY(mkdir(to, 0755));
	TRY(mount(from, to, NULL, MS_BIND | MS_REC, NULL));
	TRY(mount(NULL, to, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL));
}

static void build_root(void)
{
	TRY(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	TRY(mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m"));
	TRY(chdir("/tmp"));
	bind_read_only("/usr", "usr");
	bind_read_only("/lib", "lib");
	bind_read_only("/lib64", "lib64");
	bind_read_only("/bin", "bin");
	TRY(mkdir("proc", 0755));
	TRY(mount("none", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
	TRY(mkdir("work", 0755));
	TRY(mount("none", "work", "tmpfs", MS_NOSUID | MS_NODEV, "size=64m"));
	TRY(syscall(SYS_pivot_root, ".", "."));
	TRY(umount2(".", MNT_DETACH));
	TRY(chdir("/work"));
}

static void init(int go, int out, int stages)
{
	char byte;
	long long times[2];

	TRY(read(go, &byte, 1));
	build_root();
	times[0] = now();
	times[1] = guest(out);
	TRY(write(stages, times, sizeof times));
	_exit(0);
}

static void jail(void)
{
	int out[2], go[2], stages[2];
	char text[64], bytes[8];
	long long begun = now(), mapped, inside[2];

	TRY(pipe(out));
	TRY(pipe(go));
	TRY(pipe(stages));
	pid_t pid = (pid_t)syscall(SYS_clone, SPACES | SIGCHLD, 0, 0, 0, 0);
	TRY(pid);
	if (pid == 0)
		init(go[0], out[1], stages[1]);
	snprintf(text, sizeof text, "/proc/%d/setgroups", pid);
	put(text, "deny");
	snprintf(text, sizeof text, "/proc/%d/uid_map", pid);
	char map[64];
	snprintf(map, sizeof map, "0 %d 1", (int)getuid());
	put(text, map);
	snprintf(text, sizeof text, "/proc/%d/gid_map", pid);
	snprintf(map, sizeof map, "0 %d 1", (int)getgid());
	put(text, map);
	mapped = now();
	TRY(write(go[1], "g", 1));
	close(out[1]);
	close(stages[1]);
	while (read(out[0], bytes, sizeof bytes) > 0)
		;
	if (read(stages[0], inside, sizeof inside) != sizeof inside)
		exit(1);
	TRY(waitpid(pid, NULL, 0));
	long long done = now();
	close(out[0]), close(go[0]), close(go[1]), close(stages[0]);
	printf("%lld %lld %lld %lld %lld\n", done - begun, mapped - begun, inside[0] - mapped, inside[1] - inside[0],
	       done - inside[1]);
}

static void bare(void)
{
	int out[2];
	char bytes[8];
	long long begun = now();

	TRY(pipe(out));
	pid_t pid = fork();
	TRY(pid);
	if (pid == 0)
		_exit(write(out[1], "1\n", 2) != 2);
	close(out[1]);
	while (read(out[0], bytes, sizeof bytes) > 0)
		;
	close(out[0]);
	TRY(waitpid(pid, NULL, 0));
	printf("%lld\n", now() - begun);
}

int main(void)
{
	char what;
	int count;

	while (scanf(" %c %d", &what, &count) == 2) {
		for (int i = 0; i < count; i++) {
			if (what == 'j')
				jail();
			else
				bare();
			fflush(stdout); /* before a fork, so that no child holds a copy */
		}
	}
	return 0;
}
