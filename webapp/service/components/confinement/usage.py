"""What a call uses in all, which no limit of a single process bounds: memory over its processes, room on the disk."""

import errno
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

from webapp.service.components import limits
from webapp.service.components.confinement import holding

_ROUNDS = 100
_LEAST = 16 * 1024  # that an entry of a folder counts, however small it is: looking at many takes time
_HIDDEN = frozenset({errno.ENAMETOOLONG, errno.EACCES, errno.ELOOP})


def excess(pid: int, folder: Path) -> str | None:
    """Which limit the call with the process ``pid`` and this ``folder`` is beyond: ``memory``, ``disk``, or None."""
    if memory(pid) > limits.CALL_MEMORY_BYTES:
        return "memory"
    return "disk" if disk(pid, folder) > limits.CALL_FOLDER_BYTES else None


def memory(pid: int) -> int:
    """Bytes that ``pid`` and every process below it hold in memory; what they share counts for each."""
    pages = 0
    for each in (pid, *below(pid)):
        with suppress(OSError, ValueError, IndexError):
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
    return pages * resource.getpagesize() + holding.buffers((pid, *below(pid)))


def disk(pid: int, folder: Path) -> int:
    """Bytes that the files below ``folder`` take, and those that ``pid`` and what is below it hold without a name."""
    taken = room(str(folder))
    if taken <= limits.CALL_FOLDER_BYTES:
        taken += holding.nameless((pid, *below(pid)), folder)
    return taken


def room(folder: str) -> int:
    """Bytes that the files below ``folder`` take, each entry :data:`_LEAST` at least. A folder that cannot be looked
    into, as it is too deep or shut, takes more than there may be."""
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
    """Every process below ``pid``; empty where the kernel does not tell."""
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
    """End ``pid`` and every process below it. All are stopped first, so that one that forks cannot outrun this."""
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
    limits.kill_group(pid)


def _tasks(pid: int) -> list[str]:
    try:
        return [entry.path for entry in os.scandir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
