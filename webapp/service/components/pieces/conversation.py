"""One call to a Node process leased from the runner: sends the call and receives its messages.

It runs in the calling thread, which also copies the bytes of the piece's connections.
"""

import selectors
import socket
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from webapp.kit.cancellation import CURRENT
from webapp.kit.clock import now
from webapp.service.components import limits
from webapp.service.components.calls import ErrorKind, PieceBounds, Reply
from webapp.service.components.pieces import frames, node, node_process
from webapp.service.components.pieces.channels import Channels, Reach, TooMuch, watch
from webapp.service.components.reply_builder import ReplyBuilder
from webapp.service.components.wire import Line, ProtocolError, encode

_FULL = 1024 * 1024  # unsent bytes for the host above which servers are not read
_FLOODED = 32 * 1024 * 1024  # unsent bytes for a host that does not read
_REST_S = 0.5  # for unsent bytes after the call is over
NOT_RUNNING = "Integrations from npm cannot run now, because the runner does not answer. Try again in a moment."
BUSY = "Too many integrations run at once. Try again in a moment."
LOST = "The runner ended while the integration was working. Run it again."  # whatever it did is unknown
_NEWS_S = 3.0  # for the runner to report how a process ended
_READY = "ready"


class HungUp(OSError):
    """The process closed the connection."""


