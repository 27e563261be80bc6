"""The packages as users get them: what is in them, and that the command works once pip or uv has installed the wheel.

The wheel is built from the sdist, so that a file which the sdist forgets fails here and not at somebody's place.
"""

import os
import struct
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HELPER = "jailpy/_native/jailpy-init"
JOIN = "jailpy/guest/join.so"
DEMO = ["demo", "--quick"]
PT_INTERP = 3


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def package_files() -> set[str]:
    """What the tree has below jailpy/, but for what is built or cached."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / "jailpy").rglob("*")
        if path.is_file() and not {"__pycache__", "_native"} & set(path.parts)
    }


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == (package_files() - {JOIN}) | {HELPER, JOIN}
    assert "jailpy/py.typed" in names


def test_the_helper_is_static_and_executable(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        mode = archive.getinfo(HELPER).external_attr >> 16
        image = archive.read(HELPER)
    assert mode & 0o777 == 0o755
    assert image[:6] == b"\x7fELF\x02\x01", "64 bit, little-endian"
    (start,) = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    types = {struct.unpack_from("<I", image, start + i * size)[0] for i in range(count)}
    assert types and PT_INTERP not in types


def test_the_wheel_is_for_any_python_3_on_this_machine(wheel: Path) -> None:
    assert wheel.name.endswith(f"-py3-none-linux_{os.uname().machine}.whl")


def test_a_release_may_name_its_platforms(dist: Path, tmp_path: Path) -> None:
    platforms = "manylinux_2_17_x86_64.musllinux_1_1_x86_64"
    (sdist,) = dist.glob("*.tar.gz")
    run("tar", "-xf", sdist, "-C", tmp_path)
    (tree,) = tmp_path.iterdir()
    build = (sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path)
    run(*build, tree, JAILPY_WHEEL_PLATFORM=platforms)
    assert [path.name.split("-", 2)[2] for path in tmp_path.glob("*.whl")] == [f"py3-none-{platforms}.whl"]


def test_the_sdist_holds_sources_only(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "native").glob("*.[ch]")}
    assert sources | (package_files() - {JOIN}) | {"hatch_build.py", "pyproject.toml", "LICENSE"} <= names
    assert not {HELPER, JOIN} & names
    assert not [name for name in names if name.startswith((".venv", "build", "native/build", "vm-out"))]


def install_with_pip(environment: Path, wheel: Path) -> None:
    venv.create(environment, with_pip=True)
    run(environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)


def install_with_uv(environment: Path, wheel: Path) -> None:
    uv = Path(sys.executable).with_name("uv")  # one of the packages in the extra "dev"
    run(uv, "venv", "--quiet", "--python", sys.executable, environment, UV_PYTHON_DOWNLOADS="never")
    run(uv, "pip", "install", "--quiet", "--python", environment / "bin" / "python", wheel)


@pytest.mark.parametrize("install", [install_with_pip, install_with_uv])
def test_the_command_works_when_installed(install: Callable[[Path, Path], None], wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    install(environment, wheel)
    python = environment / "bin" / "python"
    package = Path(run(python, "-I", "-c", "import jailpy; print(jailpy.__path__[0])").strip())
    assert package.is_relative_to(environment), "the installed package, not the tree"
    assert os.access(package.parent / HELPER, os.X_OK)
    assert run(environment / "bin" / "jailpy", *DEMO)
