"""The one write connection of a process, which its threads use in turns, sharing commits.

The thread that has the turn works in a savepoint of the open transaction. Where others wait by then, the turn passes to
the next with the transaction open; the last of them commits for all, or the first after :data:`GATHER_S`. Where none
waits but other requests are about to begin, the transaction is kept open for them, for at most :data:`KEPT_S`. No
thread returns before that commit, and a block that raises undoes only its own work. A commit that fails, fails for all
its members. What sharing buys is measured by ``make bench-servers``.

Where another process has the write lock, it is tried again within a millisecond, and less often the longer it is held:
SQLite's own handler sleeps through a dozen transactions of others.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from webapp.errors import PatchbayError, Unavailable
from webapp.kit.slots import Slot, this_thread

GATHER_S = 0.02
_PAUSES_S = ((0.05, 0.0003), (1.0, 0.002), (float("inf"), 0.02))  # waited for less than so long: the next pause
MOST_WAITING = 32
STUCK_S = 1.0
KEPT_S = 0.005
_LOOK_S = 0.25


class Connection(Protocol):
    """The connection that executes the commands of a transaction."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open that can still be ended."""
        ...

    def execute(self, sql: str, /) -> object:
        """``BEGIN IMMEDIATE``, ``COMMIT``, ``ROLLBACK``, or one of these for the savepoint ``block``."""
        ...


@dataclass(slots=True)
class Group:
    """The blocks that share a commit. ``waiting`` are threads whose blocks are done.

    Once it is ``overdue``, its transaction is no longer kept open for requests that are about to begin.
    """

    began_at: float = field(default_factory=time.monotonic)
    waiting: list[Slot] = field(default_factory=list)
    overdue: bool = False
    ended: bool = False
    error: BaseException | None = None

    def wait(self, mutex: threading.Lock, hasten: Callable[[], None]) -> None:
        """Wait for the commit. Where it is not made within :data:`KEPT_S`, the first that waits calls ``hasten``."""
        slot = this_thread.slot or Slot()
        with mutex:
            if self.ended:
                return
            self.waiting.append(slot)
            is_first = len(self.waiting) == 1
        slot.release()
        if is_first:
            if slot.wait(KEPT_S):
                return
            hasten()
        slot.wait()


@dataclass(slots=True, eq=False)
class Waiter:
    """A thread that waits for its turn, ``since`` when by the monotonic clock."""

    slot: Slot
    since: float


class Queue:
    """The threads that wait for their turn, in order; ``waiters`` changes only under ``mutex``.

    None waits longer than ``patience_s``, and few wait where the turn does not come round.
    """

    def __init__(self, mutex: threading.Lock, patience_s: float) -> None:
        self._mutex, self._patience_s = mutex, patience_s
        self.waiters: deque[Waiter] = deque()

    def join(self) -> Waiter:
        """Queue this thread; to be called with the mutex held. Raises :class:`Unavailable` where too many wait."""
        waiter = Waiter(this_thread.slot or Slot(), time.monotonic())
        first = self.waiters[0] if self.waiters else waiter
        if len(self.waiters) >= MOST_WAITING and waiter.since - first.since > STUCK_S:
            raise Unavailable
        self.waiters.append(waiter)
        return waiter

    def wait(self, waiter: Waiter) -> None:
        """Wait until another thread calls ``waiter``. Raises :class:`Unavailable` where that takes too long."""
        waiter.slot.release()
        while not waiter.slot.wait(_LOOK_S):
            if self._gives_up(waiter):
                waiter.slot.reacquire()
                raise Unavailable

    def _gives_up(self, waiter: Waiter) -> bool:
        waited = time.monotonic() - waiter.since
        with self._mutex:
            if waiter not in self.waiters:
                return False  # it has the turn, and continues as soon as it has a slot
            if waited <= self._patience_s and (waited <= STUCK_S or self.waiters.index(waiter) < MOST_WAITING):
                return False
            self.waiters.remove(waiter)
            return True


