"""Both ends of the connection between a program's jail and the jail of its tests, for the driver and the zygote."""

from __future__ import annotations

import socket
import sys
from typing import Any

import heap
import peer as peers
import referee as judging
import serve as serving
from folders import Folders
from project import beside, project
from referee import referee
from serve import serve

#: What nothing that is run afterwards may find under these names.
MODULES = (
    *("asking", "checks", "crossing", "folders", "heap", "modules", "operators"),
    *("peer", "project", "referee", "serve", "standins", "unpickling"),
)

__all__ = ["MODULES", "Folders", "beside", "project", "referee", "rehearse", "serve"]

_PROGRAM = "def add(a, b):\n    return a + b\nclass Box:\n    def get(self):\n        return [1, 2]\nname = 'x'\n"
_TEST = (
    "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate([1], [2.0]) == [1, 2.0]\n"
    "check(add)\nassert Box().get() == [1, 2] and name == 'x'\n"
)


def rehearse() -> None:
    """One test of one program, both in this process, which asks and answers by turns. What an interpreter learns of its
    bytecode it writes in place; a zygote's children find it learnt."""
    main, seeds = sys.modules["__main__"], [(generator, generator.seed) for _, generator in judging.generators()]
    ends = socket.socketpair()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(_PROGRAM, namespace)
    program = serving.Program(namespace, ends[0].fileno(), Folders((), ()), heap.MAIN)
    peer = peers.Peer(ends[1].fileno(), Folders((), ()), judging.Names())
    hear, waiting = peer.link.receive, [False]

    def receive() -> Any:
        if waiting[0]:
            program.answer(*program.link.receive())
        waiting[0] = True
        return hear()

    peer.link.receive = receive
    program.link.reply("value", *program.names())
    try:
        judging.run(peer, _TEST, "main.py", "")
    finally:
        sys.modules["__main__"] = main
        for generator, seed in seeds:
            generator.seed = seed
        for end in ends:
            end.close()
