"""Linux system calls that Python does not wrap, by ctypes. Each raises ``OSError``, on other systems always."""

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
    """Whether this system is Linux."""
    return _libc is not None


def call(number: int, *arguments: object) -> int:
    """Make the system call ``number`` and return its result."""
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
    """unshare(2): move this process into new namespaces."""
    if _libc is None:
        raise OSError(errno.ENOSYS, "not Linux")
    _checked(_libc.unshare(flags))


def no_new_privileges() -> None:
    """Set PR_SET_NO_NEW_PRIVS: programs started from here gain nothing by set-user-ID or file capabilities."""
    prctl(_NO_NEW_PRIVS, 1)


def keep_capabilities() -> None:
    """Keep the permitted capabilities across a change of user, until :func:`keep_only`."""
    prctl(_KEEP_CAPS, 1)


def keep_only(capability: int | None, *, programs: bool = False) -> None:
    """Drop all capabilities except ``capability``. With ``programs``, programs started from here keep it too; it must
    then be inheritable."""
    prctl(_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    kept = 0 if capability is None else 1 << capability
    _set_capabilities(kept, kept, kept if programs else 0)
    if programs and capability is not None:
        prctl(_CAP_AMBIENT, _AMBIENT_RAISE, capability)


def make_inheritable(capability: int) -> None:
    """Make ``capability`` inheritable, so that :func:`keep_only` can pass it to programs after
    :func:`drop_bounding_set`."""
    header, data = _Header(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if _libc is not None:
        _checked(_libc.capget(ctypes.byref(header), ctypes.byref(data)))
        data[2] |= 1 << capability
        _checked(_libc.capset(ctypes.byref(header), ctypes.byref(data)))


def drop_bounding_set() -> None:
    """Drop the bounding set, so that no file can grant a capability again. Needs CAP_SETPCAP."""
    for number in range(_CAPABILITIES):
        try:
            prctl(_CAPBSET_DROP, number)
        except OSError:  # above the last capability of this kernel
            return


def _set_capabilities(effective: int, permitted: int, inheritable: int) -> None:
    """capset(2): the masks are for the first 32 capabilities; the others are dropped."""
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
