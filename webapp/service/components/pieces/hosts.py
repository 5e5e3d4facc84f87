"""The runner's processes of Node: which call gets which, which are kept for their users, which wait as spares.

A process that has served a user never serves another. One spare is kept loaded for each package that was used in the
last minutes, as far as there is room. Where all processes are taken, calls wait: first those of the users who have
got none for longest, then in the order in which they came.
"""

import selectors
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from webapp.service.components import limits
from webapp.service.components.pieces import host_process
from webapp.service.components.pieces.host import Host
from webapp.service.components.pieces.host_process import Package
from webapp.service.components.pieces.lease import Lease, Waiting
from webapp.service.components.runner_connection import RunnerConnection

if TYPE_CHECKING:
    from webapp.service.components.runner_job import Jobs

SPARE_S = 300.0  # since its package was last used
_NEVER = float("inf")
_BREATH_S = 0.3  # after a call began, before a spare is started beside it


@dataclass(slots=True)
class Bounds:
    """What the operator allows: processes, and seconds that one waits for its user's next call."""

    processes: int = 8
    idle_s: float = 30.0

    @property
    def spares(self) -> int:
        """How many of the processes may wait for nobody in particular."""
        return max(1, self.processes // 4) if self.processes > 1 else 0


class Pool:
    """All processes of Node of one runner."""

    def __init__(self, jobs: "Jobs") -> None:
        self._jobs, self._bounds = jobs, Bounds()
        self._hosts: list[Host] = []
        self._waiting = Waiting()
        self._used_at: dict[Package, float] = {}
        self._spares_at = _NEVER

    @property
    def waiting(self) -> int:
        """How many calls wait for a process."""
        return len(self._waiting)

    def lease(self, connection: RunnerConnection, head: dict[str, Any]) -> None:
        """Find a process for the connection that asks by ``head``. Raises ``KeyError`` and others for another form."""
        piece, bounds = head["piece"], head["bounds"]
        self._bounds = Bounds(min(int(bounds["processes"]), limits.HOSTS), float(bounds["idle_s"]))
        package = Package.asked(piece, int(bounds["memory_mb"]))
        lease = Lease(self, connection, package, piece["user"], float(head["deadline_s"]))
        connection.hand_over(lease.receive)
        self._jobs.open.add(lease)
        if self._waiting.join(lease):
            self._serve()
        else:
            lease.refuse("busy")

    def take_back(self, host: Host) -> None:
        """``host`` has done its call."""
        host.come_back(time.monotonic() + self._bounds.idle_s)
        self._used_at[host.package] = time.monotonic()
        self._serve()

    def forget(self, lease: Lease) -> bool:
        """``lease`` is over; whether it was not so yet."""
        if lease not in self._jobs.open:
            return False
        self._jobs.open.remove(lease)
        self.give_up(lease)
        return True

    def give_up(self, lease: Lease) -> None:
        """``lease`` waits no longer."""
        self._waiting.leave(lease)

    def tend(self) -> None:
        """End what has waited long enough, and start the spares that are missing."""
        clock = time.monotonic()
        for host in self._hosts:
            if host.borrower is None and host.ends_at <= clock:
                host.end("gone")
            elif host.is_spare and not host.is_loaded:
                host.look_at_use()
        if self._spares_at <= clock:
            self._start_spares(clock)

    def next_at(self) -> Iterator[float]:
        """When :meth:`tend` has something to do next."""
        for host in self._hosts:
            if host.borrower is None and not host.is_ending:
                yield host.ends_at
        if self._spares_at < _NEVER:
            yield self._spares_at

    def close(self) -> None:
        """End all processes."""
        for host in self._hosts:
            host.end("gone")

    def _ended(self, host: Host, code: int) -> None:
        """The process of ``host`` has ended with ``code``."""
        self._hosts.remove(host)
        self._unwatch(host)
        self._jobs.places.leave(host.place)
        if host.borrower is not None:
            host.borrower.host_ended(host.reason, code)
        self._serve()

    def _serve(self) -> None:
        """Give processes to those who wait, and make room for those who still do."""
        coming = sum(host.is_ending for host in self._hosts)
        for lease in self._waiting.in_turn(self._hosts):
            try:
                host = self._suitable(lease)
            except OSError:
                self.give_up(lease)
                lease.refuse("crash")
                continue
            if host is not None:
                self._lend(host, lease)
            elif coming:
                coming -= 1
            elif not self._make_room():
                return

    def _lend(self, host: Host, lease: Lease) -> None:
        self._unwatch(host)
        if host.lend(lease, lease.user):
            self.give_up(lease)
            self._used_at[lease.package] = time.monotonic()
            self._spares_at = min(self._spares_at, time.monotonic() + _BREATH_S)
            lease.give(host)

    def _suitable(self, lease: Lease) -> Host | None:
        """A process for ``lease``: that of its user, a spare, or a new one; None where there is no room."""
        free = [host for host in self._resting() if host.package == lease.package]
        own = next((host for host in free if host.user is not None and host.user == lease.user), None)
        spare = own or next((host for host in free if host.user is None), None)
        if spare is None and len(self._hosts) < self._bounds.processes:
            return self._start(lease.package)
        return spare

    def _resting(self) -> list[Host]:
        return [host for host in self._hosts if host.borrower is None and not host.is_ending]

    def _make_room(self) -> bool:
        """End the process that has rested longest, a spare last; whether there was one."""
        resting = min(self._resting(), key=lambda host: (host.is_spare, host.ends_at), default=None)
        if resting is not None:
            resting.end("gone")
        return resting is not None

    def _start_spares(self, clock: float) -> None:
        """One for each package in use, as far as there is room; those of others end by themselves."""
        self._spares_at = _NEVER
        self._used_at = {package: at for package, at in self._used_at.items() if at > clock - SPARE_S}
        spares = {host.package for host in self._hosts if host.is_spare}
        for package in sorted(self._used_at, key=lambda package: -self._used_at[package]):
            room = len(self._hosts) < self._bounds.processes and not self._waiting
            if package not in spares and room and len(spares) < self._bounds.spares:
                spares.add(package)
                with suppress(OSError):
                    self._watch(self._start(package))

    def _start(self, package: Package) -> Host:
        place = self._jobs.places.take()
        host = Host(package, place, host_process.start(package, place, self._jobs.places.confinement), self._ended)
        self._hosts.append(host)
        self._jobs.by_pid[host.pid] = host
        return host

    def _watch(self, host: Host) -> None:
        """Have a spare say when it has loaded, and stop it then."""
        self._jobs.selector.register(host.near, selectors.EVENT_READ, partial(self._loaded, host))

    def _loaded(self, host: Host) -> None:
        if host.load():
            self._unwatch(host)
            host.ends_at = time.monotonic() + SPARE_S
            host.rest()

    def _unwatch(self, host: Host) -> None:
        if host.near.fileno() in self._jobs.selector.get_map():
            self._jobs.selector.unregister(host.near)
