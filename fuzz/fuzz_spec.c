/* Fuzz target for the decoder of launch specs: whatever the bytes are, decoding them touches nothing outside of them, and
 * what it accepts keeps its word. Every byte that a decoded spec promises is read here, as init.c, mounts.c and confine.c
 * read it, so that the address sanitizer sees each.
 *
 *   make -C native fuzz && native/build/fuzz_spec fuzz/corpus      libFuzzer
 *   cc -DWITH_MAIN ... fuzz_spec.c spec.c                          decodes files; or, framed, stdin (tests/unit/test_spec.py)
 */
#include "spec.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(const void *from, size_t bytes)
{
	const unsigned char *at = from;

	for (size_t i = 0; i < bytes; i++)
		sink += at[i];
}

static void touch_text(const struct spec *spec, uint32_t at)
{
	sink += strlen(spec_text(spec, at));
}

static void touch_texts(const struct spec *spec, const uint32_t *offsets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		touch_text(spec, offsets[i]);
}

static void touch_mounts(const struct spec *spec)
{
	for (uint32_t i = 0; i < spec->wire->mounts.count; i++) {
		const struct mount_row *row = &spec->mounts[i];
		touch(row, sizeof *row);
		touch_text(spec, row->source);
		touch_text(spec, row->target);
		touch_text(spec, row->text);
		touch(spec->base + row->content, row->content_bytes);
		if (row->kind < MOUNT_BIND || row->kind > MOUNT_SYMLINK)
			abort();
	}
}

static void touch_all(const struct spec *spec)
{
	const struct spec_wire *wire = spec->wire;
	const uint32_t texts[] = {wire->uid_map, wire->gid_map,     wire->hostname,           wire->root_at,
	                          wire->workdir, wire->cgroup_leaf, wire->cgroup_parent_path, wire->cgroup_home};

	touch(wire, sizeof *wire);
	touch_texts(spec, texts, sizeof texts / sizeof *texts);
	touch_texts(spec, spec->argv, wire->argv.count);
	touch_texts(spec, spec->envp, wire->envp.count);
	touch_mounts(spec);
	touch(spec->filter, (size_t)wire->filter.count * 8);
	for (uint32_t i = 0; i < wire->rlimits.count; i++)
		if (spec->rlimits[i].soft > spec->rlimits[i].hard)
			abort();
	for (uint32_t i = 0; i < wire->landlock.count; i++) {
		touch(&spec->landlock[i], sizeof spec->landlock[i]);
		touch_text(spec, spec->landlock[i].path);
	}
	for (uint32_t i = 0; i < wire->sysctls.count; i++) {
		touch_text(spec, spec->sysctls[i].path);
		touch_text(spec, spec->sysctls[i].value);
	}
	if (wire->fault_stage >= STAGE_COUNT || wire->bytes > SPEC_MAX_BYTES)
		abort();
}

static int decode_copy(const uint8_t *data, size_t size)
{
	/* Exactly as large as the blob, and aligned as mmap aligns it: one byte too far is one byte into a red zone. */
	void *blob = malloc(size ? size : 1);
	struct spec spec;

	if (!blob)
		abort();
	memcpy(blob, data, size);
	int broken = spec_decode(blob, size, &spec);
	if (!broken)
		touch_all(&spec);
	free(blob);
	return broken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	decode_copy(data, size);
	return 0;
}

#ifdef WITH_MAIN
/* Blobs on stdin, each behind its length in four bytes of this machine's order; for each, the rule that it breaks. */
int main(void)
{
	uint32_t size;

	while (fread(&size, sizeof size, 1, stdin) == 1) {
		uint8_t *data = malloc(size ? size : 1);
		if (!data || fread(data, 1, size, stdin) != size)
			return 2;
		printf("%d\n", decode_copy(data, size));
		fflush(stdout);
		free(data);
	}
	return 0;
}
#endif
