"""What every page of the dashboard works with: its parts, made once at start, and the person whose request it is.

Pages ask here for the service as that person sees it, and for accounts, triggers and apps that were read a moment ago.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast
from urllib.parse import urlsplit

from flask import current_app, g

from webapp.dashboard.client.accounts import UserClient
from webapp.dashboard.client.components import ComponentClient
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.models.accounts import App, Category
from webapp.dashboard.client.overview import Overview, TriggerOverview, read_accounts, read_triggers
from webapp.dashboard.client.transport import Memory
from webapp.dashboard.client.triggers import TriggerClient
from webapp.errors import PatchbayError
from webapp.kit.clock import Clock
from webapp.people.preferences import Preferences
from webapp.people.sessions import Session
from webapp.people.totp import Totp
from webapp.people.users import User
from webapp.settings import Settings
from webapp.store.contract import Store

KEY = "patchbay_dashboard"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Catalog:
    """What hardly ever changes: the categories, how many apps there are, and whether each says that it is ready."""

    categories: tuple[Category, ...]
    total: int
    tells_ready: bool


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
    triggers: Memory[TriggerOverview]
    shown_once: Memory[tuple[str, str]]
    totp: Totp

    def forget_apps(self) -> None:
        """Ask anew for what is known of apps: the catalog changed."""
        for memory in (self.catalogs, self.app_names, self.apps, self.overviews):
            memory.clear()

    @property
    def public_host(self) -> str:
        """The host and port of the public address."""
        return urlsplit(self.settings.public_url).netloc

    @property
    def image_origins(self) -> Mapping[str, None]:
        """Origins whose logos a page may load: our own, and the Connect service's when that is another."""
        return _origins(self.settings.public_url, self.settings.connect_url)


@functools.cache
def _origins(*urls: str | None) -> Mapping[str, None]:
    return {"{0.scheme}://{0.netloc}".format(urlsplit(url)): None for url in urls if url}


def dashboard() -> Dashboard:
    """The dashboard of the current app."""
    return cast(Dashboard, current_app.extensions[KEY])


def person() -> User:
    """Who is signed in; pages behind the gate always have somebody."""
    return cast(User, g.person)


def chosen() -> Preferences:
    """What that person chose for the pages."""
    return cast(Preferences, g.preferences)


def session_now() -> Session:
    """The session of the current request."""
    return cast(Session, g.person_session)


def service() -> UserClient:
    """The Connect service as the signed-in person sees it."""
    return UserClient(dashboard().client, person().id)


def components() -> ComponentClient:
    """The components as the signed-in person may use them."""
    return ComponentClient(dashboard().client, person().id)


def triggers() -> TriggerClient:
    """Deployed triggers as the signed-in person has them."""
    return TriggerClient(dashboard().client, person().id)


def known_accounts(*, fresh: bool = False) -> Overview:
    """The person's accounts; a few seconds old is good enough unless ``fresh``."""
    kept = dashboard().overviews
    known = None if fresh else kept.get(person().id)
    return known or kept.put(person().id, read_accounts(service()))


def known_triggers(*, fresh: bool = False) -> TriggerOverview:
    """The person's triggers, likewise."""
    kept = dashboard().triggers
    known = None if fresh else kept.get(person().id)
    return known or kept.put(person().id, read_triggers(service()))


def forget_accounts() -> None:
    """Read the accounts anew, and the triggers that depend on them: something has just changed."""
    dashboard().overviews.drop(person().id)
    forget_triggers()


def forget_triggers() -> None:
    """Read the triggers anew: one has just changed."""
    dashboard().triggers.drop(person().id)


def app_of(slug: str) -> App | None:
    """The app of that slug, kept for a while; ``None`` where it cannot be told."""
    kept = dashboard().apps
    try:
        return kept.get(slug) or kept.put(slug, service().app(slug)) if slug else None
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


def may_see_keys() -> bool:
    """Whether that person's role may see and rotate signing keys."""
    return person().role in ("owner", "developer")


def public_url(path: str) -> str:
    """The address of a page as other sites must write it."""
    return dashboard().settings.public_url + path
