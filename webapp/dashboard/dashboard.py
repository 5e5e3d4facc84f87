"""What every page of the dashboard works with: its parts, made once at start, and for whom the page is drawn.

Pages ask here for the service as that viewer sees it, and for accounts, triggers and apps that were read a moment ago.
"""

import functools
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast
from urllib.parse import urlsplit

from flask import current_app, g

from webapp.dashboard.app_groups import Catalog
from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.agents import AgentClient
from webapp.dashboard.client.build.projects import Project
from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.client.components import ComponentClient
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.components import Component, Kind
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.overview import Overview, TriggerOverview, read_accounts, read_triggers
from webapp.dashboard.client.transport import Memory
from webapp.dashboard.client.triggers import TriggerClient
from webapp.dashboard.shared.changes import Changes
from webapp.dashboard.shared.shown_once import ShownOnce
from webapp.errors import PatchbayError
from webapp.kit.clock import Clock
from webapp.people.agents.documents import Documents
from webapp.people.logins import Logins
from webapp.people.openid_provider import OpenIdProvider
from webapp.people.start_tokens import FirstProject
from webapp.people.totp import Totp
from webapp.settings import Settings
from webapp.store.contract import Store

KEY = "patchbay_dashboard"
KNOWN_PROJECTS = "all"  # in the memory of projects
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The dashboard's parts, made once at start."""

    settings: Settings
    store: Store
    clock: Clock
    client: ConnectClient
    overviews: Memory[Overview]
    catalogs: Memory[Catalog]
    lacking: Memory[bool]
    app_names: Memory[str]
    apps: Memory[App]
    app_lists: Memory[PageOf[App]]
    components: Memory[Component]
    triggers: Memory[TriggerOverview]
    waiting: Memory[int]
    shown_once: ShownOnce
    projects: Memory[tuple[Project, ...]]
    calls: Memory[deque[CallRecord]]
    first_project: FirstProject | None
    totp: Totp
    logins: Logins
    oidc: OpenIdProvider | None
    agent_documents: Documents
    changes: Changes

    def forget_apps(self) -> None:
        """Ask anew for what is known of apps: the catalog changed."""
        for memory in (self.catalogs, self.app_names, self.apps, self.app_lists, self.components, self.overviews):
            memory.clear()

    @property
    def public_host(self) -> str:
        """The host and port of the public address."""
        return urlsplit(self.settings.public_url).netloc

    @property
    def image_origins(self) -> Mapping[str, None]:
        """Origins whose logos a page may load: our own, and the Connect service's when that is another."""
        return _origins(self.settings.public_url, self.settings.connect_url)


@dataclass(frozen=True, slots=True)
class Viewer:
    """For whom a page is drawn: an external user of one project and environment, which ``client`` stands for.

    ``role`` is that of a login, which decides what of Build they may see. ``scene`` names the project and environment
    where they are not those that the dashboard works in by itself.
    """

    external_user_id: str
    role: str
    client: ConnectClient
    scene: str = ""

    @property
    def key(self) -> str:
        """Names the viewer in memories that all of them share."""
        return self.here(self.external_user_id)

    def here(self, name: str) -> str:
        """``name``, told apart by project and environment."""
        return f"{name} {self.scene}" if self.scene else name

    @property
    def owner(self) -> str:
        """Names whose drafts these are."""
        return self.external_user_id

    def may(self, scope: str) -> bool:
        """Whether ``scope`` is theirs, such as ``connect:accounts:write``; what is not is left out of pages."""
        return True

    @property
    def in_chosen_project(self) -> bool:
        """Whether the project is not the one that the dashboard works in by itself."""
        return " " in self.scene

    @property
    def may_build(self) -> bool:
        """Whether Build is theirs: signing keys, what others do, clients and embedding."""
        return self.role in ("owner", "developer")


@functools.cache
def _origins(*urls: str | None) -> Mapping[str, None]:
    return {"{0.scheme}://{0.netloc}".format(urlsplit(url)): None for url in urls if url}


def dashboard() -> Dashboard:
    """The dashboard of the current app."""
    return cast(Dashboard, current_app.extensions[KEY])


