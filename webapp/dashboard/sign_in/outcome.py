"""The outcome of a sign-in in any way: a session begins and the device is known from then on, or a page says why
not, such as for an expired link or a sign-in at the provider that failed.
"""

from flask import Response, make_response, render_template, request, session, url_for

from webapp.dashboard import cookies
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.pages import go
from webapp.dashboard.sign_in import devices
from webapp.kit.translation import duration, gettext
from webapp.kit.translation import lazy as _
from webapp.people import preferences, sessions
from webapp.people.users import User

DISABLED = _("This login is disabled. Ask an owner of this installation to enable it.")
UNNAMED_PROXY = _(
    "This server cannot tell visitors apart: its operator must name its proxy in PATCHBAY_TRUSTED_PROXIES."
)


def refused(heading: str, message: str, *, way_on: str = "", code: int = 403) -> Response:
    """The page with ``heading`` and the reason, and a button ``way_on`` to the sign-in page."""
    page = render_template(
        "layouts/error.html",
        code=code,
        heading=heading,
        message=message,
        action={"label": way_on or gettext("Sign in instead"), "url": url_for("dashboard.session.page")},
    )
    return make_response(page, code)


def sign_in(person: User, next_url: str) -> Response:
    """Start a session and lead to ``next_url``. Form tokens of before become void with the cookie's old content."""
    board = dashboard()
    token = sessions.start(
        board.store,
        board.clock,
        user_id=person.id,
        user_agent=request.headers.get("User-Agent", ""),
        address=request.remote_addr or "",
    )
    session.clear()
    response = make_response(go(next_url))
    cookies.write_token(response, token)
    devices.remember(response, person.email)
    theme = preferences.of_user(board.store, person.id).theme
    if theme != (cookies.read_theme() or "auto"):
        cookies.write_theme(response, theme)
    return response


def too_many(wait: int) -> str:
    """The sentence for a person who must wait for ``wait`` seconds."""
    sentence = gettext("Too many tries. Wait {time}, then try again.").format(time=duration(wait))
    return f"{sentence} {UNNAMED_PROXY}" if devices.behind_unnamed_proxy() else sentence
