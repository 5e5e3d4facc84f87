"""A filter (seccomp(2), filter mode) that refuses system calls that a component never needs or could escape by.

Sockets are refused; with a relay (see :mod:`relay`), IP sockets are allowed, which reach only the relay. Also refused
are access to other processes' memory, limits and priority, kernel keys, message queues, mounts, namespaces, watching
files and sending descriptors; a process that may start no others can signal only itself. Refused calls fail with
EACCES, calls of newer kernels with ENOSYS. If a call has no user of its own, changes of the owner, mode and times of
files, which Landlock does not cover, seem to succeed but have no effect.
"""

import ctypes
import os
import platform
import struct
from functools import cache
from typing import NamedTuple

from webapp.service.components.confinement import kernel

_SET_SECCOMP, _MODE_FILTER = 22, 2  # linux/prctl.h, linux/seccomp.h
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/bpf_common.h
_ALLOW, _REFUSE, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000  # linux/seccomp.h
_PRETEND = _REFUSE  # success without effect
_EACCES, _ENOSYS = 13, 38
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in seccomp_data, the low half of an argument
_OTHER_ABI = 0x4000_0000  # x32 on x86_64
_NAMESPACES = 0x7E02_0080  # every CLONE_NEW…
_THREAD, _SAME_FILES = 0x0001_0000, 0x0000_0400  # CLONE_THREAD, CLONE_FILES
_FAMILIES = (2, 10)  # AF_INET, AF_INET6


class _Machine(NamedTuple):
    """The audit number and system call numbers of an architecture.

    ``making`` start processes, or send signals otherwise than ``signalling``, whose first argument is the process;
    ``changing`` change a file's owner, mode or times.
    """

    audit: int
    socket: int
    clone: int
    prlimit: int
    refused: tuple[int, ...]
    making: tuple[int, ...]
    signalling: tuple[int, ...]
    changing: tuple[int, ...]


_EVERYWHERE = (
    424, 438, 440, 448,  # pidfd_send_signal, pidfd_getfd, process_madvise, process_mrelease
    425, 426, 427,  # io_uring
    428, 429, 430, 431, 432, 433, 442,  # open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
    443, 447,  # quotactl_fd, memfd_secret
)  # fmt: skip
_CLONE3, _FCHMODAT2 = 435, 452
_NEWER = 457  # statmount and later: calls newer than Linux 6.7 were not reviewed
_MACHINES = {
    "x86_64": _Machine(
        0xC000_003E, 41, 56, 302,
        (
            101, 310, 311, 312,  # ptrace, process_vm_readv, process_vm_writev, kcmp
            165, 166, 155, 161,  # mount, umount2, pivot_root, chroot
            303, 304,  # name_to_handle_at, open_by_handle_at
            321, 298, 323,  # bpf, perf_event_open, userfaultfd
            248, 249, 250,  # add_key, request_key, keyctl
            175, 313, 176, 246, 320, 169,  # init_module, finit_module, delete_module, kexec (2), reboot
            167, 168, 163, 179,  # swapon, swapoff, acct, quotactl
            308, 272,  # setns, unshare
            29, 64, 68, 240,  # shmget, semget, msgget, mq_open
            203, 144, 142, 314,  # sched_setaffinity, sched_setscheduler, sched_setparam, sched_setattr
            141, 251, 256, 279,  # setpriority, ioprio_set, migrate_pages, move_pages
            103, 253, 294, 300, 206,  # syslog, inotify_init (2), fanotify_init, io_setup
            46, 307, 319,  # sendmsg, sendmmsg, memfd_create: what they hold, nobody counts
            188, 189, 190, 197, 198, 199,  # setxattr (3), removexattr (3)
            *_EVERYWHERE,
        ),
        (57, 58, 322, 200, 129, 297),  # fork, vfork, execveat, tkill, rt_sigqueueinfo (2)
        (62, 234),  # kill, tgkill
        (90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280, _FCHMODAT2),  # chmod (3), chown (4), utime (4)
    ),
    "aarch64": _Machine(
        0xC000_00B7, 198, 220, 261,
        (
            117, 270, 271, 272, 40, 39, 41, 51, 264, 265, 280, 241, 282, 217, 218, 219, 105, 273, 106, 104, 294, 142,
            224, 225, 89, 60, 268, 97, 194, 190, 186, 180, 122, 119, 118, 274, 140, 30, 238, 239, 116, 26, 262, 211,
            269, 279, 5, 6, 7, 14, 15, 16, 0, *_EVERYWHERE,
        ),
        (281, 130, 138, 240),
        (129, 131),
        (52, 53, 54, 55, 88, _FCHMODAT2),
    ),
}  # fmt: skip


