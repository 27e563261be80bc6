/* The jail's root, made from nothing: an empty tmpfs, the rows of the mount table on top, then nothing else.
 *
 * Sources are opened as detached mounts before the new root exists, with their attributes already set, so that no
 * moment exists at which a source is reachable and writable. Targets lie in a file system that nobody else sees. */
#include "jail.h"
#include "kernel.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define TMPFS_SUPER_MAGIC 0x01021994

void mounts_open_sources(struct jail *jail)
{
	const struct spec *spec = &jail->spec;

	CHECK(STAGE_SOURCES, spec->wire->mounts.count, spec->wire->mounts.count <= MAX_SOURCES);
	for (uint32_t i = 0; i < spec->wire->mounts.count; i++) {
		const struct mount_row *row = &spec->mounts[i];
		struct k_mount_attr attr = {.attr_set = row->attributes, .propagation = K_MS_PRIVATE};
		struct stat found;
		int fd = -1;

		jail->sources[i] = -1;
		if (row->kind != MOUNT_BIND || *spec_text(spec, row->source) != '/')
			continue;
		MUST(STAGE_SOURCES, i,
		     fd = k_open_tree(spec_text(spec, row->source), K_OPEN_TREE_CLONE | K_OPEN_TREE_CLOEXEC |
		                                                            K_AT_RECURSIVE | K_AT_SYMLINK_NOFOLLOW));
		MUST(STAGE_SOURCES, i, fstat(fd, &found));
		CHECK(STAGE_SOURCES, i, !S_ISLNK(found.st_mode));
		/* A name in /dev proves nothing; the device number does. */
		CHECK(STAGE_SOURCES, i, !row->device || (S_ISCHR(found.st_mode) && found.st_rdev == row->device));
		MUST(STAGE_SOURCES, i, k_mount_setattr(fd, "", K_AT_EMPTY_PATH | K_AT_RECURSIVE, &attr));
		jail->sources[i] = fd;
	}
}

static void own(uint32_t index, const char *path, const struct mount_row *row)
{
	MUST(STAGE_MOUNTS, index, chmod(path, row->mode));
	if (row->owner)
		MUST(STAGE_MOUNTS, index, lchown(path, row->owner, row->owner));
}

static void make_file(const struct spec *spec, uint32_t index, const char *path)
{
	const struct mount_row *row = &spec->mounts[index];
	int fd = -1;

	MUST(STAGE_MOUNTS, index, fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
	for (uint64_t done = 0; done < row->content_bytes;) {
		ssize_t n = -1;
		MUST(STAGE_MOUNTS, index, n = write(fd, spec->base + row->content + done, row->content_bytes - done));
		done += (uint64_t)n;
	}
	close(fd);
	own(index, path, row);
}

/* The kernel's attribute bits for a whole mount have the values of the old MS_ flags for read-only, nosuid, nodev and
 * noexec, so one word serves both calls. */
static void put(struct jail *jail, uint32_t index)
{
	const struct spec *spec = &jail->spec;
	const struct mount_row *row = &spec->mounts[index];
	const char *target = spec_text(spec, row->target), *source = spec_text(spec, row->source);
	const char *text = spec_text(spec, row->text);

	switch ((enum mount_kind)row->kind) {
	case MOUNT_BIND: /* from the host, or, by a relative name, from what this table made before */
		if (jail->sources[index] >= 0) {
			MUST(STAGE_MOUNTS, index, k_move_mount(jail->sources[index], target));
			close(jail->sources[index]);
		} else {
			MUST(STAGE_MOUNTS, index, mount(source, target, NULL, MS_BIND, NULL));
		}
		break;
	case MOUNT_TMPFS:
		MUST(STAGE_MOUNTS, index, mount("tmpfs", target, "tmpfs", row->attributes, text));
		break;
	case MOUNT_PROC:
		MUST(STAGE_MOUNTS, index, mount("proc", target, "proc", row->attributes, text));
		break;
	case MOUNT_DIR:
		MUST(STAGE_MOUNTS, index, mkdir(target, 0700));
		own(index, target, row);
		break;
	case MOUNT_FILE:
		make_file(spec, index, target);
		break;
	case MOUNT_SYMLINK:
		MUST(STAGE_MOUNTS, index, symlink(source, target));
		break;
	}
}

static void write_sysctls(const struct spec *spec)
{
	for (uint32_t i = 0; i < spec->wire->sysctls.count; i++) {
		const char *value = spec_text(spec, spec->sysctls[i].value);
		int fd = -1;
		MUST(STAGE_SYSCTLS, i, fd = open(spec_text(spec, spec->sysctls[i].path), O_WRONLY | O_CLOEXEC));
		MUST(STAGE_SYSCTLS, i, write(fd, value, strlen(value)));
		close(fd);
	}
}

static void pivot(void)
{
	struct statfs root;

	/* The old root lands on top of the new one and is taken off: no path to it is left, not even for PID 1. */
	MUST(STAGE_PIVOT, 0, k_pivot_root(".", "."));
	MUST(STAGE_PIVOT, 1, umount2(".", MNT_DETACH));
	MUST(STAGE_PIVOT, 2, chdir("/"));
	MUST(STAGE_PIVOT, 3, statfs("/", &root));
	CHECK(STAGE_PIVOT, 4, root.f_type == TMPFS_SUPER_MAGIC);
}

void mounts_enter_root(struct jail *jail)
{
	const struct spec *spec = &jail->spec;
	const char *at = spec_text(spec, spec->wire->root_at);
	bool fresh = *at != '\0'; /* a stamped jail already stands in its zygote's root and only adds to it */

	MUST(STAGE_PRIVATE_MOUNTS, 0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	write_sysctls(spec);
	if (fresh) {
		MUST(STAGE_ROOT, 0, mount("root", at, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=4m,nr_inodes=1024"));
		MUST(STAGE_ROOT, 1, chdir(at));
	} else {
		MUST(STAGE_ROOT, 1, chdir("/"));
	}
	for (uint32_t i = 0; i < spec->wire->mounts.count; i++)
		put(jail, i);
	if (!fresh)
		return;
	pivot();
	struct k_mount_attr sealed = {.attr_set = MS_RDONLY | MS_NOSUID | MS_NODEV};
	MUST(STAGE_SEAL_ROOT, 0, k_mount_setattr(-100, "/", 0, &sealed));
}
