"""Network namespaces: the runner and its children share one without interfaces; a call with a relay has its own.

In the runner's, not even loopback is up. A process that is not root needs a user namespace of its own for that.
"""

import fcntl
import os
import socket
import struct
from pathlib import Path

from webapp.service.components.confinement import kernel

_SET_FLAGS, _UP = 0x8914, 1  # linux/sockios.h, net/if.h


def leave() -> bool:
    """Enter a network namespace without interfaces for good. Returns whether the kernel allowed it."""
    user, group = os.geteuid(), os.getegid()
    try:
        kernel.unshare(kernel.NEW_NET if user == 0 else kernel.NEW_USER | kernel.NEW_NET)
    except OSError:
        return False
    if user != 0:
        _keep_names(user, group)
    return True


def own_user_namespace() -> bool:
    """Enter a user namespace, whose processes are counted separately. Returns whether the kernel allowed it."""
    user, group = os.geteuid(), os.getegid()
    try:
        kernel.unshare(kernel.NEW_USER)
    except OSError:
        return False
    _keep_names(user, group)
    return True


def own_loopback() -> None:
    """Enter a network namespace whose only interface is loopback. Raises ``OSError``."""
    kernel.unshare(kernel.NEW_NET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", _UP))


def _keep_names(user: int, group: int) -> None:
    """Map this user and group to the same ids in the new user namespace."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        try:
            Path("/proc/self", name).write_text(text)
        except OSError:
            return  # the ids stay unmapped, which does no harm
