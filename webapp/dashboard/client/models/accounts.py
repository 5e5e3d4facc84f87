"""Apps, accounts and what happened to them, as the Connect API has them (contract "Apps", "Accounts", "Extensions"),
and how an app's OAuth app is made at its provider.

What the embedded service adds is optional everywhere. Times are ISO 8601 strings; ``None`` is unknown or absent.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from pydantic import Field, TypeAdapter

from webapp.dashboard.client.models.lenient import AppOrigin, Lenient, NonEmpty, PageOf, PieceOrigin

State = Literal["working", "retrying", "needs-you", "no-app"]


class Shape(Lenient):
    """How a value looks, and what to say where it does not."""

    pattern: NonEmpty
    advice: str = ""

    def fits(self, value: str) -> bool:
        """Whether ``value`` looks so; a pattern that cannot be read fits everything."""
        try:
            return re.fullmatch(self.pattern, value) is not None
        except re.error:
            return True


class SetUpNote(Lenient):
    """Something good to know before a client is made."""

    text: NonEmpty
    url: str | None = Field(default=None, pattern="^https?://")


class AppInFamily(Lenient):
    """Another app that one client at the provider serves too."""

    slug: NonEmpty = Field(alias="name_slug")
    name: NonEmpty = Field(default_factory=lambda data: data["slug"])
    ready: bool = False


class SetUp(Lenient):
    """What it takes to add an OAuth client; ``provider`` is who gives it, "" where the service does not say."""

    redirect_uri: str = ""
    console_url: str | None = Field(default=None, pattern="^https?://")
    steps: tuple[str, ...] = ()
    provider: str = ""
    console: str = ""
    id_name: str = ""
    secret_name: str = ""
    id_shape: Shape | None = None
    secret_shape: Shape | None = None
    notes: tuple[SetUpNote, ...] = ()
    family: tuple[AppInFamily, ...] = ()
    checkable: bool = False
    read_on: str = ""

    @property
    def parts(self) -> list[tuple[str, bool]]:
        """The steps, and whether the redirect URI is entered in each."""
        return [(step, bool(self.redirect_uri) and self.redirect_uri in step) for step in self.steps]


class Category(Lenient):
    """A category of apps; ``count`` is absent where the service does not count."""

    id: str = ""
    name: str = ""
    count: int | None = None


class ScopeInWords(Lenient):
    """What a scope allows, in words."""

    scope: NonEmpty
    words: NonEmpty


class HostedServer(Lenient):
    """The MCP server of an app's provider, and how people connect to it (contract "Apps")."""

    url: NonEmpty
    connects: str = ""
    changed: tuple[str, ...] = ()


class OtherWay(Lenient):
    """An app that is another way to connect the same; ``connects`` is "" unless it is its provider's MCP server."""

    slug: NonEmpty = Field(alias="name_slug")
    name: NonEmpty
    ready: bool = False
    auth_type: str = "keys"
    signs_in: bool = False
    connects: str = ""
    actions: int = 0
    triggers: int = 0

    @property
    def ways_to_connect(self) -> str:
        """``auth_type``, or ``both`` where people either sign in or enter a key."""
        return "both" if self.signs_in else self.auth_type


class WholeApi(Lenient):
    """The description of an app's whole API, and how many of its operations are actions."""

    slug: NonEmpty = Field(alias="name_slug")
    version: str = ""
    actions: int = 0


class Extras(Lenient):
    """What the embedded service adds about one app (an extension). ``ready`` is None where the service does not say."""

    ready: bool | None = None
    connects: str = ""
    server: HostedServer | None = None
    set_up: SetUp | None = None
    connectable: bool = True
    why_not: str | None = None
    described_scopes: tuple[ScopeInWords, ...] = Field(default=(), alias="scopes")
    docs_url: str | None = Field(default=None, pattern="^https?://")  # only what a link may safely lead to
    actions: int | None = None
    triggers: int | None = None
    added: bool = False
    signs_in: bool = False
    sign_in_ready: bool = False
    ways: tuple[OtherWay, ...] = ()
    pieces: tuple[PieceOrigin, ...] = ()
    whole_api: WholeApi | None = None
    origin: AppOrigin | None = None

    @property
    def scopes(self) -> dict[str, str]:
        """The words of each scope that has any."""
        return {entry.scope: entry.words for entry in self.described_scopes}


class ScopeProfile(Lenient):
    """Scopes that are asked for together, under a name."""

    name: str = ""
    scopes: tuple[str, ...] = ()


class CustomField(Lenient):
    """A value that is entered to connect an app. A ``secret`` one is asked of each person alone."""

    name: str = ""
    label: NonEmpty = Field(default_factory=lambda data: data["name"])
    description: str = ""
    secret: bool = False
    optional: bool = False
    options: tuple[Mapping[str, str], ...] = ()


_CUSTOM_FIELDS = TypeAdapter(list[CustomField])


class AppOfAccount(Lenient):
    """What an account says of its app."""

    id: str = ""
    slug: NonEmpty = Field(default_factory=lambda data: data["id"], alias="name_slug")
    name: NonEmpty = Field(default_factory=lambda data: data["slug"])
    logo: str = Field(default="", alias="img_src")
    auth_type: NonEmpty = "keys"


