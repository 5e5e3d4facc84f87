"""Opens a demo link: a portal session that shows one form, filled in, to somebody without a login.

Only a demo installation has this page. Whatever does not open is answered as an absent page. What a session of a link
may do is left to :mod:`.portal.gate`.
"""

from flask import Blueprint, Response, abort, g, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp import connect_token_facts, demo
from webapp.dashboard.client import connect
from webapp.dashboard.component.forms import from_draft
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.portal import sessions, viewer
from webapp.dashboard.portal.sessions import Look
from webapp.kit.clock import SECOND

blueprint = Blueprint("demo_link", __name__)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@blueprint.route(f"{demo.PATH}/<text>", methods=_METHODS, provide_automatic_options=False)
def show(text: str) -> AnyResponse:
    """Begin a session with a filled-in form, and lead to it."""
    board = dashboard()
    links = board.demo_links
    link = links.read(text) if links else None
    if links is None or link is None or request.method not in ("GET", "HEAD"):
        abort(404)
    if request.method == "HEAD":
        return Response()  # a preview of a link
    links.count(link.id, "opening")
    left_s = max((link.expires_at - board.clock()) // SECOND, 1)
    whose = {
        "external_user_id": demo.VISITOR,
        "scope": demo.SCOPE,
        "expires_in": min(left_s, connect_token_facts.MAX_LIFETIME_S),
    }
    token = str(board.client.create_token(whose).get("token", ""))
    facts = connect.facts_of(board.client.transport, token)
    g.portal = sessions.create(
        board.store, board.clock, token, facts, Look(nav=False), owned=True, demo_link=link.id, component=link.component
    )
    g.viewer = viewer.of(g.portal)
    _fill_in(link.component)
    page = url_for("dashboard.component.show", slug=demo.APP, kind="actions", key=link.component)
    return redirect(f"{g.portal.base}{page}", 303)


def _fill_in(component: str) -> None:
    """Keep the values of the form as the draft of this session."""
    values = dict(demo.FORMS[component])
    form, _ = from_draft("actions", demo.APP, component).filled(values).renewed()
    form.filled(values).save()
