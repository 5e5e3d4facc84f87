"""Answers calls of tools: what is done at once as JSON, what takes longer as an event stream with its progress.

The work is done by a thread of its own, so that the one of the request can tell the client how it goes on, and notice
that the client wants it no more: a modern one hangs up, an older one says so.
"""

import contextvars
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from flask import Response

from webapp.kit import cancellation
from webapp.service.mcp import protocol
from webapp.service.mcp.conversations import Client
from webapp.service.mcp.line import Line
from webapp.service.mcp.protocol import Message, ProtocolError

FIRST_S = 1.0
"""What ends within it is answered as JSON."""
TURN_S = 1.0
STREAM = "text/event-stream"
CANCELLED = "The call was cancelled."
_PING = b": goes on\r\n\r\n"
_HEADERS = {"X-Accel-Buffering": "no"}
log = logging.getLogger(__name__)


class Work:
    """What ``produce`` gives, or how it fails, once ``line`` has come to its end."""

    def __init__(self, line: Line, produce: Callable[[], dict[str, Any]]) -> None:
        self.line, self._produce = line, produce
        self._result: dict[str, Any] | None = None
        self._error: BaseException | None = None

    def begin(self) -> None:
        """Do it in a thread of its own, for whomever this thread works."""
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._do,), daemon=True, name="agent's call").start()

    def result(self) -> dict[str, Any]:
        """What came of it. Raises what it has raised, and an error where nobody wants it any more."""
        if self.line.cancellation.is_requested:
            raise ProtocolError(protocol.REFUSED, CANCELLED)
        if self._error is not None:
            raise self._error
        return self._result or {}

    def _do(self) -> None:
        try:
            with cancellation.cancelling(self.line.cancellation):
                self._result = self._produce()
        except BaseException as error:
            self._error = error
        finally:
            self.line.send(None)


def answered(work: Work, message: Message, client: Client, done: Callable[[dict[str, Any]], bytes]) -> Response:
    """Do ``work`` and answer ``message`` with it, which ``done`` draws. Raises what the work does."""
    line = work.line
    work.begin()
    first = line.next(FIRST_S)
    if first is None:
        return _json(done(work.result()))
    if line.streams:
        events = _events(work, first, message, client, done)
        return Response(events, mimetype=STREAM, headers=_HEADERS)
    while line.next(TURN_S) is not None:
        line.look_for_end()
    return _json(done(work.result()))


def _events(
    work: Work, first: dict[str, Any], message: Message, client: Client, done: Callable[[dict[str, Any]], bytes]
) -> Iterator[bytes]:
    line, began = work.line, time.monotonic() - FIRST_S
    sent: dict[str, Any] | None = first
    try:
        while sent is not None:
            yield _event(orjson.dumps(sent)) if sent else _turn(line, message, time.monotonic() - began)
            line.look_for_end()
            sent = line.next(TURN_S)
        yield _event(_ending(work, message, done))
    except GeneratorExit:
        if client.is_modern:  # hanging up is how it cancels
            line.cancellation.request()
        raise


def _turn(line: Line, message: Message, seconds: float) -> bytes:
    """That it goes on: as progress for who wants to know, else as a comment that keeps the connection open."""
    if message.progress_token is None:
        return _PING
    words = line.words or "It is still running."
    params = {"progressToken": message.progress_token, "progress": round(seconds, 3), "message": words}
    return _event(orjson.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))


def _ending(work: Work, message: Message, done: Callable[[dict[str, Any]], bytes]) -> bytes:
    try:
        return done(work.result())
    except Exception as error:
        if not isinstance(error, ProtocolError):
            log.error("A call of a tool failed.", exc_info=error)
        return orjson.dumps(protocol.failure(message.id, protocol.told(error)))


def _event(data: bytes) -> bytes:
    return b"event: message\r\ndata: " + data + b"\r\n\r\n"


def _json(body: bytes) -> Response:
    return Response(body, mimetype="application/json")
