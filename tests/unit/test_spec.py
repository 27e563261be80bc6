"""The two sides of the launch spec, kernel/spec.py and native/spec.h, held against each other by a C compiler."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jailpy.kernel import spec
from jailpy.kernel.spec import Fault, Flag, LandlockRule, LaunchSpec, MountKind, MountOp, Rlimit, Stage

Unavailable = Callable[[str], NoReturn]
TREE = Path(__file__).parents[2]
NATIVE = TREE / "native"
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{NATIVE}"]
CHECKED = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

FULL = LaunchSpec(
    argv=("/usr/bin/python3", "/jailpy/driver.py", "-x", ""),
    envp=("PATH=/bin", "LANG=C.UTF-8"),
    flags=Flag.NEW_ROOT | Flag.SET_IDS,
    namespaces=0x7E02_0000,
    uid_map="0 100 1\n1000 101 1\n",
    gid_map="0 100 1\n",
    hostname="jail",
    workdir="/work",
    cgroup_leaf="jail-1",
    cgroup_parent="/sys/fs/cgroup/jailpy",
    cgroup_home="/sys/fs/cgroup/jailpy",
    guest_uid=1000,
    guest_gid=1001,
    mounts=(
        MountOp(MountKind.DIR, "usr", mode=0o755),
        MountOp(MountKind.BIND, "usr", source="/usr", attributes=7, device=259),
        MountOp(MountKind.TMPFS, "tmp", text="size=8388608", attributes=6),
        MountOp(MountKind.FILE, "work/main.py", content=b"print(1)\n\0\xff", mode=0o644, owner=1000),
        MountOp(MountKind.FILE, "work/empty"),
        MountOp(MountKind.SYMLINK, "bin", source="usr/bin"),
    ),
    rlimits=(Rlimit(4, 1, 1), Rlimit(7, 256, 2**64 - 1)),
    landlock=(LandlockRule("/", 13), LandlockRule("/work", 0x7FFF)),
    landlock_fs=0xFFFF,
    landlock_net=3,
    landlock_scoped=3,
    sysctls=(("/proc/sys/user/max_user_namespaces", "0"),),
    filter=bytes(range(64)),
    fault=Fault(Stage.MOUNTS, 5, 28),
)
EMPTY = LaunchSpec(argv=(), envp=(), flags=Flag(0), namespaces=0)


CORPUS = {"full": FULL, "empty": EMPTY}


def compiler(unavailable: Unavailable) -> list[str]:
    command = shlex.split(os.environ.get("CC", "")) or [name for name in ("gcc", "cc", "clang") if shutil.which(name)][:1]
    return command or unavailable("a C compiler")


def build(cc: list[str], output: Path, *arguments: str | Path) -> Path:
    command = [*cc, *STRICT, *map(str, arguments), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory, unavailable: Unavailable) -> dict[str, int]:
    """Sizes, offsets and numbers as a C compiler sees them."""
    folder = tmp_path_factory.mktemp("layout")
    fields = {
        "spec_wire": "magic version bytes flags namespaces uid_map gid_map hostname root_at workdir cgroup_leaf "
        "cgroup_parent_path cgroup_home guest_uid guest_gid mounts rlimits landlock sysctls argv envp filter "
        "landlock_fs landlock_net landlock_scoped fault_stage fault_index fault_errno unused",
        "mount_row": "kind source target text mode owner attributes device content content_bytes",
        "rlimit_row": "resource soft hard",
        "landlock_row": "path unused access",
        "sysctl_row": "path value",
        "report": "kind stage index error wait_status init_pid disk_full reserved cpu_us maxrss_kb",
    }
    lines = []
    for name, members in fields.items():
        lines.append(f'printf("sizeof {name} %zu\\n", sizeof(struct {name}));')
        lines += [f'printf("{name}.{m} %zu\\n", offsetof(struct {name}, {m}));' for m in members.split()]
    for name in ("SPEC_MAGIC", "SPEC_VERSION", "SPEC_MAX_ROWS", "STAGE_COUNT", *enum_names("stage")):
        lines.append(f'printf("{name} %llu\\n", (unsigned long long){name});')
    for name in (*enum_names("report_kind"), *enum_names("mount_kind"), *enum_names("spec_flag")):
        lines.append(f'printf("{name} %llu\\n", (unsigned long long){name});')
    source = folder / "layout.c"
    source.write_text('#include "spec.h"\n#include <stdio.h>\nint main(void)\n{\n' + "\n".join(lines) + "\nreturn 0;\n}\n")
    program = build(compiler(unavailable), folder / "layout", source)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in printed.splitlines()}


def enum_names(name: str) -> list[str]:
    """Members of an enum of spec.h, in order, by a look at its text."""
    text = re.sub(r"/\*.*?\*/", "", (NATIVE / "spec.h").read_text(encoding="utf-8"), flags=re.S)
    found = re.search(rf"enum {name} \{{(.*?)\}}", text, re.S)
    assert found
    names = [part.partition("=")[0].strip() for part in found[1].split(",")]
    return [each for each in names if each and each != "STAGE_COUNT"]


def offsets(packed: struct.Struct) -> list[int]:
    """Where each field of a struct's format lies."""
    sizes = []
    for count, code in re.findall(r"(\d*)([A-Za-z])", packed.format):
        sizes += [struct.calcsize(f"<{code}")] * int(count or 1)
    return [sum(sizes[:at]) for at in range(len(sizes))]


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("spec_wire", spec.HEADER),
        ("mount_row", spec.MOUNT_ROW),
        ("rlimit_row", spec.RLIMIT_ROW),
        ("landlock_row", spec.LANDLOCK_ROW),
        ("sysctl_row", spec.SYSCTL_ROW),
        ("report", spec.REPORT),
    ],
)
def test_structures(layout: dict[str, int], name: str, packed: struct.Struct) -> None:
    assert packed.size == layout[f"sizeof {name}"]
    assert {at for key, at in layout.items() if key.startswith(f"{name}.")} <= set(offsets(packed))


