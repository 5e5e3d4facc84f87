"""Choosing an app on the Connect Link: all that can be connected, page by page, those that need setup last."""

from flask import Response, request

from webapp.kit import cursors
from webapp.service.catalog.app import App
from webapp.service.catalog.search import Subset
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base.service import Service
from webapp.service.link.answers import page
from webapp.service.link.visit import Visit

APPS_SHOWN = 60
MAX_SEARCH = 100


def show(service: Service, current: Visit) -> Response:
    """The page that lists apps, narrowed by ``q``: the one with the number ``page``, or the last that there is."""
    q = request.values.get("q", "").strip()[:MAX_SEARCH]
    clients = oauth_apps.apps_with_client(service.store, current.project.id)
    rows = [
        (app, ready)
        for ready in (True, False)
        for app in _matching(service, q, Subset(ready=ready, clients=clients))
        if app.auth_type != "none"
    ]
    last = max(0, len(rows) - 1) // APPS_SHOWN + 1
    number = min(max(1, request.values.get("page", 1, type=int)), last)
    shown = rows[(number - 1) * APPS_SHOWN : number * APPS_SHOWN]
    return page(service, "link/choose.html", q=q, apps=shown, number=number, last=last)


def _matching(service: Service, q: str, subset: Subset) -> list[App]:
    window, apps = cursors.Window(limit=cursors.MAX_LIMIT), list[App]()
    while True:
        matches = service.catalog.search(q=q or None, subset=subset, window=window)
        apps += matches.items
        if not matches.end_cursor:
            return apps
        window = cursors.Window(limit=cursors.MAX_LIMIT, after=matches.end_cursor)
