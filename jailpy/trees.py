"""Files by relative names, checked: what a caller gives to lie in a guest's working folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jailpy.errors import UsageError
from jailpy.roots import File

_MOST_FILES = 1000
_LONGEST_PART, _LONGEST_NAME = 255, 4000  # bytes, as Linux has them (NAME_MAX, and PATH_MAX less what stands in front)


def as_bytes(data: object, field_name: str) -> bytes:
    """Data for a guest as bytes. UsageError for what is neither text nor bytes."""
    if isinstance(data, str):
        try:
            return data.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise UsageError(field_name, f"no UTF-8 has {data[error.start]!r}; pass the bytes that are meant") from None
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise UsageError(field_name, f"{type(data).__name__} given; pass str or bytes")


def check_tree(files: Any, field_name: str, taken: tuple[str, ...] = ()) -> tuple[File, ...]:
    """A mapping of names to contents as files. UsageError for names that leave the folder, contradict each other or are
    taken, and for more than there may be."""
    if not isinstance(files, Mapping):
        raise UsageError(field_name, f"{type(files).__name__} given; pass a mapping of relative names to contents")
    found = [_file(name, content, field_name, taken) for name, content in files.items()]
    names = {file.name for file in found}
    folders = {name[:at] for name in names for at, char in enumerate(name) if char == "/"}
    for name in sorted(names & folders):
        raise UsageError(f"{field_name}[{name!r}]", "is also the folder of another file; one name cannot be both")
    if len(found) + len(folders) > _MOST_FILES:
        raise UsageError(field_name, f"{len(found)} files in {len(folders)} folders; give at most {_MOST_FILES} together")
    return tuple(found)


def _file(name: object, content: object, mapping: str, taken: tuple[str, ...]) -> File:
    field_name = f"{mapping}[{name!r}]"
    if not isinstance(name, str):
        raise UsageError(field_name, f"the name is {type(name).__name__}; names are text")
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise UsageError(field_name, "names are relative, without '..', empty parts or NUL")
    if name in taken:
        raise UsageError(field_name, "the program itself has this name; choose another")
    raw = as_bytes(name, field_name)
    if len(raw) > _LONGEST_NAME or any(len(part) > _LONGEST_PART for part in raw.split(b"/")):
        raise UsageError(field_name[:80], f"a part may have {_LONGEST_PART} bytes and the whole name {_LONGEST_NAME}")
    return File(name, as_bytes(content, field_name))
