"""The runner: a small, single-threaded process that has loaded all a component needs and forks one child per call.

It never opens the store. It reads a request from a connection, forks, passes on what the child tells and prints,
and ends the child, with every process below it, at its deadline, at its cap of output, or when the asker hangs up.
Run it with :func:`command`; ask it with ``runner.Runner``.
"""

import codecs
import gc
import importlib
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from webapp.kit.clock import now
from webapp.service.components import child, limits
from webapp.service.components.calls import USER_AGENT
from webapp.service.components.wire import BLOCK, Broken, encode, frame, listen, take
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard

GRACE_S = 8.0
REQUEST_S = 10.0
_WORTH_HAVING = ("webapp.service.outbound.postgres_query", "feedparser")  # slow to import, used by some components
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")


def command(path: Path, lifeline: int) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment of a runner that listens at ``path`` until the descriptor ``lifeline`` closes.

    The environment carries no setting of ours, so that no component meets a key in it.
    """
    program = (
        f"import sys; sys.path[:] = {[one for one in sys.path if one]!r}; sys.dont_write_bytecode = True\n"
        f"from webapp.service.components.parent import main; main({str(path)!r}, {lifeline})"
    )
    environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return [sys.executable, "-c", program], environment


def main(path: str, lifeline: int) -> None:
    """Serve until SIGTERM, or until ``lifeline`` closes because the process that holds its other end is gone."""
    OutboundClient(Guard(), user_agent=USER_AGENT)  # reads the certificate authorities once, for all children
    for name in _WORTH_HAVING:
        with suppress(ImportError):
            importlib.import_module(name)
    limits.adopt_orphans()
    with Parent(Path(path), lifeline) as parent:
        gc.collect()
        gc.freeze()  # the children share these pages as long as nobody counts on them
        parent.serve()


@dataclass(slots=True, eq=False)
class _Job:
    """One connection, and the child that works for it once its request is whole."""

    connection: socket.socket
    ends_at: float
    folder: Path
    inbox: bytearray = field(default_factory=bytearray)
    outbox: bytearray = field(default_factory=bytearray)
    told: bytearray = field(default_factory=bytearray)
    deadline_s: float | None = None
    output_bytes: int = limits.OUTPUT_BYTES
    pid: int = 0
    pipes: dict[int, Callable[[bytes], None]] = field(default_factory=dict)
    received: int = 0
    reason: str | None = None
    over: bool = False
    decoder: Any = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))


class Parent:
    """The loop. Use it as a context manager: leaving it ends every child."""

    def __init__(self, path: Path, lifeline: int) -> None:
        self._path, self._lifeline, self._folder = path, lifeline, path.with_name("calls")
        self._pid, self._count = os.getpid(), 0
        self._jobs: set[_Job] = set()
        self._by_pid: dict[int, _Job] = {}
        self._stops_at: float | None = None
        self._accepting = False
        self._orphaned = False

    def __enter__(self) -> "Parent":
        self._bell, bell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))  # blocked by whoever started us, until now
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._bell, selectors.EVENT_READ, self._ring)
        self._selector.register(self._lifeline, selectors.EVENT_READ, self._abandoned)
        shutil.rmtree(self._folder, ignore_errors=True)  # left by one that was killed
        self._folder.mkdir()
        self._listener = listen(self._path)
        return self

    def __exit__(self, *_: object) -> None:
        for job in list(self._jobs):
            self._close(job)
        while self._by_pid:
            self._reap()
            time.sleep(0.005)
        self._reap()
        self._listener.close()
        self._selector.close()
        self._path.unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._orphaned:  # whoever made the folder cannot remove it any more
            with suppress(OSError):
                self._path.parent.rmdir()

    def serve(self) -> None:
        """Work until told to stop; then finish what has begun, for at most :data:`GRACE_S` seconds."""
        while self._stops_at is None or (self._jobs and time.monotonic() < self._stops_at):
            self._watch_listener()
            for key, _ in self._selector.select(self._pause_s()):
                key.data()
            self._end_late()

    def _stop(self) -> None:
        self._stops_at = time.monotonic() + GRACE_S

    def _abandoned(self) -> None:
        self._orphaned = True
        self._stops_at = 0.0

    def _ring(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._bell, 4096)
        self._reap()

    def _watch_listener(self) -> None:
        """Take new connections only while there is room; the others wait in the queue of the socket."""
        wanted = self._stops_at is None and len(self._jobs) < limits.CALLS
        if wanted and not self._accepting:
            self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        elif self._accepting and not wanted:
            self._selector.unregister(self._listener)
        self._accepting = wanted
        if self._stops_at is not None:
            self._listener.close()

    def _pause_s(self) -> float | None:
        ends = [job.ends_at for job in self._jobs]
        if self._stops_at is not None:
            ends.append(self._stops_at)
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        connection.setblocking(False)
        self._count += 1
        job = _Job(connection, time.monotonic() + REQUEST_S, self._folder / str(self._count))
        self._jobs.add(job)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hear(job))

    def _hear(self, job: _Job) -> None:
        """Read of the request, or learn that nobody waits for the answer any more; write what waits to be written."""
        try:
            block = job.connection.recv(BLOCK)
        except BlockingIOError:
            self._push(job)
            return
        except OSError:
            block = b""
        if not block:
            self._close(job)
            return
        job.inbox += block
        try:
            self._begin(job)
        except (Broken, ValueError, TypeError, KeyError):
            self._close(job)

    def _begin(self, job: _Job) -> None:
        if job.deadline_s is None:
            head = take(job.inbox)
            if head is None:
                return
            wanted = orjson.loads(head)
            job.deadline_s = float(wanted["deadline_s"])
            job.output_bytes = limits.output_bytes(bool(wanted.get("stash")))
        request = None if job.pid else take(job.inbox)
        if request is not None:
            self._fork(job, request)

    def _fork(self, job: _Job, request: bytes) -> None:
        tell, child_tell = os.pipe()
        prints, child_prints = os.pipe()
        job.folder.mkdir()
        job.pid = os.fork()
        if job.pid == 0:
            child.live(request, child_tell, child_prints, job.folder, self._pid)
        os.close(child_tell)
        os.close(child_prints)
        self._by_pid[job.pid] = job
        job.ends_at = time.monotonic() + (job.deadline_s or 0)
        job.pipes = {tell: lambda block: self._tell(job, block), prints: lambda block: self._print(job, block)}
        for descriptor in job.pipes:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ, lambda one=descriptor: self._read(job, one))

    def _read(self, job: _Job, descriptor: int) -> bool:
        """Take one block from a pipe of the child; whether there may be more."""
        take_in = job.pipes.get(descriptor)
        if take_in is None:
            return False
        try:
            block = os.read(descriptor, BLOCK)
        except BlockingIOError:
            return False
        if not block:
            self._close_pipe(job, descriptor)
            return False
        job.received += len(block)
        if job.received > job.output_bytes + BLOCK:
            self._kill(job, "output")
            return False
        take_in(block)
        return True

    def _tell(self, job: _Job, block: bytes) -> None:
        """Pass on whole messages, unread."""
        job.told += block
        try:
            while (payload := take(job.told)) is not None:
                job.outbox += frame(payload)
        except Broken:
            self._kill(job, "crash")
        self._push(job)

    def _print(self, job: _Job, block: bytes) -> None:
        job.outbox += encode({"print": job.decoder.decode(block), "ts": now()})
        self._push(job)

    def _push(self, job: _Job) -> None:
        """Write what the connection takes now, and the rest when it takes more; hang up after the last of it."""
        try:
            while job.outbox:
                del job.outbox[: job.connection.send(job.outbox[:BLOCK])]
        except BlockingIOError:
            pass
        except OSError:
            self._close(job)
            return
        if job.over and not job.outbox:
            self._close(job)
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if job.outbox else 0)
        key = self._selector.get_key(job.connection)
        if key.events != events:
            self._selector.modify(job.connection, events, key.data)

    def _end_late(self) -> None:
        for job in [one for one in self._jobs if one.ends_at <= time.monotonic()]:
            if job.pid and not job.over:
                self._kill(job, "timeout")
                job.ends_at += REQUEST_S
            else:
                self._close(job)

    def _kill(self, job: _Job, reason: str) -> None:
        """End the child and all below it; its death is then noticed as any other."""
        job.reason = job.reason or reason
        _kill_all(job.pid)

    def _reap(self) -> None:
        """Notice who ended: a child's call is over, and what it left behind ends too."""
        while (ended := _ended()) is not None:
            job = self._by_pid.pop(ended, None)
            if job is not None:
                _kill_all(ended)  # before its number is given back
            status = os.waitpid(ended, 0)[1]
            if job is not None:
                self._finish(job, os.waitstatus_to_exitcode(status))
        for stray in set(limits.children()) - set(self._by_pid):
            _kill_all(stray)

    def _finish(self, job: _Job, code: int) -> None:
        for descriptor in list(job.pipes):
            while job.reason is None and self._read(job, descriptor):
                pass
            self._close_pipe(job, descriptor)
        shutil.rmtree(job.folder, ignore_errors=True)
        if job not in self._jobs:
            return
        job.outbox += encode({"end": job.reason, "code": code})
        job.over = True
        job.ends_at = time.monotonic() + REQUEST_S  # for the asker to read the answer
        self._push(job)

    def _close_pipe(self, job: _Job, descriptor: int) -> None:
        if job.pipes.pop(descriptor, None) is not None:
            self._selector.unregister(descriptor)
            os.close(descriptor)

    def _close(self, job: _Job) -> None:
        """Hang up; whatever still works for this connection ends."""
        if job not in self._jobs:
            return
        self._jobs.remove(job)
        self._selector.unregister(job.connection)
        job.connection.close()
        if job.pid in self._by_pid:
            self._kill(job, "gone")


def _ended() -> int | None:
    """A process below this one that has ended and was not waited for yet."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found else None


def _kill_all(pid: int) -> None:
    """Kill ``pid`` and its process group, which the kernel does in one step: a process that forks cannot outrun it."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
