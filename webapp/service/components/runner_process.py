"""The runner: a small, single-threaded process that has imported the libraries of components and forks one child a
call.

It never opens the store. Its loop accepts connections, waits for events of all of them, and kills a child, with all its
descendants, at its deadline, at its limit of output, or when the client disconnects. :mod:`runner_job` handles one
connection; :mod:`runner` is the client.
"""

import gc
import os
import selectors
import signal
import time
from contextlib import suppress
from pathlib import Path

from webapp.kit.scratch import LOCK, Scratch, hold, sweep
from webapp.service.components import limits, process_tree
from webapp.service.components.confinement import usage
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Places
from webapp.service.components.runner_job import Jobs
from webapp.service.components.warmup import FEEDS, preload, warm_up
from webapp.service.components.wire import FOLDER, listen

GRACE_S = 8.0
SCRATCH = "patchbay-calls-"
"""How the folder begins in which each call has one."""


def main(path: str, lifeline: int) -> None:
    """Serve until SIGTERM, or until ``lifeline`` closes because the process that holds its other end has exited."""
    preload(FEEDS)
    process_tree.adopt_orphans()
    confinement = Confinement.begin()
    with RunnerProcess(Path(path), lifeline, confinement) as process:
        with suppress(OSError):
            warm_up(process.scratch)
        gc.collect()
        limits.own_bytes()
        gc.freeze()  # children share these pages until a garbage collection writes to them
        process.serve()


class RunnerProcess:
    """The loop. Use it as a context manager: leaving it kills all children."""

    def __init__(self, path: Path, lifeline: int, confinement: Confinement) -> None:
        self._path, self._lifeline = path, lifeline
        self._scratch = Scratch(SCRATCH)
        self._scratch.path.chmod(0o711)  # the folder of each call is readable only by its user
        self._jobs = Jobs(Places(self._scratch.path, confinement))
        self._stops_at: float | None = None
        self._looks_at = 0.0
        self._is_accepting = False
        self._is_orphaned = False

    @property
    def scratch(self) -> Path:
        """The parent of the folders of all calls."""
        return self._scratch.path

    def __enter__(self) -> "RunnerProcess":
        self._wakeup, written_by_signals = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(written_by_signals, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))  # blocked by the parent process until now
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self._jobs.selector.register(self._wakeup, selectors.EVENT_READ, self._wake)
        self._jobs.selector.register(self._lifeline, selectors.EVENT_READ, self._stop_at_once)
        hold(self._path.parent)
        sweep(self._path.parent.parent, FOLDER)
        self._listener = listen(self._path)
        return self

    def __exit__(self, *_: object) -> None:
        for job in list(self._jobs.open):
            job.close()
        if self._jobs.pool is not None:
            self._jobs.pool.close()
        self._jobs.forks.close()
        while self._jobs.by_pid:
            self._reap()
            time.sleep(0.005)
        self._reap()
        self._listener.close()
        self._jobs.selector.close()
        self._path.unlink(missing_ok=True)
        self._scratch.close()
        if self._is_orphaned:  # the process that made the folder can no longer remove it
            with suppress(OSError):
                self._path.with_name(LOCK).unlink(missing_ok=True)
                self._path.parent.rmdir()

    def serve(self) -> None:
        """Serve until SIGTERM, then finish running calls for at most :data:`GRACE_S` seconds."""
        self._jobs.forks.start(self._listener)
        while self._stops_at is None or (self._jobs.open and time.monotonic() < self._stops_at):
            self._watch_listener()
            for key, _ in self._jobs.selector.select(self._pause_s()):
                key.data()
            for job in [job for job in self._jobs.open if job.ends_at <= time.monotonic()]:
                job.end_late()
            self._check_usage()
            self._jobs.forks.maintain()
            if self._jobs.pool is not None:
                self._jobs.pool.maintain()

    def _stop(self) -> None:
        self._stops_at = time.monotonic() + GRACE_S

    def _stop_at_once(self) -> None:
        self._is_orphaned = True
        self._stops_at = 0.0

    def _wake(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wakeup, 4096)
        self._reap()

    def _watch_listener(self) -> None:
        """Accept connections only below the limit; others wait in the backlog of the socket."""
        waiting = self._jobs.pool.waiting if self._jobs.pool is not None else 0
        has_room = self._stops_at is None and len(self._jobs.open) - waiting < limits.CALLS
        if has_room and not self._is_accepting:
            self._jobs.selector.register(self._listener, selectors.EVENT_READ, self._accept)
        elif self._is_accepting and not has_room:
            self._jobs.selector.unregister(self._listener)
        self._is_accepting = has_room
        if self._stops_at is not None:
            self._listener.close()

    def _check_usage(self) -> None:
        if self._looks_at > time.monotonic():
            return
        for job in list(self._jobs.open):
            job.check_usage()
        self._looks_at = time.monotonic() + limits.USAGE_CHECK_S

    def _pause_s(self) -> float | None:
        ends = [job.ends_at for job in self._jobs.open]
        if ends:
            ends.append(self._looks_at)
        spare_ends_at = self._jobs.forks.next_at()
        if spare_ends_at is not None:
            ends.append(spare_ends_at)
        if self._jobs.pool is not None:
            ends.extend(self._jobs.pool.next_at())
        if self._stops_at is not None:
            ends.append(self._stops_at)
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        self._jobs.begin(connection)

    def _reap(self) -> None:
        """Reap processes that have ended: finish their calls and kill the processes that they left behind."""
        by_pid = self._jobs.by_pid
        while (pid := _ended_pid()) is not None:
            job = by_pid.pop(pid, None)
            if job is not None:
                process_tree.kill_group(pid)  # before its pid can be reused
            status = os.waitpid(pid, 0)[1]
            if job is not None:
                job.finish(os.waitstatus_to_exitcode(status))
        for stray in set(process_tree.children()) - set(by_pid):
            usage.end(stray)


def _ended_pid() -> int | None:
    """The pid of a child that has ended and is not yet reaped, or None."""
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return ended.si_pid if ended else None
