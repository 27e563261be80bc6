"""Opens disks and loop devices.

rows: X6
guards: root=ENOENT
control: none, hosts differ in their disks
"""

import os

from kit import attempt_any

names = ("sda", "vda", "nvme0n1", "loop0", "loop-control", "mapper/control", "zram0", "btrfs-control")
attempt_any(lambda name=name: os.stat(f"/dev/{name}") for name in names)
