"""What the logs keep of a call of the API: who, what, how it ended and how long it took, with what may be secret left
out (:mod:`webapp.kit.call_masking`).

A call is noted once its caller and environment are known. Calls for the logs are noted only when they fail, and so are
those of our own pages that change nothing, or only fill a form.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from flask import Response

from webapp import connect_token_facts
from webapp.kit import crypto
from webapp.kit.call_masking import HIDDEN, masked, without_values
from webapp.service.api.base.call import PARSED_BODY, Call
from webapp.service.api.base.operations import Operation
from webapp.service.domain.access import api_calls
from webapp.service.domain.access.api_calls import ApiCall
from webapp.service.domain.projects.external_users import MAX_LENGTH

MAX_BODY = 4_096  # characters of what is kept of a body
MAX_ADDRESS = 1_000
_TOKEN = re.compile(rf"{connect_token_facts.PREFIX}\w+")
_OF_FORMS = ("/configure", "/props", "/tokens", "/file_stash", "/file_stash/<file_id>")
"""How the paths end by which a page shows and fills a form, before the person sends it."""
_POSITION = frozenset({"limit", "after", "before"})
"""Parameters of lists, which say nothing of anybody."""


def note(call: Call, operation: Operation, answer: Response, took_ms: int) -> None:
    """Note ``call`` of ``operation``, which was answered by ``answer``."""
    service, scene = call.service, call.environment
    if scene is None or not api_calls.has_room(service):
        return
    fails = answer.status_code >= 400
    if not fails and _only_reads(call, operation):
        return
    body, query = _body(call), _query(call)
    user = call.user.external_id if call.user else _user(call, query, body)
    actor = call.caller.actor
    record = ApiCall(
        scene=scene,
        external_id=user[:MAX_LENGTH] if user else None,
        caller_kind=actor.kind,
        caller=actor.id,
        method=operation.method,
        address=_address(call, operation, query),
        body=_kept(body),
        status=answer.status_code,
        error=_sentence(answer, {**query, **(body or {})}) if fails and not operation.proxied else None,
        request_id=answer.headers.get("X-Request-Id", ""),
        took_ms=took_ms,
        at=service.clock() - took_ms,
    )
    api_calls.note(service, record)


def _only_reads(call: Call, operation: Operation) -> bool:
    """Whether a call that succeeded says nothing: one for the logs, or for what one of our pages shows."""
    if operation.path.startswith("P/logs"):
        return True
    ours = crypto.REQUEST_ENVIRON in call.request.environ
    return ours and (operation.method == "GET" or operation.path.endswith(_OF_FORMS))


def _body(call: Call) -> Mapping[str, Any] | None:
    """The body, if the operation has read it."""
    body = call.request.environ.get(PARSED_BODY)
    return body if isinstance(body, dict) else None


def _query(call: Call) -> dict[str, str]:
    try:
        return call.request.args.to_dict() if call.request.environ.get("QUERY_STRING") else {}
    except UnicodeDecodeError:
        return {}


def _user(call: Call, query: Mapping[str, str], body: Mapping[str, Any] | None) -> str | None:
    """Your id of the user that a call names."""
    named = call.path.get("external_user_id") or query.get("external_user_id") or (body or {}).get("external_user_id")
    return named if isinstance(named, str) else None


def _address(call: Call, operation: Operation, query: Mapping[str, str]) -> str:
    path = _TOKEN.sub(HIDDEN, call.request.path)
    if operation.proxied:
        path = f"{path.partition('/proxy/')[0]}/proxy/{HIDDEN}"
    shown = masked(query) | {name: query[name] for name in _POSITION & query.keys()}
    return (f"{path}?{urlencode(shown).replace(quote(HIDDEN), HIDDEN)}" if shown else path)[:MAX_ADDRESS]


def _kept(body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if body is None:
        return None
    kept = masked(body)
    return kept if len(orjson.dumps(kept)) <= MAX_BODY else dict.fromkeys(list(body)[:20], HIDDEN)


def _sentence(answer: Response, values: Mapping[str, Any]) -> str | None:
    try:
        error = orjson.loads(answer.get_data()).get("error")
    except (ValueError, AttributeError):
        return None
    return without_values(error, values)[:MAX_ADDRESS] if isinstance(error, str) else None
