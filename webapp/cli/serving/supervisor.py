"""Keeps a handful of child processes alive: forks them, restarts what dies, ends them together.

It must be used before any thread or connection exists, and it opens none itself, so that every fork starts clean.
It imports what a child asks for before it forks it, so that all share these pages as long as nothing writes to them:
no garbage collection looks at what was there before a fork. It does not know what the children do.
"""

import gc
import importlib
import logging
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from webapp.cli.serving.logs import flush, on_hang_up
from webapp.cli.serving.stopping import Stop, end_with

ENDINGS = (signal.SIGTERM, signal.SIGHUP)
UNRECOVERABLE = 78  # EX_CONFIG of sysexits.h: trying again cannot help; the child has said why
GRACE_S = 10.0
DELAYS_S = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
SETTLED_S = 30.0
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Child:
    """One process: its name, what it runs until ``Stop`` is set, and the modules that are imported before."""

    name: str
    run: Callable[[Stop], None]
    modules: Sequence[str] = ()
    pid: int = 0
    born_at: float = 0.0
    deaths: int = 0
    due_at: float = 0.0


@dataclass(slots=True)
class Supervisor:
    """Runs ``children`` until a signal comes or one cannot recover. ``configure_logs`` takes a child's name;
    ``before_end`` is called before they are ended."""

    children: list[Child]
    configure_logs: Callable[[str], None]
    before_end: Callable[[], None] = lambda: None
    _lifeline: tuple[int, int] = field(default_factory=os.pipe)
    _signals: tuple[int, int] = field(default_factory=lambda: os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC))
    _asked_to_stop: int = 0

    def run(self, poll_ready: Callable[[], bool]) -> int:
        """Start everything and stay; the exit code. ``poll_ready`` is asked again and again until it says yes."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # so that a death ends the sleep
        on_hang_up(self._tell_of_logs)
        signal.set_wakeup_fd(self._signals[1])
        code, ready = 0, False
        while not self._asked_to_stop:
            code = self._reap()
            if code:
                break
            self._start_due()
            gc.enable()  # all is imported, if somebody had switched it off for that
            ready = ready or poll_ready()
            self._sleep(self._pause_s(ready))
        self.before_end()
        self.end()
        return code

    def _ask_to_stop(self, number: int, frame: object) -> None:
        self._asked_to_stop += 1

    def _tell_of_logs(self) -> None:
        for child in self._alive():
            os.kill(child.pid, signal.SIGHUP)

    def _start_due(self) -> None:
        for child in self.children:
            if not child.pid and child.due_at <= time.monotonic():
                self.start(child)

    def start(self, child: Child) -> None:
        """Fork ``child``, one of ``children``, before :meth:`run` starts those that are left."""
        for name in child.modules:
            importlib.import_module(name)
        gc.freeze()
        flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # until the child hears for itself: none gets lost
        pid = os.fork()
        if pid == 0:
            self._run_child(child)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        child.pid, child.born_at = pid, time.monotonic()

    def _run_child(self, child: Child) -> None:
        """The child's whole life; never returns."""
        code = 1
        try:
            gc.enable()
            signal.set_wakeup_fd(-1)
            for descriptor in (self._lifeline[1], *self._signals):
                os.close(descriptor)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everyone; the supervisor decides
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            stop = Stop().on(signal.SIGTERM)
            on_hang_up()
            self.configure_logs(child.name)
            stop.lifeline = self._lifeline[0]
            end_with(stop.lifeline, GRACE_S)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
            child.run(stop)
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            traceback.print_exc(file=sys.stderr)
        finally:
            flush()
            os._exit(code)

    def _reap(self) -> int:
        """Note who died and when to try again; an exit code when trying again cannot help."""
        for child in self.children:
            if not child.pid:
                continue
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if not pid:
                continue
            now, code = time.monotonic(), os.waitstatus_to_exitcode(status)
            child.pid = 0
            if code == UNRECOVERABLE:
                return 1
            child.deaths = 1 if now - child.born_at > SETTLED_S else child.deaths + 1
            delay = DELAYS_S[min(child.deaths, len(DELAYS_S)) - 1]
            child.due_at = now + delay
            manner = f"exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
            log.error("The %s process ended (%s); starting it again in %g s.", child.name, manner, delay)
        return 0

    def _pause_s(self, ready: bool) -> float:
        waiting = [child.due_at - time.monotonic() for child in self.children if not child.pid]
        return max(0.0, min([*waiting, 3600.0 if ready else 0.02]))

    def end(self) -> None:
        """Ask all to finish; kill what has not done so in time, or at once when asked a second time."""
        requests = self._asked_to_stop
        for child in self._alive():
            os.kill(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_S + 1
        while self._alive() and time.monotonic() < deadline and self._asked_to_stop == requests:
            for child in self._alive():
                if os.waitpid(child.pid, os.WNOHANG)[0]:
                    child.pid = 0
            if self._alive():
                self._sleep(0.1)
        for child in self._alive():
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            child.pid = 0

    def _sleep(self, seconds: float) -> None:
        """Sleep until the next signal, even one that came a moment ago."""
        if select.select([self._signals[0]], [], [], seconds)[0]:
            os.read(self._signals[0], 4096)

    def _alive(self) -> list[Child]:
        return [child for child in self.children if child.pid]
