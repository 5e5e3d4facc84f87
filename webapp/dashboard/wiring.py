"""Adds the dashboard to a Flask app: its blueprints, form tokens, htmx and error pages."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import cast

from flask import Blueprint, Flask, g, has_request_context, url_for
from flask_wtf import CSRFProtect  # type: ignore[import-untyped]  # it carries no types
from htmx_flask import Htmx  # type: ignore[import-untyped]  # it carries no types
from werkzeug.wrappers import Response as AnyResponse

import webapp.dashboard
from webapp.dashboard import demo_link, errors, gate, shell
from webapp.dashboard.client.belongings import RemoteBelongings
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.in_process import WSGI, InProcess
from webapp.dashboard.client.transport import Memory, Remembered, Transport
from webapp.dashboard.dashboard import KEY, Dashboard, forget_progress
from webapp.dashboard.pages import compress, form_token, go, notice_stale
from webapp.dashboard.portal import shell as portal
from webapp.dashboard.shared.changes import APPS, PROJECTS, Changes
from webapp.dashboard.shared.one_time_secrets import OneTimeSecrets
from webapp.demo import Links
from webapp.kit import templates
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND, Clock
from webapp.people.agents.documents import Documents
from webapp.people.logins import Belongings, Logins
from webapp.people.openid_provider import OpenIdProvider
from webapp.people.start_tokens import FirstProject
from webapp.people.totp import Sealer, Totp
from webapp.settings import Settings
from webapp.store.contract import Store

_CARDS = 2_000  # kept, at about 3 kB each with what is known of its app


def register(
    app: Flask,
    *,
    settings: Settings,
    store: Store,
    clock: Clock,
    client_id: str,
    client_secret: str,
    project: Callable[[], str],
    first_project: FirstProject | None,
    wsgi: WSGI,
    totp_sealer: Sealer,
    belongings: Belongings,
    oidc: OpenIdProvider | None,
    agent_documents: Documents,
    demo_links: Links | None = None,
    headings: Callable[[str], Sequence[tuple[str, str, str]]] = lambda _: (),
) -> None:
    """Serve the dashboard from ``app``.

    ``client_id`` and ``client_secret`` are the dashboard's OAuth client at the Connect service: the one of
    ``settings.connect_url``, or else ``wsgi``, the embedded one. ``belongings`` are people's data in the embedded
    service, ``oidc`` is the OpenID provider, and ``agent_documents`` fetches the documents of agents whose id is an
    address. ``demo_links`` are those of a demo installation.
    ``headings`` finds sections of the manual: for words, the page, the heading and the path of each, best first.
    ``first_project`` names the first project, in an embedded service.
    """
    templates.prepare(app.jinja_env)
    sender = None if settings.connect_url else InProcess(wsgi)
    client = ConnectClient(
        Transport(settings.connect_base, sender, clock, gate.note_call),
        clock,
        client_id=client_id,
        client_secret=client_secret,
        project=_once_for_a_request(project),
        environment=settings.environment,
        remembered=Remembered(clock, notice_stale) if settings.connect_url else None,
    )
    theirs = RemoteBelongings(client) if settings.connect_url else belongings
    gate.configure_cookies(app, settings)
    app.jinja_env.globals["drawn_in"] = gate.drawn_in
    Htmx(app)
    CSRFProtect(app)
    app.jinja_env.globals["csrf_token"] = form_token
    app.context_processor(partial(dict, csrf_token=form_token))
    changes = Changes(store, clock, shared=settings.web > 1 or store.folder is None)
    of_viewer, of_apps, of_projects = _states(changes) if changes.shared else (None, None, None)
    app.extensions[KEY] = Dashboard(
        settings=settings,
        store=store,
        clock=clock,
        client=client,
        overviews=Memory(clock, lifetime=30 * SECOND, state=of_viewer),
        catalogs=Memory(clock, lifetime=5 * MINUTE, state=of_apps),
        lacking=Memory(clock, lifetime=5 * MINUTE),
        app_names=Memory(clock, lifetime=5 * MINUTE, state=of_apps),
        apps=Memory(clock, lifetime=5 * MINUTE, state=of_apps),
        app_lists=Memory(clock, lifetime=10 * SECOND, size=32, state=of_apps),
        cards=Memory(clock, lifetime=DAY, size=_CARDS),
        components=Memory(clock, lifetime=10 * SECOND, size=64, state=of_apps),
        triggers=Memory(clock, lifetime=30 * SECOND, state=of_viewer),
        waiting=Memory(clock, lifetime=30 * SECOND),
        one_time_secrets=OneTimeSecrets(store, clock, _key(app)),
        projects=Memory(clock, lifetime=DAY, state=of_projects),
        calls=Memory(clock, lifetime=HOUR),
        done_steps=Memory(clock, lifetime=DAY),
        progress=Memory(clock, lifetime=5 * SECOND),
        first_project=first_project,
        totp=Totp(store, clock, totp_sealer),
        oidc=oidc,
        agent_documents=agent_documents,
        logins=Logins(store, clock, settings.public_url, theirs),
        changes=changes,
        demo_links=demo_links,
        headings=headings,
    )
    app.register_blueprint(_blueprint(app, has_demo_links=demo_links is not None))


def _once_for_a_request(project: Callable[[], str]) -> Callable[[], str]:
    """``project``, which is read once for each request."""

    def known() -> str:
        if not has_request_context():
            return project()
        if "default_project" not in g:
            g.default_project = project()
        return cast(str, g.default_project)

    return known


def _states(changes: Changes) -> tuple[Callable[[str], object], ...]:
    """The states that caches compare if other web processes change data: those of a viewer, of apps and of projects."""
    return (
        lambda key: (changes.count(key), changes.count(APPS)),
        lambda _: changes.count(APPS),
        lambda _: changes.count(PROJECTS),
    )


def _key(app: Flask) -> bytes:
    key = app.secret_key or b""
    return key.encode() if isinstance(key, str) else key


def _blueprint(app: Flask, *, has_demo_links: bool) -> Blueprint:
    """One blueprint around all, so that the gate, the headers and the error pages apply only to the dashboard.

    Where there are no demo links, their address is not routed: it is absent like any other.
    """
    blueprint = Blueprint("dashboard", __name__)
    blueprint.before_request(gate.check)
    blueprint.after_request(compress)
    blueprint.after_request(gate.add_headers)
    blueprint.after_request(gate.prolong)
    blueprint.after_request(forget_progress)
    blueprint.teardown_request(gate.leave)
    blueprint.context_processor(shell.context)
    errors.register(app, blueprint)

    @blueprint.get("/")
    def home() -> AnyResponse:
        """The start page is the list of apps; in a portal, the first of its tabs."""
        return go(portal.first_tab() if g.get("portal") else url_for("dashboard.apps.index"))

    for page in _pages():
        if page is not demo_link.blueprint or has_demo_links:
            blueprint.register_blueprint(page)
    return blueprint


@cache
def _pages() -> tuple[Blueprint, ...]:
    """Return the blueprints of all modules of the dashboard: a page is served because its file exists."""
    names = [info.name for info in pkgutil.walk_packages(webapp.dashboard.__path__, f"{webapp.dashboard.__name__}.")]
    modules = [importlib.import_module(name) for name in names]
    return tuple(dict.fromkeys(each for module in modules for each in vars(module).values() if type(each) is Blueprint))
