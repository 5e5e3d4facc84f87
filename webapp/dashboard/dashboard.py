"""The dashboard's parts, created once at start, and the viewer of the current page.

Pages get the clients of the Connect service for that viewer here, and cached accounts, triggers and apps.
"""

import functools
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast
from urllib.parse import urlsplit

from flask import Response, current_app, g, request
from markupsafe import Markup

from webapp.dashboard.app_groups import Catalog
from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.agents import AgentClient
from webapp.dashboard.client.build.projects import Project, ProjectProgress
from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.client.components import ComponentClient
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.logs import LogClient
from webapp.dashboard.client.models.accounts import App, AppPage
from webapp.dashboard.client.models.components import Component, FoundComponent, Kind
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.overview import Overview, TriggerOverview, read_accounts, read_triggers
from webapp.dashboard.client.transport import Memory
from webapp.dashboard.client.triggers import TriggerClient
from webapp.dashboard.shared.changes import Changes
from webapp.dashboard.shared.one_time_secrets import OneTimeSecrets
from webapp.demo import Links
from webapp.errors import PatchbayError
from webapp.kit.clock import Clock
from webapp.people import roles
from webapp.people.agents.documents import Documents
from webapp.people.logins import Logins
from webapp.people.openid_provider import OpenIdProvider
from webapp.people.start_tokens import FirstProject
from webapp.people.totp import Totp
from webapp.settings import Settings
from webapp.store.contract import Store

KEY = "patchbay_dashboard"
ALL_PROJECTS = "all"  # the only key in the cache of projects
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The dashboard's parts, created once at start."""

    settings: Settings
    store: Store
    clock: Clock
    client: ConnectClient
    overviews: Memory[Overview]
    catalogs: Memory[Catalog]
    lacking: Memory[bool]
    app_names: Memory[str]
    apps: Memory[App]
    app_lists: Memory[AppPage]
    cards: Memory[tuple[object, Markup]]
    components: Memory[Component]
    triggers: Memory[TriggerOverview]
    waiting: Memory[int]
    one_time_secrets: OneTimeSecrets
    projects: Memory[tuple[Project, ...]]
    calls: Memory[deque[CallRecord]]
    done_steps: Memory[bool]
    progress: Memory[ProjectProgress]
    first_project: FirstProject | None
    totp: Totp
    logins: Logins
    oidc: OpenIdProvider | None
    agent_documents: Documents
    changes: Changes
    demo_links: Links | None
    headings: Callable[[str], Sequence[tuple[str, str, str]]]

    def forget_apps(self) -> None:
        """Clear the caches of apps, after the catalog has changed."""
        about_apps = (self.catalogs, self.app_names, self.apps, self.app_lists, self.cards, self.components)
        for memory in (*about_apps, self.overviews):
            memory.clear()

    @property
    def public_host(self) -> str:
        """The host and port of the public URL."""
        return urlsplit(self.settings.public_url).netloc

    @property
    def image_origins(self) -> Mapping[str, None]:
        """The origins from which pages may load logos: our own, and that of a remote Connect service."""
        return _origins(self.settings.public_url, self.settings.connect_url)


@dataclass(frozen=True, slots=True)
class Viewer:
    """The viewer of a page: an external user of the project and environment of ``client``.

    ``role`` is the user's, which decides what they see of Build. ``scene`` is the project and environment if they are
    not the dashboard's defaults.
    """

    external_user_id: str
    role: str
    client: ConnectClient
    scene: str = ""

    @property
    def key(self) -> str:
        """The viewer's key in shared caches."""
        return self.here(self.external_user_id)

    def here(self, name: str) -> str:
        """``name`` as a key that is unique to the project and environment."""
        return f"{name} {self.scene}" if self.scene else name

    @property
    def owner(self) -> str:
        """The key of the viewer's drafts."""
        return self.external_user_id

    def may(self, scope: str) -> bool:
        """Whether the viewer has ``scope``, such as ``connect:accounts:write``; pages leave out the rest."""
        return True

    @property
    def has_history(self) -> bool:
        """Whether the viewer sees earlier runs."""
        return True

    @property
    def in_chosen_project(self) -> bool:
        """Whether the project is not the dashboard's default."""
        return " " in self.scene

    @property
    def may_build(self) -> bool:
        """Whether their role may, as :func:`webapp.people.roles.may_build` decides."""
        return roles.may_build(self.role)


@functools.cache
def _origins(*urls: str | None) -> Mapping[str, None]:
    return {"{0.scheme}://{0.netloc}".format(urlsplit(url)): None for url in urls if url}


def dashboard() -> Dashboard:
    """The dashboard of the current app."""
    return cast(Dashboard, current_app.extensions[KEY])


def viewer() -> Viewer:
    """The viewer of this page; pages behind the gate always have one."""
    return cast(Viewer, g.viewer)


