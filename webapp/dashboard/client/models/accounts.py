"""What the Connect API answers, as frozen values. Reading is lenient: what is missing gets a plain default.

Shapes are the specification's sections 2.3, 2.10 and 2.11; what the embedded service adds is optional everywhere.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from webapp.dashboard.client.models import reading
from webapp.dashboard.client.models.reading import Json

T = TypeVar("T")
State = Literal["working", "retrying", "needs-you"]


@dataclass(frozen=True, slots=True)
class PageOf(Generic[T]):
    """One page of a list; ``end_cursor`` is "" on the last one."""

    items: Sequence[T]
    total: int
    end_cursor: str


@dataclass(frozen=True, slots=True)
class Category:
    """A category of apps; ``count`` is absent where the service does not count."""

    id: str
    name: str
    count: int | None


@dataclass(frozen=True, slots=True)
class Extras:
    """What the embedded service adds about one app (an extension)."""

    connectable: bool
    why_not: str | None
    scopes: Mapping[str, str]
    docs_url: str | None
    actions: int | None
    triggers: int | None


@dataclass(frozen=True, slots=True)
class App:
    """An app that accounts can be connected to."""

    id: str
    slug: str
    name: str
    description: str
    logo: str
    auth_type: str
    categories: tuple[str, ...]
    featured: float
    scope_profiles: tuple[tuple[str, tuple[str, ...]], ...]
    fields: tuple[str, ...]
    extras: Extras | None


@dataclass(frozen=True, slots=True)
class Account:
    """A connected account. Times are ISO 8601 strings; ``None`` is unknown or absent."""

    id: str
    name: str | None
    external_id: str
    healthy: bool
    dead: bool
    error: str | None
    app: App
    scopes: tuple[str, ...]
    created_at: str | None
    updated_at: str | None
    expires_at: str | None
    last_refreshed_at: str | None
    next_refresh_at: str | None
    last_checked_at: str | None
    next_check_at: str | None
    identity: str | None
    scope_profile: str | None
    oauth_app_id: str | None

    @property
    def title(self) -> str:
        """What to call the account: its own name, who is signed in, or its app."""
        return self.name or self.identity or self.app.name

    @property
    def state(self) -> State:
        """Working, Retrying (a passing failure) or Needs you (nothing but a person can mend it)."""
        if self.dead:
            return "needs-you"
        return "working" if self.healthy else "retrying"


@dataclass(frozen=True, slots=True)
class Use:
    """Something that stops without an account (an extension)."""

    id: str
    name: str
    kind: str
    state: str


@dataclass(frozen=True, slots=True)
class Happening:
    """One line of an account's or trigger's history (an extension). What it is not about is ""."""

    at: str | None
    good: bool
    sentence: str
    account_id: str
    app: str
    kind: str
    trigger_id: str = ""


@dataclass(frozen=True, slots=True)
class TestResult:
    """The outcome of testing an account (an extension)."""

    __test__ = False  # not a test class, whatever its name says to pytest

    healthy: bool
    dead: bool
    error: str | None


def app(data: Json) -> App:
    """An App of section 2.3, with the embedded service's ``patchbay`` key when it is there."""
    return replace(
        listed_app(data),
        scope_profiles=tuple(
            (reading.text(item, "name"), reading.texts(item.get("scopes")))
            for item in reading.objects(data.get("scope_profiles"))
        ),
        fields=_field_labels(reading.text(data, "custom_fields_json")),
    )


def listed_app(data: Json) -> App:
    """The same as far as lists show it: without scope profiles and fields, which take most of the time to read."""
    slug = reading.text(data, "name_slug") or reading.text(data, "id")
    return App(
        id=reading.text(data, "id"),
        slug=slug,
        name=reading.text(data, "name") or slug,
        description=reading.text(data, "description"),
        logo=reading.text(data, "img_src"),
        auth_type=reading.text(data, "auth_type") or "keys",
        categories=reading.texts(data.get("categories")),
        featured=float(data.get("featured_weight") or 0),
        scope_profiles=(),
        fields=(),
        extras=_extras(data["patchbay"]) if isinstance(data.get("patchbay"), dict) else None,
    )


