"""Puts the dashboard into a Flask app: its blueprints, form tokens, htmx and error pages. Nothing is decided here."""

from collections.abc import Callable
from functools import partial

from flask import Blueprint, Flask, g, url_for
from flask_wtf import CSRFProtect  # type: ignore[import-untyped]  # it carries no types
from htmx_flask import Htmx  # type: ignore[import-untyped]  # it carries no types
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import (
    account,
    accounts,
    activity,
    apps,
    audit,
    connections,
    errors,
    gate,
    passkeys,
    shell,
    two_step,
)
from webapp.dashboard import settings as settings_pages
from webapp.dashboard.agents import agents, consent
from webapp.dashboard.build import embed as build_embed
from webapp.dashboard.build import integrations, invitations, logins, people, scene, workflows
from webapp.dashboard.build.apps import app_setup as build_apps
from webapp.dashboard.build.apps import client_form as app_setup
from webapp.dashboard.build.keys import keys
from webapp.dashboard.build.project import brand
from webapp.dashboard.build.project import creation as project_creation
from webapp.dashboard.build.project import deletion as project_deletion
from webapp.dashboard.build.project import project as project_page
from webapp.dashboard.client.belongings import RemoteBelongings
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.in_process import WSGI, InProcess
from webapp.dashboard.client.transport import Memory, Remembered, Transport
from webapp.dashboard.component import component, deploying, runs
from webapp.dashboard.dashboard import KEY, Dashboard
from webapp.dashboard.pages import compress, form_token, go, notice_stale
from webapp.dashboard.portal import frame
from webapp.dashboard.portal import opening as portal
from webapp.dashboard.shared.changes import APPS, PROJECTS, Changes
from webapp.dashboard.shared.shown_once import ShownOnce
from webapp.dashboard.sign_in import first_start, invitation, new_password, passkey, second_step, session
from webapp.dashboard.sign_in import oidc as oidc_pages
from webapp.dashboard.trigger import deletion, deliveries, moving, pausing, trigger, triggers, webhooks
from webapp.dashboard.trigger import workflows as trigger_workflows
from webapp.kit import templates
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND, Clock
from webapp.people.agents.documents import Documents
from webapp.people.logins import Belongings, Logins
from webapp.people.openid_provider import OpenIdProvider
from webapp.people.start_tokens import FirstProject
from webapp.people.totp import Sealer, Totp
from webapp.settings import Settings
from webapp.store.contract import Store

_NOUNS = (
    scene, session, first_start, second_step, passkey, new_password, invitation, oidc_pages,
    apps, app_setup, connections, accounts, account, activity, audit, settings_pages, two_step, passkeys,
    component, runs, deploying, triggers, trigger, pausing, moving, deletion, webhooks, deliveries,
    build_embed, build_apps, integrations, people, logins, invitations, workflows, trigger_workflows, keys, portal,
    agents, consent, project_page, brand, project_creation, project_deletion,
)  # fmt: skip


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
    wsgi: Callable[[], WSGI],
    totp_sealer: Sealer,
    belongings: Belongings,
    oidc: OpenIdProvider | None,
    agent_documents: Documents,
) -> None:
    """Serve the dashboard from ``app``.

    ``client_id`` and ``client_secret`` are the dashboard's OAuth client at the Connect service: the one of
    ``settings.connect_url``, or else the embedded one, which ``wsgi`` gives (called late: it is this very app).
    ``belongings`` are what people have at the embedded one, ``oidc`` is where they sign in, too, and
    ``agent_documents`` says what agents are that are known by an address.
    ``first_project`` is what the first start names, where projects are ours.
    """
    templates.prepare(app.jinja_env)
    sender = None if settings.connect_url else InProcess(wsgi)
    client = ConnectClient(
        Transport(settings.connect_base, sender, clock, gate.note_call),
        clock,
        client_id=client_id,
        client_secret=client_secret,
        project=project,
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
        components=Memory(clock, lifetime=10 * SECOND, size=64, state=of_apps),
        triggers=Memory(clock, lifetime=30 * SECOND, state=of_viewer),
        waiting=Memory(clock, lifetime=30 * SECOND),
        shown_once=ShownOnce(store, clock, _key(app)),
        projects=Memory(clock, lifetime=DAY, state=of_projects),
        calls=Memory(clock, lifetime=HOUR),
        first_project=first_project,
        totp=Totp(store, clock, totp_sealer),
        oidc=oidc,
        agent_documents=agent_documents,
        logins=Logins(store, clock, settings.public_url, theirs),
        changes=changes,
    )
    app.register_blueprint(_blueprint(app))


def _states(changes: Changes) -> tuple[Callable[[str], object], ...]:
    """What memories compare where other web processes change things: those of a viewer, of apps and of projects."""
    return (
        lambda key: (changes.count(key), changes.count(APPS)),
        lambda _: changes.count(APPS),
        lambda _: changes.count(PROJECTS),
    )


def _key(app: Flask) -> bytes:
    key = app.secret_key or b""
    return key.encode() if isinstance(key, str) else key


def _blueprint(app: Flask) -> Blueprint:
    """One blueprint around all, so that the gate, the headers and the error pages are the dashboard's alone."""
    blueprint = Blueprint("dashboard", __name__)
    blueprint.before_request(gate.check)
    blueprint.after_request(compress)
    blueprint.after_request(gate.add_headers)
    blueprint.after_request(gate.prolong)
    blueprint.teardown_request(gate.leave)
    blueprint.context_processor(shell.context)
    errors.register(app, blueprint)

    @blueprint.get("/")
    def home() -> AnyResponse:
        """The start page is the list of apps; in a portal, the first of its tabs."""
        return go(frame.first_tab() if g.get("portal") else url_for("dashboard.apps.index"))

    for child in (*(module.blueprint for module in _NOUNS), apps.tabs):
        blueprint.register_blueprint(child)
    return blueprint
