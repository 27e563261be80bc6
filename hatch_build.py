"""Compiles native/*.c into jailpy/_native/jailpy-init, and what a zygote's children share with it into guest/join.so.

Used in three ways: as hatchling's build hook (wheels and editable installs), as `python3 hatch_build.py [OUTPUT]` by
native/Makefile, and as `python3 hatch_build.py --flags` by the Makefile's other builds, so that the flags are written
down once. Needs nothing but a C compiler and the standard library.

    CC                     the compiler, with options if any; default: the first of musl-gcc, cc, gcc, clang
    JAILPY_WHEEL_PLATFORM  platform tag of the wheel; default: linux_<machine>. The helper is static, so a release may
                           say manylinux_2_17_x86_64.musllinux_1_1_x86_64
"""

from __future__ import annotations

import os
import shlex
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    Hook = BuildHookInterface[Any]
else:
    try:
        from hatchling.builders.hooks.plugin.interface import BuildHookInterface as Hook
    except ImportError:  # run as a script, outside a build
        Hook = object

ROOT = Path(__file__).resolve().parent
HELPER = Path("jailpy", "_native", "jailpy-init")
JOIN = Path("jailpy", "guest", "join.so")
JOIN_SOURCES = ("join.c", "confine.c", "spec.c", "report.c")
FLAGS = [
    *("-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wconversion"),
    *("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong"),
]
PACKAGES = (
    "Debian, Ubuntu: apt install musl-tools linux-libc-dev; "
    "Fedora: dnf install gcc glibc-static; Alpine: apk add gcc musl-dev linux-headers"
)
# join.so takes the interpreter's libc, of whatever kind, so it must ask for nothing that only one libc has.
JOIN_FLAGS = [*(f for f in FLAGS if "FORTIFY" not in f and "stack-protector" not in f), "-fno-stack-protector"]
JOIN_FLAGS += ["-shared", "-fPIC", "-nostdlib", "-fvisibility=hidden", "-s"]
PT_INTERP = 3


class NativeBuildError(Exception):
    """The helper could not be built; the message names the packages that are missing."""


def compiler() -> list[str]:
    """The compiler's command, with what it needs to find the kernel's headers."""
    named = shlex.split(os.environ.get("CC", ""))
    command = named or [c for c in ("musl-gcc", "cc", "gcc", "clang") if shutil.which(c)][:1]
    if not command or not shutil.which(command[0]):
        missing = f"the compiler that CC names, {command[0]}," if command else "a C compiler"
        raise NativeBuildError(f"jailpy needs {missing} to build its helper, and it is not there. {PACKAGES}")
    if Path(command[0]).name == "musl-gcc":
        # Debian's musl-gcc looks into musl's headers only; linux/*.h come last, so that they replace none of those.
        command += ["-idirafter", "/usr/include"]
        multiarch = subprocess.run([*command, "-print-multiarch"], capture_output=True, text=True, check=False).stdout
        if multiarch.strip():
            command += ["-idirafter", f"/usr/include/{multiarch.strip()}"]
    return command


def is_static(helper: Path) -> bool:
    """True for an ELF executable that asks for no dynamic loader: nothing of the host has to be visible in a jail."""
    image = helper.read_bytes()
    if image[:4] != b"\x7fELF":
        return False
    wide, order = image[4] == 2, "<" if image[5] == 1 else ">"
    (start,) = struct.unpack_from(order + ("Q" if wide else "I"), image, 32 if wide else 28)
    size, count = struct.unpack_from(order + "HH", image, 54 if wide else 42)
    types = [struct.unpack_from(order + "I", image, start + i * size)[0] for i in range(count)]
    return bool(types) and PT_INTERP not in types


def build(output: Path) -> None:
    """Compiles the helper to `output`, and join.so to its place, each replacing what is there in one step."""
    native = ROOT / "native"
    sources = sorted(source for source in native.glob("*.c") if source.name != "join.c")
    if not sources:
        raise NativeBuildError(f"no C sources in {native}")
    _compile(["-static", "-s", *FLAGS], sources, output)
    if not is_static(output):
        output.unlink()
        raise NativeBuildError(f"{compiler()[0]} made a dynamic executable in spite of -static. {PACKAGES}")
    _compile(JOIN_FLAGS, [native / name for name in JOIN_SOURCES], ROOT / JOIN)


def _compile(flags: list[str], sources: list[Path], output: Path) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".build-") as folder:
        fresh = Path(folder, output.name)
        command = [*compiler(), *flags, *map(str, sources), "-o", str(fresh)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise NativeBuildError(
                f"building jailpy's native part failed:\n$ {shlex.join(command)}\n{done.stdout}"
                f"If a header, libc.a or crt1.o is missing: {PACKAGES}"
            )
        fresh.chmod(0o755)
        fresh.replace(output)


class CustomBuildHook(Hook):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build(ROOT / HELPER)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ.get('JAILPY_WHEEL_PLATFORM') or platform}"
        build_data["artifacts"] += [f"/{HELPER}", f"/{JOIN}"]  # they are in .gitignore, which hatchling heeds


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--flags"]:
            print(*FLAGS)
        else:
            build(Path(sys.argv[1]).absolute() if sys.argv[1:] else ROOT / HELPER)
    except NativeBuildError as error:
        sys.exit(f"error: {error}")
