"""What became of an attempt, as a page, a fragment, a redirect, or the small page in the sign-in's own window."""

import json

from flask import Response

from webapp.errors import NotFound
from webapp.service.domain.accounts import accounts, attempts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import Attempt
from webapp.service.domain.base.service import Service
from webapp.service.link import answers, endings, redirects, visit
from webapp.service.link.endings import Ended


def show(service: Service, attempt: Attempt, *, secret: str = "") -> Response:
    """The outcome of ``attempt`` on the page that began it; one without an outcome yet waits, and can be asked."""
    if attempt.status == "failed":
        ending = endings.of_code(attempt.error_code)
        app = service.catalog.app(attempt.app)
        return answers.ended(service, ending, attempt.error_sentence or ending.sentence, app=app)
    if attempt.status != "connected":
        return answers.page(service, "link/waiting.html", app=service.app(attempt.app), secret=secret)
    account = _account(service, attempt)
    token = attempts.token_of(service.store, attempt)
    return answers.page(
        service,
        "link/_connected.html" if answers.is_fragment() else "link/connected.html",
        app=service.app(attempt.app),
        account=account,
        origins=json.dumps(token.allowed_origins),
        back=redirects.with_parameter(token.success_redirect_uri, "account_id", account.id),
        back_host=answers.back_name(service, visit.remembered(), token.success_redirect_uri),
    )


def show_in_window(service: Service, attempt: Attempt) -> Response:
    """The outcome where the provider sent the browser: a window to close, or the tab itself."""
    if attempt.status in ("started", "exchanging"):
        return answers.page(service, "link/exchanging.html", app=service.app(attempt.app))
    if attempt.mode == "tab":
        return show(service, attempt)
    ending = endings.of_code(attempt.error_code) if attempt.status == "failed" else None
    return answers.page(
        service,
        "link/window.html",
        app=service.app(attempt.app),
        ending=ending,
        sentence=attempt.error_sentence,
    )


def leave(service: Service, attempt: Attempt) -> Response | None:
    """The way back to the product, for a sign-in in the page's own tab; None when there is none."""
    if attempt.mode != "tab":
        return None
    token = attempts.token_of(service.store, attempt)
    if attempt.status == "connected":
        back = redirects.with_parameter(token.success_redirect_uri, "account_id", attempt.result_account_id or "")
    else:
        code = attempt.error_code or endings.INTERNAL.code
        back = redirects.with_parameter(token.error_redirect_uri, "error", code)
    if back is None:
        return None
    return answers.see_other(back)


def _account(service: Service, attempt: Attempt) -> Account:
    token = attempts.token_of(service.store, attempt)
    try:
        return accounts.get(service.store, token.scene, attempt.result_account_id or "", user=token.user)
    except NotFound as error:
        raise Ended(endings.NO_SUCH_ACCOUNT) from error
