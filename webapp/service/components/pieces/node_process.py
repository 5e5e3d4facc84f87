"""One Node process for pieces: forked from the runner and confined before it executes Node.

It reads Node, our program and the package, writes to its own folder, starts no processes, and communicates only over
descriptor 3, in frames (see :mod:`frames`). Its standard error is kept until it has ended, because V8 reports there
that it ran out of memory.
"""

import os
import signal
import socket
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

from webapp.service.components import limits, process_tree
from webapp.service.components.confinement import readable_paths
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.landlock import Restriction
from webapp.service.components.confinement.places import Place
from webapp.service.components.pieces import node

PROGRAM = Path(__file__).parent / "program" / "main.cjs"
_FRAMES, _RULES, _DESCRIPTORS = 3, 4, 65_536
_THREADS_MB = 16  # for the stacks of threads that start later
_ERROR_BYTES = 65_536  # a pipe holds no more
_OUT_OF_MEMORY = (b"out of memory", b"bad_alloc")
"""Words of V8 and of the C++ library where a process gets no memory."""
_KEPT_ENVIRONMENT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")


@dataclass(frozen=True, slots=True)
class Package:
    """The package that a process loads: ``name`` in the npm prefix ``folder``, the Node that runs it, and our
    ``program`` that loads it.

    Node starts with ``base_mb`` MiB of data and may take ``memory_mb`` MiB more. ``stamp`` changes with its files.
    """

    folder: str
    name: str
    node: str
    libraries: tuple[str, ...] = ()
    base_mb: int = 48
    memory_mb: int = 256
    program: str = str(PROGRAM)
    stamp: int = 0

    @classmethod
    def asked(cls, piece: Mapping[str, Any], memory_mb: int) -> Self:
        """The package that a request to the runner names. Raises ``KeyError`` and others for an invalid request."""
        node = piece["node"]
        return cls(
            folder=piece["folder"],
            name=piece["package"],
            node=node["path"],
            libraries=tuple(node["libraries"]),
            base_mb=int(node["base_mb"]),
            memory_mb=memory_mb,
            program=piece["program"],
            stamp=piece["stamp"],
        )


@dataclass(frozen=True, slots=True)
class Process:
    """A running process: its pid, our end of its frames, and the descriptor of its standard error. Neither blocks."""

    pid: int
    near: socket.socket
    errors: int

    def ran_out_of_memory(self) -> bool:
        """Whether its standard error says so. Call it after the process has ended."""
        try:
            errors = os.read(self.errors, _ERROR_BYTES)
        except BlockingIOError:
            return False
        return any(words in errors for words in _OUT_OF_MEMORY)

    def close(self) -> None:
        """Close both descriptors."""
        self.near.close()
        os.close(self.errors)


def start(package: Package, place: Place, confinement: Confinement) -> Process:
    """Start a process that loads ``package`` in ``place``. Raises ``OSError``."""
    near, far = socket.socketpair()
    errors, written = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    runner = os.getpid()
    pid = os.fork()
    if pid == 0:
        _live(package, place, confinement, (far.fileno(), written), runner)
    far.close()
    os.close(written)
    near.setblocking(False)
    return Process(pid, near, errors)


def _live(
    package: Package, place: Place, confinement: Confinement, ends: tuple[int, int], runner: int
) -> NoReturn:  # pragma: no cover  # in a process that becomes Node
    try:
        process_tree.die_with_parent(runner)
        program = (Path(package.node), *map(Path, package.libraries))
        files = (Path(package.program).parent, Path(package.folder), *map(Path, node.certificates().values()))
        restriction = None
        if confinement.landlock:
            restriction = Restriction(confinement.landlock, readable_paths.of_program(program, files, place.folder))
        _set_up(ends, place.folder, restriction)
        limits.limit_node((package.memory_mb + package.base_mb + _THREADS_MB) * 2**20)
        confinement.enter(restriction, place.number, becomes_program=True)
        process_tree.die_with_parent(runner)  # the kernel clears the setting when the user changes
        os.execve(package.node, _arguments(package), _environment(place.folder))  # noqa: S606  # no shell is wanted
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(70)


def _set_up(ends: tuple[int, int], folder: Path, restriction: Restriction | None) -> None:
    """Keep only the descriptors of frames and of errors; start a session, enter ``folder``, and reset signals to those
    of a new process."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    frames, errors = (_above(end) for end in ends)
    for source, target in ((nothing, 0), (nothing, 1), (errors, 2), (frames, _FRAMES)):
        os.dup2(source, target)
    if restriction is not None:
        restriction.move(_RULES)
    os.closerange(_RULES + (restriction is not None), _DESCRIPTORS)
    os.chdir(folder)


def _above(descriptor: int) -> int:
    """``descriptor`` duplicated to a number above those that :func:`_set_up` assigns."""
    while descriptor <= _RULES:
        descriptor = os.dup(descriptor)
    return descriptor


def _arguments(package: Package) -> list[str]:
    heap = max(32, package.memory_mb * 3 // 4)
    flags = (f"--max-old-space-size={heap}", "--max-semi-space-size=2", "--no-addons", "--no-deprecation")
    return [package.node, *flags, package.program, package.folder, package.name]


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    own = {"HOME": str(folder), "TMPDIR": str(folder), "NODE_ENV": "production", "UV_THREADPOOL_SIZE": "2"}
    return {"LANG": "C.UTF-8", **kept, **own, **node.certificates()}
