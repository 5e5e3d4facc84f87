"""One call inside the runner: a connection that asks for it, the child that does it, and the bytes between the two.

A job reads the request, forks the child, passes on what the child tells and prints, and closes the connection after
the last byte. It registers its descriptors with the loop's selector; when to stop a job is the loop's decision
(``runner_process``).
"""

import codecs
import os
import selectors
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import orjson

from webapp.kit.clock import now
from webapp.service.components import child, limits
from webapp.service.components.wire import BLOCK, Broken, encode, frame, take

REQUEST_S = 10.0


@dataclass(slots=True)
class Jobs:
    """What the loop and its jobs share: open connections, children not waited for yet, and where call folders stand."""

    folder: Path
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    open: set["Job"] = field(default_factory=set)
    by_pid: dict[int, "Job"] = field(default_factory=dict)
    pid: int = field(default_factory=os.getpid)
    count: int = 0

    def begin(self, connection: socket.socket) -> None:
        """A job for a connection that was just accepted; it has :data:`REQUEST_S` seconds to send its request."""
        connection.setblocking(False)
        self.count += 1
        job = Job(self, connection, self.folder / str(self.count))
        self.open.add(job)
        self.selector.register(connection, selectors.EVENT_READ, job.receive)


class Job:
    """One connection, and the child that works for it once its request is whole. ``ends_at`` is monotonic seconds."""

    def __init__(self, jobs: Jobs, connection: socket.socket, folder: Path) -> None:
        self._jobs, self._connection, self._folder = jobs, connection, folder
        self.ends_at = time.monotonic() + REQUEST_S
        self._inbox, self._outbox, self._messages = bytearray(), bytearray(), bytearray()
        self._deadline_s: float | None = None
        self._output_limit, self._received = limits.OUTPUT_BYTES, 0
        self._pid = 0
        self._pipes: dict[int, Callable[[bytes], None]] = {}
        self._reason: str | None = None
        self._is_over = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def receive(self) -> None:
        """Read of the request, or notice that nobody waits for the answer any more; write what waits to be written."""
        try:
            block = self._connection.recv(BLOCK)
        except BlockingIOError:
            self._push()
            return
        except OSError:
            block = b""
        if not block:
            self.close()
            return
        self._inbox += block
        try:
            self._read_request()
        except (Broken, ValueError, TypeError, KeyError):
            self.close()

    def end_late(self) -> None:
        """End a job whose time is over: a working child is killed, and whoever does not read the answer is cut off."""
        if self._pid and not self._is_over:
            self.kill("timeout")
            self.ends_at += REQUEST_S
        else:
            self.close()

    def kill(self, reason: str) -> None:
        """End the child and all below it; the loop notices its death as any other."""
        self._reason = self._reason or reason
        limits.kill_group(self._pid)

    def finish(self, code: int) -> None:
        """The child has ended with ``code``: read what it left in its pipes, and send the last message."""
        for descriptor in list(self._pipes):
            while self._reason is None and self._read_pipe(descriptor):
                pass
            self._close_pipe(descriptor)
        shutil.rmtree(self._folder, ignore_errors=True)
        if self not in self._jobs.open:
            return
        self._outbox += encode({"end": self._reason, "code": code})
        self._is_over = True
        self.ends_at = time.monotonic() + REQUEST_S  # for the asker to read the answer
        self._push()

    def close(self) -> None:
        """Close the connection, and end the child that still works for it."""
        if self not in self._jobs.open:
            return
        self._jobs.open.remove(self)
        self._jobs.selector.unregister(self._connection)
        self._connection.close()
        if self._pid in self._jobs.by_pid:
            self.kill("gone")

    def _read_request(self) -> None:
        if self._deadline_s is None:
            payload = take(self._inbox)
            if payload is None:
                return
            head = orjson.loads(payload)
            self._deadline_s = float(head["deadline_s"])
            self._output_limit = limits.output_bytes(bool(head.get("stash")))
        request = None if self._pid else take(self._inbox)
        if request is not None:
            self._fork(request, self._deadline_s)

    def _fork(self, request: bytes, deadline_s: float) -> None:
        messages, child_messages = os.pipe()
        prints, child_prints = os.pipe()
        self._folder.mkdir()
        self._pid = os.fork()
        if self._pid == 0:
            child.live(request, child_messages, child_prints, self._folder, self._jobs.pid)
        os.close(child_messages)
        os.close(child_prints)
        self._jobs.by_pid[self._pid] = self
        self.ends_at = time.monotonic() + deadline_s
        self._pipes = {messages: self._pass_messages, prints: self._pass_print}
        for descriptor in self._pipes:
            os.set_blocking(descriptor, False)
            self._jobs.selector.register(descriptor, selectors.EVENT_READ, partial(self._read_pipe, descriptor))

    def _read_pipe(self, descriptor: int) -> bool:
        """Take one block from a pipe of the child; whether there may be more."""
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
        """Pass on whole messages, unread."""
        self._messages += block
        try:
            while (payload := take(self._messages)) is not None:
                self._outbox += frame(payload)
        except Broken:
            self.kill("crash")
        self._push()

    def _pass_print(self, block: bytes) -> None:
        self._outbox += encode({"print": self._decoder.decode(block), "ts": now()})
        self._push()

    def _push(self) -> None:
        """Write what the connection takes now, and the rest when it takes more; close it after the last byte."""
        try:
            while self._outbox:
                del self._outbox[: self._connection.send(self._outbox[:BLOCK])]
        except BlockingIOError:
            pass
        except OSError:
            self.close()
            return
        if self._is_over and not self._outbox:
            self.close()
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outbox else 0)
        key = self._jobs.selector.get_key(self._connection)
        if key.events != events:
            self._jobs.selector.modify(self._connection, events, key.data)

    def _close_pipe(self, descriptor: int) -> None:
        if self._pipes.pop(descriptor, None) is not None:
            self._jobs.selector.unregister(descriptor)
            os.close(descriptor)
