"""The HTTP client in the process of a call, which has no network: the process that made the call sends its requests.

A request is written to one descriptor as a JSON head and a body; the response has the same form. :mod:`broker` is the
other end. Threads of a component take turns.
"""

import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from webapp.service.components import limits
from webapp.service.components.errors import HttpError
from webapp.service.components.http import Http, HttpRequest
from webapp.service.components.wire import BLOCK, LENGTH, MAX_MESSAGE, frame, receive_descriptor
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import header_fields

_UNSENDABLE = "The request contains something that cannot be sent. Use text for its address, names and headers."
_GONE = "The request could not be sent, because nobody waits for this call any more."


class BrokerLine:
    """The connection to the broker over the open socket ``descriptor``."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._turn = descriptor, threading.Lock()

    def ask(self, head: dict[str, Any], body: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Send one request and wait for its answer. Raises :class:`HttpError`."""
        payload = _payload({**head, "size": len(body)})
        with self._turn, _reporting_disconnection():
            self._write(frame(payload))
            self._write(body)
            return self._answer(self._read(LENGTH.size))

    def ask_for_descriptor(self, head: dict[str, Any]) -> tuple[dict[str, Any], int | None]:
        """As :meth:`ask`, also with the descriptor that came with the answer, or None."""
        payload = _payload(head)
        with self._turn, _reporting_disconnection():
            self._write(frame(payload))
            first, descriptor = receive_descriptor(self._descriptor, LENGTH.size)
            return self._answer(first)[0], descriptor

    def _answer(self, length: bytes) -> tuple[dict[str, Any], bytes]:
        (size,) = LENGTH.unpack(length)
        answer = orjson.loads(self._read(min(size, MAX_MESSAGE)))
        return answer, self._read(answer["size"])

    def _write(self, payload: bytes) -> None:
        rest = memoryview(payload)
        while rest:
            rest = rest[os.write(self._descriptor, rest[: 16 * BLOCK]) :]

    def _read(self, size: int) -> bytes:
        content = bytearray()
        while len(content) < size:
            block = os.read(self._descriptor, min(size - len(content), 16 * BLOCK))
            if not block:
                raise ConnectionResetError
            content += block
        return bytes(content)


def _payload(head: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(head)
    except TypeError:
        raise HttpError(_UNSENDABLE) from None


@contextmanager
def _reporting_disconnection() -> Iterator[None]:
    """Raise :class:`HttpError` if the broker has closed the connection."""
    try:
        yield
    except (OSError, ValueError, struct.error):
        raise HttpError(_GONE) from None


class BrokeredHttp(Http):
    """Sends for the account of the app prop ``prop``, or for none; ``left_s`` returns the seconds that the call has
    left."""

    def __init__(self, line: BrokerLine, prop: str | None, left_s: Callable[[], float]) -> None:
        self._line, self._prop, self._left_s = line, prop, left_s

    def exchange(self, request: HttpRequest) -> Response | Failure:
        """Send ``request`` through the broker. Raises :class:`HttpError` if it cannot be sent."""
        body = request.body or b""
        if len(body) > limits.BODY_BYTES:
            raise HttpError(f"The request has {len(body):,} bytes, which is too much. Send less at once.")
        answer, content = self._line.ask(
            {
                "prop": self._prop,
                "left_s": self._left_s(),
                "method": request.method,
                "url": request.url,
                "params": request.params,
                "headers": {str(name): str(value) for name, value in request.headers.items()},
                "has_body": request.body is not None,
                "is_json": request.is_json,
                "form": request.form,
                "auth": request.auth,
                "max_bytes": request.max_bytes,
            },
            body,
        )
        if "error" in answer:
            raise HttpError(answer["error"])
        if "kind" in answer:
            return Failure(answer["kind"], answer["sentence"])
        return Response(answer["status"], header_fields(answer["headers"]), content, answer["url"])
