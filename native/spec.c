/* Decoder of the launch spec. No system calls, no allocation: it is fuzzed as it stands. */
#include "spec.h"

#include <string.h>

static int table_fits(const struct spec_wire *wire, struct table table, size_t row, size_t align)
{
	if (table.count == 0)
		return 1;
	if (table.count > SPEC_MAX_ROWS || table.at < sizeof *wire || table.at % align != 0)
		return 0;
	return (uint64_t)table.at + (uint64_t)table.count * row <= wire->bytes;
}

/* The blob ends with NUL, so any offset inside it starts a string that ends inside it. */
static int text_fits(const struct spec_wire *wire, uint32_t at)
{
	return at >= sizeof *wire && at < wire->bytes;
}

static int texts_fit(const struct spec_wire *wire, const uint32_t *offsets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!text_fits(wire, offsets[i]))
			return 0;
	return 1;
}

static int mounts_fit(const struct spec_wire *wire, const struct mount_row *rows)
{
	for (uint32_t i = 0; i < wire->mounts.count; i++) {
		const struct mount_row *row = &rows[i];
		if (row->kind < MOUNT_BIND || row->kind > MOUNT_SYMLINK)
			return 0;
		if (!text_fits(wire, row->source) || !text_fits(wire, row->target) || !text_fits(wire, row->text))
			return 0;
		if (row->content_bytes > wire->bytes || row->content > wire->bytes - row->content_bytes)
			return 0;
	}
	return 1;
}

int spec_decode(const void *blob, size_t bytes, struct spec *out)
{
	const struct spec_wire *wire = blob;
	const char *base = blob;

	memset(out, 0, sizeof *out);
	if (bytes < sizeof *wire || bytes > SPEC_MAX_BYTES || ((uintptr_t)blob & 7) != 0)
		return 1;
	if (wire->magic != SPEC_MAGIC || wire->version != SPEC_VERSION)
		return 2;
	if (wire->bytes != bytes || base[bytes - 1] != '\0')
		return 3;
	if (!table_fits(wire, wire->mounts, sizeof(struct mount_row), 8) ||
	    !table_fits(wire, wire->rlimits, sizeof(struct rlimit_row), 8) ||
	    !table_fits(wire, wire->landlock, sizeof(struct landlock_row), 8) ||
	    !table_fits(wire, wire->sysctls, sizeof(struct sysctl_row), 4) ||
	    !table_fits(wire, wire->argv, sizeof(uint32_t), 4) || !table_fits(wire, wire->envp, sizeof(uint32_t), 4) ||
	    !table_fits(wire, wire->filter, 8, 8))
		return 4;

	out->wire = wire;
	out->base = base;
	out->mounts = (const void *)(base + wire->mounts.at);
	out->rlimits = (const void *)(base + wire->rlimits.at);
	out->landlock = (const void *)(base + wire->landlock.at);
	out->sysctls = (const void *)(base + wire->sysctls.at);
	out->argv = (const void *)(base + wire->argv.at);
	out->envp = (const void *)(base + wire->envp.at);
	out->filter = base + wire->filter.at;

	const uint32_t texts[] = {wire->uid_map, wire->gid_map,     wire->hostname,           wire->root_at,
	                          wire->workdir, wire->cgroup_leaf, wire->cgroup_parent_path, wire->cgroup_home};
	if (!texts_fit(wire, texts, sizeof texts / sizeof *texts))
		return 5;
	if (!texts_fit(wire, out->argv, wire->argv.count) || !texts_fit(wire, out->envp, wire->envp.count))
		return 6;
	if (!mounts_fit(wire, out->mounts))
		return 7;
	for (uint32_t i = 0; i < wire->landlock.count; i++)
		if (!text_fits(wire, out->landlock[i].path))
			return 8;
	for (uint32_t i = 0; i < wire->sysctls.count; i++)
		if (!text_fits(wire, out->sysctls[i].path) || !text_fits(wire, out->sysctls[i].value))
			return 9;
	for (uint32_t i = 0; i < wire->rlimits.count; i++)
		if (out->rlimits[i].resource > 15 || out->rlimits[i].soft > out->rlimits[i].hard)
			return 10;
	if (wire->fault_stage >= STAGE_COUNT)
		return 11;
	return 0;
}
