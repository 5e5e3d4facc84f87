"""Wiring: the one Flask app that serves the API, the Connect Link and the dashboard. No rules stand here."""

import logging

from flask import Flask, Response, jsonify, request

from webapp import frontend
from webapp.dashboard import wiring as dashboard
from webapp.errors import PatchbayError
from webapp.kit.clock import Clock, now
from webapp.service.api import wiring as api
from webapp.service.api.slashes import collapse_slashes
from webapp.service.domain import clients, projects
from webapp.service.domain.opening import open_service
from webapp.service.domain.service import Service
from webapp.service.link import wiring as link
from webapp.settings import Settings
from webapp.trust import trusted

log = logging.getLogger(__name__)
MAX_BODY_BYTES = 10 * 1024 * 1024
_PROTECTION = (
    ("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)


def create_app(settings: Settings, *, clock: Clock = now, service: Service | None = None) -> Flask:
    """The web application over ``settings.data``, or over a ``service`` that is open already.

    Raises :class:`webapp.service.domain.keyring.WrongKey` and :class:`webapp.errors.Unavailable`.
    """
    service = service or open_service(settings, clock)
    app = Flask(
        "webapp",
        template_folder=str(frontend.templates_dir()),
        static_folder=str(frontend.static_dir()),
        static_url_path="/static",
    )
    app.extensions["patchbay"] = service
    app.secret_key = service.keys.derive("web-sessions")
    app.config.update(MAX_CONTENT_LENGTH=MAX_BODY_BYTES, MAX_FORM_PARTS=1000)
    _add_probes(app, service)
    app.after_request(_cache_static)
    app.after_request(_protect)
    api.register(app, service)
    link.register(app, service)
    client_id, client_secret = clients.dashboard(service)
    dashboard.register(
        app,
        settings=settings,
        store=service.store,
        clock=clock,
        client_id=settings.connect_client_id or client_id,
        client_secret=settings.connect_client_secret or client_secret,
        project=lambda: settings.project or _first_project(service),
        wsgi=lambda: app.wsgi_app,
    )
    app.wsgi_app = trusted(collapse_slashes(app.wsgi_app), settings)  # type: ignore[method-assign, assignment]
    return app


def _first_project(service: Service) -> str:
    project = projects.first(service.store)
    if project is None:
        project = projects.create(service, name="My project")
    return project.id


def _cache_static(response: Response) -> Response:
    """A file asked for by its content's version never changes; any other is asked for again."""
    if request.endpoint == "static" and request.view_args and response.status_code in (200, 304):
        control = frontend.cache_control(request.view_args["filename"], request.args.get("v"))
        response.headers["Cache-Control"] = control
    return response


def _protect(response: Response) -> Response:
    """What every answer carries; pages say more, and come first: nothing runs, is framed, guessed or passed on."""
    for name, value in _PROTECTION:
        response.headers.setdefault(name, value)
    return response


def _add_probes(app: Flask, service: Service) -> None:
    """``/healthz``: the process answers. ``/readyz``: the store answers too."""

    @app.get("/healthz")
    def healthz() -> Response:
        return jsonify(status="ok")

    @app.get("/readyz")
    def readyz() -> tuple[Response, int]:
        try:
            service.store.one("SELECT 1 AS one")
        except PatchbayError as error:
            return jsonify(status="unavailable", error=error.message), 503
        return jsonify(status="ok"), 200

    @app.get("/logos/<slug>.svg")
    def logo(slug: str) -> Response:
        svg = service.catalog.logo(slug)
        if svg is None:
            return Response(status=404)
        headers = {
            "Cache-Control": "public, max-age=31536000, immutable",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cross-Origin-Resource-Policy": "cross-origin",
        }
        return Response(svg, mimetype="image/svg+xml", headers=headers)
