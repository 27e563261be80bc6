#include "report.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static int report_fd = -1;
static const struct spec_wire *injection;

void report_to(int fd)
{
	report_fd = fd;
}

void report_faults(const struct spec_wire *wire)
{
	injection = wire;
}

void report_send(const struct report *report)
{
	ssize_t sent;
	do
		sent = send(report_fd, report, sizeof *report, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
}

void report_fault(enum stage stage, unsigned index, int error)
{
	struct report report = {.kind = REPORT_FAULT, .stage = stage, .index = index, .error = error};
	report_send(&report);
	_exit(1);
}

bool report_injected(enum stage stage, unsigned index)
{
	if (!injection || injection->fault_stage != (uint32_t)stage || injection->fault_index != index)
		return false;
	errno = injection->fault_errno;
	return true;
}