def account(data: Json) -> Account:
    """A connected account of section 2.10. Credentials, should a service send any, are not read."""
    identity = data.get("identity")
    return Account(
        id=reading.text(data, "id"),
        name=reading.maybe(data, "name"),
        external_id=reading.text(data, "external_id"),
        healthy=data.get("healthy") is not False,
        dead=data.get("dead") is True,
        error=reading.maybe(data, "error"),
        app=listed_app(data["app"] if isinstance(data.get("app"), dict) else {}),
        scopes=reading.texts(data.get("authorized_scopes")),
        created_at=reading.maybe(data, "created_at"),
        updated_at=reading.maybe(data, "updated_at"),
        expires_at=reading.maybe(data, "expires_at"),
        last_refreshed_at=reading.maybe(data, "last_refreshed_at"),
        next_refresh_at=reading.maybe(data, "next_refresh_at"),
        last_checked_at=reading.maybe(data, "last_checked_at"),
        next_check_at=reading.maybe(data, "next_check_at"),
        identity=reading.maybe(identity, "name") or reading.maybe(identity, "id")
        if isinstance(identity, dict)
        else None,
        scope_profile=reading.maybe(data, "scope_profile"),
        oauth_app_id=reading.maybe(data, "oauth_app_id"),
    )


def category(data: Json) -> Category:
    """A category of apps."""
    count = data.get("count")
    return Category(reading.text(data, "id"), reading.text(data, "name"), count if isinstance(count, int) else None)


def use(data: Json) -> Use:
    """One entry of ``accounts/{id}/uses``."""
    told = {True: "active", False: "paused"}.get(data["active"], "") if isinstance(data.get("active"), bool) else ""
    return Use(
        reading.text(data, "id"),
        reading.text(data, "name"),
        reading.text(data, "kind"),
        reading.text(data, "state") or told,
    )


def happening(data: Json) -> Happening:
    """One entry of ``accounts/{id}/history`` or of ``activity``."""
    return Happening(
        at=reading.maybe(data, "at"),
        good=data.get("good") is not False,
        sentence=reading.text(data, "sentence"),
        account_id=reading.text(data, "account_id"),
        app=reading.text(data, "app"),
        kind=reading.text(data, "kind"),
        trigger_id=reading.text(data, "trigger_id"),
    )


def test_result(data: Json) -> TestResult:
    """The answer of ``POST accounts/{id}/test``."""
    return TestResult(data.get("healthy") is True, data.get("dead") is True, reading.maybe(data, "error"))


test_result.__test__ = False  # type: ignore[attr-defined]  # see TestResult


def page_of(data: Json, read: Callable[[Json], T]) -> PageOf[T]:
    """A list answer (section 2.11) whose entries are read by ``read``."""
    info = data.get("page_info")
    info = info if isinstance(info, dict) else {}
    items = [read(item) for item in reading.objects(data.get("data"))]
    total = info.get("total_count")
    return PageOf(items, total if isinstance(total, int) else len(items), reading.text(info, "end_cursor"))


def _extras(data: Json) -> Extras:
    scopes = {reading.text(item, "scope"): reading.text(item, "words") for item in reading.objects(data.get("scopes"))}
    return Extras(
        connectable=data.get("connectable") is not False,
        why_not=reading.maybe(data, "why_not"),
        scopes={scope: words for scope, words in scopes.items() if words},
        docs_url=_web_address(reading.text(data, "docs_url")),
        actions=reading.number(data, "actions"),
        triggers=reading.number(data, "triggers"),
    )


def _field_labels(custom_fields_json: str) -> tuple[str, ...]:
    try:
        fields = json.loads(custom_fields_json or "[]")
    except (ValueError, RecursionError):
        return ()
    return tuple(reading.text(item, "label") or reading.text(item, "name") for item in reading.objects(fields))


def _web_address(text: str) -> str | None:
    """Only what a link may safely lead to."""
    return text if text.startswith(("https://", "http://")) else None
