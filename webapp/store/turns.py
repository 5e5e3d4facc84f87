"""The one write connection of a process, whose threads take turns at it and share commits.

Whoever has the turn works in a savepoint of the open transaction. Where others wait by then, the turn passes to the
next with the transaction open; the last of them commits for all, and so does the first after :data:`GATHER_S`. Where
nobody waits but other requests are about to begin, it is kept open for them, no longer than
:data:`webapp.store.waiting.KEPT_S`. Nobody is told of success before that commit, and a block that raises undoes its
own work alone. A commit that fails, fails for all of its members.

Where another process has the lock, it is tried for again within a millisecond, less often where it is held for long:
SQLite's own handler sleeps through a dozen transactions of others.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from webapp.errors import PatchbayError, Unavailable
from webapp.kit.places import HERE
from webapp.store.waiting import Group, Queue

GATHER_S = 0.02
_PAUSES_S = ((0.05, 0.0003), (1.0, 0.002), (float("inf"), 0.02))  # waited for less than so long: the next pause


class Connection(Protocol):
    """What takes the commands of a transaction."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open that can still be ended."""
        ...

    def execute(self, sql: str, /) -> object:
        """``BEGIN IMMEDIATE``, ``COMMIT``, ``ROLLBACK``, or one of these for the savepoint ``block``."""
        ...


class Turns:
    """Turns at ``connection``, which nothing else may use. ``pause_s`` says how far apart transactions begin.

    ``translation`` gives our error for one of the database's; ``is_busy`` tells that another process has the lock.
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
        """A block of statements that is committed, with those of others, when this ends, and undone when it raises.

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
        """The turn without a transaction. Raises :class:`Unavailable`."""
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
        """Take back what a block did; after some errors the database has undone all of the transaction by itself."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO block")
                self._connection.execute("RELEASE block")
        finally:
            if not self._connection.in_transaction:
                self._end(group, error)

    def _kept_open(self, group: Group) -> bool:
        """Keep the transaction open and leave the turn free, where others are about to begin; whether it is so."""
        place = HERE.place
        if place is None or not place.crowded:
            return False
        with self._mutex:
            if self._queue.waiters or group.overdue or group is not self._group:
                return False
            self._taken = False
            return True

    def _hasten(self) -> None:
        """Commit what was kept open, unless somebody has the turn, who does."""
        with self._mutex:
            group = self._group
            if group is not None:
                group.overdue = True
            if self._taken or group is None:
                return
            self._taken = True
        self._leave(group)

    def _leave(self, group: Group | None) -> None:
        """Pass the turn on: with the transaction open where somebody waits, else after its commit."""
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
        """Give the turn to who has waited for longest; False when nobody waits, and with ``last`` it is free then."""
        with self._mutex:
            if self._queue.waiters:
                self._queue.waiters.popleft().place.call()
                return True
            self._taken = not last
            return False

    def _commit(self, group: Group) -> None:
        failure: BaseException | None = None
        with HERE.away:
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
        for place in waiting:
            place.call()


def _pause(seconds: float) -> None:
    if seconds > 0:
        with HERE.away:
            time.sleep(seconds)
