/* Reports to Python, and the one way in which set-up ends badly. */
#ifndef JAILPY_REPORT_H
#define JAILPY_REPORT_H

#include "spec.h"

#include <stdbool.h>

/* Called once at the start, and again after each decoded spec: where reports go, and which step a test makes fail. */
void report_to(int fd);
void report_faults(const struct spec_wire *wire);

/* Sends one report; a library that is gone cannot read it, and its absence ends the keeper elsewhere. */
void report_send(const struct report *report);

/* Sends (stage, index, errno) and ends the process. Async-signal-safe. */
_Noreturn void report_fault(enum stage stage, unsigned index, int error);

/* True where a test asked this step to fail; sets errno. */
bool report_injected(enum stage stage, unsigned index);

/* One set-up step: it works, or the process ends here. */
#define MUST(stage, index, call)                                                                                       \
	do {                                                                                                           \
		if (report_injected((stage), (index)) || (call) < 0)                                                   \
			report_fault((stage), (index), errno);                                                         \
	} while (0)

/* A condition that must hold after a step, whatever the step returned. */
#define CHECK(stage, index, condition)                                                                                 \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			report_fault((stage), (index), EPROTO);                                                        \
	} while (0)

#endif
