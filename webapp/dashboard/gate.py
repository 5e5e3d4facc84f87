"""Runs before and after every request of the dashboard: authentication, form tokens and response headers.

Pages need a signed-in person or a portal (:mod:`.portal.gate`), except those by which people sign in. A visitor is
redirected to the sign-in page and back afterwards, and every change needs a form token, which Flask-WTF issues and
checks. Every response is ``no-store``, because each page shows a person's accounts or contains a form token. A page may
have one style element, with the response's nonce, for a brand's hue.
"""

import secrets
from collections import deque
from collections.abc import Sequence
from typing import cast
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, has_request_context, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp import audit, body_limits, content_security_policies
from webapp.audit import Actor
from webapp.dashboard import cookies
from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.dashboard import ALL_PROJECTS, Viewer, dashboard
from webapp.dashboard.pages import VARY, go
from webapp.dashboard.portal import framing
from webapp.dashboard.portal import gate as portal
from webapp.dashboard.portal.mount import HANDLE
from webapp.dashboard.return_paths import safe_next
from webapp.errors import Conflict
from webapp.kit import translation
from webapp.kit.clock import SECOND
from webapp.kit.translation import gettext
from webapp.people import preferences, roles, sessions, users
from webapp.people.preferences import Preferences
from webapp.people.sessions import Session
from webapp.people.users import User
from webapp.settings import Settings

# What somebody who is not signed in may open.
OPEN = frozenset(
    {
        "dashboard.start.page",
        "dashboard.start.create",
        "dashboard.session.page",
        "dashboard.session.create",
        "dashboard.second_step.page",
        "dashboard.second_step.create",
        "dashboard.passkey.options",
        "dashboard.passkey.create",
        "dashboard.new_password.page",
        "dashboard.new_password.save",
        "dashboard.invitation.page",
        "dashboard.invitation.accept",
        "dashboard.oidc.begin",
        "dashboard.oidc.finish",
        "dashboard.portal.show",
        "dashboard.portal.renew",
    }
)
# What admits nobody where people sign in only at a provider.
BY_PASSWORD = frozenset(
    {
        "dashboard.session.create",
        "dashboard.second_step.create",
        "dashboard.passkey.options",
        "dashboard.passkey.create",
        "dashboard.new_password.page",
        "dashboard.new_password.save",
        "dashboard.invitation.accept",
    }
)
CALLS_KEPT = 50  # of each person
POLLS = frozenset({"news", "around", "waiting_now", "waiting_count"})  # views that an open page asks every few seconds
SHOWS_CALLS = frozenset(f"dashboard.build_keys.{view}" for view in ("section", "calls", "entry"))
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": VARY,
}


def check() -> AnyResponse | None:
    """Find the person; lead visitors to the sign-in page; check the form token."""
    board = dashboard()
    request.max_content_length = body_limits.UPLOAD
    recognise()
    if HANDLE in request.environ:
        return portal.refuse()
    if request.host != board.public_host and request.method in ("GET", "HEAD"):
        return redirect(board.settings.public_url + request.full_path.rstrip("?"), 302)
    if board.settings.oidc_required and request.endpoint in BY_PASSWORD:
        return go(url_for("dashboard.session.page"))
    if request.endpoint in ("dashboard.portal.renew", "dashboard.demo_link.show"):
        return None  # the handle of a portal proves who asks; a demo link takes no form
    if g.person is None and request.endpoint not in OPEN:
        return _to_sign_in()
    # Here and not by Flask-WTF's own before_request, which comes first: somebody whose session has ended shall be led
    # to the sign-in page, not be told that the form is invalid.
    current_app.extensions["csrf"].protect()
    _check_scene()
    return None


def drawn_in() -> str:
    """The scene of this page, which its forms contain: a form is not accepted in another environment."""
    return g.viewer.scene if g.get("viewer") else ""


def _check_scene() -> None:
    """Refuse a form of a page that was drawn elsewhere, before its person switched in another tab."""
    if request.method in ("GET", "HEAD") or not g.get("viewer"):
        return
    named = request.form.get("drawn_in", request.headers.get("X-Drawn-In"))
    if named is not None and named != drawn_in():
        raise Conflict(
            gettext(
                "You have switched to another project or environment since this page was opened. Reload it, and look "
                "again before you send this."
            )
        )


def person() -> User:
    """The person who is signed in; pages about a login always have one."""
    return cast(User, g.person)


def chosen() -> Preferences:
    """The person's preferences."""
    return cast(Preferences, g.preferences)


def session_now() -> Session:
    """The session of the current request."""
    return cast(Session, g.person_session)


