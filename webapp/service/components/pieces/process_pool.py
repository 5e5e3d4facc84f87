"""The runner's pool of Node processes: assigns them to calls, keeps idle ones for their users, and starts spares.

A client's connection waits for a process, leases it and returns it. The module is part of the runner, so it imports
nothing of the code that talks to a leased process.
"""

import os
import selectors
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from webapp.kit import scratch
from webapp.service.components import limits
from webapp.service.components.confinement import usage
from webapp.service.components.confinement.places import Place
from webapp.service.components.pieces import frames, node_process
from webapp.service.components.pieces.node_process import Package, Process
from webapp.service.components.runner_connection import RunnerConnection
from webapp.service.components.wire import BLOCK, ProtocolError, encode, take

if TYPE_CHECKING:
    from webapp.service.components.runner_job import Jobs

FOLDER_BYTES = 128 * 2**20
LOAD_S = 20.0
_DROPPED_BYTES = 2 * 2**20  # bytes that a process may send before its first call
_BESIDE_MB = 128  # that Node itself takes, including its program
READ_S = 10.0  # for the client to read the last message
MOST_WAITING = 512
SPARE_S = 300.0  # since its package was last used
_NEVER = float("inf")
_BREATH_S = 0.3  # after a call began, before a spare is started beside it


class Borrower(Protocol):
    """The holder of a host, which is notified when the process ends."""

    def host_ended(self, reason: str | None, code: int) -> None: ...


class Host:
    """One process. ``user`` is the only user that it serves; None before its first call."""

    def __init__(self, package: Package, place: Place, process: Process, ended: Callable[["Host", int], None]) -> None:
        """``ended`` is called with the exit code when ``process`` has ended."""
        self._process, self._ended = process, ended
        self.package, self.place, self.pid, self.near = package, place, process.pid, process.near
        self.user: str | None = None
        self.borrower: Borrower | None = None
        self.is_loaded = self.is_ending = False
        self.reason: str | None = None
        self.ends_at, self.lent_at = time.monotonic() + LOAD_S, 0.0
        self._inbox = bytearray()

    @property
    def is_spare(self) -> bool:
        """Whether it has served no user yet and can serve one."""
        return self.user is None and not self.is_ending

    def lend(self, borrower: Borrower, user: str) -> bool:
        """Assign it to a call of ``user``; False if it cannot be used."""
        if not self._is_clean():
            self.end("crash")
            return False
        self.user, self.borrower, self.lent_at = user, borrower, time.monotonic()
        scratch.empty(self.place.folder)
        _signal(self.pid, signal.SIGCONT)
        return True

    def come_back(self, ends_at: float) -> None:
        """Stay idle until the next call, or until ``ends_at``.

        A process that served an unknown user is not used again.
        """
        self.borrower, self.ends_at = None, ends_at
        self.rest()
        scratch.empty(self.place.folder)
        if not self.user:
            self.end("gone")

    def rest(self) -> None:
        """Suspend the process (SIGSTOP)."""
        if not self.is_ending:
            _signal(self.pid, signal.SIGSTOP)

    def load(self) -> bool:
        """Read its messages while it loads; True when it is ready or has failed."""
        try:
            block = self.near.recv(BLOCK)
            self._inbox += block
            message = frames.take(self._inbox)
            if not block or (message is not None and (message.kind != frames.JSON or "ready" not in message.json())):
                raise ProtocolError("no word of being ready")
        except BlockingIOError:
            return False
        except (OSError, TypeError):
            self.end("crash")
            return True
        self.is_loaded = message is not None
        return self.is_loaded

    def check_usage(self) -> None:
        """Kill it if it exceeds the limits of memory or disk space."""
        if self.is_ending:
            return
        if usage.memory(self.pid) > (self.package.memory_mb + _BESIDE_MB) * 2**20:
            self.end("memory")
        elif usage.disk(self.pid, self.place.folder) > FOLDER_BYTES:
            self.end("disk")

    def end(self, reason: str) -> None:
        """Kill it; the runner notices its end like any other."""
        self.reason = self.reason or reason
        if not self.is_ending:
            self.is_ending = True
            usage.end(self.pid)

    def finish(self, code: int) -> None:
        """Release its resources and notify its borrower. Called when the process has ended."""
        if self.reason is None and self._process.ran_out_of_memory():
            self.reason = "memory"
        self._ended(self, code)
        self._process.close()

    def _is_clean(self) -> bool:
        """Whether no partial frame of an earlier call is pending; complete frames are discarded."""
        dropped = 0
        try:
            while dropped <= _DROPPED_BYTES and (block := self.near.recv(BLOCK)):
                dropped += len(block)
                self._inbox += block
                while frames.take(self._inbox) is not None:
                    pass
            return False  # it closed the connection, or does not stop sending
        except BlockingIOError:
            return not self._inbox
        except OSError:
            return False


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


