/* The parts of this program, in the order in which they run. */
#ifndef JAILPY_JAIL_H
#define JAILPY_JAIL_H

#include "spec.h"

#include <sys/types.h>

#define MAX_SOURCES 4096

/* What one jail is made from. -1 where there is no such descriptor. */
struct jail {
	struct spec spec;
	int input, output, errors; /* the guest's 0, 1, 2 */
	int channel;               /* the guest's 3: requests and value frames, or none */
	int stamper;               /* a zygote's 4: where it asks for further jails, or none */
	int cgroup;                /* its leaf, a directory */
	int reports;               /* where its PID 1 reports */
	const char *maps;          /* the id map (uids and gids alike) of a stamped jail, in place of the spec's */
	int gate;                  /* between maker and PID 1; its end of file is the maker's death */
	int sources[MAX_SOURCES];  /* detached mounts, one a row of the mount table */
};

/* namespaces.c: clones PID 1 of a new jail, into the leaf and the namespaces of the spec, and maps its ids.
 * The child runs init_run() and never returns. Gives its pid, and its pidfd in *pidfd. */
pid_t jail_clone(struct jail *jail, int *pidfd);
void jail_die_with_maker(struct jail *jail);

/* mounts.c */
void mounts_open_sources(struct jail *jail);
void mounts_enter_root(struct jail *jail);

/* confine.c: all that stands between a forked child and the guest's first instruction. */
_Noreturn void confine_and_exec(const struct jail *jail);
int confine_joined(const struct jail *jail, int init); /* returns, confined: the pidfd of its memory's holder */
void confine_hide(void);
void confine_drop_privileges(void);

/* init.c: PID 1 of the jail. */
_Noreturn void init_run(struct jail *jail);

/* sweep.c: stands in for the pid namespace where the host gives none. */
int sweep_reap(pid_t guest);

/* stamp.c: PID 1 of a zygote's jail makes further jails for it, all after the second spec. */
void stamp_prepare(int spec_fd);
int stamp_socket(struct jail *zygote);
_Noreturn void stamp_loop(pid_t zygote, int requests);

#endif
