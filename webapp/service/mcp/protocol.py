"""The Model Context Protocol on the wire: revisions, messages, batches and errors, and the schema of each request's
parameters in each revision.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

Object = dict[str, Any]
Params = Mapping[str, Any]
MODERN = "2026-07-28"
HANDSHAKES = ("2025-03-26", "2025-06-18", "2025-11-25")
ASSUMED = HANDSHAKES[0]
"""The revision of a client that names none."""
BATCHES = HANDSHAKES[0]
"""The only revision that has batches (JSON-RPC 2.0 section 6)."""
MAX_BATCH = 20
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR = -32603
REFUSED = -32010
"""Ours: what HTTP says by its status, such as 401, 403 or 429."""
HEADER_MISMATCH, UNSUPPORTED_REVISION = -32020, -32022
STATUSES = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_REVISION: 400,
    METHOD_NOT_FOUND: 404,
}
"""What a modern client is answered with; an older one reads only the error."""
_VENDOR = "io.modelcontextprotocol"
REVISION_KEY, CLIENT_KEY = f"{_VENDOR}/protocolVersion", f"{_VENDOR}/clientInfo"
CAPABILITIES_KEY, SERVER_KEY = f"{_VENDOR}/clientCapabilities", f"{_VENDOR}/serverInfo"
NAME_LENGTH = 100
NO_METHOD = "There is no such method in this revision of the protocol."


class _Shape(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="ignore")


class _Elicitation(_Shape):
    form: Object | None = None
    url: Object | None = None


class _Capabilities(_Shape):
    elicitation: _Elicitation | None = None
    experimental: dict[str, Object] | None = None
    extensions: dict[str, Object] | None = None
    roots: Object | None = None
    sampling: Object | None = None


class _Program(_Shape):
    name: str
    version: str
    title: str | None = None


class _Meta(_Shape):
    progress: str | int | None = Field(None, alias="progressToken")


class _ModernMeta(_Meta):
    revision: str = Field(alias="io.modelcontextprotocol/protocolVersion")
    capabilities: _Capabilities = Field(alias="io.modelcontextprotocol/clientCapabilities")
    client: _Program | None = Field(None, alias="io.modelcontextprotocol/clientInfo")
    log_level: str | None = Field(None, alias="io.modelcontextprotocol/logLevel")


class _Params(_Shape):
    meta: _Meta | None = Field(None, alias="_meta")


class _ModernParams(_Shape):
    meta: _ModernMeta = Field(alias="_meta")


class _Initialize(_Params):
    revision: str = Field(alias="protocolVersion")
    capabilities: _Capabilities
    client: _Program = Field(alias="clientInfo")


class _List(_Params):
    cursor: str | None = None


class _ModernList(_ModernParams):
    cursor: str | None = None


class _Call(_Params):
    name: str
    arguments: Object | None = None


class _ModernCall(_ModernParams):
    name: str
    arguments: Object | None = None
    responses: dict[str, Object] | None = Field(None, alias="inputResponses")
    state: str | None = Field(None, alias="requestState")


OLDER_PARAMS: Mapping[str, type[BaseModel]] = {
    "initialize": _Initialize,
    "ping": _Params,
    "tools/list": _List,
    "tools/call": _Call,
}
"""The parameters of what is asked by a revision that begins with ``initialize``."""
MODERN_PARAMS: Mapping[str, type[BaseModel]] = {
    "server/discover": _ModernParams,
    "tools/list": _ModernList,
    "tools/call": _ModernCall,
}
"""Those since every request says for itself which revision it speaks."""


class ProtocolError(Exception):
    """The error response to a request that violates the protocol."""

    def __init__(self, code: int, message: str, data: Any = None, status: int | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data
        self.status = STATUSES.get(code, 200) if status is None else status

    def to_json(self) -> dict[str, Any]:
        """The error object of JSON-RPC."""
        error = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


@dataclass(frozen=True, slots=True)
class Message:
    """One message. A notification has no ``id``; a response to a request of ours has no ``method``."""

    id: int | str | None
    method: str | None
    params: Params
    result: Any = None

    @property
    def meta(self) -> Params:
        """The ``_meta`` of the parameters."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def progress_token(self) -> int | str | None:
        """The token for progress messages of this request, if any."""
        token = self.meta.get("progressToken")
        return token if isinstance(token, int | str) and not isinstance(token, bool) else None