class Lease:
    """A client's request for a process that has loaded ``package`` for ``user``, and its use for a call of
    ``deadline_s`` seconds. ``ends_at`` is monotonic seconds."""

    def __init__(
        self, pool: "Pool", connection: RunnerConnection, package: Package, user: str, deadline_s: float
    ) -> None:
        self._pool, self._connection = pool, connection
        self.package, self.user, self._deadline_s = package, user, deadline_s
        self.ends_at = time.monotonic() + limits.node_wait_s(deadline_s)
        self._host: Host | None = None
        self.is_waiting = True

    def give(self, host: Host) -> None:
        """Take ``host``."""
        self.is_waiting, self._host = False, host
        self.ends_at = time.monotonic() + self._deadline_s
        if not self._connection.pass_descriptor(encode({"host": host.pid}), host.near.fileno()):
            self.close()

    def refuse(self, reason: str) -> None:
        """End the lease without a process, and report the ``reason``."""
        self.is_waiting = False
        self.host_ended(reason, 0)

    def receive(self) -> None:
        """Notice that the call is done or the client has disconnected."""
        if not self._connection.receive_or_else(self._push, self.close):
            return
        try:
            payload = take(self._connection.inbox)
            if payload is None or not orjson.loads(payload).get("done"):
                return
        except (ProtocolError, ValueError, AttributeError):
            self.close()
            return
        host, self._host = self._host, None
        if host is not None:
            self._pool.take_back(host)
        self.close()

    def host_ended(self, reason: str | None, code: int) -> None:
        """Report to the client that the process has ended."""
        self._host = None
        self._connection.outbox += encode({"end": reason, "code": code})
        self.ends_at = time.monotonic() + READ_S
        self._push()

    def end_late(self) -> None:
        """End the call, or the wait for a process, after its deadline."""
        if self._host is not None:
            self._host.end("timeout")
            self.ends_at += READ_S
        elif self.is_waiting:
            self._pool.give_up(self)
            self.refuse("busy")
        else:
            self.close()

    def check_usage(self) -> None:
        """Kill a process that exceeds the limits of memory or disk space."""
        if self._host is not None:
            self._host.check_usage()

    def close(self) -> None:
        """Close the connection, and kill the process if it still works for it."""
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
    """The leases that wait for a process, in order of arrival."""

    def __init__(self) -> None:
        self._leases: list[Lease] = []

    def __len__(self) -> int:
        return len(self._leases)

    def join(self, lease: Lease) -> bool:
        """Add ``lease``; False if too many wait."""
        if len(self._leases) >= MOST_WAITING:
            return False
        self._leases.append(lease)
        return True

    def leave(self, lease: Lease) -> None:
        """Remove ``lease`` if it waits."""
        if lease in self._leases:
            self._leases.remove(lease)

    def in_turn(self, hosts: Iterable[Host]) -> list[Lease]:
        """The waiting leases in the order in which they are served.

        Users who have been without one of ``hosts`` for longest come first, so that many calls of one user do not
        delay others; then the order of arrival counts.
        """
        lent_at = dict[str | None, float]()
        for host in hosts:
            lent_at[host.user] = max(host.lent_at, lent_at.get(host.user, 0.0))
        return sorted(self._leases, key=lambda lease: lent_at.get(lease.user, 0.0))


