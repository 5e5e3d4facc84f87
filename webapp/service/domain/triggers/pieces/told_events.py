"""Requests to the one address of an OAuth client whose app a piece brings: the piece says whether a request is genuine,
whose event it tells, and what to answer.

Its code has no network for that, and an event in a request that is not genuine is never believed.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.errors import Unavailable
from webapp.service.catalog.spec import PieceEvents
from webapp.service.components.calls import HttpAnswer, Reply
from webapp.service.components.pieces.package_calls import PackageCall, PackageMethod
from webapp.service.domain.base.service import Service

ANSWER_S = 10.0
_JSON = {"content-type": "application/json"}
_FORGED = HttpAnswer(401, '{"error": "The signature does not fit."}', _JSON)
_NOT_ASKED = "The event cannot be looked at now. Send it again."
_ANSWERS = ("exception", "http")
"""How a call fails whose code ran: it then has not said yes."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came: the event ``name`` of whom the piece calls ``identifier``, empty where there is none; and what to
    answer."""

    answer: HttpAnswer | None
    name: str = ""
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class Listening:
    """The address: what there is to know of it, who asks (an OAuth client), and what signs."""

    facts: PieceEvents
    client_id: str
    secret: str
    address: str


def read(service: Service, at: Listening, event: Mapping[str, Any]) -> Told:
    """What the request ``event`` tells. Raises :class:`Unavailable` while the piece cannot be asked."""
    told = _parsed(service, at, event)
    if told.name == "" and told.answer is not None:
        return told  # a handshake, which some providers do not sign
    if not _is_genuine(service, at, event):
        return Told(_FORGED)
    return told


def _parsed(service: Service, at: Listening, event: Mapping[str, Any]) -> Told:
    reply = _asked(service, at, "parse", {"event": event, "endpoint": at.address})
    value = reply.value if reply.ok and isinstance(reply.value, dict) else {}
    name, identifier = value.get("event"), value.get("identifier")
    answer = value.get("reply")
    return Told(
        _answer(answer) if isinstance(answer, dict) else None,
        str(name) if name and identifier else "",
        str(identifier) if name and identifier else "",
    )


def _is_genuine(service: Service, at: Listening, event: Mapping[str, Any]) -> bool:
    """Whether the piece says yes to the secret, and no to another: one that always says yes has looked at nothing."""
    return _says_yes(service, at, event, at.secret) and not _says_yes(service, at, event, secrets.token_hex())


def _says_yes(service: Service, at: Listening, event: Mapping[str, Any], secret: str) -> bool:
    reply = _asked(service, at, "verify", {"event": event, "secret": secret, "endpoint": at.address})
    return reply.ok and reply.value is True


def _asked(service: Service, at: Listening, method: PackageMethod, fields: Mapping[str, Any]) -> Reply:
    reply = service.executor.ask_package(
        PackageCall(
            folder=service.settings.data / "pieces" / at.facts.folder,
            name=at.facts.package,
            method=method,
            fields=fields,
            user=f"events of {at.client_id}",
            deadline_s=ANSWER_S,
            mask=(at.secret,),
        )
    )
    if reply.error is not None and reply.error.kind not in _ANSWERS:
        raise Unavailable(_NOT_ASKED)
    return reply


def _answer(reply: Mapping[str, Any]) -> HttpAnswer:
    """What a piece replies with, on the wire: a text as it is, anything else as JSON."""
    body, headers = reply.get("body"), reply.get("headers") or {}
    shown = {
        str(name): str(value) for name, value in headers.items() if "\n" not in str(value) and "\r" not in str(value)
    }
    if isinstance(body, str):
        return HttpAnswer(200, body, {"content-type": "text/plain; charset=utf-8", **shown})
    return HttpAnswer(200, json.dumps(body), {**_JSON, **shown})
