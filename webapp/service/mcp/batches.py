"""Several messages in one request, which the revision 2025-03-26 alone has (JSON-RPC 2.0 section 6).

They are answered one after another, without a stream, each as if it had come alone and with its own count.
"""

from collections.abc import Callable
from typing import Any

from flask import Response

from webapp.service.mcp import protocol
from webapp.service.mcp.protocol import ProtocolError

REVISION = protocol.HANDSHAKES[0]
MOST = 20


def check(messages: list[Any], revision: str) -> None:
    """Raise :class:`ProtocolError` for a batch that ``revision`` does not have, or not so."""
    if revision != REVISION:
        raise _invalid(f"Send one message at a time; only the revision {REVISION} has several in one request.")
    if not 1 <= len(messages) <= MOST:
        raise _invalid(f"Send 1 to {MOST} messages in one request.")
    if any(isinstance(message, dict) and message.get("method") == "initialize" for message in messages):
        raise _invalid("initialize must come alone.")


def answered(messages: list[Any], answer: Callable[[Any], Response]) -> Response:
    """What ``answer`` says to each that wants an answer, as one array; nothing where none does."""
    responses = [response for response in map(answer, messages) if response.status_code != 202]
    if not responses:
        return Response(status=202)
    return Response(b"[" + b",".join(each.get_data() for each in responses) + b"]", mimetype="application/json")


def _invalid(sentence: str) -> ProtocolError:
    return ProtocolError(protocol.INVALID_REQUEST, sentence)
