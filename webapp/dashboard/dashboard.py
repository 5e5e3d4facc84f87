"""What every page of the dashboard works with, kept in ``app.extensions``; and the person whose request it is."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast
from urllib.parse import urlsplit

from flask import current_app, g

from webapp.dashboard.client.accounts import UserClient
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.memory import Memory
from webapp.dashboard.client.models.accounts import App, Category
from webapp.dashboard.client.triggers import TriggerClient
from webapp.dashboard.overview import Overview
from webapp.dashboard.trigger.overview import Triggers
from webapp.kit.clock import Clock
from webapp.people.preferences import Preferences
from webapp.people.sessions import Session
from webapp.people.users import User
from webapp.settings import Settings
from webapp.store.contract import Store

KEY = "patchbay_dashboard"


class Csrf(Protocol):
    """The one thing that the gate needs of Flask-WTF."""

    def protect(self) -> None:
        """Refuse the request unless it carries its session's token."""
        ...


@dataclass(frozen=True, slots=True)
class Catalog:
    """What hardly ever changes: the categories, and how many apps there are."""

    categories: tuple[Category, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The dashboard's parts, made once at start."""

    settings: Settings
    store: Store
    clock: Clock
    client: ConnectClient
    csrf: Csrf
    overviews: Memory[Overview]
    catalogs: Memory[Catalog]
    lacking: Memory[bool]
    app_names: Memory[str]
    apps: Memory[App]
    triggers: Memory[Triggers]
    shown_once: Memory[tuple[str, str]]

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


def triggers() -> TriggerClient:
    """Deployed triggers as the signed-in person has them."""
    return TriggerClient(dashboard().client, person().id)


def may_see_keys() -> bool:
    """Whether that person's role may see and rotate signing keys."""
    return person().role in ("owner", "developer")


def public_url(path: str) -> str:
    """The address of a page as other sites must write it."""
    return dashboard().settings.public_url + path