def viewer() -> Viewer:
    """For whom this page is drawn; pages behind the gate always have somebody."""
    return cast(Viewer, g.viewer)


def service() -> UserClient:
    """The Connect service as the viewer sees it."""
    return UserClient(viewer().client, viewer().external_user_id)


def components() -> ComponentClient:
    """The components as the viewer may use them."""
    return ComponentClient(viewer().client, viewer().external_user_id)


def triggers() -> TriggerClient:
    """Deployed triggers as the viewer has them."""
    return TriggerClient(viewer().client, viewer().external_user_id)


def agents() -> AgentClient:
    """Agents as the viewer has them."""
    return AgentClient(viewer().client, viewer().external_user_id)


def known_accounts(*, fresh: bool = False) -> Overview:
    """The viewer's accounts; a few seconds old is good enough unless ``fresh``."""
    if not viewer().may("connect:accounts:read"):
        return Overview((), 0, "")
    kept = dashboard().overviews
    known = None if fresh else kept.get(viewer().key)
    return known or kept.put(viewer().key, read_accounts(service()))


def known_triggers(*, fresh: bool = False) -> TriggerOverview:
    """The viewer's triggers, likewise."""
    if not viewer().may("connect:deployed_triggers:read"):
        return TriggerOverview((), 0)
    kept = dashboard().triggers
    known = None if fresh else kept.get(viewer().key)
    return known or kept.put(viewer().key, read_triggers(service()))


def forget_accounts() -> None:
    """Read the accounts anew, and the triggers that depend on them: something has just changed."""
    dashboard().overviews.drop(viewer().key)
    forget_triggers()


def forget_triggers() -> None:
    """Read the triggers anew: one has just changed."""
    dashboard().changes.add(viewer().key)
    dashboard().triggers.drop(viewer().key)


def known_app(slug: str) -> App:
    """The app of that slug, kept for a while. Raises :class:`webapp.errors.NotFound`."""
    kept, name = dashboard().apps, viewer().here(slug)
    return kept.get(name) or kept.put(name, service().app(slug))


def known_apps(filters: AppFilter, *, limit: int, after: str = "") -> PageOf[App]:
    """A page of apps, which is the same for everybody; a few seconds old is good enough."""
    kept, name = dashboard().app_lists, viewer().here(f"{filters} {limit} {after}")
    return kept.get(name) or kept.put(name, service().apps(filters, limit=limit, after=after))


def known_component(kind: Kind, key: str) -> Component:
    """A component, which is the same for everybody, likewise; not an author's own. Raises
    :class:`webapp.errors.NotFound`."""
    kept, name = dashboard().components, viewer().here(f"{kind} {key}")
    known = None if key.startswith("~/") else kept.get(name)
    return known or kept.put(name, components().find(kind, key))


def app_of(slug: str) -> App | None:
    """The same; ``None`` where it cannot be told."""
    try:
        return known_app(slug) if slug else None
    except PatchbayError:
        return None


def uses_by_account() -> Mapping[str, int] | None:
    """How many triggers use each account; ``None`` where that cannot be told.

    It follows from the list of triggers: asking ``uses`` of every account would use up the limit on account calls.
    """
    try:
        return known_triggers().of_account()
    except PatchbayError:
        return None


def if_up(ask: Callable[[], T]) -> T | None:
    """What ``ask`` answers; ``None`` once the service has failed, which is then asked nothing more for this page."""
    if g.get("service_failed"):
        return None
    try:
        return ask()
    except PatchbayError:
        g.service_failed = True
        return None


def offers(noun: str, ask: Callable[[], object]) -> bool:
    """Whether the service has an extension. Ours does; another one is asked once in a while: ``None`` means no."""
    board = dashboard()
    if not board.settings.connect_url:
        return True
    lacking = board.lacking.get(noun)
    if lacking is None:
        lacking = if_up(lambda: board.lacking.put(noun, ask() is None))
    return lacking is False


def public_url(path: str) -> str:
    """The address of a page as other sites must write it."""
    return dashboard().settings.public_url + path
