/* join.so: what a zygote's child calls, once, before anything else. The zygote is an interpreter and cannot be one of
 * jailpy-init's own processes, but its child goes through the same steps, from the same spec, in the same code.
 *
 * Built without a libc of its own: what it calls is resolved in the interpreter's. */
#include "jail.h"
#include "report.h"

static struct jail joined;

/* Checks the spec of the stamped jails, which stays where it is. 0, or the rule that it breaks. */
__attribute__((visibility("default"))) int join_prepare(const void *blob, size_t bytes);
int join_prepare(const void *blob, size_t bytes)
{
	int broken = spec_decode(blob, bytes, &joined.spec);
	if (!broken)
		report_faults(joined.spec.wire);
	return broken;
}

/* Enters the jail whose PID 1 `init` is a pidfd of, and gives up everything. A step that fails is reported on `channel`,
 * and the process ends. Gives a pidfd of the
 * process that holds the memory. */
__attribute__((visibility("default"))) int join_enter(int init, int input, int output, int errors, int channel);
int join_enter(int init, int input, int output, int errors, int channel)
{
	joined.input = input, joined.output = output, joined.errors = errors, joined.channel = channel;
	joined.stamper = -1;
	report_to(channel);
	return confine_joined(&joined, init);
}