def service() -> UserClient:
    """The client for the viewer's apps and accounts."""
    return UserClient(viewer().client, viewer().external_user_id)


def components() -> ComponentClient:
    """The client for components."""
    return ComponentClient(viewer().client, viewer().external_user_id)


def search_components(q: str, limit: int, connected: Sequence[str]) -> PageOf[FoundComponent] | None:
    """The first ``limit`` actions and triggers of any app that fit ``q``, those of apps ``connected`` before others.

    None if the viewer may use neither.
    """
    nouns = {"actions": "action", "triggers": "trigger"}
    kinds = [noun for kind, noun in nouns.items() if viewer().may(f"connect:{kind}:*")]
    if not kinds:
        return None
    return components().search(q, limit=limit, kind=kinds[0] if len(kinds) == 1 else "", connected=connected)


def triggers() -> TriggerClient:
    """The client for the viewer's deployed triggers."""
    return TriggerClient(viewer().client, viewer().external_user_id)


def agents() -> AgentClient:
    """The client for the viewer's agents."""
    return AgentClient(viewer().client, viewer().external_user_id)


def logs() -> LogClient:
    """The client for the viewer's logs."""
    return LogClient(viewer().client, viewer().external_user_id)


def known_accounts(*, fresh: bool = False) -> Overview:
    """The viewer's accounts, cached for a few seconds unless ``fresh``."""
    if not viewer().may("connect:accounts:read"):
        return Overview((), 0, "")
    kept = dashboard().overviews
    known = None if fresh else kept.get(viewer().key)
    return known or kept.put(viewer().key, read_accounts(service()))


def known_triggers(*, fresh: bool = False) -> TriggerOverview:
    """The viewer's triggers, cached for a few seconds unless ``fresh``."""
    if not viewer().may("connect:deployed_triggers:read"):
        return TriggerOverview((), 0)
    kept = dashboard().triggers
    known = None if fresh else kept.get(viewer().key)
    return known or kept.put(viewer().key, read_triggers(service()))


def forget_accounts() -> None:
    """Clear the cached accounts and triggers, after an account has changed."""
    dashboard().overviews.drop(viewer().key)
    dashboard().progress.clear()
    forget_triggers()


def forget_triggers() -> None:
    """Clear the cached triggers, after one has changed."""
    dashboard().changes.add(viewer().key)
    dashboard().triggers.drop(viewer().key)


def forget_progress(response: Response) -> Response:
    """Clear the cached progress of the checklist, after a form, which may have done a step of it."""
    if request.method != "GET":
        dashboard().progress.clear()
    return response


def known_app(slug: str) -> App:
    """The app with this slug, cached. Raises :class:`webapp.errors.NotFound`."""
    kept, name = dashboard().apps, viewer().here(slug)
    return kept.get(name) or kept.put(name, service().app(slug))


def known_apps(filters: AppFilter, *, limit: int, after: str = "") -> AppPage:
    """A page of apps, cached for a few seconds by ``filters``, which name a person's own apps in a list by state."""
    kept, name = dashboard().app_lists, viewer().here(f"{filters} {limit} {after}")
    return kept.get(name) or kept.put(name, service().apps(filters, limit=limit, after=after))


def known_component(kind: Kind, key: str) -> Component:
    """A component, which is the same for everybody, cached as well; not an author's own.

    Raises :class:`webapp.errors.NotFound`.
    """
    kept, name = dashboard().components, viewer().here(f"{kind} {key}")
    known = None if key.startswith("~/") else kept.get(name)
    return known or kept.put(name, components().find(kind, key))


def app_of(slug: str) -> App | None:
    """The app with this slug, or ``None`` if it is unknown or unavailable."""
    try:
        return known_app(slug) if slug else None
    except PatchbayError:
        return None


def uses_by_account() -> Mapping[str, int] | None:
    """The number of triggers by account; ``None`` if that is unavailable.

    It is computed from the list of triggers, because calling ``uses`` for every account would reach the rate limit.
    """
    try:
        return known_triggers().of_account()
    except PatchbayError:
        return None


def if_up(ask: Callable[[], T]) -> T | None:
    """The result of ``ask``, or ``None`` if the service fails, or failed before during this request."""
    if g.get("service_failed"):
        return None
    try:
        return ask()
    except PatchbayError:
        g.service_failed = True
        return None


def offers(noun: str, ask: Callable[[], object]) -> bool:
    """Whether the service has an extension; of a remote one, ``ask`` returns None if not. Cached for a while."""
    board = dashboard()
    if not board.settings.connect_url:
        return True
    lacking = board.lacking.get(noun)
    if lacking is None:
        lacking = if_up(lambda: board.lacking.put(noun, ask() is None))
    return lacking is False


def has_logs() -> bool:
    """Whether the service has logs."""
    return offers("logs", lambda: logs().page({}, limit=1))


def public_url(path: str) -> str:
    """The absolute URL of a page."""
    return dashboard().settings.public_url + path