def test_the_order_of_the_header(layout: dict[str, int]) -> None:
    # Each table is two numbers on the Python side, one member on the C side.
    numbers = iter(offsets(spec.HEADER))
    members = [key.partition(".")[2] for key in layout if key.startswith("spec_wire.")]
    for member in members:
        assert layout[f"spec_wire.{member}"] == next(numbers), member
        if member in ("mounts", "rlimits", "landlock", "sysctls", "argv", "envp", "filter"):
            next(numbers)
    assert list(numbers) == []


def test_numbers(layout: dict[str, int]) -> None:
    assert layout["SPEC_MAGIC"] == spec.MAGIC
    assert layout["SPEC_VERSION"] == spec.VERSION
    assert layout["SPEC_MAX_ROWS"] == spec.MAX_ROWS
    assert layout["STAGE_COUNT"] == len(Stage)


@pytest.mark.parametrize(
    ("enum_name", "prefix", "members"),
    [
        ("stage", "STAGE_", Stage),
        ("report_kind", "REPORT_", spec.ReportKind),
        ("mount_kind", "MOUNT_", MountKind),
        ("spec_flag", "FLAG_", Flag),
    ],
)
def test_enums(layout: dict[str, int], enum_name: str, prefix: str, members: type) -> None:
    in_c = {name.removeprefix(prefix): layout[name] for name in enum_names(enum_name)}
    assert in_c == {member.name: member.value for member in members}  # type: ignore[attr-defined]


