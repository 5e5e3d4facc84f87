"""Gives requests to threads, of which few compute at a time.

Each that computes has a place; whoever waits leaves it (:mod:`webapp.kit.places`), so that another goes on or begins.
Who has waited goes on before anything new begins, and a thread that ends one request takes the next without being
woken. The one that reads requests takes its turn, too, and no more often than it must. Not all that waits says so:
where somebody needs a place, it is taken from who has had one for :data:`PATIENCE_S`.
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
    """What waitress gives to a dispatcher: the next request of a connection."""

    def service(self) -> None:
        """Answer it."""
        ...

    def cancel(self) -> None:
        """It will not be answered."""
        ...


class Dispatcher:
    """Gives each task to one of at most ``threads``, of which so many as there are ``places`` compute.

    A thread begins when all others are at work: few are warmer, and hold less memory, than many that take turns.
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
        """Call the ``reader``, which has no place, once there may not be enough to do.

        It reads between two requests, and not beside one: Python would hand over at each call of the system.
        """
        with self._mutex:
            self._reader_at = time.monotonic() + min(MOST_AHEAD_S, AHEAD_S * len(self._tasks))
            self._fill()

    def add_task(self, task: Task) -> None:
        """Answer a request, as soon as there is room."""
        with self._mutex:
            self._tasks.append(task)
            self._fill()

    def leave(self, thread: "_Thread") -> None:
        """``thread`` gives back its place."""
        with self._mutex:
            self._placed.pop(thread, None)
            self._fill()

    def recall(self, thread: "_Thread") -> None:
        """``thread`` goes on, once it has a place again."""
        with self._mutex:
            if thread in self._placed:
                thread.go()
                return
            self._recalled.append(thread)
            self._fill()

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        """End the threads that have nothing to do, and cancel what none has begun."""
        with self._mutex:
            self._closed = True
            while self._tasks:
                self._tasks.popleft().cancel()
            while self._idle:
                self._idle.pop().go()
            self._needed.set()
        return True

    def _fill(self) -> None:
        """Give free places to who needs them. Call this and what follows with the mutex in hand."""
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
        """What ``thread``, which has ended a request, does next; nothing where others come first."""
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
        """Take places away from those who have theirs for long, while others need one."""
        while self._needed.wait() and not self._closed:
            time.sleep(PATIENCE_S)
            with self._mutex:
                latest = time.monotonic() - PATIENCE_S
                self._placed = {thread: since for thread, since in self._placed.items() if since > latest}
                self._needed.clear()
                self._fill()


class _Thread(Place):
    """One that answers requests."""

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
        """It has a place: begin with its task, or go on."""
        super().call()

    def sleep(self) -> None:
        """Until it has a place."""
        self._called.acquire()

    def _let_on(self) -> None:
        self._dispatcher.leave(self)

    def _go_on(self) -> None:
        self._dispatcher.recall(self)
        self.sleep()
