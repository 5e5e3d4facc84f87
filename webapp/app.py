"""Creates the Flask app that serves the API, the Connect Link and the dashboard. All rules are in other modules."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Flask, Request, Response, jsonify, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from itsdangerous import URLSafeTimedSerializer

from webapp import body_limits, content_security_policies, demo, static_files, telemetry
from webapp.dashboard import wiring as dashboard
from webapp.dashboard.dashboard import KEY
from webapp.dashboard.portal.mount import PREFIX, mount
from webapp.errors import PatchbayError
from webapp.kit import assets, crypto, heartbeat, translation
from webapp.kit.clock import Clock, now
from webapp.kit.package_translations import PackageTranslations
from webapp.manual import wiring as manual
from webapp.people.agents.documents import Documents
from webapp.people.openid_provider import OpenIdProvider
from webapp.service.api import agent_sign_in as sign_in
from webapp.service.api import wiring as api
from webapp.service.api.base.addresses import collapse_slashes
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import open_service
from webapp.service.domain.instance.people import EmbeddedBelongings, TotpSealer
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.first_project import FirstProject
from webapp.service.inbound import hooks as inbound
from webapp.service.link import wiring as link
from webapp.service.mcp import wiring as mcp
from webapp.settings import Settings
from webapp.trusted_proxies import trusted

log = logging.getLogger(__name__)
WORKER_LATE_S = 120  # the worker's loop may wait for slow providers
_PROTECTING_HEADERS = (
    ("Content-Security-Policy", content_security_policies.NO_PAGE),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)


def create_app(
    settings: Settings,
    *,
    clock: Clock = now,
    service: Service | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> Flask:
    """The web application for ``settings``, or for a ``service`` that is open already.

    ``stopping`` returns True when the process is about to end, so that ``/readyz`` directs requests elsewhere. Raises
    :class:`webapp.service.domain.base.keyring.WrongKey` and :class:`webapp.errors.Unavailable`.
    """
    service = service or open_service(settings, clock)
    app = _App(
        "webapp",
        template_folder=str(assets.templates_dir()),
        static_folder=str(assets.static_dir()),
        static_url_path="/static",
    )
    app.jinja_options = {"cache_size": -1}  # each template is kept: to find one is a look-up in a dict, without a lock
    app.extensions["patchbay"] = service
    is_demo = demo.is_demo(service.store)
    app.jinja_env.globals["is_demo"] = is_demo
    app.secret_key = service.keys.derive("web-sessions")
    app.session_interface = _FormSessions()
    app.config.update(MAX_CONTENT_LENGTH=body_limits.REQUEST, MAX_FORM_PARTS=1000)
    app.before_request(partial(_choose_language, settings))
    telemetry.register(app, settings, service)
    _add_probes(app, service, stopping)
    app.after_request(static_files.cache)
    app.after_request(_protecting(settings))
    api.register(app, service)
    sign_in.register(app, service)
    link.register(app, service)
    inbound.register(app, service)
    mcp.register(app, service)
    headings = manual.register(app, settings, service.executor.confinement)
    client_id, client_secret = oauth_clients.dashboard(service)
    dashboard.register(
        app,
        settings=settings,
        store=service.store,
        clock=clock,
        client_id=settings.connect_client_id or client_id,
        client_secret=settings.connect_client_secret or client_secret,
        project=lambda: projects.default(service),
        first_project=None if settings.connect_url else FirstProject(service),
        wsgi=app.wsgi_app,  # before it is wrapped below: what comes from this process needs no checks of proxies
        totp_sealer=TotpSealer(service),
        belongings=EmbeddedBelongings(service),
        oidc=OpenIdProvider(service.outbound, settings, clock) if settings.oidc_issuer else None,
        agent_documents=Documents(service.outbound, service.store, clock),
        demo_links=demo.Links(service.store, clock, service.keys.derive(demo.KEY)) if is_demo else None,
        headings=headings,
    )
    service.catalog.when_refreshed(app.extensions[KEY].forget_apps)
    words = PackageTranslations(settings.data / "pieces" / "apps")
    translation.use(words)
    service.catalog.when_refreshed(words.forget)
    app.wsgi_app = trusted(collapse_slashes(app.wsgi_app), settings)  # type: ignore[method-assign, assignment]
    return app


class _FormSessions(SecureCookieSessionInterface):
    """The session cookie for form tokens, only on pages: the API and triggers neither read nor write it.

    The signer is cached, whereas Flask creates one for each request.
    """

    _signer: URLSafeTimedSerializer | None = None

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """The signer of ``app``, whose key never changes."""
        self._signer = self._signer or super().get_signing_serializer(app)
        return self._signer

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """The session in the cookie; None for the API and triggers."""
        return None if request.path.startswith(("/v1/", "/h/")) else super().open_session(app, request)


class _App(Flask):
    """Flask with other logging of failed requests, compressed static files, and portals."""

    def wsgi_app(self, environ: dict[str, Any], start_response: Any) -> Any:
        """Handle a request. Pages of a portal have their own path and are served by the dashboard."""
        if environ.get("PATH_INFO", "").startswith(PREFIX):
            mount(environ)
        return super().wsgi_app(environ, start_response)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """``func``: no view is a coroutine, and Flask would check each function in every request."""
        return func

    def log_exception(self, exc_info: Any) -> None:
        """Log an exception with the route's name, because the URL may contain a token or a trigger's key."""
        self.logger.error("Exception in %s [%s]", request.endpoint, request.method, exc_info=exc_info)

    def send_static_file(self, filename: str) -> Response:
        """The response with a file below ``/static``."""
        return static_files.sent(filename) or super().send_static_file(filename)


def _choose_language(settings: Settings) -> None:
    """Set the language of the browser, until the page knows its reader. A thread serves one person after another."""
    if request.path.startswith("/v1/") or crypto.REQUEST_ENVIRON in request.environ:
        return  # the API, which a page may be calling
    translation.choose("", request.accept_languages, settings.language)


def _protecting(settings: Settings) -> Callable[[Response], Response]:
    """A function that adds strict security headers to a response, unless it has its own or answers a page's own call,
    which reaches no browser.

    With HTTPS, it also adds HSTS for a year (RFC 6797), except on loopback addresses.
    """
    headers = dict(_PROTECTING_HEADERS)
    if settings.secure and not settings.loopback:
        headers["Strict-Transport-Security"] = "max-age=31536000"

    def protect(response: Response) -> Response:
        if crypto.REQUEST_ENVIRON in request.environ:
            return response
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        return response

    return protect


def _add_probes(app: Flask, service: Service, stopping: Callable[[], bool]) -> None:
    """Add ``/healthz``, which responds while the process does, ``/readyz`` and ``/logos``.

    ``/readyz`` responds with 200 if the process is not about to end and the store can be written. It also shows whether
    the worker is alive, which pages and the API do not need.
    """

    @app.get("/healthz")
    def healthz() -> Response:
        return jsonify(status="ok")

    @app.get("/readyz")
    def readyz() -> tuple[Response, int]:
        if stopping():
            return jsonify(status="stopping", error="This process is ending; send requests to another."), 503
        try:
            service.store.one("SELECT 1 AS one")
            service.store.check_writable()
            limits = service.limits.status()
        except PatchbayError as error:
            return jsonify(status="unavailable", error=error.message), 503
        age_s = heartbeat.age_s(service.settings.data / heartbeat.WORKER)
        worker = "ok" if age_s is not None and age_s < WORKER_LATE_S else "not seen"
        return jsonify(status="ok", worker=worker, **({"limits": limits} if limits else {})), 200

    @app.get("/logos/<slug>.svg")
    def logo(slug: str) -> Response:
        svg = service.catalog.logo(slug)
        if svg is None:
            return Response(status=404)
        guarded = {
            "Content-Security-Policy": content_security_policies.FILE,
            "Cross-Origin-Resource-Policy": "cross-origin",
        }
        return static_files.drawing(svg, guarded)
