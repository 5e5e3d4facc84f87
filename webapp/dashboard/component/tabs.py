"""Two tabs of an app's page: its actions and its triggers, with a search. :mod:`.page` is the page of one."""

from flask import Blueprint, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.components import Kind
from webapp.dashboard.component.form import components
from webapp.dashboard.dashboard import service
from webapp.dashboard.pages import page
from webapp.dashboard.rich import rich

blueprint = Blueprint("components", __name__)

STEP = 50


@blueprint.get("/apps/<slug>/<any(actions, triggers):kind>")
def index(slug: str, kind: Kind) -> AnyResponse:
    """The list with its filter; for htmx the list alone."""
    q, after = request.args.get("q", "").strip()[:200], request.args.get("after", "")
    app = service().app(slug)
    listing = components().listed(kind, app=app.slug, q=q, limit=STEP, after=after)
    url = url_for("dashboard.components.index", slug=slug, kind=kind, q=q or None, after=after or None)
    templates = "dashboard/components/index.html", "dashboard/components/_list.html"
    return page(*templates, url=url, app=app, kind=kind, q=q, after=after, page=listing, rich=rich)
