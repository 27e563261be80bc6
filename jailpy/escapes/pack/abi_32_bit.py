"""Makes a call by the door for 32-bit programs, where the numbers mean other calls.

rows: K14
guards: seccomp=SIGSYS
works: worked|SIGSEGV
control: none, not every kernel has that door
machine: x86_64
"""

import ctypes
import mmap
import os

from kit import attempt

code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3")  # push rbx; mov eax, getpid; int 0x80; pop rbx; ret
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
attempt(lambda: "worked" if function() == os.getpid() else "ENOSYS")
