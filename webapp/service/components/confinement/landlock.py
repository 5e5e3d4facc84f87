"""Landlock (kernel documentation, userspace-api/landlock): restricts the files that a process and its children reach.

Newer kernels also deny TCP, and abstract Unix sockets of and signals to processes outside of the restricted domain.
"""

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from webapp.service.components.confinement import kernel

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # asm-generic/unistd.h; what follows: linux/landlock.h
_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_ALL_BY_VERSION = ((5, (1 << 16) - 1), (3, (1 << 15) - 1), (2, (1 << 14) - 1), (1, (1 << 13) - 1))
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = (
    _WRITE_FILE | _READ_FILE | _READ_DIR | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER
    | _TRUNCATE | _EXECUTE
)  # fmt: skip
_TCP, _SCOPES = 0b11, 0b11
NETWORK_VERSION, SCOPES_VERSION = 4, 6


class Opened(NamedTuple):
    """A readable path that was opened once for many processes: its descriptor, and whether it is a folder."""

    descriptor: int
    is_folder: bool

    @classmethod
    def of(cls, path: Path) -> "Opened":
        """Open ``path``. Raises ``OSError``."""
        return cls(os.open(path, os.O_PATH | os.O_CLOEXEC), path.is_dir())


@dataclass(frozen=True, slots=True)
class Reach:
    """The paths that may be reached: those to read and execute (``readable`` and ``opened``), those only to read,
    folders only to list, and folders to write."""

    readable: tuple[Path, ...]
    opened: tuple["Opened", ...] = ()
    listable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    devices: tuple[Path, ...] = ()
    tcp: bool = False
    read_only: tuple[Path, ...] = ()


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The version of Landlock that the kernel supports; 0 for none."""
    try:
        return kernel.call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


class Restriction:
    """A ruleset, built while the paths can still be opened; :meth:`enforce` puts it into effect."""

    def __init__(self, known: int, reach: Reach) -> None:
        """``known`` is the kernel's version of Landlock. Raises ``OSError``."""
        self._handled = next(rights for least, rights in _ALL_BY_VERSION if known >= least)
        network = _TCP if known >= NETWORK_VERSION and not reach.tcp else 0
        rules = _Ruleset(self._handled, network, _SCOPES if known >= SCOPES_VERSION else 0)
        size = 24 if known >= SCOPES_VERSION else 16 if known >= NETWORK_VERSION else 8
        self._ruleset = kernel.call(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
        self.extend(reach)

    def extend(self, reach: Reach) -> None:
        """Also allow ``reach``. Raises ``OSError``."""
        for place in reach.opened:
            self._add(place, _READ)
        self._allow(reach.readable, _READ)
        self._allow(reach.read_only, _READ_FILE | _READ_DIR)
        self._allow(reach.listable, _READ_DIR)
        self._allow(reach.writable, _WRITE)
        self._allow(reach.devices, _READ_FILE | _WRITE_FILE)

    def enforce(self) -> None:
        """Restrict this process and its later children for good. Needs ``no_new_privs``. Raises ``OSError``."""
        kernel.call(_RESTRICT, ctypes.c_int(self._ruleset), ctypes.c_uint32(0))
        os.close(self._ruleset)

    def move(self, descriptor: int) -> None:
        """Move the ruleset to the descriptor number ``descriptor``."""
        os.dup2(self._ruleset, descriptor, inheritable=False)
        self._ruleset = descriptor

    def _allow(self, paths: Iterable[Path], rights: int) -> None:
        for path in paths:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                place = Opened.of(path)
                try:
                    self._add(place, rights)
                finally:
                    os.close(place.descriptor)

    def _add(self, place: Opened, rights: int) -> None:
        allowed = rights & self._handled if place.is_folder else rights & self._handled & _OF_FILES
        rule = _Beneath(allowed, place.descriptor)
        kernel.call(
            _ADD_RULE, ctypes.c_int(self._ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0)
        )
