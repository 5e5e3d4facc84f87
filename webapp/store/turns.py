"""The one write connection of a process, whose threads take turns at it and share commits.

Whoever has the turn works in a savepoint of the open transaction. Where others wait by then, the turn passes to the
next with the transaction open; the last of them commits for all, and so does the first after :data:`GATHER_S`. Nobody
is told of success before that commit, and a block that raises undoes its own work alone. A commit that fails, fails
for all of its members.

Where another process has the lock, it is tried for again within a millisecond, less often where it is held for long:
SQLite's own handler sleeps through a dozen transactions of others. Only so many wait where the turn does not come round
(:data:`MOST_WAITING`), so that threads are left for those who do not write.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from webapp.errors import PatchbayError, Unavailable

GATHER_S = 0.02
MOST_WAITING = 32
STUCK_S = 1.0
_LOOK_S = 0.25
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


@dataclass(slots=True)
class _Group:
    """Those who share a commit."""

    began_at: float = field(default_factory=time.monotonic)
    ended: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None


@dataclass(slots=True, eq=False)
class _Waiter:
    since: float = field(default_factory=time.monotonic)
    granted: threading.Event = field(default_factory=threading.Event)


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
        self._waiting: deque[_Waiter] = deque()
        self._group: _Group | None = None
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
        self._leave(group)
        group.ended.wait()
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
        waiter = _Waiter()
        with self._mutex:
            if not self._taken:
                self._taken = True
                return
            first = self._waiting[0] if self._waiting else waiter
            if len(self._waiting) >= MOST_WAITING and waiter.since - first.since > STUCK_S:
                raise Unavailable
            self._waiting.append(waiter)
        while not waiter.granted.wait(_LOOK_S):
            with self._mutex:
                if not waiter.granted.is_set() and self._gives_up(waiter):
                    self._waiting.remove(waiter)
                    raise Unavailable

    def _gives_up(self, waiter: _Waiter) -> bool:
        waited = time.monotonic() - waiter.since
        return waited > self._patience_s or (waited > STUCK_S and self._waiting.index(waiter) >= MOST_WAITING)

    def _begin(self) -> _Group:
        wait_s = self._began_at + self._pause_s() - time.monotonic()
        if wait_s > 0:
            time.sleep(wait_s)
        began = time.monotonic()
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                break
            except Exception as error:
                if not self._is_busy(error) or (waited := time.monotonic() - began) >= self._patience_s:
                    raise
            time.sleep(next(pause for least, pause in _PAUSES_S if waited < least))
        self._group = group = _Group()
        self._began_at = group.began_at
        return group

    def _undo(self, group: _Group, error: BaseException) -> None:
        """Take back what a block did; after some errors the database has undone all of the transaction by itself."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO block")
                self._connection.execute("RELEASE block")
        finally:
            if not self._connection.in_transaction:
                self._end(group, error)

    def _leave(self, group: _Group | None) -> None:
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
            if self._waiting:
                self._waiting.popleft().granted.set()
                return True
            self._taken = not last
            return False

    def _commit(self, group: _Group) -> None:
        failure: BaseException | None = None
        try:
            self._connection.execute("COMMIT")
        except Exception as error:
            failure = error
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        finally:
            self._end(group, failure)

    def _end(self, group: _Group, error: BaseException | None) -> None:
        self._group, group.error = None, error
        group.ended.set()
