"""Choosing an app, for a link that names none: what can be connected comes first, the rest says why not."""

from flask import Response, request

from webapp.kit import cursors
from webapp.service.domain.accounts import apps
from webapp.service.domain.base.service import Service
from webapp.service.link.answers import page
from webapp.service.link.visit import Visit

SHOWN = 60
MAX_SEARCH = 100


def chooser(service: Service, current: Visit) -> Response:
    """The page that lists apps, narrowed by ``q``."""
    q = request.values.get("q", "").strip()[:MAX_SEARCH]
    found = service.catalog.search(q=q or None, window=cursors.Window(limit=cursors.MAX_LIMIT))
    listed = [app for app in found.items if app.auth_type != "none"]
    marked = [(app, apps.why_not(service, app, current.project.id) is None) for app in listed]
    marked.sort(key=lambda one: not one[1])
    hidden = found.total_count - (len(found.items) - len(marked)) - len(marked[:SHOWN])
    return page(service, "link/choose.html", q=q, apps=marked[:SHOWN], hidden=hidden)