class _Program(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def available() -> bool:
    """Whether there is a filter for this architecture."""
    return platform.machine() in _MACHINES


def install(sockets: bool, *, processes: bool = True, own_user: bool = False) -> None:
    """Filter the system calls of this process and its later children.

    ``sockets`` allows IP sockets, ``processes`` allows to start processes and not only threads, ``own_user`` says that
    its user owns no files of others. Needs ``no_new_privs``. Raises ``OSError``.
    """
    code = _code(platform.machine(), sockets, None if processes else os.getpid(), own_user)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    kernel.prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program))


@cache
def _code(machine: str, sockets: bool, alone: int | None, own_user: bool) -> bytes:
    return b"".join(_program(_MACHINES[machine], sockets, alone, own_user))


def prepare(*, own_user: bool) -> None:
    """Build the filters once for all later children."""
    if available():
        for sockets in (False, True):
            _code(platform.machine(), sockets, None, own_user)


def _program(machine: _Machine, sockets: bool, alone: int | None, own_user: bool) -> list[bytes]:
    """Each part returns or falls through to the next. ``alone`` is the pid of a process that may start no others."""
    processes = alone is None
    families = _FAMILIES if sockets else ()
    refused = machine.refused if processes else (*machine.refused, *machine.making)
    pretended = () if own_user else machine.changing
    return [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, machine.audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_AT_LEAST, _OTHER_ABI, 0, 1),
        _step(_RETURN, _REFUSE | _EACCES),
        _step(_JUMP_AT_LEAST, _NEWER, 0, 1),
        _step(_RETURN, _REFUSE | _ENOSYS),
        _step(_JUMP_EQUAL, _CLONE3, 0, 1),
        _step(_RETURN, _REFUSE | _ENOSYS),  # its arguments cannot be inspected; libraries fall back to clone
        *(step for number in refused for step in (_step(_JUMP_EQUAL, number, 0, 1), _step(_RETURN, _REFUSE | _EACCES))),
        *(step for number in pretended for step in (_step(_JUMP_EQUAL, number, 0, 1), _step(_RETURN, _PRETEND))),
        *_cloning(machine, processes),
        *(step for number in machine.signalling if alone is not None for step in _only_for(alone, number)),
        *_only_for(0, machine.prlimit),  # pid 0: the calling process
        _step(_JUMP_EQUAL, machine.socket, 1, 0),
        _step(_RETURN, _ALLOW),
        _step(_LOAD, _FIRST_ARGUMENT),
        *(step for family in families for step in (_step(_JUMP_EQUAL, family, 0, 1), _step(_RETURN, _ALLOW))),
        _step(_RETURN, _REFUSE | _EACCES),
    ]


def _only_for(process: int, number: int) -> list[bytes]:
    """Allow the system call ``number`` if its first argument is ``process``."""
    return [
        _step(_JUMP_EQUAL, number, 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_JUMP_EQUAL, process, 1, 0),
        _step(_RETURN, _REFUSE | _EACCES),
        _step(_RETURN, _ALLOW),
    ]


def _cloning(machine: _Machine, processes: bool) -> list[bytes]:
    """Rules for clone(2): no namespaces; threads only if they share the descriptors of their process."""
    return [
        _step(_JUMP_EQUAL, machine.clone, 0, 6),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_JUMP_SET, _NAMESPACES, 3, 0),
        _step(_JUMP_SET, _THREAD, 0, 1 if processes else 2),
        _step(_JUMP_SET, _SAME_FILES, 0, 1),
        _step(_RETURN, _ALLOW),
        _step(_RETURN, _REFUSE | _EACCES),
    ]


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)
