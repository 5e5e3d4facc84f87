"""One call inside the runner: the client's connection, the child process, and the bytes between the two.

A job reads the request, forks the child, passes on its messages and its output, and closes the connection after the
last byte. It registers its descriptors with the loop's selector; the loop (:mod:`runner_process`) decides when to stop
a job.
"""

import codecs
import os
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from webapp.kit.clock import now
from webapp.service.components import limits
from webapp.service.components.confinement import usage
from webapp.service.components.confinement.places import Place, Places
from webapp.service.components.forks import Forks, ProcessOwner
from webapp.service.components.runner_connection import RunnerConnection
from webapp.service.components.wire import BLOCK, ProtocolError, encode, frame, take

if TYPE_CHECKING:
    from webapp.service.components.pieces.process_pool import Pool

REQUEST_S = 10.0


class WatchedConnection(Protocol):
    """A connection that the loop watches: ``ends_at`` is its deadline in monotonic seconds."""

    ends_at: float

    def end_late(self) -> None: ...

    def check_usage(self) -> None: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class Jobs:
    """The state that the loop and its jobs share: open connections, running children, and the places of calls."""

    places: Places
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    open: set[WatchedConnection] = field(default_factory=set)
    by_pid: dict[int, ProcessOwner] = field(default_factory=dict)
    pool: "Pool | None" = None
    forks: Forks = field(init=False)

    def __post_init__(self) -> None:
        self.forks = Forks(self.places, self.by_pid)

    def begin(self, connection: socket.socket) -> None:
        """Start a job for a new connection, whose client has :data:`REQUEST_S` seconds to send its request."""
        self.open.add(Job(self, connection))

    def lend(self, connection: RunnerConnection, head: dict[str, Any]) -> None:
        """Lease a Node process to ``connection``. The modules for pieces are imported with the first lease."""
        if self.pool is None:
            from webapp.service.components.pieces.process_pool import Pool

            self.pool = Pool(self)
        self.pool.lease(connection, head)


class Job:
    """One connection, and the child that works for it once the request is complete.

    ``ends_at`` is monotonic seconds.
    """

    def __init__(self, jobs: Jobs, connection: socket.socket) -> None:
        self._jobs = jobs
        self._place: Place | None = None
        self._connection = RunnerConnection(jobs.selector, connection, self.receive)
        self.ends_at = time.monotonic() + REQUEST_S
        self._messages = bytearray()
        self._deadline_s: float | None = None
        self._output_limit, self._received = limits.OUTPUT_BYTES, 0
        self._pid, self._relay = 0, False
        self._pipes: dict[int, Callable[[bytes], None]] = {}
        self._reason: str | None = None
        self._is_over = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def receive(self) -> None:
        """Read the request, or notice that the client has disconnected; write pending bytes."""
        if not self._connection.receive_or_else(self._push, self.close):
            return
        try:
            self._read_request()
        except (OSError, ValueError, TypeError, KeyError):  # OSError: also if no process can be forked
            self.close()

    def end_late(self) -> None:
        """End a job after its deadline: kill the child, or disconnect a client that does not read the reply."""
        if self._pid and not self._is_over:
            self.kill("timeout")
            self.ends_at += REQUEST_S
        else:
            self.close()

    def check_usage(self) -> None:
        """Kill a child that exceeds the limits of memory or disk space."""
        if self._place is not None and self._pid in self._jobs.by_pid:
            reason = usage.excess(self._pid, self._place.folder)
            if reason is not None:
                self.kill(reason)

    def kill(self, reason: str) -> None:
        """Kill the child and its descendants. The loop notices its end like any other."""
        self._reason = self._reason or reason
        usage.end(self._pid)

    def finish(self, code: int) -> None:
        """Read the rest of the child's pipes and send the final message. Called after it has ended with ``code``."""
        for descriptor in list(self._pipes):
            while self._reason is None and self._read_pipe(descriptor):
                pass
            self._close_pipe(descriptor)
        if self._place is not None:
            self._jobs.places.leave(self._place)
        if self not in self._jobs.open:
            return
        self._connection.outbox += encode({"end": self._reason, "code": code})
        self._is_over = True
        self.ends_at = time.monotonic() + REQUEST_S  # for the client to read the reply
        self._push()

    def close(self) -> None:
        """Close the connection, and kill the child if it still runs."""
        if self not in self._jobs.open:
            return
        self._jobs.open.remove(self)
        self._connection.close()
        if self._pid in self._jobs.by_pid:
            self.kill("gone")

    def _read_request(self) -> None:
        if self._deadline_s is None:
            payload = take(self._connection.inbox)
            if payload is None:
                return
            head = orjson.loads(payload)
            if "piece" in head:
                self._jobs.lend(self._connection, head)
                self._jobs.open.remove(self)
                return
            self._deadline_s = float(head["deadline_s"])
            self._output_limit = limits.output_bytes(bool(head.get("stash")))
            self._relay = bool(head.get("relay"))
            if head.get("report"):
                self._report()
                return
        request = None if self._pid else take(self._connection.inbox)
        if request is not None:
            self._fork(request, self._deadline_s)

    def _fork(self, request: bytes, deadline_s: float) -> None:
        jobs = self._jobs
        begun = jobs.forks.begin(request, self._connection.broker, relay=self._relay)
        self._place, self._pid = begun.place, begun.pid
        self._connection.close_broker()
        jobs.by_pid[begun.pid] = self
        self.ends_at = time.monotonic() + deadline_s
        self._pipes = {begun.messages: self._pass_messages, begun.prints: self._pass_print}
        for descriptor in self._pipes:
            os.set_blocking(descriptor, False)
            jobs.selector.register(descriptor, selectors.EVENT_READ, partial(self._read_pipe, descriptor))
        if len(jobs.open) < limits.CALLS:
            jobs.forks.keep_spare()

    def _report(self) -> None:
        self._connection.outbox += encode({"confinement": self._jobs.places.confinement.report()})
        self._is_over = True
        self._push()

    def _read_pipe(self, descriptor: int) -> bool:
        """Read one block from a pipe of the child; False if there is no more at present."""
        pass_on = self._pipes.get(descriptor)
        if pass_on is None:
            return False
        try:
            block = os.read(descriptor, BLOCK)
        except BlockingIOError:
            return False
        if not block:
            self._close_pipe(descriptor)
            return False
        self._received += len(block)
        if self._received > self._output_limit + BLOCK:
            self.kill("output")
            return False
        pass_on(block)
        return True

    def _pass_messages(self, block: bytes) -> None:
        """Pass on complete messages without parsing them."""
        self._messages += block
        try:
            while (payload := take(self._messages)) is not None:
                self._connection.outbox += frame(payload)
        except ProtocolError:
            self.kill("crash")
        self._push()

    def _pass_print(self, block: bytes) -> None:
        self._connection.outbox += encode({"print": self._decoder.decode(block), "ts": now()})
        self._push()

    def _push(self) -> None:
        """Write pending bytes; close the connection after the last one."""
        is_open = self._connection.push()
        if not is_open or (self._is_over and not self._connection.outbox):
            self.close()

    def _close_pipe(self, descriptor: int) -> None:
        if self._pipes.pop(descriptor, None) is not None:
            self._jobs.selector.unregister(descriptor)
            os.close(descriptor)
