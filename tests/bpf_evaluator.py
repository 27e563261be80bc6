"""An interpreter for seccomp's dialect of classic BPF: what would the kernel answer?

It knows the instructions that a seccomp filter may hold and that libseccomp emits; any other is an error.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

RET_KILL_PROCESS = 0x8000_0000
RET_ERRNO = 0x0005_0000
RET_ALLOW = 0x7FFF_0000

AUDIT_ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7, "i386": 0x4000_0003, "arm": 0x4000_0028}

MAX_INSTRUCTIONS = 4096

_LD_ABS, _AND_K, _JA, _RET_K = 0x20, 0x54, 0x05, 0x06
_JUMPS: dict[int, Callable[[int, int], bool]] = {
    0x15: operator.eq,
    0x25: operator.gt,
    0x35: operator.ge,
    0x45: lambda a, k: bool(a & k),
}


@dataclass(frozen=True, slots=True)
class Call:
    """struct seccomp_data."""

    number: int
    arch: int
    args: Sequence[int] = ()
    instruction_pointer: int = 0

    def packed(self) -> bytes:
        args = [*self.args, 0, 0, 0, 0, 0, 0][:6]
        return struct.pack("=iIQ6Q", self.number, self.arch, self.instruction_pointer, *args)


class Filter:
    """A checked program: known instructions, jumps forward and inside, ends with a return."""

    def __init__(self, code: bytes) -> None:
        if not code or len(code) % 8:
            raise ValueError("not an array of struct sock_filter")
        self.instructions = list(struct.iter_unpack("=HBBI", code))
        if len(self.instructions) > MAX_INSTRUCTIONS:
            raise ValueError("longer than the kernel takes")
        for position, (op, yes, no, k) in enumerate(self.instructions):
            if op not in {_LD_ABS, _AND_K, _JA, _RET_K, *_JUMPS}:
                raise ValueError(f"instruction {position}: unknown operation {op:#x}")
            if op == _LD_ABS and (k % 4 or k > 60):
                raise ValueError(f"instruction {position}: load from {k}")
            furthest = k if op == _JA else max(yes, no) if op in _JUMPS else 0
            if op != _RET_K and position + 1 + furthest >= len(self.instructions):
                raise ValueError(f"instruction {position}: leaves the program")

    def decide(self, call: Call) -> int:
        """The action, as the kernel's SECCOMP_RET_* with its data."""
        data = call.packed()
        position = accumulator = 0
        while True:
            op, yes, no, k = self.instructions[position]
            position += 1
            if op == _RET_K:
                return int(k)
            if op == _LD_ABS:
                (accumulator,) = struct.unpack_from("=I", data, k)
            elif op == _AND_K:
                accumulator &= k
            elif op == _JA:
                position += k
            else:
                position += yes if _JUMPS[op](accumulator, k) else no
