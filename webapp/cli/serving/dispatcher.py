"""Gives requests to threads, of which only few compute at a time.

A thread needs a place to compute, and leaves it while it waits (:mod:`webapp.kit.places`), so that another thread
continues or begins. Threads that have waited come before new requests, and a thread that finishes one request takes the
next without being woken. The thread that reads requests takes a place too, as rarely as it can. Not every wait is
declared: a thread that has had its place for :data:`PATIENCE_S` loses it where another needs one.
"""

import logging
import threading
import time
from collections import deque
from typing import Any, Protocol

from webapp.kit.places import HERE, Place

PATIENCE_S = 0.02
AHEAD_S, MOST_AHEAD_S = 0.0003, 0.005
log = logging.getLogger("waitress")


class Task(Protocol):
    """What waitress gives to its dispatcher: a connection with a request to answer."""

    def service(self) -> None:
        """Answer it."""
        ...

    def cancel(self) -> None:
        """Drop it unanswered."""
        ...


class Dispatcher:
    """Gives each task to one of at most ``threads``, of which as many compute at a time as there are ``places``.

    A thread is started only when all others are at work: a few warm ones hold less memory than many.
    """

    def __init__(self, threads: int, places: int) -> None:
        self._most, self._places = threads, places
        self._mutex = threading.Lock()
        self._tasks: deque[Task] = deque()
        self._recalled: deque[_Thread] = deque()
        self._idle: list[_Thread] = []
        self._placed: dict[_Thread, float] = {}
        self.reader = _Thread(self)
        self._reader_at: float | None = None
        self._closed = False
        self._needed = threading.Event()
        self.count = 0
        self._start("places", self._watch)

    @property
    def crowded(self) -> bool:
        """Whether there are requests that no thread has begun."""
        return bool(self._tasks)

    def put_off_reading(self) -> None:
        """Call the ``reader``, which has no place, shortly before the requests that wait may be done.

        It reads between two requests and not beside one: Python would hand over between them at each system call.
        """
        with self._mutex:
            self._reader_at = time.monotonic() + min(MOST_AHEAD_S, AHEAD_S * len(self._tasks))
            self._fill()

    def add_task(self, task: Task) -> None:
        """Have a request answered as soon as there is a place."""
        with self._mutex:
            self._tasks.append(task)
            self._fill()

    def leave(self, thread: "_Thread") -> None:
        """Take back the place of ``thread``."""
        with self._mutex:
            self._placed.pop(thread, None)
            self._fill()

    def recall(self, thread: "_Thread") -> None:
        """Let ``thread`` continue once it has a place again."""
        with self._mutex:
            if thread in self._placed:
                thread.go()
                return
            self._recalled.append(thread)
            self._fill()

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        """End the threads that have nothing to do, and cancel the requests that none has begun."""
        with self._mutex:
            self._closed = True
            while self._tasks:
                self._tasks.popleft().cancel()
            while self._idle:
                self._idle.pop().go()
            self._needed.set()
        return True

    def _fill(self) -> None:
        """Give free places to threads that need them. To be called, as what follows, with the mutex held."""
        while len(self._placed) < self._places and (thread := self._next()) is not None:
            self._placed[thread] = time.monotonic()
            thread.go()
        is_needed = self._recalled or self._tasks or self._reader_at is not None
        if is_needed and not self._needed.is_set():
            self._needed.set()

    def _next(self) -> "_Thread | None":
        if self._recalled:
            return self._recalled.popleft()
        if self._is_reading_due():
            self._reader_at = None
            return self.reader
        if not self._tasks or not (self._idle or self.count < self._most):
            return None
        thread = self._idle.pop() if self._idle else self._new_thread()
        thread.task = self._tasks.popleft()
        return thread

    def _is_reading_due(self) -> bool:
        return self._reader_at is not None and not (self._tasks and time.monotonic() < self._reader_at)

    def _new_thread(self) -> "_Thread":
        self.count += 1
        thread = _Thread(self)
        self._start(f"web-{self.count}", self._run, thread)
        return thread

    def _after(self, thread: "_Thread") -> Task | None:
        """Return the next task of ``thread``, which has finished one; None where others come first."""
        if self._placed.pop(thread, None) is not None and self._has_only_tasks():
            self._placed[thread] = time.monotonic()
            return self._tasks.popleft()
        self._idle.append(thread)
        self._fill()
        return None

    def _has_only_tasks(self) -> bool:
        return bool(self._tasks) and not self._recalled and not self._is_reading_due()

    def _start(self, name: str, target: Any, *arguments: Any) -> None:
        threading.Thread(target=target, args=arguments, name=name, daemon=True).start()

    def _run(self, thread: "_Thread") -> None:
        HERE.place = HERE.away = thread
        while not self._closed:
            thread.sleep()
            while thread.task is not None and not self._closed:
                try:
                    thread.task.service()
                except BaseException:
                    log.exception("A request could not be answered.")
                with self._mutex:
                    thread.task = self._after(thread)

    def _watch(self) -> None:
        """Take places from threads that have had theirs for long, where others need one."""
        while self._needed.wait() and not self._closed:
            time.sleep(PATIENCE_S)
            with self._mutex:
                latest = time.monotonic() - PATIENCE_S
                self._placed = {thread: since for thread, since in self._placed.items() if since > latest}
                self._needed.clear()
                self._fill()


class _Thread(Place):
    """The place of a thread that answers requests, and its task."""

    task: Task | None = None

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__()
        self._dispatcher = dispatcher

    @property
    def crowded(self) -> bool:
        return self._dispatcher.crowded

    def call(self) -> None:
        self._dispatcher.recall(self)

    def go(self) -> None:
        """Wake it: it has a place, and begins its task or continues."""
        super().call()

    def sleep(self) -> None:
        """Wait until it has a place."""
        self._called.acquire()

    def _let_on(self) -> None:
        self._dispatcher.leave(self)

    def _go_on(self) -> None:
        self._dispatcher.recall(self)
        self.sleep()