class Turns:
    """Turns at ``connection``, which nothing else may use.

    A thread waits at most ``patience_s`` seconds for its turn. Transactions begin at least ``pause_s()`` seconds apart.
    ``translation`` gives our error for one of the database's; ``is_busy`` says whether another process has the lock.
    """

    def __init__(
        self,
        connection: Connection,
        translation: Callable[[BaseException], PatchbayError | None],
        is_busy: Callable[[BaseException], bool] = lambda _: False,
        *,
        patience_s: float,
        pause_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._connection, self._patience_s, self._pause_s = connection, patience_s, pause_s
        self._translation, self._is_busy = translation, is_busy
        self._mutex = threading.Lock()
        self._taken = False
        self._queue = Queue(self._mutex, patience_s)
        self._group: Group | None = None
        self._began_at = 0.0

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block of statements, committed with those of other threads when it ends, undone when it raises.

        Raises :class:`Unavailable` when the turn does not come in time, or the commit fails.
        """
        self._enter()
        try:
            group = self._group or self._begin()
            self._connection.execute("SAVEPOINT block")
        except BaseException as error:
            if self._group is not None and not self._connection.in_transaction:
                self._end(self._group, error)
            self._leave(self._group)
            raise
        try:
            yield
            self._connection.execute("RELEASE block")
        except BaseException as error:
            try:
                self._undo(group, error)
            finally:
                self._leave(group)
            raise
        if not self._kept_open(group):
            self._leave(group)
        if not group.ended:
            group.wait(self._mutex, self._hasten)
        if group.error is not None:
            raise self._translation(group.error) or Unavailable() from group.error

    @contextmanager
    def outside(self) -> Iterator[None]:
        """The turn, outside any transaction. Raises :class:`Unavailable`."""
        self._enter()
        try:
            if self._group is not None:
                self._commit(self._group)
            yield
        finally:
            self._leave(None)

    def _enter(self) -> None:
        with self._mutex:
            if not self._taken:
                self._taken = True
                return
            waiter = self._queue.join()
        self._queue.wait(waiter)

    def _begin(self) -> Group:
        _pause(self._began_at + self._pause_s() - time.monotonic())
        began = time.monotonic()
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                break
            except Exception as error:
                if not self._is_busy(error) or (waited := time.monotonic() - began) >= self._patience_s:
                    raise
            _pause(next(pause for least, pause in _PAUSES_S if waited < least))
        self._group = group = Group()
        self._began_at = group.began_at
        return group

    def _undo(self, group: Group, error: BaseException) -> None:
        """Undo what a block did; after some errors the database has undone all of the transaction by itself."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO block")
                self._connection.execute("RELEASE block")
        finally:
            if not self._connection.in_transaction:
                self._end(group, error)

    def _kept_open(self, group: Group) -> bool:
        """Leave the turn free with the transaction open, where requests are about to begin; return whether it is."""
        slot = this_thread.slot
        if slot is None or not slot.has_waiting_requests:
            return False
        with self._mutex:
            if self._queue.waiters or group.overdue or group is not self._group:
                return False
            self._taken = False
            return True

    def _hasten(self) -> None:
        """Commit what was kept open, unless a thread has the turn, which will."""
        with self._mutex:
            group = self._group
            if group is not None:
                group.overdue = True
            if self._taken or group is None:
                return
            self._taken = True
        self._leave(group)

    def _leave(self, group: Group | None) -> None:
        """Pass the turn on: with the transaction open where a thread waits, else after its commit."""
        passed = False
        try:
            if group is not None and group is self._group:
                passed = time.monotonic() - group.began_at < GATHER_S and self._grant()
                if not passed:
                    self._commit(group)
        finally:
            if not passed:
                self._grant(last=True)

    def _grant(self, *, last: bool = False) -> bool:
        """Give the turn to the first thread that waits; where none does, return False, and free it if ``last``."""
        with self._mutex:
            if self._queue.waiters:
                self._queue.waiters.popleft().slot.notify()
                return True
            self._taken = not last
            return False

    def _commit(self, group: Group) -> None:
        failure: BaseException | None = None
        with this_thread.waiting:
            try:
                self._connection.execute("COMMIT")
            except Exception as error:
                failure = error
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            finally:
                self._end(group, failure)

    def _end(self, group: Group, error: BaseException | None) -> None:
        with self._mutex:
            self._group, group.error, group.ended = None, error, True
            waiting, group.waiting = group.waiting, []
        for slot in waiting:
            slot.notify()


def _pause(seconds: float) -> None:
    if seconds > 0:
        with this_thread.waiting:
            time.sleep(seconds)
