"""The model of ``app.toml`` and ``categories.toml``: everything the service knows about an app, as plain facts.

Shape alone is checked here; what must hold between the facts is ``check``'s. Parsing a file raises pydantic's
``ValidationError``.
"""

import re
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from webapp.service.catalog.facts.events import Events, PieceEvents
from webapp.service.catalog.facts.pieces import PieceFacts
from webapp.service.catalog.facts.sessions import Session
from webapp.service.catalog.oauth import OAuth, Scope, ScopeProfile
from webapp.service.catalog.requests import (
    Address,
    Credential,
    Facts,
    FieldName,
    Identity,
    Refusals,
    Request,
    Slug,
    Test,
    Text,
)

AuthType = Literal["oauth", "keys", "none"]


class Category(Facts):
    """One shelf of the catalog."""

    slug: Slug
    name: Text
    description: Text


class Option(Facts):
    """One choice of a custom field. Written as a bare string, it is its own label."""

    label: str
    value: str

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"label": value, "value": value} if isinstance(value, str) else value


class CustomField(Facts):
    """One value that a person enters to connect; ``custom_fields_json`` (contract "Apps") is the list of these.

    ``pattern`` is what the whole value has to match, whatever its case; its first group is what is kept. ``read_from``
    names the field in which the value is looked for unless it is given: nobody is asked for it. ``advice`` is said of
    a value that does not fit.
    """

    name: FieldName
    label: Text
    description: str = ""
    default: str | None = None
    optional: bool = False
    secret: bool = False
    format: str | None = None
    options: tuple[Option, ...] = ()
    docs_url: Address | None = None
    pattern: str | None = None
    read_from: FieldName | None = None
    advice: str = ""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if (self.pattern is None) != (not self.advice) or (self.read_from and self.pattern is None):
            raise ValueError("a pattern needs advice, and read_from needs a pattern")
        if self.pattern is not None and not _has_group(self.pattern):
            raise ValueError("a pattern is a regular expression whose first group is what is kept")
        return self

    def to_json(self) -> dict[str, Any]:
        """As the wire has it (contract "Apps"); what is not set is left out."""
        document: dict[str, Any] = {
            "name": self.name,
            "label": self.label,
            "description": self.description,
            "default": self.default,
            "optional": self.optional or self.read_from is not None,
        }
        if self.secret:
            document["secret"] = True
        if self.format:
            document["format"] = self.format
        if self.options:
            document["options"] = [{"label": option.label, "value": option.value} for option in self.options]
        if self.docs_url:
            document["docs_url"] = self.docs_url
        return document


def _has_group(pattern: str) -> bool:
    try:
        return re.compile(pattern).groups > 0
    except re.error:
        return False


class Logo(Facts):
    """A Simple Icons slug, or a letter to draw; a letter needs a colour, an icon brings its own."""

    icon: str | None = None
    letter: str | None = Field(default=None, min_length=1, max_length=2)
    color: str | None = Field(default=None, pattern=r"^#[0-9a-fA-F]{6}$")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.icon is None) == (self.letter is None):
            raise ValueError("give either an icon or a letter")
        if self.letter is not None and self.color is None:
            raise ValueError("a letter needs a color")
        return self


class AppSpec(Facts):
    """One app, as its ``app.toml`` declares it."""

    slug: Slug
    aliases: tuple[Slug, ...] = ()  # other slugs that callers know it by
    of: Slug | None = None  # the app that it is another way to connect
    name: Text
    description: Text
    categories: tuple[Slug, ...] = Field(min_length=1)
    featured_weight: int = Field(default=0, ge=0, le=1_000_000)
    auth_type: AuthType
    logo: Logo
    docs_url: Address | None = None
    sources: tuple[Address, ...] = ()  # where base_url, allowed_hosts and headers were read
    base_url: Address | None = None
    allowed_hosts: tuple[str, ...] = ()
    headers: dict[str, str] = Field(default_factory=dict)
    fields: tuple[CustomField, ...] = ()
    credentials: tuple[Credential, ...] = ()
    oauth: OAuth | None = None
    session: Session | None = None
    events: Events | None = None
    piece_events: PieceEvents | None = None
    piece: PieceFacts | None = None
    test: Test | None = None
    identity: Identity | None = None
    refusals: Refusals | None = None

    @property
    def requests(self) -> tuple[tuple[str, Request], ...]:
        """Every request that it declares, by the name of its section."""
        oauth = self.oauth
        named = {
            "test": self.test,
            "identity": self.identity,
            "oauth.look_up": oauth.look_up if oauth else None,
            "oauth.revocation": oauth.revocation if oauth else None,
            "events.account": self.events.account.request if self.events else None,
            "events.seen_by": self.events.seen_by.request if self.events else None,
        }
        return tuple((name, request) for name, request in named.items() if request is not None)

    @property
    def told(self) -> Events | PieceEvents | None:
        """What there is to know of the one address for the events of an OAuth client; None where none come."""
        return self.events or self.piece_events

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The OAuth scopes; empty for an app without OAuth."""
        return self.oauth.scopes if self.oauth else ()

    @property
    def scope_profiles(self) -> tuple[ScopeProfile, ...]:
        """The named choices of scopes; never missing."""
        return self.oauth.scope_profiles if self.oauth else ()
