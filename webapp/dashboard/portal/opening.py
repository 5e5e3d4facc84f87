"""Opens a portal with a Connect token, and gives an open one the next token.

The token leaves the address at once: a session's handle replaces it. A refused visitor gets the same page as at the
Connect Link: a constant one in a frame of a foreign page, otherwise the problem of the token.
"""

from typing import Annotated
from urllib.parse import quote

from flask import Blueprint, Response, jsonify, redirect, request
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client import connect
from webapp.dashboard.client.connect import TokenFacts
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.pages import ListQuery, among, at_most
from webapp.dashboard.portal import sessions
from webapp.dashboard.portal.sessions import Look, PortalSession
from webapp.kit.translation import LANGUAGES, gettext
from webapp.people.preferences import THEMES

blueprint = Blueprint("portal", __name__)

PAGES = {noun: f"/{noun}" for noun in ("accounts", "triggers", "logs", "agents", "apps")} | {"activity": "/logs"}
_NO_FRAME = ("", "document", "empty")


class PortalQuery(ListQuery):
    """The parameters with which a product opens a portal."""

    token: Annotated[str, at_most(200)] = ""
    app: Annotated[str, at_most(100)] = ""
    page: Annotated[str, among(PAGES)] = ""
    nav: str = ""
    language: Annotated[str, among(LANGUAGES)] = ""
    theme: Annotated[str, among(dict.fromkeys(THEMES))] = "auto"


@blueprint.get("/portal")
def show() -> AnyResponse:
    """Move the token out of the address, and lead to the page that was asked for."""
    if request.method == "HEAD":
        return Response()  # a preview of a link
    query = PortalQuery.of_request()
    facts = connect.facts_of(dashboard().client.transport, query.token) if query.token else TokenFacts()
    if not facts.works or _is_stranger(facts):
        return _as_at_the_link(query)
    portal = _create(query.token, facts, Look(query.nav != "off", query.theme, query.language))
    further = f"/apps/{quote(query.app, safe='')}" if query.app else PAGES.get(query.page, "/")
    return redirect(f"{portal.base}{further}", 303)


@blueprint.post("/portal/renewal")
def renew() -> tuple[Response, int]:
    """Accept the next token for an open portal, only of the same user and scene."""
    board, token = dashboard(), request.form.get("token", "")
    known = sessions.find(board.store, request.form.get("handle", ""))
    if known is None or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise NoPage
    facts = connect.facts_of(board.client.transport, token)
    if not facts.works or not facts.same_user(known.facts):
        error = gettext("The new token does not work, or is not for the same user, project and environment.")
        return jsonify(error=error), 403
    portal = _create(token, facts, known.look)
    return jsonify(base=portal.base, left=portal.expires_at - board.clock()), 200


def _create(token: str, facts: TokenFacts, look: Look) -> PortalSession:
    board = dashboard()
    return sessions.create(board.store, board.clock, token, facts, look, owned=not board.settings.connect_url)


def _is_stranger(facts: TokenFacts) -> bool:
    """Whether a page frames it that the token does not allow; if the browser does not say, the frame policy decides."""
    if not _in_frame():
        return False
    scheme, mark, rest = request.headers.get("Referer", "").partition("://")
    embedder = f"{scheme}{mark}{rest.partition('/')[0]}"
    return embedder not in facts.allowed_origins if mark else not facts.allowed_origins


def _as_at_the_link(query: PortalQuery) -> AnyResponse:
    """A redirect to the Connect Link, which shows the problem of the token, or connects an account if the service
    cannot identify the token's user. The framing page may be named there, so this redirect keeps the referrer.
    """
    base = dashboard().settings.connect_url or ""
    chosen = {"app": query.app, "language": query.language}
    answer = redirect(connect.own_link(base, query.token, chosen), 303)
    if _in_frame():
        answer.headers["Referrer-Policy"] = "strict-origin-when-cross-origin"
    return answer


def _in_frame() -> bool:
    """Whether the browser says that a frame requests the page."""
    return request.headers.get("Sec-Fetch-Dest", "") not in _NO_FRAME
