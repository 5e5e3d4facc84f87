"""One child process: how it is forked, what it hears, and how it ends. Which there are is their supervisor's matter.

What a child asks for is imported before it is forked, so that all share these pages as long as nothing writes to them:
no garbage collection looks at what was there before a fork.
"""

import gc
import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webapp.cli.serving.logs import flush, on_hang_up
from webapp.cli.serving.stopping import LEAVE, Stop, end_with

ENDINGS = (signal.SIGTERM, signal.SIGHUP, LEAVE)
GRACE_S = 10.0


@dataclass(slots=True, eq=False)
class Child:
    """One process: its name, what it runs until ``Stop`` is set, and the modules that are imported before.

    One that ``answers`` requests can be replaced while it does, and says when it is ``ready``. One that is ``leaving``
    was replaced, and may take until then (seconds of the monotonic clock).
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
        """Another one like it, which was not forked yet."""
        return Child(self.name, self.run, self.modules, self.answers)

    def fork(
        self, lifeline: int, unneeded: Sequence[int], configure_logs: Callable[[str], None], drain_s: float
    ) -> None:
        """Begin. It ends with whoever holds the other end of ``lifeline``; it closes what is ``unneeded``.

        ``drain_s`` is for how long one that answers says that it is stopping, before it does.
        """
        for name in self.modules:
            importlib.import_module(name)
        gc.freeze()
        flush()
        reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # until the child hears for itself: none gets lost
        pid = os.fork()
        if pid == 0:
            stop = Stop(drain_s if self.answers else 0.0)
            stop.lifeline, stop.tell_ready = lifeline, lambda: os.write(writing, b"\0")
            self._live(stop, (reading, *unneeded), configure_logs, GRACE_S + drain_s)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(writing)
        self.is_gone()
        self.pid, self.born_at, self._ready_pipe = pid, time.monotonic(), reading

    def is_ready(self) -> bool:
        """Whether it has said that it does its work."""
        if not self.ready and self._ready_pipe is not None:
            try:
                self.ready = bool(os.read(self._ready_pipe, 1))
            except BlockingIOError:
                return False
        return self.ready

    def is_gone(self) -> None:
        """Its process has ended."""
        if self._ready_pipe is not None:
            os.close(self._ready_pipe)
        self.pid, self.ready, self._ready_pipe = 0, False, None

    def _live(self, stop: Stop, unneeded: Sequence[int], configure_logs: Callable[[str], None], grace_s: float) -> None:
        """The child's whole life; never returns."""
        code = 1
        try:
            gc.enable()
            signal.set_wakeup_fd(-1)
            for descriptor in unneeded:
                os.close(descriptor)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everyone; the supervisor decides
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            stop.on(signal.SIGTERM, LEAVE)
            on_hang_up()
            configure_logs(self.name)
            end_with(stop.lifeline or 0, grace_s)
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
