"""Ways to sign in, put together of keys, passwords and tokens: their fields, and where their values are sent."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp.service.catalog.importing import words
from webapp.service.outbound.client import header_refusal

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")


@dataclass(frozen=True, slots=True)
class SignIn:
    """A way to sign in: ``names`` of schemes that are used together, and what an app says of them."""

    names: tuple[str, ...]
    auth_type: str
    fields: tuple[Mapping[str, Any], ...] = ()
    credentials: tuple[Mapping[str, Any], ...] = ()
    oauth: Mapping[str, Any] | None = None
    session: Mapping[str, Any] | None = None
    order: int = 0
    notes: tuple[str, ...] = ()
    by_hand: bool = False

    def serves(self, ways: Iterable[tuple[str, ...]]) -> bool:
        """Whether it is enough for an operation that needs one of ``ways``."""
        return self.by_hand or any(set(way) <= set(self.names) for way in ways)


@dataclass(frozen=True, slots=True)
class About:
    """What ways to sign in refer to: where people read about the API, and the origin of its server.

    ``fetch`` gives what an address answers. It raises :class:`webapp.errors.PatchbayError`.
    """

    docs_url: str
    origin: str = ""
    fetch: Callable[[str], bytes] | None = None


NONE = SignIn((), "none")


@dataclass(slots=True)
class Parts:
    """What the schemes of one way to sign in add up to."""

    fields: list[Mapping[str, Any]] = field(default_factory=list)
    credentials: list[Mapping[str, Any]] = field(default_factory=list)
    oauth: Mapping[str, Any] | None = None
    session: Mapping[str, Any] | None = None
    kinds: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def by_hand(wanted: str, docs_url: str) -> SignIn | None:
    """One that the document does not describe: ``bearer``, ``basic``, ``header:NAME`` or ``query:NAME``; else None."""
    kind, _, name = wanted.partition(":")
    parts = Parts()
    if wanted in ("bearer", "basic"):
        add_http(parts, wanted, {"scheme": wanted}, "", docs_url, alone=True)
    elif kind in ("header", "query") and _NAME.fullmatch(name):
        add_key(parts, "key", {"in": kind, "name": name}, "", docs_url, alone=True)
    else:
        return None
    return SignIn((wanted,), "keys", tuple(parts.fields), tuple(parts.credentials), by_hand=True)


def add_http(parts: Parts, name: str, scheme: Mapping[str, Any], about: str, docs_url: str, *, alone: bool) -> None:
    kind = str(scheme.get("scheme", "")).lower()
    if kind == "basic":
        add_field(parts, "username", "User name", about, secret=False)
        add_field(parts, "password", "Password", "")
        parts.credentials.append(
            {"place": "basic", "username": "{username}", "password": "{password}", "source": docs_url}
        )
        parts.kinds.append("basic")
        return
    if kind in ("digest", "negotiate", "mutual", "hoba", "scram-sha-1", "scram-sha-256", "vapid"):
        raise ValueError(f"{name} is HTTP {kind}, which accounts cannot have")
    if kind and not _NAME.fullmatch(kind):
        raise ValueError(f"{name} is of no scheme that HTTP could have")
    field_name = "token" if alone else words.field(f"{name} token")
    add_field(parts, field_name, "Token" if alone else words.label(name), about)
    if kind in ("bearer", ""):
        parts.credentials.append({"place": "bearer", "value": f"{{{field_name}}}", "source": docs_url})
    else:
        written = f"{scheme.get('scheme')} {{{field_name}}}"
        parts.credentials.append({"place": "header", "name": "Authorization", "value": written, "source": docs_url})
    parts.kinds.append("bearer")


def add_key(parts: Parts, name: str, scheme: Mapping[str, Any], about: str, docs_url: str, *, alone: bool) -> None:
    place, key = str(scheme.get("in", "")), str(scheme.get("name") or "")
    if place not in ("header", "query", "cookie") or not key:
        raise ValueError(f"{name} does not say where its key is sent")
    if place != "query" and (not _NAME.fullmatch(key) or (place == "header" and header_refusal(key, ""))):
        raise ValueError(f"{name} is a {place} that no request can have")
    field_name = "api_key" if alone else words.field(name)
    add_field(parts, field_name, "API key" if alone else words.label(name), about)
    value = f"{{{field_name}}}"
    if place == "cookie":
        place, key, value = "header", "Cookie", f"{key}={value}"
    parts.credentials.append({"place": place, "name": key, "value": value, "source": docs_url})
    parts.kinds.append("key")


def add_field(parts: Parts, name: str, label: str, about: str, *, secret: bool = True) -> None:
    described = {"description": about} if about else {}
    parts.fields.append({"name": name, "label": label, **described, **({"secret": True} if secret else {})})