class Carrier:
    """One call over the socket ``host``. ``take`` gets its messages, at most ``most`` bytes, and returns True for the
    last.

    ``refused`` are the hosts that were refused; ``is_clean`` says that the process may be used again.
    """

    def __init__(
        self, host: socket.socket, reach: Reach, take: Callable[[Any], bool], deadline: float, most: int
    ) -> None:
        self._host, self._take, self._deadline, self._left = host, take, deadline, most
        self._selector = selectors.DefaultSelector()
        self._inbox, self._outbox = bytearray(), bytearray()
        self._channels = Channels(reach, deadline, self._selector, self._outbox.extend)
        self._stands: bool | None = None
        self.refused, self.is_clean = self._channels.refused, False

    def carry(self, first: bytes, line: int) -> bool:
        """Send ``first`` and work until the last message; False where there is news of the process on the descriptor
        ``line``, or it hung up. Raises ``TimeoutError`` at the deadline, :class:`ProtocolError` and
        :class:`TooMuch`."""
        self._host.setblocking(False)
        self._outbox += first
        self._selector.register(line, selectors.EVENT_READ, self._end)
        try:
            while self._stands is None:
                self._turn()
        except HungUp:
            return False
        if self._stands:
            self._rest()
        return self._stands

    def close(self) -> None:
        """Close all connections."""
        self._channels.close()
        self._selector.close()

    def _turn(self) -> None:
        """Send as much as the host takes, and wait for the next event."""
        self._push()
        watch(self._selector, self._host, selectors.EVENT_READ | _writes(self._outbox), self._receive)
        self._channels.watch(len(self._outbox) > _FULL)
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        for key, events in self._selector.select(left):
            key.data(events)
            if self._stands is not None:
                return

    def _end(self, _: int) -> None:
        self._stands = False

    def _push(self) -> None:
        try:
            while self._outbox:
                del self._outbox[: self._host.send(self._outbox[: 4 * frames.DATA_BYTES])]
        except BlockingIOError:
            pass
        except OSError as error:
            raise HungUp from error

    def _receive(self, _: int) -> None:
        """Handle the frames of the host until its last message."""
        try:
            block = self._host.recv(4 * frames.DATA_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            raise HungUp from error
        self._inbox += block
        while (frame := frames.take(self._inbox)) is not None:
            if frame.kind != frames.JSON:
                self._channels.take(frame)
                if len(self._outbox) > _FLOODED:
                    raise TooMuch
                continue
            self._left -= len(frame.payload)
            if self._left < 0:
                raise TooMuch
            if self._take(frame.json()):
                self._stands = True
                return
        if not block:
            self._stands = False

    def _rest(self) -> None:
        """Send the rest of partly sent frames, if possible, so that the next call can begin."""
        until = time.monotonic() + _REST_S
        while time.monotonic() < until:
            self._push()
            while frames.take(self._inbox) is not None:
                pass
            if not self._outbox and not self._inbox:
                self.is_clean = True
                return
            watch(self._selector, self._host, selectors.EVENT_READ | _writes(self._outbox), self._end)
            self._selector.select(0.05)
            try:
                block = self._host.recv(4 * frames.DATA_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                return
            if not block:
                return
            self._inbox += block


def _writes(outbox: bytearray) -> int:
    return selectors.EVENT_WRITE if outbox else 0


@dataclass(frozen=True, slots=True)
class Request:
    """A request: ``call`` is for the process of ``user`` that has loaded ``package`` from ``folder``."""

    folder: Path
    package: str
    call: dict[str, Any]
    reach: Reach
    user: str
    deadline_s: float
    stash: bool = False


class Conversation:
    """Makes one ``request`` and passes its messages to ``builder``; ``connect`` opens a line to the runner."""

    def __init__(
        self, request: Request, builder: ReplyBuilder, connect: Callable[[float], Line | None], bounds: PieceBounds
    ) -> None:
        self._request, self._builder, self._connect, self._bounds = request, builder, connect, bounds
        self._refused: tuple[str, ...] = ()
        self._is_spent = False

    def hold(self) -> Reply:
        """Make the request and return its Reply, at the latest at the deadline, which counts from when there is a
        process."""
        here = node.find()
        if here is None:
            return self._builder.fail(node.MISSING)
        try:
            first = frames.message({"call": self._request.call})
            head = encode(self._head(here))
        except TypeError:
            return self._builder.fail("The values contain something that JSON cannot represent. Check them.")
        if len(first) > frames.MAX_FRAME:
            return self._builder.fail("The values given are too large. Send less.")
        longest_s = limits.node_wait_s(self._request.deadline_s) + self._request.deadline_s + _NEWS_S
        line = self._connect(time.monotonic() + longest_s)
        if line is None:
            return self._builder.fail(NOT_RUNNING)
        try:
            return self._asked(line, head, first)
        finally:
            line.close()

    def _head(self, here: node.Node) -> dict[str, Any]:
        return {
            "deadline_s": self._request.deadline_s,
            "piece": {
                "folder": str(self._request.folder),
                "package": self._request.package,
                "user": self._request.user,
                "node": {
                    "path": str(here.path),
                    "libraries": [str(library) for library in here.libraries],
                    "base_mb": here.base_mb,
                },
                "program": str(node_process.PROGRAM),
                "stamp": _stamp(self._request.folder, self._request.package),
            },
            "bounds": {
                "processes": self._bounds.processes,
                "memory_mb": self._bounds.memory_mb,
                "idle_s": self._bounds.idle_s,
            },
        }

    def _asked(self, line: Line, head: bytes, first: bytes) -> Reply:
        work = CURRENT.get()
        try:
            with work.stopping(line.stop) if work else nullcontext():
                line.send(head)
                message, descriptor = line.receive_descriptor()
                if descriptor is None:
                    return self._builder.fail(BUSY if message.get("end") == "busy" else NOT_RUNNING)
                with socket.socket(fileno=descriptor) as host:
                    self._carry(line, host, first)
        except TimeoutError:
            return self._builder.fail(BUSY)
        except OSError:
            return self._builder.fail(LOST)
        return self._reply()

    def _carry(self, line: Line, host: socket.socket, first: bytes) -> None:
        most = limits.output_bytes(self._request.stash)
        deadline = time.monotonic() + self._request.deadline_s
        carrier = Carrier(host, self._request.reach, self._take, deadline, most)
        is_open = True
        try:
            is_open = carrier.carry(first, line.fileno())
        except TimeoutError:
            self._builder.take({"end": "timeout", "code": 0})
        except TooMuch:
            self._builder.take({"end": "output", "code": 0})
        except ProtocolError:
            self._fail("crash", "Crash", "The integration's process sent an invalid message, so it was stopped.")
        finally:
            self._refused = tuple(carrier.refused)
            carrier.close()
        with suppress(TimeoutError):
            if is_open and carrier.is_clean and not self._is_spent:
                line.send(encode({"done": True}))
        if not is_open:
            self._ended(line)

    def _take(self, message: Any) -> bool:
        """Pass one message of the process on; True for the last one."""
        if not isinstance(message, dict):
            raise ProtocolError("no message")
        if _READY in message:
            return False
        self._builder.take_from_child(message)
        self._is_spent = message.get("spent") is True  # work of this call continues in it, so it gets no other call
        return ("value" in message and not {"export", "set"} & message.keys()) or "error" in message

    def _ended(self, line: Line) -> None:
        """Report why the process ended or sent invalid frames, as far as the runner knows."""
        line.shorten(_NEWS_S)
        try:
            message = line.receive()
        except TimeoutError:  # it was killed at the deadline, which has passed here too
            message = {"end": "timeout"}
        reason, code = message.get("end"), int(message.get("code", 0))
        if reason == "memory":
            most = f"{self._bounds.memory_mb} MiB"
            self._fail("memory", "MemoryError", f"The integration needed more than {most}, so it was stopped.")
        elif reason == "disk":
            self._fail("output", "TooMuchOutput", "The integration wrote more than 128 MiB, so it was stopped.")
        else:
            self._builder.take({"end": reason, "code": code})

    def _fail(self, kind: ErrorKind, name: str, sentence: str) -> None:
        message = f"{sentence} Ask for less, or tell its author."
        self._builder.take({"error": {"kind": kind, "name": name, "message": message}})

    def _reply(self) -> Reply:
        for host in self._refused:
            text = f"{host} was refused: it is not among the hosts that this integration may reach."
            self._builder.take({"log": text, "ts": now()})
        return replace(self._builder.reply(), refused_hosts=self._refused)


def _stamp(folder: Path, package: str) -> int:
    """A number that changes when the package is installed again in the same folder."""
    try:
        return (folder / "node_modules" / package / "package.json").stat().st_mtime_ns
    except OSError:
        return 0
