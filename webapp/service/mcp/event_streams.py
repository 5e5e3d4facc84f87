"""The response to a call of a tool: JSON if the call ends at once, otherwise an event stream with its progress.

The call runs in a thread of its own, so that the thread of the request can report progress, and notice that the client
cancels: a modern one disconnects, an older one sends a message. The two threads share a :class:`Line`: one puts
messages on it, the other sends them. An answer of the client, or its cancellation, arrives with a later request, maybe
at another process, as a signal.
"""

import contextvars
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import orjson
from flask import Response

from webapp.kit import cancellation
from webapp.kit.cancellation import Cancellation
from webapp.service.domain.agents import request_signals
from webapp.service.domain.base.service import Service
from webapp.service.mcp import protocol
from webapp.service.mcp.clients import Client
from webapp.service.mcp.protocol import Message, ProtocolError

T = TypeVar("T")
Places = threading.BoundedSemaphore
"""How many calls may wait for people at once; the others do not wait."""
LOOK_EVERY_S = 0.5
FIRST_S = 1.0
"""A call that ends within it is answered as JSON."""
TURN_S = 1.0
MEDIA_TYPE = "text/event-stream"
ANSWER, CANCEL = "answer", "cancelled"
CANCELLED = "The call was cancelled."
_ANSWERS = ("accept", "decline", "cancel")
_PING = b": goes on\r\n\r\n"
_HEADERS = {"X-Accel-Buffering": "no"}
log = logging.getLogger(__name__)


class Line:
    """The line of one call. ``streams`` says that its client accepts messages before the response."""

    def __init__(self, service: Service, client: Client, message: Message, places: Places, *, streams: bool) -> None:
        self.cancellation, self.streams, self.progress = Cancellation(), streams, "It is still running."
        self._service, self._client, self._places = service, client, places
        self._messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._cancelled = request_signals.name_of(service, [client.session, CANCEL, message.id or ""])

    def send(self, message: dict[str, Any] | None) -> None:
        """Put a message on the line; None is the end of the call."""
        self._messages.put(message)

    def report(self, progress: str) -> None:
        """Set the sentence of the progress messages that follow."""
        self.progress = progress

    def take(self, seconds: float) -> dict[str, Any] | None:
        """The next message, None at the end. Raises :class:`queue.Empty` if none arrives within ``seconds``."""
        return self._messages.get(timeout=seconds)

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next message, None at the end, or ``{}`` if none arrives within ``seconds``."""
        try:
            return self.take(seconds)
        except Empty:
            return {}

    def check_cancellation(self) -> None:
        """End the call if its client has cancelled it in a later request."""
        if self._client.session and request_signals.look(self._service, self._cancelled) is not None:
            self.cancellation.request()

    def wait(self, look: Callable[[], T | None], seconds: float) -> T | None:
        """Poll ``look`` for up to ``seconds`` and return its first result, or None; poll once if too many calls
        wait."""
        if not self._places.acquire(blocking=False):
            return look()
        try:
            end = time.monotonic() + seconds
            while (value := look()) is None and time.monotonic() < end and not self.cancellation.is_requested:
                time.sleep(LOOK_EVERY_S)
            return value
        finally:
            self._places.release()

    def ask(self, params: Mapping[str, Any], seconds: float) -> str | None:
        """Return the person's answer to a question that a client of an older revision shows: accept, decline or
        cancel.
        """
        number = f"ask-{secrets.token_urlsafe(12)}"
        self.send({"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": dict(params)})
        name = request_signals.name_of(self._service, [self._client.session, ANSWER, number])
        return self.wait(lambda: request_signals.look(self._service, name), seconds)


class Work:
    """The result of ``produce``, or its error, once ``line`` has ended."""

    def __init__(self, line: Line, produce: Callable[[], dict[str, Any]]) -> None:
        self.line, self._produce = line, produce
        self._result: dict[str, Any] | None = None
        self._error: BaseException | None = None

    def begin(self) -> None:
        """Start the work in a thread of its own, with this thread's context."""
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._do,), daemon=True, name="agent's call").start()

    def result(self) -> dict[str, Any]:
        """The result. Raises the error of the work, or one if it was cancelled."""
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


def answer(work: Work, message: Message, client: Client, done: Callable[[dict[str, Any]], bytes]) -> Response:
    """Do ``work`` and respond to ``message`` with its result, serialized by ``done``. Raises what the work raises."""
    line = work.line
    work.begin()
    first = line.next(FIRST_S)
    if first is None:
        return _json(done(work.result()))
    if line.streams:
        events = _events(work, first, message, client, done)
        return Response(events, mimetype=MEDIA_TYPE, headers=_HEADERS)
    while line.next(TURN_S) is not None:
        line.check_cancellation()
    return _json(done(work.result()))


def _events(
    work: Work, first: dict[str, Any], message: Message, client: Client, done: Callable[[dict[str, Any]], bytes]
) -> Iterator[bytes]:
    line, began = work.line, time.monotonic() - FIRST_S
    sent: dict[str, Any] | None = first
    try:
        while sent is not None:
            yield _event(orjson.dumps(sent)) if sent else _turn(line, message, time.monotonic() - began)
            line.check_cancellation()
            sent = line.next(TURN_S)
        yield _event(_ending(work, message, done))
    except GeneratorExit:
        if client.is_modern:  # it cancels by disconnecting
            line.cancellation.request()
        raise


def _turn(line: Line, message: Message, seconds: float) -> bytes:
    """A keep-alive: a progress message if the client requested progress, otherwise a comment."""
    if message.progress_token is None:
        return _PING
    params = {"progressToken": message.progress_token, "progress": round(seconds, 3), "message": line.progress}
    return _event(orjson.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))


def _ending(work: Work, message: Message, done: Callable[[dict[str, Any]], bytes]) -> bytes:
    try:
        return done(work.result())
    except Exception as error:
        if not isinstance(error, ProtocolError):
            log.error("A call of a tool failed.", exc_info=error)
        return orjson.dumps(protocol.failure(message.id, protocol.error_of(error)))


def _event(data: bytes) -> bytes:
    return b"event: message\r\ndata: " + data + b"\r\n\r\n"


def _json(body: bytes) -> Response:
    return Response(body, mimetype="application/json")


def pass_on(service: Service, client: Client, message: Message) -> None:
    """Pass ``message``, a notification or response about a running call, on to it."""
    if not client.session:
        return
    if message.method is None and message.id is not None:
        result = message.result if isinstance(message.result, dict) else {}
        action = result.get("action")
        answer = action if action in _ANSWERS else "cancel"
        request_signals.send(service, request_signals.name_of(service, [client.session, ANSWER, message.id]), answer)
    elif message.method == "notifications/cancelled":
        number = message.params.get("requestId")
        if isinstance(number, str | int) and not isinstance(number, bool):
            request_signals.send(service, request_signals.name_of(service, [client.session, CANCEL, number]), CANCEL)
