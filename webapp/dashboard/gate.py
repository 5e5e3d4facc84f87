"""Who may pass: pages need a signed-in person, and everything that changes something needs a form token.

A visitor is led to the sign-in page and back afterwards. Runs before every dashboard request and no other.
"""

from urllib.parse import urlsplit

from flask import Response, g, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp import audit
from webapp.audit import Actor
from webapp.dashboard import security
from webapp.dashboard.dashboard import dashboard
from webapp.kit import translation
from webapp.kit.clock import SECOND
from webapp.people import preferences, sessions, users

# What somebody who is not signed in may open.
OPEN = frozenset(
    {"dashboard.start.page", "dashboard.start.create", "dashboard.session.page", "dashboard.session.create"}
)


def check() -> AnyResponse | None:
    """Find the person; lead visitors to the sign-in page; check the form token."""
    board = dashboard()
    if request.host != board.public_host and request.method in ("GET", "HEAD"):
        return redirect(board.settings.public_url + request.full_path.rstrip("?"), 302)
    _recognise()
    if g.person is None and request.endpoint not in OPEN:
        return _to_sign_in()
    board.csrf.protect()
    return None


def leave(_: BaseException | None) -> None:
    """The request is over: what this thread does next is not done by the person."""
    if (acting := g.pop("acting", None)) is not None:
        acting.__exit__(None, None, None)


def prolong(response: Response) -> Response:
    """Renew the cookie of a session whose end has just moved."""
    session = g.get("person_session")
    if session and dashboard().clock() - session.seen_at < SECOND:
        security.write_token(response, g.person_token)
    return response


def _recognise() -> None:
    g.person = g.person_session = g.person_token = None
    token = security.read_token()
    if not token:
        return
    board = dashboard()
    session = sessions.find(board.store, board.clock, token)
    person = users.by_id(board.store, session.user_id) if session else None
    if session and person:
        g.person, g.person_session, g.person_token = person, session, token
        g.acting = audit.acting(Actor("person", person.id))
        g.acting.__enter__()
        g.preferences = preferences.of_user(board.store, person.id)
        translation.speak(g.preferences.language)


def _to_sign_in() -> AnyResponse:
    if request.headers.get("HX-Request") == "true":
        here = urlsplit(request.headers.get("HX-Current-URL", ""))
        response = Response(status=401)
        wanted = here.path + (f"?{here.query}" if here.query else "")
        response.headers["HX-Redirect"] = _sign_in_url(wanted)
        return response
    return redirect(_sign_in_url(request.full_path.rstrip("?") if request.method == "GET" else ""), 303)


def _sign_in_url(wanted: str) -> str:
    wanted = security.safe_next(wanted)
    return url_for("dashboard.session.page", next=wanted) if wanted != "/" else url_for("dashboard.session.page")
