"""How far a token's connection has come, for the page that opened the Connect Link in a window it cannot see any more.

Pages of the token's origins read it, with the token in the body of a simple request, so that no preflight is needed.
Any other page is told that it is not allowed, and nothing else.
"""

from typing import Any

from flask import Blueprint, Response, jsonify, request

from webapp.kit.origins import exact_origin
from webapp.service.domain.access import embedding, tokens
from webapp.service.domain.access.tokens import ConnectToken
from webapp.service.domain.accounts import attempts
from webapp.service.domain.base.service import Service
from webapp.service.link.endings import ORIGIN_NOT_ALLOWED, TOKEN_MISSING, TOKEN_UNKNOWN, Ending, of_code

_SHOWN = {"asking": "started", "exchanging": "started"}


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the route of this module to ``blueprint``."""

    @blueprint.post("/_static/connect/state")
    def state() -> Response:
        origin = request.headers.get("Origin", "")
        answer = _answer(service, request.form.get("token", ""), origin)
        if origin:
            answer.headers["Access-Control-Allow-Origin"] = origin
        answer.vary.add("Origin")
        return answer


def _answer(service: Service, raw: str, origin: str) -> Response:
    token = tokens.recall(service.store, raw) if raw else None
    if token is None:
        return _refused(TOKEN_UNKNOWN if raw else TOKEN_MISSING)
    if origin and origin not in (service.settings.public_url, *token.allowed_origins):
        if exact := exact_origin(origin):
            embedding.note_refused_origin(service, token.scene, exact)
        return _refused(ORIGIN_NOT_ALLOWED)
    return jsonify(_state(service, token))


def _state(service: Service, token: ConnectToken) -> dict[str, Any]:
    """``status`` is open, started, failed (with ``code`` and ``error``), expired or connected (``account_id``)."""
    if token.linked_by is not None:
        attempt = attempts.by_id(service, token.linked_by)
        return {"status": "connected", "account_id": attempt.result_account_id if attempt else None}
    last = attempts.latest(service, "token_hash", token.token_hash)
    if last is not None and last.status == "failed":
        error = last.error_sentence or str(of_code(last.error_code).sentence)
        return {"status": "failed", "code": last.error_code, "error": error}
    if last is not None:
        return {"status": _SHOWN.get(last.status, last.status)}
    return {"status": "expired" if token.expires_at <= service.clock() else "open"}


def _refused(ending: Ending) -> Response:
    answer = jsonify(code=ending.code, error=str(ending.sentence))
    answer.status_code = ending.status
    return answer
