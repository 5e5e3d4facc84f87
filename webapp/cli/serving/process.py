"""A process of ``patchbay serve``: how it is forked, how it is asked to end, and how it uses memory.

Which processes there are is decided in :mod:`webapp.cli.serving.supervisor`, and what each of them does in
:mod:`webapp.cli.serving.process_types`.
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.cli.options import sentence_of
from webapp.cli.serving.logs import flush, reopen_on_hangup

LEAVE = signal.SIGUSR2
ENDINGS = (signal.SIGTERM, signal.SIGHUP, LEAVE)
GRACE_S = 10.0
"""For how long a process finishes what has begun, where the service ends."""
LEAVE_S = 60.0
"""The same where another process has replaced it, since nobody waits for its end."""
AGAIN_S = 0.05


class Stop(threading.Event):
    """The request to end, set by a signal; it calls what was registered with :meth:`then`.

    From the first signal on the process is ``closing``: each connection gets one more answer. With ``drain_s`` it is
    set so many seconds later, or by a second signal. :data:`LEAVE` is sent to a process that another has ``replaced``;
    the service itself is not ``stopping`` then.
    """

    def __init__(self, drain_s: float = 0.0) -> None:
        super().__init__()
        self._calls: list[Callable[[], object]] = []
        self._drain_s = drain_s
        self.closing = self.replaced = False
        self.lifeline: int | None = None  # a pipe that ends with the parent process; for a program that replaces us
        self.report_ready: Callable[[], object] = lambda: None  # to be called once the process answers

    @property
    def stopping(self) -> bool:
        """Whether requests should be sent elsewhere from now on."""
        return self.closing and not self.replaced

    def then(self, call: Callable[[], object]) -> None:
        """Call ``call`` when this is set, or at once where it is.

        It runs in a signal handler, so it may only write to a pipe or the like.
        """
        self._calls.append(call)
        if self.is_set():
            call()

    def on(self, *signals: signal.Signals) -> "Stop":
        """Be set by any of ``signals``. To be called in the main thread."""
        for number in signals:
            signal.signal(number, self._handle)
        return self

    def _handle(self, number: int, frame: object) -> None:
        self.replaced = number == LEAVE
        drains = self._drain_s and not self.replaced and not self.closing
        self.closing = True
        if drains:
            signal.signal(signal.SIGALRM, self._handle)
            signal.setitimer(signal.ITIMER_REAL, self._drain_s)
            return
        self.set()
        for call in self._calls:
            call()


def _end_with_parent(lifeline: int, grace_s: float) -> None:
    """Ask this process to stop when its parent ends, and end it ``grace_s`` seconds later.

    The parent holds the other end of the pipe ``lifeline``, which the kernel closes however the parent died: no orphan
    keeps the port.
    """

    def watch() -> None:
        os.read(lifeline, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(AGAIN_S)
        os.kill(os.getpid(), signal.SIGTERM)  # no supervisor is left: there is nothing to drain
        threading.Event().wait(grace_s)
        flush()
        os._exit(1)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


@dataclass(slots=True, eq=False)
class Child:
    """One process: its name, what it runs until ``Stop`` is set, and the modules to import before it is forked.

    All children share the pages of what was imported before, as long as nothing writes to them: ``gc.freeze`` keeps the
    garbage collector from it. One that ``answers`` requests can be replaced while it does, and says when it is
    ``ready``. One that is ``leaving`` was replaced, and must have ended by then (seconds of the monotonic clock).
    """

    name: str
    run: Callable[[Stop], None]
    modules: Sequence[str] = ()
    answers: bool = False
    pid: int = 0
    born_at: float = 0.0
    deaths: int = 0
    due_at: float = 0.0
    ready: bool = False
    leaving: float | None = None
    _ready_pipe: int | None = None

    def fresh(self) -> "Child":
        """Return another one like it, not forked yet."""
        return Child(self.name, self.run, self.modules, self.answers)

    def fork(
        self, lifeline: int, unneeded: Sequence[int], configure_logs: Callable[[str], None], drain_s: float
    ) -> None:
        """Fork it. It ends with the process that holds the other end of ``lifeline``, and closes what is ``unneeded``.

        For ``drain_s`` seconds a child that answers says that it is stopping, before it does.
        """
        for name in self.modules:
            importlib.import_module(name)
        gc.freeze()
        flush()
        reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # until the child handles them: none gets lost
        pid = os.fork()
        if pid == 0:
            stop = Stop(drain_s if self.answers else 0.0)
            stop.lifeline, stop.report_ready = lifeline, lambda: os.write(writing, b"\0")
            self._run_child(stop, (reading, *unneeded), configure_logs, GRACE_S + drain_s)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(writing)
        self.is_gone()
        self.pid, self.born_at, self._ready_pipe = pid, time.monotonic(), reading

    def is_ready(self) -> bool:
        """Return whether the process has said that it answers."""
        if not self.ready and self._ready_pipe is not None:
            try:
                self.ready = bool(os.read(self._ready_pipe, 1))
            except BlockingIOError:
                return False
        return self.ready

    def is_gone(self) -> None:
        """Note that the process has ended."""
        if self._ready_pipe is not None:
            os.close(self._ready_pipe)
        self.pid, self.ready, self._ready_pipe = 0, False, None

    def _run_child(
        self, stop: Stop, unneeded: Sequence[int], configure_logs: Callable[[str], None], grace_s: float
    ) -> None:
        """Run in the child until it ends; never returns."""
        code = 1
        try:
            gc.enable()
            signal.set_wakeup_fd(-1)
            for descriptor in unneeded:
                os.close(descriptor)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everyone; the supervisor decides
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            stop.on(signal.SIGTERM, LEAVE)
            reopen_on_hangup()
            configure_logs(self.name)
            _end_with_parent(stop.lifeline or 0, grace_s)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
            self.run(stop)
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            traceback.print_exc(file=sys.stderr)
        finally:
            flush()
            os._exit(code)


class WorkFailed(RuntimeError):
    """The work could not be done. The message is the sentence to show."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work in the child process ``pid``, which writes its result to the pipe ``reading``."""

    pid: int
    reading: int

    def result(self) -> dict[str, Any]:
        """Wait for its end and return what it gave, as JSON carries it. To be called once.

        Raises :class:`WorkFailed`.
        """
        with os.fdopen(self.reading, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(self.pid, 0)
        if not answer:
            raise WorkFailed("Patchbay could not start; the lines above say why.")
        result: dict[str, Any] = json.loads(answer)
        if "failed" in result:
            raise WorkFailed(result["failed"])
        return result


def start_work(work: Callable[[], dict[str, Any]]) -> Work:
    """Begin ``work`` in a process of its own, so that this one opens no database and starts no thread for it."""
    reading, writing = os.pipe()
    flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _answer(work, writing)
    os.close(writing)
    return Work(pid, reading)


def _answer(work: Callable[[], dict[str, Any]], writing: int) -> None:
    """Run in the child until it ends; never returns."""
    try:
        try:
            answer = work()
        except Exception as error:
            sentence = sentence_of(error)
            if sentence is None:
                raise
            answer = {"failed": sentence}
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(answer).encode())
    except KeyboardInterrupt:
        pass  # the process that waits says so
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        flush()
        os._exit(0)


ARENAS = 2
LARGE, SPARE = 1 << 20, 2 << 20
"""A block of so many bytes is mapped separately, and an arena may keep so many free bytes at its end."""
YOUNG = 10_000
"""New objects before a garbage collection; a page makes thousands, nearly all of them short-lived."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h of the GNU C library


def limit_spare_memory() -> None:
    """Limit the free memory that this process and those it forks do not return to the system (mallopt(3)).

    The GNU C library keeps eight arenas for each processor, so that threads need not wait for one another. Here one
    thread computes at a time, and others cannot use what each leaves free in its arena. A large block is returned when
    it is freed, but by default the library would take the next one of that size from an arena, and keep it: hashing a
    password takes 19 MiB. Other C libraries have no such settings. To be called before the first thread
    starts.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for setting, value in ((_M_ARENA_MAX, ARENAS), (_M_MMAP_THRESHOLD, LARGE), (_M_TRIM_THRESHOLD, SPARE)):
            mallopt(setting, value)


def collect_garbage_rarely() -> None:
    """Collect garbage, in this process and those it forks, only after :data:`YOUNG` new objects."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def freeze_garbage() -> None:
    """Keep all objects that exist now out of later garbage collections. To be called once a process is set up."""
    gc.collect()
    gc.freeze()
