"""The files that two jails hold in common: each has its own folders, and every message carries what changed in them.

Regular files of at most LARGEST bytes, and folders, whose names end in a slash; names are relative and stay inside.
Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any

LARGEST = 4 << 20
_MOST = 1000


class Folders:
    """Some folders of one side. `own` are names in the first that stay on this side."""

    def __init__(self, roots: tuple[str, ...], own: tuple[str, ...]) -> None:
        self.roots = roots
        self.own = own
        self.known = {place: _digest(data) for place, data in self._found()}

    def changes(self) -> list[tuple[int, str, bytes | None]]:
        """(root, name, content or None for a file that is gone) of what changed since the last message."""
        changed: list[tuple[int, str, bytes | None]] = []
        gone = dict(self.known)
        for place, data in self._found():
            gone.pop(place, None)
            digest = _digest(data)
            if self.known.get(place) != digest:
                self.known[place] = digest
                changed.append((*place, data))
        for place in reversed(list(gone)):  # what is in a folder comes behind it
            del self.known[place]
            changed.append((*place, None))
        return changed

    def apply(self, changes: Any) -> None:
        """The other side's changes. ValueError for a name that leaves its folder."""
        for root, name, data in changes:
            parts = (name[:-1] if name.endswith("/") else name).split("/")
            outside = type(root) is not int or not 0 <= root < len(self.roots)
            outside = outside or "\0" in name or any(part in ("", ".", "..") for part in parts)
            if outside or (root == 0 and parts[0] in self.own):
                raise ValueError("a file that is not the sender's to change")
            path = os.path.join(self.roots[root], name)
            try:
                _check_inside(self.roots[root], path)
                self._put(path, data)
            except OSError:  # a full disk, a folder in its place: as if the file had not been written
                continue
            if data is None:
                self.known.pop((root, name), None)
            else:
                self.known[(root, name)] = _digest(data)

    @staticmethod
    def _put(path: str, data: bytes | None) -> None:
        if path.endswith("/"):
            os.rmdir(path) if data is None else os.makedirs(path, exist_ok=True)
            return
        if data is None:
            os.unlink(path)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with os.fdopen(fd, "wb") as file:
            file.write(data)

    def _found(self) -> Iterator[tuple[tuple[int, str], bytes]]:
        left = _MOST
        for number, root in enumerate(self.roots):
            waiting = [""]
            while waiting:
                prefix = waiting.pop()
                for name, is_folder in _entries(os.path.join(root, prefix)):
                    place = prefix + name
                    if number == 0 and place in self.own:
                        continue
                    if is_folder:
                        waiting.append(place + "/")
                        yield (number, place + "/"), b""
                    else:
                        data = _read(os.path.join(root, place))
                        left -= 1
                        if data is not None and left >= 0:
                            yield (number, place), data


def _check_inside(root: str, path: str) -> None:
    """OSError where a link of this side's own leads out of the folder."""
    root, parent = os.path.realpath(root), os.path.realpath(os.path.dirname(path.rstrip("/")))
    if os.path.commonpath((root, parent)) != root:
        raise OSError(f"{parent} is not in {root}")


def _entries(path: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(path) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return []


def _read(path: str) -> bytes | None:
    """A regular file's content; None for anything else, and for what is too large or out of reach."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
            return None
        data = file.read(LARGEST + 1)
    return data if len(data) <= LARGEST else None


def _digest(data: bytes) -> tuple[int, int]:
    return len(data), hash(data)