class Decoder:
    """fuzz/fuzz_spec.c with its main: gives the number of the rule that a blob breaks, under sanitizers."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __call__(self, blob: bytes) -> int:
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.process.stdin.write(struct.pack("=I", len(blob)) + blob)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the decoder died: {self.process.stderr.read().decode()}"
        return int(line)

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture(scope="module")
def decode(tmp_path_factory: pytest.TempPathFactory, unavailable: Unavailable) -> Iterator[Decoder]:
    output = tmp_path_factory.mktemp("decoder") / "decoder"
    sources = (TREE / "fuzz" / "fuzz_spec.c", NATIVE / "spec.c")
    decoder = Decoder(build(compiler(unavailable), output, "-DWITH_MAIN", *CHECKED, *sources))
    yield decoder
    decoder.close()
    assert decoder.process.returncode == 0


@pytest.fixture(scope="module")
def printer(tmp_path_factory: pytest.TempPathFactory, unavailable: Unavailable) -> Callable[[bytes], list[str]]:
    """A C program that decodes a blob and prints all that is in it."""
    folder = tmp_path_factory.mktemp("printer")
    source = folder / "printer.c"
    source.write_text(PRINTER)
    program = build(compiler(unavailable), folder / "printer", *CHECKED, source, NATIVE / "spec.c")

    def show(blob: bytes) -> list[str]:
        done = subprocess.run([program], input=blob, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape").split("\x1e")[:-1]

    return show


PRINTER = r"""
#include "spec.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#define SHOW(...) (printf(__VA_ARGS__), putchar(0x1e))
#define TEXT(at) spec_text(&spec, at)
int main(void)
{
    static char room[1 << 20] __attribute__((aligned(8)));
    size_t size = fread(room, 1, sizeof room, stdin);
    void *blob = aligned_alloc(8, (size + 7) / 8 * 8);
    struct spec spec;
    for (size_t i = 0; i < size; i++)
        ((char *)blob)[i] = room[i];
    int broken = spec_decode(blob, size, &spec);
    if (broken)
        return broken;
    const struct spec_wire *w = spec.wire;
    SHOW("%u %" PRIu64 " %u %u", w->flags, w->namespaces, w->guest_uid, w->guest_gid);
    SHOW("%s", TEXT(w->uid_map));
    SHOW("%s", TEXT(w->gid_map));
    SHOW("%s", TEXT(w->hostname));
    SHOW("%s", TEXT(w->root_at));
    SHOW("%s", TEXT(w->workdir));
    SHOW("%s", TEXT(w->cgroup_leaf));
    SHOW("%s", TEXT(w->cgroup_parent_path));
    SHOW("%s", TEXT(w->cgroup_home));
    for (uint32_t i = 0; i < w->argv.count; i++)
        SHOW("%s", TEXT(spec.argv[i]));
    for (uint32_t i = 0; i < w->envp.count; i++)
        SHOW("%s", TEXT(spec.envp[i]));
    for (uint32_t i = 0; i < w->mounts.count; i++) {
        const struct mount_row *m = &spec.mounts[i];
        SHOW("%u %s %s %s %u %u %" PRIu64 " %" PRIu64, m->kind, TEXT(m->source), TEXT(m->target), TEXT(m->text),
             m->mode, m->owner, m->attributes, m->device);
        for (uint64_t j = 0; j < m->content_bytes; j++)
            printf("%02x", (unsigned char)spec.base[m->content + j]);
        putchar(0x1e);
    }
    for (uint32_t i = 0; i < w->rlimits.count; i++)
        SHOW("%" PRIu64 " %" PRIu64 " %" PRIu64, spec.rlimits[i].resource, spec.rlimits[i].soft, spec.rlimits[i].hard);
    for (uint32_t i = 0; i < w->landlock.count; i++)
        SHOW("%s %" PRIu64, TEXT(spec.landlock[i].path), spec.landlock[i].access);
    for (uint32_t i = 0; i < w->sysctls.count; i++)
        SHOW("%s %s", TEXT(spec.sysctls[i].path), TEXT(spec.sysctls[i].value));
    for (uint32_t i = 0; i < w->filter.count * 8; i++)
        printf("%02x", ((const unsigned char *)spec.filter)[i]);
    putchar(0x1e);
    SHOW("%" PRIu64 " %" PRIu64 " %" PRIu64, w->landlock_fs, w->landlock_net, w->landlock_scoped);
    SHOW("%u %u %d", w->fault_stage, w->fault_index, w->fault_errno);
    free(blob);
    return 0;
}
"""


def shown(made: LaunchSpec) -> list[str]:
    """What PRINTER prints of a spec."""
    texts = (made.uid_map, made.gid_map, made.hostname, made.root_at, made.workdir)
    lines = [f"{int(made.flags)} {made.namespaces} {made.guest_uid} {made.guest_gid}", *texts]
    lines += [made.cgroup_leaf, made.cgroup_parent, made.cgroup_home, *made.argv, *made.envp]
    for op in made.mounts:
        numbers = f"{op.mode} {op.owner} {op.attributes} {op.device}"
        lines += [f"{int(op.kind)} {op.source} {op.target} {op.text} {numbers}", op.content.hex()]
    lines += [f"{limit.resource} {limit.soft} {limit.hard}" for limit in made.rlimits]
    lines += [f"{rule.path} {rule.access}" for rule in made.landlock]
    lines += [f"{path} {value}" for path, value in made.sysctls]
    lines += [made.filter.hex(), f"{made.landlock_fs} {made.landlock_net} {made.landlock_scoped}"]
    fault = made.fault or Fault(Stage.NONE, 0, 0)
    return [*lines, f"{int(fault.stage)} {fault.index} {fault.errno}"]


text = st.text(st.characters(exclude_characters="\0\x1e", exclude_categories=["Cs"]), max_size=20)
u32, u64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
mount = st.builds(
    MountOp, st.sampled_from(MountKind), text, text, text, u32, u32, u64, u64, st.binary(max_size=40)
)
rlimit = st.tuples(st.integers(0, 15), u64, u64).map(lambda row: Rlimit(row[0], min(row[1:]), max(row[1:])))
launch_specs = st.builds(
    LaunchSpec,
    argv=st.lists(text, max_size=4).map(tuple),
    envp=st.lists(text, max_size=4).map(tuple),
    flags=st.integers(0, 127).map(Flag),
    namespaces=u64,
    uid_map=text,
    gid_map=text,
    hostname=text,
    root_at=text,
    workdir=text,
    cgroup_leaf=text,
    cgroup_parent=text,
    cgroup_home=text,
    guest_uid=u32,
    guest_gid=u32,
    mounts=st.lists(mount, max_size=4).map(tuple),
    rlimits=st.lists(rlimit, max_size=4).map(tuple),
    landlock=st.lists(st.builds(LandlockRule, text, u64), max_size=4).map(tuple),
    landlock_fs=u64,
    landlock_net=u64,
    landlock_scoped=u64,
    sysctls=st.lists(st.tuples(text, text), max_size=3).map(tuple),
    filter=st.lists(st.binary(min_size=8, max_size=8), max_size=6).map(b"".join),
    fault=st.none() | st.builds(Fault, st.sampled_from(Stage), u32, st.integers(0, 133)),
)
slow_start = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class TestRoundTrip:
    @pytest.mark.parametrize("made", [FULL, EMPTY], ids=["full", "empty"])
    def test_c_reads_what_python_wrote(self, printer: Callable[[bytes], list[str]], made: LaunchSpec) -> None:
        assert printer(spec.encode(made)) == shown(made)

    @slow_start
    @given(made=launch_specs)
    def test_any_spec(self, printer: Callable[[bytes], list[str]], made: LaunchSpec) -> None:
        assert printer(spec.encode(made)) == shown(made)

    def test_paths_that_are_no_text(self, printer: Callable[[bytes], list[str]]) -> None:
        made = LaunchSpec(argv=(os.fsdecode(b"/bin/\xff\xfe"),), envp=(), flags=Flag(0), namespaces=0)
        assert printer(spec.encode(made)) == shown(made)


class TestDecoder:
    @pytest.mark.parametrize("made", [FULL, EMPTY], ids=["full", "empty"])
    def test_takes_what_is_whole(self, decode: Decoder, made: LaunchSpec) -> None:
        assert decode(spec.encode(made)) == 0

    def test_refuses_every_shorter_blob(self, decode: Decoder) -> None:
        blob = spec.encode(FULL)
        for size in range(len(blob)):
            assert decode(blob[:size]) != 0

    def test_refuses_a_longer_blob(self, decode: Decoder) -> None:
        assert decode(spec.encode(FULL) + b"\0") == 3

    def test_survives_every_changed_byte(self, decode: Decoder) -> None:
        blob = spec.encode(FULL)
        for at in range(spec.HEADER.size + len(FULL.mounts) * spec.MOUNT_ROW.size):
            for value in (0, 1, 0x7F, 0x80, 0xFF):
                decode(blob[:at] + bytes([value]) + blob[at + 1 :])

    def test_survives_every_changed_number(self, decode: Decoder) -> None:
        blob = spec.encode(FULL)
        near = [0, 1, spec.HEADER.size - 1, spec.HEADER.size, len(blob) - 1, len(blob), len(blob) + 1, 4096, 4097]
        for at in range(0, len(blob) - 4, 4):
            for value in (*near, 2**31, 2**32 - 8, 2**32 - 1):
                decode(blob[:at] + struct.pack("<I", value) + blob[at + 4 :])

    @settings(max_examples=400, deadline=None)
    @given(
        changes=st.lists(st.tuples(st.integers(0, 2**16), u32), min_size=1, max_size=8),
        made=st.sampled_from([FULL, EMPTY]),
    )
    def test_survives_any_changes(self, decode: Decoder, changes: list[tuple[int, int]], made: LaunchSpec) -> None:
        blob = bytearray(spec.encode(made))
        for at, value in changes:
            struct.pack_into("<I", blob, at % (len(blob) - 4), value)
        decode(bytes(blob))

    @settings(max_examples=200, deadline=None)
    @given(blob=st.binary(max_size=600))
    def test_survives_any_bytes(self, decode: Decoder, blob: bytes) -> None:
        assert decode(blob) != 0

    @pytest.mark.parametrize(
        ("offset", "value", "rule"),
        [(0, 0, 2), (4, 99, 2), (8, 12, 3), (24, 2**32 - 1, 5), (24, 0, 5)],
        ids=["magic", "version", "bytes", "text beyond the end", "text inside the header"],
    )
    def test_says_which_rule_is_broken(self, decode: Decoder, offset: int, value: int, rule: int) -> None:
        blob = bytearray(spec.encode(FULL))
        struct.pack_into("<I", blob, offset, value)
        assert decode(bytes(blob)) == rule


def test_the_corpus_of_the_fuzzer_is_of_this_version(decode: Decoder) -> None:
    """Where it is not: `python tests/unit/test_spec.py` writes it anew."""
    for name, made in CORPUS.items():
        assert (TREE / "fuzz" / "corpus" / name).read_bytes() == spec.encode(made)


class TestPythonSide:
    def test_nul_is_refused(self) -> None:
        with pytest.raises(ValueError, match="NUL"):
            spec.encode(LaunchSpec(argv=("a\0b",), envp=(), flags=Flag(0), namespaces=0))

    def test_too_many_rows_are_refused(self) -> None:
        with pytest.raises(ValueError, match="4097 rows"):
            spec.encode(LaunchSpec(argv=("x",) * 4097, envp=(), flags=Flag(0), namespaces=0))

    def test_reports(self) -> None:
        data = spec.REPORT.pack(spec.ReportKind.FAULT, Stage.MOUNTS, 4, 28, 0, 0, 0, 0, 5, 6)
        report = spec.decode_report(data)
        assert (report.kind, report.stage, report.index, report.error) == (spec.ReportKind.FAULT, Stage.MOUNTS, 4, 28)
        assert (report.cpu_us, report.maxrss_kb) == (5, 6)

    @pytest.mark.parametrize(
        "data",
        [b"", bytes(spec.REPORT.size - 1), bytes(spec.REPORT.size), b"\xff" * spec.REPORT.size],
        ids=["empty", "short", "no kind", "unknown kind"],
    )
    def test_what_is_no_report(self, data: bytes) -> None:
        with pytest.raises(ValueError, match=r"report|valid"):
            spec.decode_report(data)

    @given(st.one_of(st.binary(max_size=100), st.binary(min_size=spec.REPORT.size, max_size=spec.REPORT.size)))
    def test_any_bytes_are_a_report_or_none(self, data: bytes) -> None:
        try:
            report = spec.decode_report(data)
        except ValueError:
            return
        assert spec.REPORT.pack(*dataclasses.astuple(report)) == data

    @given(st.sampled_from(spec.ReportKind), st.sampled_from(Stage), st.binary(min_size=40, max_size=40))
    def test_any_numbers_in_a_report(self, kind: spec.ReportKind, stage: Stage, rest: bytes) -> None:
        data = struct.pack("<2I", kind, stage) + rest[: spec.REPORT.size - 8]
        assert spec.REPORT.pack(*dataclasses.astuple(spec.decode_report(data))) == data

    def test_the_same_spec_gives_the_same_bytes(self) -> None:
        assert spec.encode(FULL) == spec.encode(FULL)


if __name__ == "__main__":
    (TREE / "fuzz" / "corpus").mkdir(exist_ok=True)
    for file_name, of_corpus in CORPUS.items():
        (TREE / "fuzz" / "corpus" / file_name).write_bytes(spec.encode(of_corpus))
