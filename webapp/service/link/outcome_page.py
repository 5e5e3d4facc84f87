"""The outcome of an attempt to connect.

It is shown as a page, as a fragment for a page that polls, in the sign-in's own window, and as JSON for a page that
opened the link in a window whose state it cannot read.
"""

from typing import Any

from flask import Blueprint, Response, g, jsonify, request

from webapp.kit.origins import exact_origin
from webapp.kit.translation import translated
from webapp.service.domain.access import connect_tokens, refused_origins
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.accounts import attempts
from webapp.service.domain.accounts.attempts import Attempt, Question
from webapp.service.domain.base.failures import AttemptUnknown
from webapp.service.domain.base.service import Service
from webapp.service.link import endings, redirects, responses, visit
from webapp.service.link.endings import ORIGIN_NOT_ALLOWED, TOKEN_MISSING, TOKEN_UNKNOWN, Ending, of_code
from webapp.service.link.visit import Visit

_SHOWN = {"asking": "started", "exchanging": "started"}


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the routes of this module to ``blueprint``."""

    @blueprint.post("/_static/connect/status")
    def status() -> Response:
        current = visit.of_form(service, request, late=True)
        secret = request.form.get("attempt", "")
        attempt = attempts.find(service, secret)
        if attempt is None and current.session:  # a page that was reloaded while it waited
            attempt = attempts.latest(service, "session_id", current.session.id)
        if attempt is None or attempt.token_hash != current.token.token_hash:
            raise AttemptUnknown
        if responses.is_fragment() and _is_shown(attempt):
            return Response(status=204)
        return show(service, attempt, secret=secret)

    @blueprint.post("/_static/connect/state")
    def state() -> Response:
        origin = request.headers.get("Origin", "")
        answer = _answer(service, request.form.get("token", ""), origin)
        if origin:
            answer.headers["Access-Control-Allow-Origin"] = origin
        answer.vary.add("Origin")
        return answer


def _is_shown(attempt: Attempt) -> bool:
    """Whether the polling page shows the attempt's state; one that offers the sign-in may not know that it began."""
    under_way = attempt.status in ("started", "asking", "exchanging")
    return attempt.status == "open" or (under_way and request.form.get("shown") != "ask")


def show(service: Service, attempt: Attempt, *, secret: str = "") -> Response:
    """The outcome of ``attempt`` on the page that began it, or a page that waits for it."""
    if attempt.status == "failed":
        ending = endings.of_code(attempt.error_code)
        app = service.catalog.app(attempt.app)
        return responses.ended(service, ending, attempt.error_sentence or ending.sentence, app=app)
    if attempt.status == "asking" and attempt.binding_hash is None:
        return _asked(service, attempt, "/_static/connect/answer", secret)
    if attempt.status != "connected":
        template = "link/_waiting.html" if responses.is_fragment() else "link/waiting.html"
        return responses.page(service, template, app=service.app(attempt.app), secret=secret)
    current: Visit | None = g.get("visit")
    token = attempts.token_of(service.store, attempt)
    account = visit.account_of(service, token, attempt.result_account_id or "")
    back = redirects.success(current, account.id)
    return responses.page(
        service,
        "link/_connected.html" if responses.is_fragment() else "link/connected.html",
        app=service.app(attempt.app),
        account=account,
        back=back,
        back_host=redirects.back_name(service, current, back),
    )


def show_in_window(service: Service, attempt: Attempt) -> Response:
    """The outcome where the provider redirected to: in a window to close, or in the tab."""
    if attempt.status in ("started", "exchanging"):
        return responses.page(service, "link/exchanging.html", app=service.app(attempt.app))
    if attempt.status == "asking":
        return _asked(service, attempt, f"/connect/oauth/answer/{attempt.id}")
    if attempt.mode == "tab":
        return show(service, attempt)
    ending = endings.of_code(attempt.error_code) if attempt.status == "failed" else None
    app = service.app(attempt.app)
    return responses.page(
        service,
        "link/window.html",
        app=app,
        ending=ending.at(app.name) if ending else None,
        sentence=translated(attempt.error_sentence or ""),
    )


def _asked(service: Service, attempt: Attempt, action: str, secret: str = "") -> Response:
    """The page with the question of ``attempt``, whose answer is posted to ``action``."""
    question = Question.of(attempts.unsealed(service, attempt)["question"])
    app = service.app(attempt.app)
    return responses.page(service, "link/question.html", app=app, question=question, action=action, secret=secret)


def _answer(service: Service, raw: str, origin: str) -> Response:
    token = connect_tokens.recall(service.store, raw) if raw else None
    if token is None:
        return _refused(TOKEN_UNKNOWN if raw else TOKEN_MISSING)
    if origin and origin != service.settings.public_url and not token.allows(origin):
        if exact := exact_origin(origin):
            refused_origins.note(service, token.scene, exact)
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
