"""One asker's connection in the runner that wants a process of Node: it waits, has one, and gives it back.

The asker gets the process's end of the frames as a descriptor, and speaks to it alone from then on. ``{"done": true}``
gives the process back for the user's next call; hanging up without it ends the process. The time of the call begins
when it has one: who waits too long is told so, and nothing was done.
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import orjson

from webapp.service.components import limits
from webapp.service.components.pieces.host import Host
from webapp.service.components.pieces.host_process import Package
from webapp.service.components.runner_connection import RunnerConnection
from webapp.service.components.wire import Broken, encode, take

if TYPE_CHECKING:
    from webapp.service.components.pieces.hosts import Pool

READ_S = 10.0  # for the asker to read the last message
MOST_WAITING = 512


class Lease:
    """``ends_at`` is monotonic seconds. ``package`` and ``user`` are what is wanted, for a call of ``deadline_s``."""

    def __init__(
        self, pool: "Pool", connection: RunnerConnection, package: Package, user: str, deadline_s: float
    ) -> None:
        self._pool, self._connection = pool, connection
        self.package, self.user, self._deadline_s = package, user, deadline_s
        self.ends_at = time.monotonic() + limits.host_wait_s(deadline_s)
        self._host: Host | None = None
        self.is_waiting = True

    def give(self, host: Host) -> None:
        """Have ``host`` from now on."""
        self.is_waiting, self._host = False, host
        self.ends_at = time.monotonic() + self._deadline_s
        if not self._connection.pass_descriptor(encode({"host": host.pid}), host.near.fileno()):
            self.close()

    def refuse(self, reason: str) -> None:
        """Say why there is no process, and that it's over."""
        self.is_waiting = False
        self.host_ended(reason, 0)

    def receive(self) -> None:
        """Notice that the call is done, or that nobody waits any more."""
        if not self._connection.heard(self._push, self.close):
            return
        try:
            payload = take(self._connection.inbox)
            if payload is None or not orjson.loads(payload).get("done"):
                return
        except (Broken, ValueError, AttributeError):
            self.close()
            return
        host, self._host = self._host, None
        if host is not None:
            self._pool.take_back(host)
        self.close()

    def host_ended(self, reason: str | None, code: int) -> None:
        """Tell that the process has ended."""
        self._host = None
        self._connection.outbox += encode({"end": reason, "code": code})
        self.ends_at = time.monotonic() + READ_S
        self._push()

    def end_late(self) -> None:
        """End what takes too long: the call, or the waiting for it."""
        if self._host is not None:
            self._host.end("timeout")
            self.ends_at += READ_S
        elif self.is_waiting:
            self._pool.give_up(self)
            self.refuse("busy")
        else:
            self.close()

    def look_at_use(self) -> None:
        """End a process that takes more of the machine than it may."""
        if self._host is not None:
            self._host.look_at_use()

    def close(self) -> None:
        """Hang up, and end the process that still works for it."""
        if not self._pool.forget(self):
            return
        self.is_waiting = False
        self._connection.close()
        if self._host is not None:
            self._host.borrower = None
            self._host.end("gone")

    def _push(self) -> None:
        if not self._connection.push():
            self.close()


class Waiting:
    """The leases that wait, in the order in which they came."""

    def __init__(self) -> None:
        self._leases: list[Lease] = []

    def __len__(self) -> int:
        return len(self._leases)

    def join(self, lease: Lease) -> bool:
        """Let ``lease`` wait; whether there is room for it."""
        if len(self._leases) >= MOST_WAITING:
            return False
        self._leases.append(lease)
        return True

    def leave(self, lease: Lease) -> None:
        """``lease`` waits no longer, if it did."""
        if lease in self._leases:
            self._leases.remove(lease)

    def in_turn(self, hosts: Iterable[Host]) -> list[Lease]:
        """Those who wait: first those whose users have got none of ``hosts`` for longest, so that many calls of one
        user hold up no other, then in the order in which they came."""
        lent_at = dict[str | None, float]()
        for host in hosts:
            lent_at[host.user] = max(host.lent_at, lent_at.get(host.user, 0.0))
        return sorted(self._leases, key=lambda lease: lent_at.get(lease.user, 0.0))
