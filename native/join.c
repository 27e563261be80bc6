/* join.so: a zygote's fork, and what its child does before anything else. The zygote is an interpreter and cannot be one
 * of jailpy-init's own processes, but its child goes through the same steps, from the same spec, in the same code.
 *
 * Built without a libc of its own: what it calls is resolved in the interpreter's. */
#include "jail.h"
#include "kernel.h"
#include "report.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define EXPORT __attribute__((visibility("default")))
#define K_MADV_POPULATE_READ 22
#define K_MADV_POPULATE_WRITE 23

struct range {
	uint64_t at, bytes;
	uint64_t writes; /* copied in the child, or only mapped */
};

static struct jail joined;
static const struct range *hot;
static size_t hot_count;

/* Checks the spec of the stamped jails, which stays where it is. 0, or the rule that it breaks. */
EXPORT int join_prepare(const void *blob, size_t bytes);
int join_prepare(const void *blob, size_t bytes)
{
	int broken = spec_decode(blob, bytes, &joined.spec);
	if (!broken)
		report_faults(joined.spec.wire);
	return broken;
}

/* Memory that every child will touch. Asked for at once, a page costs half of what a fault for it costs. */
EXPORT void join_expect(const struct range *ranges, size_t count);
void join_expect(const struct range *ranges, size_t count)
{
	hot = ranges;
	hot_count = count;
}

/* fork() into the cgroup `leaf`, as a sibling, as clone.py explains. */
EXPORT int join_fork(int leaf, int *pidfd);
int join_fork(int leaf, int *pidfd)
{
	struct k_clone_args args = {
		.flags = K_CLONE_PIDFD | K_CLONE_PARENT,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
	};
	if (leaf >= 0) {
		args.flags |= K_CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)leaf;
	}
	int pid = k_clone3(&args);
	for (size_t i = 0; pid == 0 && i < hot_count; i++) /* an older kernel refuses, and the pages come one by one */
		madvise((void *)(uintptr_t)hot[i].at, hot[i].bytes,
		        hot[i].writes ? K_MADV_POPULATE_WRITE : K_MADV_POPULATE_READ);
	return pid;
}

/* Enters the jail whose PID 1 `init` is a pidfd of, and gives up everything. A step that fails is reported on `channel`,
 * and the process ends. Gives a pidfd of the process that holds the memory. */
EXPORT int join_enter(int init, int input, int output, int errors, int channel);
int join_enter(int init, int input, int output, int errors, int channel)
{
	joined.input = input, joined.output = output, joined.errors = errors, joined.channel = channel;
	joined.stamper = -1;
	report_to(channel);
	return confine_joined(&joined, init);
}
