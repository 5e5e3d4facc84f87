"""Error pages: a cause and one next step, in the layout, never a stack trace.

Failures of the Connect service become the service-down page; for htmx, errors are shown in the status region.
"""

import logging
from collections.abc import Mapping

from flask import Blueprint, Flask, Response, g, make_response, render_template, request
from flask_wtf.csrf import CSRFError  # type: ignore[import-untyped]  # it carries no types
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import gate, shell
from webapp.dashboard.pages import for_htmx, status
from webapp.dashboard.portal import gate as portal
from webapp.dashboard.return_paths import page_before
from webapp.errors import NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.crypto import new_id
from webapp.kit.translation import duration, gettext
from webapp.kit.translation import lazy as _

log = logging.getLogger(__name__)

# The paths of the API and the Connect Link, which have their own errors.
FOREIGN = ("/v1", "/_static", "/link", "/healthz", "/readyz", "/logos", "/static", "/h/", "/openapi")

_PAGES: Mapping[int, tuple[str, str]] = {
    400: (_("The request was not valid"), _("The request was not complete or not valid. Go back and try again.")),
    403: (_("That is not allowed"), _("Your login does not allow this. Ask an owner of this installation.")),
    404: (_("Page not found"), _("The address is wrong, or what was here was deleted or belongs to somebody else.")),
    405: (
        _("That is not possible here"),
        _("This address does not accept that request. Go back and use the page."),
    ),
    413: (_("That is too large"), _("You can send at most 10 MiB. Send less.")),
}
_WHAT: Mapping[str, str] = {
    "apps": _("Apps"), "components": _("This app"), "component": _("This form"), "runs": _("This run"),
    "accounts": _("Your accounts"), "account": _("This account"), "logs": _("Your logs"),
    "audit": _("The audit log"),
    "triggers": _("Your triggers"), "trigger": _("This trigger"), "deliveries": _("These deliveries"),
    "files": _("This file"), "webhooks": _("This trigger"), "deletion": _("This trigger"), "deploying": _("This form"),
}  # fmt: skip
_LISTS: Mapping[str, str] = {
    "apps": _("See all apps"),
    "accounts": _("See your accounts"),
    "triggers": _("See your triggers"),
}
_OTHER = (_("That did not work"), _("The request could not be answered. Go back and try again."))
_FAILED = (
    _("Something went wrong here"),
    _(
        "It is our fault, and it was logged. Try again; if it keeps happening, give the reference to the operator of "
        "this service."
    ),
)


def register(app: Flask, blueprint: Blueprint) -> None:
    """Handle errors in ``blueprint``, and unknown URLs."""
    blueprint.register_error_handler(CSRFError, _forged)
    blueprint.register_error_handler(PatchbayError, _service_said)
    blueprint.register_error_handler(HTTPException, _http)
    blueprint.register_error_handler(Exception, _failed)
    for code in (404, 405):
        _chain(app, code)


def _chain(app: Flask, code: int) -> None:
    """Handle ``code`` for unknown URLs of the dashboard; earlier handlers still handle the others."""
    before = dict(app.error_handler_spec[None][code])

    def unknown(error: HTTPException) -> AnyResponse:
        if not request.path.startswith(FOREIGN):
            return _nowhere(error)
        handler = before.get(type(error))
        if handler is None:
            return error.get_response()
        return app.make_response(app.ensure_sync(handler)(error))

    app.register_error_handler(code, unknown)


def _nowhere(error: HTTPException) -> Response:
    """The page for an unknown URL, with the menu for signed-in users."""
    gate.recognise()
    try:
        return gate.add_headers(_http(error))
    finally:
        gate.leave(None)


def _forged(error: CSRFError) -> Response:
    heading = gettext("This form is no longer valid")
    message = gettext(
        "It was open for too long, or the browser keeps no cookies. Go back, reload the page and send it again."
    )
    if for_htmx():
        return status(message, 400)
    return _page(400, heading, message, {"label": gettext("Go back to the page"), "url": page_before()})


def _service_said(error: PatchbayError) -> Response:
    """The page for an error of the Connect API."""
    if isinstance(error, NotFound):
        return _http(NoPage())
    if isinstance(error, Unauthorized) and g.get("portal"):
        return make_response(portal.asleep())
    if error.status >= 500 or isinstance(error, Throttled | Unauthorized):
        return _down(error)
    if for_htmx():
        return status(error.message, error.status)
    return _page(error.status, _PAGES.get(error.status, _OTHER)[0], error.message)


def _down(error: PatchbayError) -> Response:
    g.service_failed = True
    wait = error.retry_after if isinstance(error, Throttled) else 5
    sentence = gettext("The service does not answer. Nothing is lost; try again in a moment.")
    if isinstance(error, Throttled):
        sentence = gettext("There were too many requests. Try again in {time}.")
        sentence = sentence.format(time=duration(wait))
    log.warning("the Connect service failed on %s: %s", request.path, error.message)
    if for_htmx():
        response = status(sentence, 503)
    elif g.get("viewer") is None:  # the page below has the frame of somebody who is known
        response = _page(
            503, gettext("Try again later"), sentence, {"label": gettext("Try again"), "url": _retry_url()}
        )
    else:
        page = render_template("dashboard/down.html", what=_what(), sentence=sentence, retry_url=_retry_url())
        response = make_response(page, 503)
    response.headers["Retry-After"] = str(wait)
    return response


def _http(error: HTTPException) -> Response:
    code = error.code or 500
    if code < 400:  # a redirect that werkzeug raises
        return make_response(error.get_response())
    code = 404 if code == 403 and g.get("portal") else code
    heading, message = _PAGES.get(code, _FAILED if code >= 500 else _OTHER)
    response = status(message, code) if for_htmx() else _page(code, heading, message, _nearby(code))
    allowed = getattr(error, "valid_methods", None)
    if allowed:
        response.headers["Allow"] = ", ".join(sorted(allowed))
    return response


def _nearby(code: int) -> Mapping[str, str] | None:
    """A link from a missing thing to the list that it would be in, or None."""
    noun = request.path.split("/")[1]
    if code != 404 or noun not in _LISTS or request.path == f"/{noun}":
        return None
    return {"label": str(_LISTS[noun]), "url": f"{request.script_root}/{noun}"}


def _failed(error: Exception) -> Response:
    reference = str(g.get("request_id") or new_id("req"))
    log.exception("request %s failed on %s", reference, request.path, exc_info=error)
    heading, message = _FAILED
    if for_htmx():
        return status(gettext("{what}. Reference {reference}.").format(what=heading, reference=reference), 500)
    return _page(500, heading, message, reference=reference)


def _page(
    code: int, heading: str, message: str, action: Mapping[str, str] | None = None, reference: str = ""
) -> Response:
    g.service_failed = True  # so that the error page makes no more calls
    page = render_template(
        "dashboard/error.html" if g.get("viewer") and (code < 500 or g.get("portal")) else "layouts/error.html",
        code=code,
        heading=heading,
        message=message,
        action=action,
        reference=reference,
        **shell.context(),  # no blueprint adds it for an unknown URL
    )
    return make_response(page, code)


def _what() -> str:
    noun = (request.endpoint or "").split(".")[1:2]
    return _WHAT.get(noun[0] if noun else "", _("This"))


def _retry_url() -> str:
    return request.script_root + request.full_path.rstrip("?") if request.method == "GET" else page_before()
