"""Keeps child processes alive: forks them, starts again what dies, replaces those that answer requests, ends them all.

The supervisor must be used before any thread or connection exists, and opens none itself, so that every fork starts
clean. It does not know what the children do. Sockets that they listen on stay open here: no client is refused while a
child is started again or replaced.
"""

import gc
import logging
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from webapp.cli.serving.logs import reopen_on_hangup
from webapp.cli.serving.process import GRACE_S, LEAVE, LEAVE_S, Child

UNRECOVERABLE = 78  # EX_CONFIG of sysexits.h: trying again cannot help; the child has said why
REPLACE = signal.SIGUSR2
DELAYS_S = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
SETTLED_S = 30.0
log = logging.getLogger(__name__)
READY_S = 60.0
LEAVING_S = LEAVE_S + 15.0


class Replacement:
    """Replaces the processes among ``children`` that answer requests, one after another, while they do.

    No request is refused or cut off. ``start`` forks a fresh process, which listens on the same socket as the old one.
    Once it is ready, the old one accepts nothing new, finishes what it has begun and ends. Where the fresh one does not
    become ready, the old ones stay.
    """

    def __init__(self, children: list[Child], start: Callable[[Child], None]) -> None:
        self._children, self._start = children, start
        self._old = [child for child in children if child.answers and child.leaving is None]
        self._fresh: Child | None = None
        self._begun = len(self._old)

    def turn(self) -> bool:
        """Do what can be done without waiting; return whether all are replaced and the old ones have ended."""
        if self._fresh is not None and self._fresh.is_ready():
            self._dismiss(self._old.pop(0))
            self._fresh = None
            if not self._old:
                log.info("%s processes that answer requests were replaced.", self._begun)
        if self._fresh is not None and time.monotonic() - self._fresh.born_at > READY_S:
            os.kill(self._fresh.pid, signal.SIGKILL)
        if self._fresh is None and self._old:
            self._fresh = self._old[0].fresh()
            self._children.insert(self._children.index(self._old[0]), self._fresh)
            self._start(self._fresh)
        return not (self._are_leaving() or self._old)

    def failed(self, child: Child) -> bool:
        """Return whether ``child``, which has ended, was a fresh one that never got ready; that ends the round."""
        if child is not self._fresh:
            return False
        log.error("The new %s process did not become ready; the old ones stay.", child.name)
        self._fresh, self._old = None, []
        return True

    def _dismiss(self, old: Child) -> None:
        if not old.pid:  # it has died meanwhile
            self._children.remove(old)
            return
        old.leaving = time.monotonic() + LEAVING_S
        os.kill(old.pid, LEAVE)

    def _are_leaving(self) -> bool:
        leaving = [child for child in self._children if child.leaving is not None]
        for child in leaving:
            if child.leaving is not None and time.monotonic() > child.leaving:
                os.kill(child.pid, signal.SIGKILL)
        return bool(leaving)


@dataclass(slots=True)
class Supervisor:
    """Runs ``children`` until a signal ends it or one of them cannot recover.

    ``configure_logs`` is called in each child with its name, ``before_end`` before they are ended. Those that answer
    say for ``drain_s`` seconds that they are stopping, before all end.
    """

    children: list[Child]
    configure_logs: Callable[[str], None]
    before_end: Callable[[], None] = lambda: None
    drain_s: float = 0.0
    _lifeline: tuple[int, int] = field(default_factory=os.pipe)
    _signals: tuple[int, int] = field(default_factory=lambda: os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC))
    _asked_to_stop: int = 0
    _asked_to_replace: bool = False
    _replacement: Replacement | None = None

    def run(self, poll_ready: Callable[[], bool]) -> int:
        """Start all children and stay; return the exit code. ``poll_ready`` is called until it returns true."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        signal.signal(REPLACE, self._ask_to_replace)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # so that a death ends the sleep
        reopen_on_hangup(self._pass_hang_up_on)
        signal.set_wakeup_fd(self._signals[1])
        code, ready = 0, False
        while not self._asked_to_stop:
            code = self._reap()
            if code:
                break
            self._replace()
            self._start_due()
            gc.enable()  # all is imported, if somebody had switched it off for that
            ready = ready or poll_ready()
            self._sleep(self._pause_s(ready))
        self.before_end()
        self.end()
        return code

    def _ask_to_stop(self, number: int, frame: object) -> None:
        self._asked_to_stop += 1

    def _ask_to_replace(self, number: int, frame: object) -> None:
        self._asked_to_replace = True

    def _pass_hang_up_on(self) -> None:
        for child in self._alive():
            os.kill(child.pid, signal.SIGHUP)

    def _start_due(self) -> None:
        for child in self.children:
            if not child.pid and child.due_at <= time.monotonic():
                self.start(child)

    def start(self, child: Child) -> None:
        """Fork ``child``, one of ``children``; :meth:`run` starts those that were not."""
        child.fork(self._lifeline[0], (self._lifeline[1], *self._signals), self.configure_logs, self.drain_s)

    def _replace(self) -> None:
        """Begin to replace those that answer where a signal asked for it, or continue."""
        if self._replacement is None and self._asked_to_replace:
            self._asked_to_replace, self._replacement = False, Replacement(self.children, self.start)
        if self._replacement is not None and self._replacement.turn():
            self._replacement = None

    def _reap(self) -> int:
        """Note which children have ended and when to start them again; return an exit code where that cannot help."""
        for child in [child for child in self.children if child.pid]:
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if not pid:
                continue
            now, code = time.monotonic(), os.waitstatus_to_exitcode(status)
            child.is_gone()
            if child.leaving is not None or (self._replacement and self._replacement.failed(child)):
                self.children.remove(child)
                continue
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
        return max(0.0, min([*waiting, 0.02 if self._replacement or not ready else 3600.0]))

    def end(self) -> None:
        """Ask all to finish; kill those that have not in time, or at once when asked a second time."""
        requests = self._asked_to_stop
        if self.drain_s:
            self._end([child for child in self._alive() if child.answers], self.drain_s + GRACE_S + 1, requests)
        self._end(self._alive(), GRACE_S + 1, requests)

    def _end(self, children: Sequence[Child], grace_s: float, requests: int) -> None:
        deadline = time.monotonic() + grace_s
        for child in children:
            os.kill(child.pid, signal.SIGTERM)
        while (left := [child for child in children if child.pid]) and time.monotonic() < deadline:
            if self._asked_to_stop != requests:
                break
            for child in left:
                if os.waitpid(child.pid, os.WNOHANG)[0]:
                    child.is_gone()
            if any(child.pid for child in left):
                self._sleep(0.1)
        for child in [child for child in children if child.pid]:
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            child.is_gone()

    def _sleep(self, seconds: float) -> None:
        """Sleep until the next signal, even one that arrived a moment ago."""
        if select.select([self._signals[0]], [], [], seconds)[0]:
            os.read(self._signals[0], 4096)

    def _alive(self) -> list[Child]:
        return [child for child in self.children if child.pid]