@dataclass(slots=True)
class Bounds:
    """The operator's limits: the number of processes, and the seconds that an idle one is kept for its user."""

    processes: int = 8
    idle_s: float = 30.0

    @property
    def spares(self) -> int:
        """How many of the processes may be spares."""
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
        """The number of calls that wait for a process."""
        return len(self._waiting)

    def lease(self, connection: RunnerConnection, head: dict[str, Any]) -> None:
        """Lease a process to ``connection``, whose request is ``head``.

        Raises ``KeyError`` and others if it is invalid.
        """
        piece, bounds = head["piece"], head["bounds"]
        self._bounds = Bounds(min(int(bounds["processes"]), limits.NODE_PROCESSES), float(bounds["idle_s"]))
        package = Package.asked(piece, int(bounds["memory_mb"]))
        lease = Lease(self, connection, package, piece["user"], float(head["deadline_s"]))
        connection.hand_over(lease.receive)
        self._jobs.open.add(lease)
        if self._waiting.join(lease):
            self._serve()
        else:
            lease.refuse("busy")

    def take_back(self, host: Host) -> None:
        """Return ``host`` to the pool after a call."""
        host.come_back(time.monotonic() + self._bounds.idle_s)
        self._used_at[host.package] = time.monotonic()
        self._serve()

    def forget(self, lease: Lease) -> bool:
        """Remove ``lease``, which has ended; False if it was removed before."""
        if lease not in self._jobs.open:
            return False
        self._jobs.open.remove(lease)
        self.give_up(lease)
        return True

    def give_up(self, lease: Lease) -> None:
        """Let ``lease`` wait no longer."""
        self._waiting.leave(lease)

    def maintain(self) -> None:
        """End processes that have been idle for too long, and start missing spares."""
        clock = time.monotonic()
        for host in self._hosts:
            if host.borrower is None and host.ends_at <= clock:
                host.end("gone")
            elif host.is_spare and not host.is_loaded:
                host.check_usage()
        if self._spares_at <= clock:
            self._start_spares(clock)

    def next_at(self) -> Iterator[float]:
        """Yield the times, in monotonic seconds, at which :meth:`maintain` has to be called."""
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
        """Remove ``host``, whose process has ended with ``code``."""
        self._hosts.remove(host)
        self._unwatch(host)
        self._jobs.places.leave(host.place)
        if host.borrower is not None:
            host.borrower.host_ended(host.reason, code)
        self._serve()

    def _serve(self) -> None:
        """Assign processes to waiting leases, and make room for the rest."""
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
        """A process for ``lease``: its user's own, a spare, or a new one; None if there is no room."""
        free = [host for host in self._resting() if host.package == lease.package]
        own = next((host for host in free if host.user is not None and host.user == lease.user), None)
        spare = own or next((host for host in free if host.user is None), None)
        if spare is None and len(self._hosts) < self._bounds.processes:
            return self._start(lease.package)
        return spare

    def _resting(self) -> list[Host]:
        return [host for host in self._hosts if host.borrower is None and not host.is_ending]

    def _make_room(self) -> bool:
        """End the process that has been idle for longest, spares last; False if there is none."""
        resting = min(self._resting(), key=lambda host: (host.is_spare, host.ends_at), default=None)
        if resting is not None:
            resting.end("gone")
        return resting is not None

    def _start_spares(self, clock: float) -> None:
        """Start one spare for each package in use, as far as there is room. Spares of other packages expire."""
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
        host = Host(package, place, node_process.start(package, place, self._jobs.places.confinement), self._ended)
        self._hosts.append(host)
        self._jobs.by_pid[host.pid] = host
        return host

    def _watch(self, host: Host) -> None:
        """Suspend a spare when it reports that it has loaded."""
        self._jobs.selector.register(host.near, selectors.EVENT_READ, partial(self._loaded, host))

    def _loaded(self, host: Host) -> None:
        if host.load():
            self._unwatch(host)
            host.ends_at = time.monotonic() + SPARE_S
            host.rest()

    def _unwatch(self, host: Host) -> None:
        if host.near.fileno() in self._jobs.selector.get_map():
            self._jobs.selector.unregister(host.near)