def note_call(call: CallRecord) -> None:
    """Keep a call that a page made for a developer or owner.

    Not kept are those of others, of the pages that show calls, and of pages that ask by themselves what is new.
    """
    if not has_request_context() or request.endpoint is None:
        return
    if request.endpoint in SHOWS_CALLS or request.endpoint.rpartition(".")[2] in POLLS:
        return
    if (viewer := g.get("viewer")) and g.get("person") and viewer.may_build:
        calls = dashboard().calls
        calls.put(viewer.external_user_id, calls.get(viewer.external_user_id) or deque(maxlen=CALLS_KEPT)).append(call)


def leave(_: BaseException | None) -> None:
    """The request is over: what this thread does next is not this person's doing."""
    if (acting := g.pop("acting", None)) is not None:
        acting.__exit__(None, None, None)


def prolong(response: Response) -> Response:
    """Renew the cookie of a session whose end has just moved."""
    session = g.get("person_session")
    if session and dashboard().clock() - session.seen_at < SECOND:
        cookies.write_token(response, g.person_token)
    return response


def csp_nonce() -> str:
    """The nonce of this response, made when it is first asked for."""
    if "csp_nonce" not in g:
        g.csp_nonce = secrets.token_urlsafe(16)
    return str(g.csp_nonce)


def add_headers(response: Response) -> Response:
    """Add the headers that limit what the page may load, who may frame it and who may cache it."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    if HANDLE in request.environ:
        response.headers["Content-Security-Policy"] = _policy(framing.frame_ancestors())
        return portal.dress(response)
    response.headers["Content-Security-Policy"] = _policy(())
    return response


def configure_cookies(app: Flask, settings: Settings) -> None:
    """Set up the cookie that binds form tokens to a browser."""
    app.config.update(
        SESSION_COOKIE_NAME=f"{settings.host_cookie}patchbay_form",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.secure,
        SESSION_COOKIE_PATH="/",
        WTF_CSRF_CHECK_DEFAULT=False,  # the API and the Connect Link have their own proof; see check()
        WTF_CSRF_TIME_LIMIT=None,  # as long as the cookie: a page left open overnight still works
        # It would ask for a Referer over https, which a page with a secret in its address does not send. What it guards
        # against, a cookie set without TLS or by another host, browsers refuse for a name that begins with __Host-.
        WTF_CSRF_SSL_STRICT=False,
    )


def recognise() -> None:
    """Identify the viewer by the session's cookie or in a portal, if there is either."""
    g.person = g.person_session = g.person_token = g.viewer = None
    if handle := request.environ.get(HANDLE):
        portal.recognise(handle)
        return
    board = dashboard()
    token = request.cookies.get(f"{board.settings.host_cookie}patchbay_session")
    session = sessions.find(board.store, board.clock, token) if token else None
    person = users.by_id(board.store, session.user_id) if session else None
    if session and person and person.enabled:
        g.person, g.person_session, g.person_token = person, session, token
        g.viewer = viewer_of(person, session)
        g.acting = audit.acting(Actor("person", person.id))
        g.acting.__enter__()
        g.preferences = preferences.of_user(board.store, person.id)
        translation.choose(g.preferences.language, request.accept_languages, board.settings.language)


def viewer_of(person: User, session: Session) -> Viewer:
    """The viewer of this browser's pages: members are in the dashboard's scene, others in the one they chose."""
    client = dashboard().client
    known = dashboard().projects.get(ALL_PROJECTS)
    gone = known is not None and session.project_id not in {project.id for project in known}
    project_id, environment = "" if gone else session.project_id, session.environment or client.environment
    if not roles.may_choose_scene(person.role) or (not project_id and environment == client.environment):
        return Viewer(person.id, person.role, client)
    return Viewer(person.id, person.role, client.within(project_id, environment), f"{project_id} {environment}".strip())


def _to_sign_in() -> AnyResponse:
    if request.htmx:  # type: ignore[attr-defined]  # htmx-Flask adds it
        here = urlsplit(request.htmx.current_url or "")  # type: ignore[attr-defined]
        answer = go(_sign_in_url(here.path + (f"?{here.query}" if here.query else "")))
        answer.status_code = 401
        return answer
    return go(_sign_in_url(request.full_path.rstrip("?") if request.method == "GET" else ""))


def _sign_in_url(target: str) -> str:
    target = safe_next(target)
    return url_for("dashboard.session.page", next=target) if target != "/" else url_for("dashboard.session.page")


def _policy(frame_ancestors: Sequence[str] | None) -> str:
    """The Content-Security-Policy of a page that ``frame_ancestors`` may frame, or any page for None.

    A form's redirect leads to the Connect Link; that of a page for an agent, to the agent and wherever it leads on.
    """
    origins = " ".join(dashboard().image_origins)
    return content_security_policies.of_page(
        nonce=csp_nonce(),
        images=origins,
        frame_ancestors=frame_ancestors,
        form_action=None if "leads_anywhere" in g else f"'self' {origins}",
        frame_src=g.get("frame_src", ""),
    )
