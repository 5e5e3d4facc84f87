"""Sends the HTTP requests of a call, whose own process has neither the network nor the account's credential.

The broker also opens connections to the server of the call's account, for database drivers. It runs in the process that
made the call; the process of the call has :mod:`brokered_http` and :mod:`relay`, which import nothing from here.
"""

import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from webapp.kit.clock import Deadline
from webapp.service.components import limits
from webapp.service.components.account_http import AccountHttp, RefusalReporter
from webapp.service.components.calls import Call
from webapp.service.components.child_calls import DECLARATION, reads_secrets
from webapp.service.components.errors import HttpError
from webapp.service.components.http import HttpRequest
from webapp.service.components.masking import Mask
from webapp.service.components.wire import BLOCK, LENGTH, frame
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure, connect_failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.headers import USER_AGENT
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import Limits, connect

HEAD_BYTES = 1024 * 1024


def connected(call: Call, host: str, port: int, deadline: Deadline) -> socket.socket | Failure:
    """Return a connection to ``port`` of ``host``, which is resolved and checked once, or the reason for the
    failure."""
    if not reads_secrets(Path(call.path)):
        return _no(f"Only a component with {DECLARATION} = True may connect to the server of its account.")
    if not any(host in grant.values.values() for grant in call.accounts.values()):
        return _no(f"{host} is not the server of this account. Use the one that the account names.")
    addresses = Guard(call.allow_hosts).pin_host(host, port, deadline)
    if isinstance(addresses, Failure):
        return addresses
    try:
        connection = connect(addresses, port, Limits(deadline, sys.maxsize))
    except OSError as error:
        return connect_failure(error, host)
    connection.setblocking(True)
    return connection


def _no(sentence: str) -> Failure:
    return Failure("refused_by_guard", sentence)


class RequestHead(BaseModel):
    """The head of an HTTP request, as ``brokered_http`` sends it."""

    model_config = ConfigDict(defer_build=True, extra="forbid", strict=True)

    prop: str | None
    left_s: float
    method: str
    url: str
    params: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    has_body: bool
    is_json: bool
    form: dict[str, tuple[str, ...]] | None
    auth: tuple[str, str] | None
    max_bytes: int | None = Field(ge=0)
    size: int = Field(ge=0, le=limits.BODY_BYTES)


class ConnectionRequest(BaseModel):
    """A database driver's request for a connection, as ``relay`` sends it."""

    model_config = ConfigDict(defer_build=True, extra="forbid", strict=True)

    host: str = Field(max_length=255)
    port: int = Field(ge=1, le=65535)


_asking: TypeAdapter[RequestHead | ConnectionRequest] = TypeAdapter(RequestHead | ConnectionRequest)


class Broker:
    """Answers the requests of one call. ``far`` is the socket for the process of the call. Close the broker afterwards.

    ``send`` takes messages about the call itself, such as that a credential was refused.
    """

    def __init__(self, call: Call, send: Callable[[dict[str, Any]], None]) -> None:
        self._call, self._left_s = call, 0.0
        self._watch = RefusalReporter(send)
        self._client: OutboundClient | None = None
        self._near, self.far = socket.socketpair()

    def fileno(self) -> int:
        """The descriptor to wait for; negative after :meth:`close`."""
        return self._near.fileno()

    def close(self) -> None:
        """Close both sockets. Closing again does nothing."""
        self._near.close()
        self.far.close()

    def answer(self, deadline: float) -> None:
        """Read one request, send it and write the response, until ``deadline`` (monotonic seconds)."""
        try:
            (length,) = LENGTH.unpack(self._read(LENGTH.size, deadline))
            if length > HEAD_BYTES:
                self.close()
                return
            question = _asking.validate_json(self._read(length, deadline))
            if isinstance(question, ConnectionRequest):
                self._hand_over(question, deadline)
                return
            body = self._read(question.size, deadline)
            head, content = self._exchange(question, body)
            self._near.settimeout(_left(deadline))
            self._near.sendall(frame(orjson.dumps({**head, "size": len(content)})) + content)
        except (OSError, ValidationError):
            self.close()

    def _read(self, size: int, deadline: float) -> bytes:
        content = bytearray()
        while len(content) < size:
            self._near.settimeout(_left(deadline))
            block = self._near.recv(min(size - len(content), 16 * BLOCK))
            if not block:
                raise ConnectionResetError
            content += block
        return bytes(content)

    def _hand_over(self, server: ConnectionRequest, deadline: float) -> None:
        """Answer with an open connection to the account's server, or with the reason for the failure."""
        outcome = connected(self._call, server.host, server.port, Deadline(_left(deadline)))
        self._near.settimeout(_left(deadline))
        if isinstance(outcome, Failure):
            failure = {"kind": outcome.kind, "sentence": outcome.sentence, "size": 0}
            self._near.sendall(frame(orjson.dumps(failure)))
            return
        with outcome:
            socket.send_fds(self._near, [frame(orjson.dumps({"size": 0}))], [outcome.fileno()])

    def _exchange(self, question: RequestHead, body: bytes) -> tuple[dict[str, Any], bytes]:
        request = HttpRequest(
            question.method,
            question.url,
            question.params,
            question.headers,
            body if question.has_body else None,
            question.is_json,
            question.form,
            question.auth,
            None if question.max_bytes is None else min(question.max_bytes, limits.BODY_BYTES),
        )
        self._left_s = min(limits.REQUEST_S, question.left_s)
        try:
            outcome = self._http(question.prop).exchange(request)
        except (HttpError, ValueError, RecursionError) as error:
            return {"error": str(error)}, b""
        if isinstance(outcome, Failure):
            return {"kind": outcome.kind, "sentence": outcome.sentence}, b""
        url = self._without_secrets(question.prop, outcome.url)
        return {"status": outcome.status, "headers": _pairs(outcome), "url": url}, outcome.body

    def _without_secrets(self, prop: str | None, url: str) -> str:
        """``url`` with the credential masked, as some apps carry it in the URL."""
        grant = self._call.accounts.get(prop) if prop is not None else None
        return url if grant is None else Mask.of_account(grant)(url)

    def _http(self, prop: str | None) -> AccountHttp:
        if self._client is None:
            self._client = OutboundClient(Guard(self._call.allow_hosts), user_agent=USER_AGENT)
        grant = self._call.accounts.get(prop) if prop is not None else None
        note = partial(self._watch.note, prop if grant is not None else None)
        return AccountHttp(self._client, grant, lambda: self._left_s, note)


def _pairs(response: Response) -> list[tuple[str, str]]:
    """All headers, including repeated ones."""
    several = getattr(response.headers, "iteritems", response.headers.items)
    return list(several())


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
