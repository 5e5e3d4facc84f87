"""Landlock (kernel documentation, userspace-api/landlock): which files a process and all below it may reach.

Besides, as far as the kernel knows it: no TCP, no abstract Unix socket of others, no signal to others. Others are all
outside of what was restricted together.
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
    """A place to read that is open already, as many processes need it: its descriptor, and whether it is a folder."""

    descriptor: int
    is_folder: bool

    @classmethod
    def of(cls, path: Path) -> "Opened":
        """The place at ``path``. Raises ``OSError``."""
        return cls(os.open(path, os.O_PATH | os.O_CLOEXEC), path.is_dir())


@dataclass(frozen=True, slots=True)
class Reach:
    """What may be reached: files and folders to read and to run, some of them ``opened`` already, those to read alone,
    folders to look through, and those to write."""

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
    """The version that the kernel offers; 0 for none."""
    try:
        return kernel.call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


class Restriction:
    """What is to be allowed, collected while the paths can still be opened; :meth:`enforce` makes it so."""

    def __init__(self, known: int, reach: Reach) -> None:
        """``known`` is the version of the kernel. Raises ``OSError``."""
        self._handled = next(rights for least, rights in _ALL_BY_VERSION if known >= least)
        network = _TCP if known >= NETWORK_VERSION and not reach.tcp else 0
        rules = _Ruleset(self._handled, network, _SCOPES if known >= SCOPES_VERSION else 0)
        size = 24 if known >= SCOPES_VERSION else 16 if known >= NETWORK_VERSION else 8
        self._ruleset = kernel.call(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
        self.extend(reach)

    def extend(self, reach: Reach) -> None:
        """Allow what ``reach`` names, too. Raises ``OSError``."""
        for place in reach.opened:
            self._add(place, _READ)
        self._allow(reach.readable, _READ)
        self._allow(reach.read_only, _READ_FILE | _READ_DIR)
        self._allow(reach.listable, _READ_DIR)
        self._allow(reach.writable, _WRITE)
        self._allow(reach.devices, _READ_FILE | _WRITE_FILE)

    def enforce(self) -> None:
        """Restrict this process and all that come of it, for good. Needs ``no_new_privs``. Raises ``OSError``."""
        kernel.call(_RESTRICT, ctypes.c_int(self._ruleset), ctypes.c_uint32(0))
        os.close(self._ruleset)

    def move(self, descriptor: int) -> None:
        """Keep what was collected at ``descriptor`` from now on."""
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
