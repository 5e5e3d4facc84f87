"""How the Connect Link responds: pages with their headers, and every error as a named ending.

A page is never stored, sends no referrer, and is framed only by the token's origins. It loads nothing from anywhere
else, and its forms go nowhere else: leaving for a provider is always a link (Chromium holds ``form-action`` against
the redirects that follow a form).
"""

import logging
import secrets
from typing import Any

from flask import Blueprint, Response, g, make_response, redirect, render_template, request
from jinja2.runtime import Undefined
from werkzeug.exceptions import HTTPException

from webapp import content_security_policies
from webapp.errors import PatchbayError, Unavailable
from webapp.kit import assets, translation
from webapp.kit.clock import MINUTE
from webapp.kit.text import naming
from webapp.kit.translation import gettext
from webapp.people import users
from webapp.service.domain.base.failures import Cancelled
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import project_logos
from webapp.service.link import endings, framing, redirects
from webapp.service.link.endings import Ending
from webapp.service.link.visit import Visit

log = logging.getLogger(__name__)


def prepare(blueprint: Blueprint, service: Service) -> None:
    """Give ``blueprint`` the headers and the answers to errors."""

    @blueprint.before_request
    def answer_head() -> Response | None:
        """Answer a HEAD, such as a link preview's, without using up the token."""
        return Response() if request.method == "HEAD" else None

    @blueprint.after_request
    def add_headers(response: Response) -> Response:
        return _with_headers(response, service)

    @blueprint.errorhandler(PatchbayError)
    def fail(error: PatchbayError) -> Response:
        if isinstance(error, Unavailable) and is_fragment():
            return Response(status=204)  # the page polls again
        ending, sentence = endings.of_error(error)
        return ended(service, ending, sentence)

    @blueprint.errorhandler(Exception)
    def crash(error: Exception) -> Response | HTTPException:
        if isinstance(error, HTTPException):
            return error
        log.error("A page of the Connect Link failed.", exc_info=error)
        return ended(service, endings.INTERNAL, endings.INTERNAL.sentence)


def _with_headers(response: Response, service: Service) -> Response:
    """``response`` with its headers; :mod:`framing` says who may frame it."""
    frame_ancestors, headers = framing.headers()
    response.headers.update(headers)
    response.headers["Content-Security-Policy"] = content_security_policies.of_page(
        nonce=g.get("csp_nonce"), images=service.settings.public_url, frame_ancestors=frame_ancestors
    )
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.vary.update(("HX-Request", "Sec-Fetch-Dest", "Referer"))
    return response


def page(service: Service, template: str, *, status: int = 200, **context: Any) -> Response:
    """A response with ``template`` and the context that all pages of the link share."""
    current: Visit | None = g.get("visit")
    g.csp_nonce = secrets.token_urlsafe(16)
    context = {
        "asset": assets.asset_url,
        "csp_nonce": g.csp_nonce,
        "csrf_token": Undefined(),  # the dashboard's, which would set its session cookie here
        "lang": translation.language(),
        "dir": translation.direction(),
        "visit": current,
        "framed": current is not None and current.framed,
        "needs_window": current is not None and (current.framed or (current.of_portal and framing.in_frame())),
        "message_origins": framing.message_origins(),
        "theme": current.theme if current else "auto",
        "brand": {"name": current.project.app_name, "hue": current.project.brand_hue} if current else {},
        "product_logo": project_logos.address(service.store, current.project.id) if current else "",
        "minutes": max(-((service.clock() - current.token.expires_at) // MINUTE), 0) if current else 0,
        "cancel_url": cancel_url(current),
        "linked_to": _name(service, current.token.user.external_id) if current else "",
        "returns_to": redirects.foreign_host(service, redirects.success(current, "")),
        **context,
    }
    return make_response(render_template(template, **context), status)


def _name(service: Service, external_id: str) -> str:
    """The name of an external user: the e-mail address of a person of the dashboard, else the id."""
    person = users.by_id(service.store, external_id) if external_id.startswith("u_") else None
    return person.email if person else external_id


def ended(service: Service, ending: Ending, sentence: str, *, app: Any = None, status: int | None = None) -> Response:
    """The page of a named ending, or its fragment for a page that polls."""
    ending = ending.at(app.name) if app else ending
    sentence = translation.translated(naming(str(sentence), app.name) if app else str(sentence))
    current: Visit | None = g.get("visit")
    if current is None and framing.in_frame():
        return _for_strangers(service, ending, sentence)
    back = redirects.failure(current, ending.code)
    return page(
        service,
        "link/_outcome.html" if is_fragment() else "link/ended.html",
        # A fragment is swapped in whatever its status, and its poll has succeeded.
        status=200 if is_fragment() else status or ending.status,
        ending=ending,
        sentence=sentence,
        app=app,
        back=back,
        back_host=redirects.back_name(service, current, back),
        outcome="cancelled" if ending.code == Cancelled.code else "error",
    )


def _for_strangers(service: Service, ending: Ending, sentence: str) -> Response:
    """The page that any page may frame: it shows the problem and a Close button.

    Its script posts the problem to the framing page, if the browser names it.
    """
    g.for_strangers = True
    embedder, message = framing.embedder(), sentence
    if ending is endings.ORIGIN_NOT_ALLOWED:
        here = gettext("The origin of this page")
        missing = gettext("{origin} is missing from the token’s allowed origins.")
        advice = gettext("Add it under Build, Embed, then make a new token.")
        message = f"{missing.format(origin=embedder or here)} {advice}"
    context = {"ending": ending, "sentence": sentence, "message": message, "embedder": embedder, "framed": True}
    return page(service, "link/stranger.html", status=ending.status, **context)


def see_other(url: str) -> Response:
    """A 303 to ``url``."""
    return make_response(redirect(url, 303))


def cancel_url(current: Visit | None) -> str | None:
    """The URL to which a top-level page leads if the person cancels, or None."""
    if current is None or current.session is None or current.embedded:
        return None
    return redirects.failure(current, endings.CANCELLED.code) or f"{current.url}?cancelled=1"


def is_fragment() -> bool:
    """Whether htmx of the page sent the request."""
    return request.headers.get("HX-Request") == "true"