def read(body: Any) -> Message:
    """Parse ``body`` as a message. Raises :class:`ProtocolError`."""
    if not isinstance(body, dict):
        raise ProtocolError(INVALID_REQUEST, "A message is a JSON object.")
    number, method, params = body.get("id"), body.get("method"), body.get("params")
    is_id = isinstance(number, str | int) and not isinstance(number, bool)
    is_method = isinstance(method, str) or (method is None and is_id and ("result" in body or "error" in body))
    if body.get("jsonrpc") != "2.0" or not is_method or not (params is None or isinstance(params, dict)):
        raise ProtocolError(INVALID_REQUEST, "Send one request or notification of JSON-RPC 2.0.")
    if "id" in body and not is_id:
        raise ProtocolError(INVALID_REQUEST, "The id of a request must be text or a whole number.")
    return Message(number, method, params or {}, body.get("result"))


def error_of(error: Exception) -> ProtocolError:
    """``error`` as a :class:`ProtocolError`; unexpected errors get no details."""
    if isinstance(error, ProtocolError):
        return error
    return ProtocolError(INTERNAL_ERROR, "Something went wrong on our side. Try again.")


def failure(number: int | str | None, error: ProtocolError) -> dict[str, Any]:
    """The error response to the request ``number``."""
    return {"jsonrpc": "2.0", "id": number, "error": error.to_json()}


def check(message: Message, revision: str) -> None:
    """Raise :class:`ProtocolError` for an unknown method, or for parameters that are invalid in ``revision``."""
    shape = (MODERN_PARAMS if revision == MODERN else OLDER_PARAMS).get(message.method or "")
    if shape is None:
        raise ProtocolError(METHOD_NOT_FOUND, NO_METHOD)
    try:
        shape.model_validate(message.params)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(("params", *map(str, first["loc"])))
        raise ProtocolError(INVALID_PARAMS, f"{where} is not valid: {first['msg']}.") from error


def name_of(client: Any) -> str:
    """The name of a client; "" if it gives none."""
    names = (client.get("title"), client.get("name")) if isinstance(client, dict) else ()
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    return "".join(character for character in name if character.isprintable()).strip()[:NAME_LENGTH]


def opens_links(capabilities: Any) -> bool:
    """Whether a client with these ``capabilities`` shows links to its user on request."""
    asks = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(asks, dict) and isinstance(asks.get("url"), dict)


def check_batch(messages: list[Any], revision: str) -> None:
    """Raise :class:`ProtocolError` for a batch that ``revision`` does not allow."""
    if revision != BATCHES:
        raise _invalid_batch(f"Send one message at a time; only the revision {BATCHES} has several in one request.")
    if not 1 <= len(messages) <= MAX_BATCH:
        raise _invalid_batch(f"Send 1 to {MAX_BATCH} messages in one request.")
    if any(isinstance(message, dict) and message.get("method") == "initialize" for message in messages):
        raise _invalid_batch("initialize must come alone.")


def answer_batch(messages: list[Any], answer: Callable[[Any], Response]) -> Response:
    """The responses of ``answer`` to the requests of a batch, as one array; empty if none needs one."""
    responses = [response for response in map(answer, messages) if response.status_code != 202]
    if not responses:
        return Response(status=202)
    return Response(b"[" + b",".join(each.get_data() for each in responses) + b"]", mimetype="application/json")


def _invalid_batch(sentence: str) -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, sentence)
