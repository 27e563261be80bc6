"""Makes the system calls that stdin lists, [[abi, number, [argument, ...]], ...], each in a child of its own, and prints
what became of each: [value in the result register or null, wait status of the child]. x86_64 only.

The code between call and result is machine code, so that nothing between the two may go wrong, and so that the two other
ways into the kernel can be taken as well. The child ends right behind it: a second return, as of vfork, finds no stack."""

import ctypes
import json
import mmap
import os
import signal
import struct
import sys

SECONDS = 0.5  # a call that waits in the kernel longer was let in
ABSENT = 0x5A5A_5A5A_5A5A_5A5A

_ENTER = "4989fc" "498b0424"  # r12 = the frame; rax = number
_LEAVE = "4989442438" "b8e7000000" "31ff" "0f05"  # the result into the frame; exit_group(0)
CODE = {
    # rdi rsi rdx r10 r8 r9, syscall
    "x86_64": _ENTER + "498b7c2408498b742410498b5424184d8b5424204d8b4424284d8b4c2430" "0f05" + _LEAVE,
    # ebx ecx edx esi edi ebp, int 0x80
    "i386": _ENTER + "498b5c2408498b4c2410498b542418498b742420498b7c2428498b6c2430" "cd80" + _LEAVE,
}
CODE["x32"] = CODE["x86_64"]


def address(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def main():
    codes = {abi: mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) for abi in CODE}
    for abi, code in codes.items():
        code.write(bytes.fromhex(CODE[abi]))
    entries = {abi: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address(code)) for abi, code in codes.items()}
    frame = mmap.mmap(-1, mmap.PAGESIZE)  # shared with the children
    at = address(frame)
    answers = []
    for abi, number, given in json.load(sys.stdin):
        struct.pack_into("=8Q", frame, 0, number, *[*given, 0, 0, 0, 0, 0, 0][:6], ABSENT)
        child = os.fork()
        if child == 0:
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            entries[abi](at)
        status = os.waitpid(child, 0)[1]
        (value,) = struct.unpack_from("=q", frame, 56)
        answers.append([None if value == ABSENT else value, status])
    print(json.dumps(answers))


main()
