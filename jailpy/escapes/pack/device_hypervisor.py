"""Opens devices behind which a large part of the kernel lies.

rows: X6 K10
guards: root=ENOENT
control: none, hosts differ in their devices
"""

import os

from kit import attempt_any

names = ("kvm", "vsock", "vhost-net", "vhost-vsock", "fuse", "net/tun", "userfaultfd", "dri", "nvidiactl", "uinput")
attempt_any(lambda name=name: os.stat(f"/dev/{name}") for name in names)
