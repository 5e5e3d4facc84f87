"""What processes hold that no name leads to: files that were removed while they are open or mapped, and buffers.

The disk gives the room of such a file back with the last process that holds it, and the kernel keeps what was written
to a socket until somebody reads it: neither stands in a folder or in the memory of a process. Descriptors on their way
between processes would hide them, so the filter of system calls lets none travel.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from webapp.service.components import limits

_BUFFERS = {stat.S_IFSOCK: 208 * 1024, stat.S_IFIFO: 64 * 1024}  # what Linux takes in before it blocks
_MAPS_BYTES = 1024 * 1024  # of a description of a process's memory; others' have a tenth
_REMOVED = b" (deleted)\n"
_File = tuple[int, int]  # device and number


def buffers(processes: Iterable[int]) -> int:
    """Bytes that may wait in the sockets and pipes of ``processes``; what they share counts once."""
    kinds = {_file(facts): stat.S_IFMT(facts.st_mode) for pid in processes for facts in _open(pid)}
    return sum(_BUFFERS.get(kind, 0) for kind in kinds.values())


def nameless(processes: Iterable[int], folder: Path) -> int:
    """Bytes of files that ``processes`` hold open, or mapped from ``folder``, and that have no name any more."""
    sizes = dict[_File, int]()
    for pid in processes:
        sizes |= {_file(facts): facts.st_blocks * 512 for facts in _open(pid) if _is_nameless(facts)}
        sizes |= dict(_mapped(pid, os.fsencode(folder) + b"/"))
    return sum(sizes.values())


def _open(pid: int) -> Iterator[os.stat_result]:
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with suppress(OSError):
                yield entry.stat()


def _mapped(pid: int, below: bytes) -> Iterator[tuple[_File, int]]:
    """The removed files of that folder which are mapped, with their sizes. One that cannot be looked at counts as the
    largest that may be; a description of the memory that is too long to be read, as more than there may be."""
    with suppress(OSError), Path(f"/proc/{pid}/maps").open("rb") as file:
        lines = file.readlines(_MAPS_BYTES)
        if file.read(1):
            yield (pid, 0), limits.CALL_FOLDER_BYTES + 1
        for line in lines:
            if line.endswith(_REMOVED):
                place, _, _, _, inode, path = line.split(None, 5)
                if path.startswith(below):
                    yield _size(f"/proc/{pid}/map_files/{place.decode()}", int(inode))


def _size(place: str, inode: int) -> tuple[_File, int]:
    try:
        facts = Path(place).stat()
    except OSError:  # only who is root everywhere may look there
        return (0, inode), limits.FILE_BYTES
    return _file(facts), facts.st_blocks * 512


def _is_nameless(facts: os.stat_result) -> bool:
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink == 0


def _file(facts: os.stat_result) -> _File:
    return facts.st_dev, facts.st_ino
