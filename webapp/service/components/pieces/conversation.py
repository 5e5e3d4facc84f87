"""One conversation with a process of Node: the runner lends it, the call goes there and its messages come back.

However it goes wrong, the Reply says so; a process that did not come to the end of its call serves nobody any more.
"""

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
from webapp.service.components.pieces import frames, host_process, node
from webapp.service.components.pieces.carrier import Carrier
from webapp.service.components.pieces.channels import Reach, TooMuch
from webapp.service.components.reply_builder import ReplyBuilder
from webapp.service.components.wire import Broken, Line, encode

NOT_RUNNING = "Integrations from npm cannot run now, because the runner does not answer. Try again in a moment."
BUSY = "Too many integrations work at once. Try again in a moment."
LOST = "The runner ended while the integration was working. Run it again."
"""What it did is not known."""
_NEWS_S = 3.0  # for the runner to say how a process ended
_READY = "ready"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: ``call`` goes to the process of ``user`` that has loaded ``package`` from ``folder``."""

    folder: Path
    package: str
    call: dict[str, Any]
    reach: Reach
    user: str
    deadline_s: float
    stash: bool = False


class Conversation:
    """Asks for one ``request`` and tells ``builder``; ``connect`` gives a line to the runner."""

    def __init__(
        self, request: Request, builder: ReplyBuilder, connect: Callable[[float], Line | None], bounds: PieceBounds
    ) -> None:
        self._request, self._builder, self._connect, self._bounds = request, builder, connect, bounds
        self._refused: tuple[str, ...] = ()
        self._is_spent = False

    def hold(self) -> Reply:
        """Have it, and tell what came of it; at the latest at the deadline, which begins when there is a process."""
        here = node.find()
        if here is None:
            return self._builder.fail(node.MISSING)
        try:
            first = frames.message({"call": self._request.call})
            head = encode(self._head(here))
        except TypeError:
            return self._builder.fail("The values given hold something that JSON cannot carry. Check them.")
        if len(first) > frames.MAX_FRAME:
            return self._builder.fail("The values given are too large. Send less.")
        longest_s = limits.host_wait_s(self._request.deadline_s) + self._request.deadline_s + _NEWS_S
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
                "program": str(host_process.PROGRAM),
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
        stands = True
        try:
            stands = carrier.carry(first, line.fileno())
        except TimeoutError:
            self._builder.take({"end": "timeout", "code": 0})
        except TooMuch:
            self._builder.take({"end": "output", "code": 0})
        except Broken:
            self._fail("crash", "Crash", "The integration's process said what makes no sense, so it was stopped.")
        finally:
            self._refused = tuple(carrier.refused)
            carrier.close()
        with suppress(TimeoutError):
            if stands and carrier.is_clean and not self._is_spent:
                line.send(encode({"done": True}))
        if not stands:
            self._ended(line)

    def _take(self, message: Any) -> bool:
        """Tell of one message of the process; whether it was the last one."""
        if not isinstance(message, dict):
            raise Broken("no message")
        if _READY in message:
            return False
        self._builder.take_from_child(message)
        self._is_spent = message.get("spent") is True  # what it did for this call goes on, so it does no other
        return ("value" in message and not {"export", "set"} & message.keys()) or "error" in message

    def _ended(self, line: Line) -> None:
        """The process is gone, or speaks no sense any more: say why, as far as the runner knows."""
        line.shorten(_NEWS_S)
        try:
            message = line.receive()
        except TimeoutError:  # it was ended at the deadline, which is over for us, too
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
    """What changes when the package is installed again in the same place."""
    try:
        return (folder / "node_modules" / package / "package.json").stat().st_mtime_ns
    except OSError:
        return 0
