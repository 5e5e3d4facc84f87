"""What became of an attempt: as a page, as a fragment for the page that waits, or in the sign-in's own window.

The waiting page asks the server and never the window, which may lie about being closed. 204 means "not yet" and
changes nothing on the page; the outcome comes as a fragment, which has no trigger and so ends the asking.
"""

from flask import Blueprint, Response, g, request

from webapp.kit.translation import translated
from webapp.service.domain.accounts import attempts
from webapp.service.domain.accounts.attempts import Attempt, Question
from webapp.service.domain.base.failures import AttemptUnknown
from webapp.service.domain.base.service import Service
from webapp.service.link import answers, endings, returning, visit
from webapp.service.link.visit import Visit


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the route of this module to ``blueprint``."""

    @blueprint.post("/_static/connect/status")
    def status() -> Response:
        current = visit.of_form(service, request, late=True)
        secret = request.form.get("attempt", "")
        attempt = attempts.find(service, secret)
        if attempt is None and current.session:  # a page that was reloaded while it waited
            attempt = attempts.latest(service, "session_id", current.session.id)
        if attempt is None or attempt.token_hash != current.token.token_hash:
            raise AttemptUnknown
        if answers.is_fragment() and _is_shown(attempt):
            return Response(status=204)
        return show(service, attempt, secret=secret)


def _is_shown(attempt: Attempt) -> bool:
    """Whether the page that asks shows what is: one that still offers the sign-in may have begun it in another tab."""
    under_way = attempt.status in ("started", "asking", "exchanging")
    return attempt.status == "open" or (under_way and request.form.get("shown") != "ask")


def show(service: Service, attempt: Attempt, *, secret: str = "") -> Response:
    """The outcome of ``attempt`` on the page that began it; one without an outcome yet waits, and can be asked."""
    if attempt.status == "failed":
        ending = endings.of_code(attempt.error_code)
        app = service.catalog.app(attempt.app)
        return answers.ended(service, ending, attempt.error_sentence or ending.sentence, app=app)
    if attempt.status == "asking" and attempt.binding_hash is None:
        return _asked(service, attempt, "/_static/connect/answer", secret)
    if attempt.status != "connected":
        template = "link/_waiting.html" if answers.is_fragment() else "link/waiting.html"
        return answers.page(service, template, app=service.app(attempt.app), secret=secret)
    current: Visit | None = g.get("visit")
    token = attempts.token_of(service.store, attempt)
    account = visit.account_of(service, token, attempt.result_account_id or "")
    back = returning.success(current, account.id)
    return answers.page(
        service,
        "link/_connected.html" if answers.is_fragment() else "link/connected.html",
        app=service.app(attempt.app),
        account=account,
        back=back,
        back_host=returning.back_name(service, current, back),
    )


def show_in_window(service: Service, attempt: Attempt) -> Response:
    """The outcome where the provider sent the browser: a window to close, or the tab itself."""
    if attempt.status in ("started", "exchanging"):
        return answers.page(service, "link/exchanging.html", app=service.app(attempt.app))
    if attempt.status == "asking":
        return _asked(service, attempt, f"/connect/oauth/answer/{attempt.id}")
    if attempt.mode == "tab":
        return show(service, attempt)
    ending = endings.of_code(attempt.error_code) if attempt.status == "failed" else None
    app = service.app(attempt.app)
    return answers.page(
        service,
        "link/window.html",
        app=app,
        ending=ending.at(app.name) if ending else None,
        sentence=translated(attempt.error_sentence or ""),
    )


def _asked(service: Service, attempt: Attempt, action: str, secret: str = "") -> Response:
    """The question that waits for its person's answer, which is posted to ``action``."""
    question = Question.of(attempts.unsealed(service, attempt)["question"])
    app = service.app(attempt.app)
    return answers.page(service, "link/question.html", app=app, question=question, action=action, secret=secret)