class App(AppOfAccount):
    """An app that accounts can be connected to, with the embedded service's ``patchbay`` key when it is there."""

    description: str = ""
    categories: tuple[str, ...] = ()
    scope_profiles: tuple[ScopeProfile, ...] = ()
    custom_fields_json: str = "[]"
    own_client: str = Field(default="", alias="oauth_app_id")  # the project's
    extras: Extras | None = Field(default=None, alias="patchbay")

    @property
    def ready(self) -> bool:
        """Whether it can be used here; what nobody denies, can."""
        return self.extras is None or self.extras.ready is not False

    @property
    def ways(self) -> list[OtherWay]:
        """It and the other ways to connect the same, if one of them is an MCP server; those that are ready first."""
        more = self.extras or Extras()
        server, others = more.server, more.ways
        if not (server or any(way.connects for way in others)):
            return []
        own = OtherWay(
            name_slug=self.slug,
            name=self.name,
            ready=self.ready,
            auth_type=self.auth_type,
            signs_in=more.signs_in,
            connects=server.connects if server else "",
            actions=more.actions or 0,
            triggers=more.triggers or 0,
        )
        return sorted((own, *others), key=lambda way: not way.ready)

    @property
    def takes_clients(self) -> bool:
        """Whether people sign in to it with an OAuth client, or may do so instead of entering a key."""
        return self.auth_type == "oauth" or bool(self.extras and self.extras.signs_in)

    @property
    def ways_to_connect(self) -> str:
        """``auth_type``, or ``both`` where people either sign in or enter a key."""
        return "both" if self.extras and self.extras.signs_in else self.auth_type

    @property
    def custom_fields(self) -> list[CustomField]:
        """What has to be filled in to connect it."""
        try:
            return _CUSTOM_FIELDS.validate_json(self.custom_fields_json)
        except ValueError:
            return []

    @property
    def fields(self) -> list[str]:
        """Those that cannot be left out, by label."""
        return [field.label for field in self.custom_fields if not field.optional]


class AppCounts(Lenient):
    """The number of apps in each state, and in each category by id."""

    states: Mapping[str, int]
    categories: Mapping[str, int] = Field(default_factory=dict)


class AppPage(PageOf[App]):
    """One page of apps. ``counts`` is None where the service does not list apps by state (an extension)."""

    counts: AppCounts | None = None


class Identity(Lenient):
    """Whose account it is at the provider."""

    id: str = ""
    name: str = ""


class Account(Lenient):
    """A connected account. Credentials, should a service send any, are not read."""

    id: str = ""
    name: str | None = None
    healthy: bool = True
    dead: bool = False
    error: str | None = None
    app: AppOfAccount = Field(default_factory=AppOfAccount)
    scopes: tuple[str, ...] = Field(default=(), alias="authorized_scopes")
    created_at: str | None = None
    updated_at: str | None = None
    expires_at: str | None = None
    last_refreshed_at: str | None = None
    next_refresh_at: str | None = None
    last_checked_at: str | None = None
    next_check_at: str | None = None
    signed_in: Identity = Field(default_factory=Identity, alias="identity")
    scope_profile: str | None = None
    oauth_app_id: str | None = None
    available: bool = True

    @property
    def by_sign_in(self) -> bool:
        """Whether it was connected by signing in, and not with a key."""
        return self.app.auth_type == "oauth" or self.oauth_app_id is not None

    @property
    def identity(self) -> str | None:
        """Who is signed in, as the provider calls them."""
        return self.signed_in.name or self.signed_in.id or None

    @property
    def other_identity(self) -> str | None:
        """Who is signed in, where the title does not say it already."""
        identity = self.identity
        return identity if identity and identity.casefold() not in self.title.casefold() else None

    @property
    def title(self) -> str:
        """What to call the account: its own name, who is signed in, or its app."""
        return self.name or self.identity or self.app.name

    @cached_property
    def state(self) -> State:
        """Working, Retrying (a passing failure), Needs you (nothing but a person can mend it), or without its app."""
        if not self.available:
            return "no-app"
        if self.dead:
            return "needs-you"
        return "working" if self.healthy else "retrying"


class Use(Lenient):
    """Something that stops without an account (an extension)."""

    id: str = ""
    name: str = ""
    kind: str = ""
    active: bool | None = None
    state: NonEmpty = Field(default_factory=lambda data: {True: "active", False: "paused", None: ""}[data["active"]])


class TestResult(Lenient):
    """The outcome of testing an account (an extension)."""

    __test__ = False  # not a test class, whatever its name says to pytest

    healthy: bool = False
    dead: bool = False
    error: str | None = None


class ActivityEntry(Lenient):
    """One line of an account's or trigger's history. What it is not about is ""; ``at`` is ISO 8601."""

    at: str | None = None
    good: bool = True
    sentence: str = ""
    account_id: str = ""
    app: str = ""
    kind: str = ""
    trigger_id: str = ""
