"""Gives requests to threads, of which only few compute at a time.

A thread needs a slot to compute, and releases it while it waits (:mod:`webapp.kit.slots`), so that another thread
continues or begins. Threads that have waited come before new requests, and a thread that finishes one request takes the
next without being woken. The thread that reads requests takes a slot too, as rarely as it can. Not every wait is
declared: a thread that has had its slot for :data:`PATIENCE_S` loses it if another needs one.
"""

import logging
import threading
import time
from collections import deque
from typing import Any, Protocol

from webapp.kit.slots import Slot, this_thread

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
    """Gives each task to one of at most ``threads``, of which as many compute at a time as there are ``slots``.

    A thread is started only when all others are at work: a few warm ones hold less memory than many.
    """

    def __init__(self, threads: int, slots: int) -> None:
        self._max_threads, self._slots = threads, slots
        self._mutex = threading.Lock()
        self._tasks: deque[Task] = deque()
        self._resumed: deque[_Thread] = deque()
        self._idle: list[_Thread] = []
        self._running: dict[_Thread, float] = {}
        self.reader = _Thread(self)
        self._reader_at: float | None = None
        self._closed = False
        self._needed = threading.Event()
        self.count = 0
        self._start("slots", self._watch)

    @property
    def has_waiting_requests(self) -> bool:
        """Whether there are requests that no thread has begun."""
        return bool(self._tasks)

    def defer_reading(self) -> None:
        """Give the ``reader`` a slot shortly before the waiting requests may be done.

        It reads between two requests and not beside one: Python would hand over between them at each system call.
        """
        with self._mutex:
            self._reader_at = time.monotonic() + min(MOST_AHEAD_S, AHEAD_S * len(self._tasks))
            self._fill()

    def add_task(self, task: Task) -> None:
        """Answer a request as soon as there is a slot."""
        with self._mutex:
            self._tasks.append(task)
            self._fill()

    def release(self, thread: "_Thread") -> None:
        """Take back the slot of ``thread``."""
        with self._mutex:
            self._running.pop(thread, None)
            self._fill()

    def resume(self, thread: "_Thread") -> None:
        """Let ``thread`` continue once it has a slot again."""
        with self._mutex:
            if thread in self._running:
                thread.wake()
                return
            self._resumed.append(thread)
            self._fill()

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        """End the idle threads, and cancel the requests that no thread has begun."""
        with self._mutex:
            self._closed = True
            while self._tasks:
                self._tasks.popleft().cancel()
            while self._idle:
                self._idle.pop().wake()
            self._needed.set()
        return True

    def _fill(self) -> None:
        """Give free slots to threads that need them. To be called, as what follows, with the mutex held."""
        while len(self._running) < self._slots and (thread := self._next_thread()) is not None:
            self._running[thread] = time.monotonic()
            thread.wake()
        is_needed = self._resumed or self._tasks or self._reader_at is not None
        if is_needed and not self._needed.is_set():
            self._needed.set()

    def _next_thread(self) -> "_Thread | None":
        if self._resumed:
            return self._resumed.popleft()
        if self._is_reading_due():
            self._reader_at = None
            return self.reader
        if not self._tasks or not (self._idle or self.count < self._max_threads):
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

    def _take_next(self, thread: "_Thread") -> bool:
        """Give ``thread``, which has finished a task, the next one; False if it waits for a slot first.

        One that has lost its slot meanwhile may be the very thread that gets it, and a task, by waiting.
        """
        if self._running.pop(thread, None) is not None and self._has_only_tasks():
            self._running[thread] = time.monotonic()
            thread.task = self._tasks.popleft()
            return True
        thread.task = None
        self._idle.append(thread)
        self._fill()
        return False

    def _has_only_tasks(self) -> bool:
        return bool(self._tasks) and not self._resumed and not self._is_reading_due()

    def _start(self, name: str, target: Any, *arguments: Any) -> None:
        threading.Thread(target=target, args=arguments, name=name, daemon=True).start()

    def _run(self, thread: "_Thread") -> None:
        this_thread.slot = this_thread.waiting = thread
        while not self._closed:
            thread.wait_for_slot()
            is_at_work = True
            while is_at_work and thread.task is not None and not self._closed:
                try:
                    thread.task.service()
                except BaseException:
                    log.exception("A request could not be answered.")
                with self._mutex:
                    is_at_work = self._take_next(thread)

    def _watch(self) -> None:
        """Take slots from threads that have had theirs for long, if others need one."""
        while self._needed.wait() and not self._closed:
            time.sleep(PATIENCE_S)
            with self._mutex:
                latest = time.monotonic() - PATIENCE_S
                self._running = {thread: since for thread, since in self._running.items() if since > latest}
                self._needed.clear()
                self._fill()


class _Thread(Slot):
    """The slot of a thread that answers requests, and its task."""

    task: Task | None = None

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__()
        self._dispatcher = dispatcher

    @property
    def has_waiting_requests(self) -> bool:
        return self._dispatcher.has_waiting_requests

    def notify(self) -> None:
        self._dispatcher.resume(self)

    def wake(self) -> None:
        """Wake it: it has a slot, and begins its task or continues."""
        super().notify()

    def wait_for_slot(self) -> None:
        """Wait until it has a slot."""
        self._notified.acquire()

    def _on_release(self) -> None:
        self._dispatcher.release(self)

    def _on_reacquire(self) -> None:
        self._dispatcher.resume(self)
        self.wait_for_slot()
