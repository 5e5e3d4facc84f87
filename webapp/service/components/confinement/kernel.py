"""The system calls that Python has no name for, by ctypes. Each raises ``OSError``; elsewhere than on Linux, all do."""

import ctypes
import errno
import os
import sys

NEW_USER, NEW_NET = 0x1000_0000, 0x4000_0000  # linux/sched.h
_KEEP_CAPS, _CAPBSET_DROP, _NO_NEW_PRIVS, _CAP_AMBIENT = 8, 24, 38, 47  # linux/prctl.h
_AMBIENT_RAISE, _AMBIENT_CLEAR_ALL = 2, 4
_CAPABILITY_VERSION = 0x2008_0522  # linux/capability.h
_CAPABILITIES = 64
DAC_READ_SEARCH = 2
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def is_linux() -> bool:
    """Whether there is anything to call."""
    return _libc is not None


def call(number: int, *arguments: object) -> int:
    """The system call ``number``; what it gives back."""
    if _libc is None:
        raise OSError(errno.ENOSYS, "not Linux")
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    return _checked(result)


def prctl(option: int, first: object = 0, second: object = 0) -> int:
    """prctl(2)."""
    if _libc is None:
        raise OSError(errno.ENOSYS, "not Linux")
    zero = ctypes.c_ulong(0)
    result: int = _libc.prctl(option, _word(first), _word(second), zero, zero)
    return _checked(result)


def unshare(flags: int) -> None:
    """unshare(2): namespaces of our own."""
    if _libc is None:
        raise OSError(errno.ENOSYS, "not Linux")
    _checked(_libc.unshare(flags))


def no_new_privileges() -> None:
    """No program that is started from here gains anything by its owner or its file's capabilities."""
    prctl(_NO_NEW_PRIVS, 1)


def keep_capabilities() -> None:
    """Keep what is permitted over a change of the user, until :func:`keep_only`."""
    prctl(_KEEP_CAPS, 1)


def keep_only(capability: int | None, *, programs: bool = False) -> None:
    """Give up every capability but ``capability``, which programs started from here get only with ``programs``: then it
    must have been made inheritable."""
    prctl(_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    kept = 0 if capability is None else 1 << capability
    _set_capabilities(kept, kept, kept if programs else 0)
    if programs and capability is not None:
        prctl(_CAP_AMBIENT, _AMBIENT_RAISE, capability)


def make_inheritable(capability: int) -> None:
    """Let :func:`keep_only` leave ``capability`` to programs, also after :func:`drop_bounding_set`."""
    header, data = _Header(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if _libc is not None:
        _checked(_libc.capget(ctypes.byref(header), ctypes.byref(data)))
        data[2] |= 1 << capability
        _checked(_libc.capset(ctypes.byref(header), ctypes.byref(data)))


def drop_bounding_set() -> None:
    """No capability can come back by a program's file. Needs CAP_SETPCAP."""
    for number in range(_CAPABILITIES):
        try:
            prctl(_CAPBSET_DROP, number)
        except OSError:  # beyond the last that this kernel knows
            return


def _set_capabilities(effective: int, permitted: int, inheritable: int) -> None:
    """Those of the first 32; none of the others."""
    data = (ctypes.c_uint32 * 6)(effective, permitted, inheritable, 0, 0, 0)
    if _libc is not None:
        _checked(_libc.capset(ctypes.byref(_Header(_CAPABILITY_VERSION, 0)), ctypes.byref(data)))


def _word(value: object) -> object:
    return ctypes.c_ulong(value) if isinstance(value, int) else value


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
