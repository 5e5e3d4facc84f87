"""Measures the memory and disk space of all processes of a call, which no limit of a single process bounds.

Deleted files that are still open or mapped count too, and so do the buffers of sockets.
"""

import errno
import os
import resource
import signal
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from webapp.service.components import limits, process_tree

_BUFFERS = {stat.S_IFSOCK: 208 * 1024, stat.S_IFIFO: 64 * 1024}  # what Linux buffers before it blocks
_MAPS_BYTES = 1024 * 1024  # the longest /proc/<pid>/maps that is read; ordinary ones have a tenth
_REMOVED = b" (deleted)\n"
_File = tuple[int, int]  # device and number
_ROUNDS = 100
_LEAST = 16 * 1024  # the least that a folder entry counts, as scanning many entries takes time
_HIDDEN = frozenset({errno.ENAMETOOLONG, errno.EACCES, errno.ELOOP})


def buffers(processes: Iterable[int]) -> int:
    """Bytes that the sockets and pipes of ``processes`` may buffer; shared ones count once."""
    kinds = {_file(facts): stat.S_IFMT(facts.st_mode) for pid in processes for facts in _open(pid)}
    return sum(_BUFFERS.get(kind, 0) for kind in kinds.values())


def nameless(processes: Iterable[int], folder: Path) -> int:
    """Bytes of deleted files that ``processes`` hold open, or have mapped from ``folder``."""
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
    """The mapped deleted files of the folder ``below``, with their sizes in bytes.

    A file whose size is unknown counts as the largest allowed one; a list of mappings that is too long to read counts
    as more than the limit.
    """
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
    except OSError:  # needs root in the initial user namespace
        return (0, inode), limits.FILE_BYTES
    return _file(facts), facts.st_blocks * 512


def _is_nameless(facts: os.stat_result) -> bool:
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink == 0


def _file(facts: os.stat_result) -> _File:
    return facts.st_dev, facts.st_ino


def excess(pid: int, folder: Path) -> str | None:
    """The limit that the call with the process ``pid`` and this ``folder`` exceeds: ``memory``, ``disk`` or None."""
    if memory(pid) > limits.CALL_MEMORY_BYTES:
        return "memory"
    return "disk" if disk(pid, folder) > limits.CALL_FOLDER_BYTES else None


def memory(pid: int) -> int:
    """Resident memory of ``pid`` and its descendants in bytes; shared memory counts for each."""
    pages = 0
    for each in (pid, *below(pid)):
        with suppress(OSError, ValueError, IndexError):
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
    return pages * resource.getpagesize() + buffers((pid, *below(pid)))


def disk(pid: int, folder: Path) -> int:
    """Bytes of the files below ``folder``, and of deleted files that ``pid`` and its descendants hold."""
    taken = room(str(folder))
    if taken <= limits.CALL_FOLDER_BYTES:
        taken += nameless((pid, *below(pid)), folder)
    return taken


def room(folder: str) -> int:
    """Bytes of the files below ``folder``, at least :data:`_LEAST` for each entry.

    A folder that cannot be read, because it is too deep or protected, counts as more than the limit.
    """
    taken, folders = 0, [folder]
    while folders and taken <= limits.CALL_FOLDER_BYTES:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    taken += max(_LEAST, _blocks(entry) * 512)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError as error:
            taken += limits.CALL_FOLDER_BYTES + 1 if error.errno in _HIDDEN else 0
    return taken


def _blocks(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks
    except FileNotFoundError:  # removed just now
        return 0


def below(pid: int) -> list[int]:
    """The pids of the descendants of ``pid``; empty if the kernel does not list them."""
    processes: list[int] = []
    waiting = [pid]
    while waiting:
        for task in _tasks(waiting.pop()):
            with suppress(OSError, ValueError):
                children = [int(child) for child in Path(task, "children").read_text().split()]
                processes += children
                waiting += children
    return processes


def end(pid: int) -> None:
    """Kill ``pid`` and its descendants. All are stopped first, so that none escapes by forking."""
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        running = {pid, *below(pid)} - stopped
        if not running:
            break
        for each in running:
            _signal(each, signal.SIGSTOP)
        stopped |= running
    for each in stopped - {pid}:
        _signal(each, signal.SIGKILL)
    process_tree.kill_group(pid)


def _tasks(pid: int) -> list[str]:
    try:
        return [entry.path for entry in os.scandir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
