"""Runs before and after every request of a portal: authentication by the handle in the path, and response headers.

The handle also proves that the page itself sends a form, since nobody else knows its address; if the browser names the
site of a form, it must be ours. Only the origins of its token may frame a page. A page whose session has ended says so
in the same frame, until the product gives a new token.
"""

from urllib.parse import urlsplit

from flask import Response, abort, g, make_response, render_template, request, session
from werkzeug.wrappers import Response as AnyResponse

from webapp import body_limits, demo
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.pages import for_htmx, go, here
from webapp.dashboard.portal import sessions, viewer
from webapp.kit import translation

_FLASHES = "_flashes"  # where Flask's session holds what a page left to say
_SAFE = ("GET", "HEAD")
# The pages of a portal by their nouns, and the scope without which they are not there; that of a component follows from
# its kind.
NEEDS = {
    **dict.fromkeys(("home", "apps", "components", "component", "runs", "deploying", "files"), ""),
    **dict.fromkeys(("accounts", "account"), "connect:accounts:read"),
    "agents": "connect:agents:read",
    "connections": "connect:accounts:write",
    **dict.fromkeys(
        ("triggers", "trigger", "deliveries", "webhooks", "deletion", "moving", "pausing"),
        "connect:deployed_triggers:read",
    ),
}


# Any of these admits to the logs, which show what each is for.
LOGS = (
    "connect:accounts:read", "connect:actions:*", "connect:agents:read", "connect:deployed_triggers:read",
    "connect:projects:read",
)  # fmt: skip


_RUN = "dashboard.runs.create"
_FORM = ("show", "save", "reset", "fields", "options", "rows")
OF_DEMO_LINK = frozenset({_RUN, *(f"dashboard.component.{view}" for view in _FORM)})
"""What a visitor of a demo link may ask for, about its one component: the form, and to run it."""


def admits(noun: str) -> bool:
    """Whether the portal has the pages of ``noun``, and the token of this one admits to them."""
    if noun == "logs":
        return any(g.viewer.may(scope) for scope in LOGS)
    return noun in NEEDS and bool(g.viewer.may(NEEDS[noun]))


def recognise(handle: str) -> None:
    """Whose portal it is; ``g.viewer`` is set while its token works."""
    session.clear()  # a browser's own, of somebody who is signed in; it stays as it is
    session.modified = False
    g.csrf_token = ""  # forms need none, and making one would set a cookie
    g.portal = sessions.find(dashboard().store, handle)
    if g.portal is None or g.portal.expires_at <= dashboard().clock():
        return
    g.viewer = viewer.of(g.portal)
    translation.choose(g.portal.look.language, request.accept_languages, dashboard().settings.language)
    if g.portal.notes:
        session[_FLASHES] = list(g.portal.notes)
        session.modified = False


def refuse() -> AnyResponse | None:
    """The response for an ended session, or for a form of another site; None if the request may pass."""
    if g.portal is not None and g.portal.demo_link:
        _check_demo_link(g.portal)
    if g.viewer is None:
        return asleep()
    noun = (request.endpoint or "").removeprefix("dashboard.").partition(".")[0]
    if not admits(noun):
        abort(404)
    if request.method not in _SAFE and request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        abort(403)
    return None


def _check_demo_link(known: sessions.PortalSession) -> None:
    """Only the one form is there for a visitor of a demo link, and only as often as the link may be used."""
    links = dashboard().demo_links
    about = {"slug": demo.APP, "kind": "actions", "key": known.component}
    requested = {name: (request.view_args or {}).get(name) for name in about}
    if links is None or g.viewer is None or request.endpoint not in OF_DEMO_LINK or requested != about:
        abort(404)
    request.max_content_length = body_limits.DEMO_FORM
    if request.method not in _SAFE:
        links.count(known.demo_link, "run" if request.endpoint == _RUN else "form")


def asleep() -> AnyResponse:
    """The page that waits for a new token, with the address to continue from; for htmx a redirect to it."""
    if for_htmx():
        current = urlsplit(request.htmx.current_url or "")  # type: ignore[attr-defined]  # htmx-Flask adds it
        answer = go(f"{current.path}?{current.query}" if current.query else current.path)
        answer.status_code = 401
        return answer
    g.asleep, g.service_failed = True, True
    further = request.full_path.rstrip("?") if request.method in _SAFE else "/"
    return make_response(render_template("dashboard/portal/asleep.html", further=further), 401)


def dress(response: Response) -> Response:
    """Add the headers about referrers and other windows, and keep messages for the next page."""
    known: sessions.PortalSession | None = g.get("portal")
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    if known is not None and known.demo_link:
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
    _keep_notes(known)
    return response


def left_ms() -> int:
    """For how long the session still works, in milliseconds."""
    known: sessions.PortalSession | None = g.get("portal")
    return max(known.expires_at - dashboard().clock(), 0) if known else 0


def address() -> str:
    """The address of this page without its portal's own."""
    return here().removeprefix(request.script_root)


def _keep_notes(known: sessions.PortalSession | None) -> None:
    """Write what changed, and let Flask set no cookie."""
    notes = tuple((str(tone), str(sentence)) for tone, sentence in session.get(_FLASHES, ()))
    if known is not None and notes != known.notes:
        sessions.note(dashboard().store, known.handle, notes)
    session.clear()
    session.modified = session.accessed = False
