"""The components of a catalog at run time: by key or id, in any version, searched and paged.

Everything is read once from ``catalog.db`` and kept; nothing of a component's own code is loaded here.
"""

import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from webapp.kit import cursors
from webapp.kit.crypto import stable_id
from webapp.kit.kept_json import kept_json
from webapp.kit.text import fold
from webapp.service.catalog.listing import MAX_QUERY, MAX_WORDS, Listing, Order, words

Kind = Literal["action", "trigger"]
Dedupe = Literal["unique", "greatest", "last"]
Registry = Literal["public", "private", "all"]
OWN = "~/"
# A trigger says nothing of what running it means, but clients that check types expect each hint: it may change
# something out there, since it may subscribe at its app.
_UNSAID = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True}
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """One version of one component, as declared. ``json`` is its Component object (contract "Components").

    ``app`` is the slug of the app that it belongs to; None for one of the operator's own without an account. A
    trigger's ``hooks`` are those of ``deploy``, ``activate`` and ``deactivate`` that it has.
    """

    id: str
    key: str
    version: str
    kind: Kind
    name: str
    description: str
    app: str | None
    has_reload: bool
    path: Path
    json: bytes = field(repr=False)
    sort_name: str = field(repr=False)
    words: str = field(repr=False)
    name_words: str = field(repr=False)
    dedupe: Dedupe | None = None
    hooks: frozenset[str] = frozenset()

    @property
    def own(self) -> bool:
        """Whether it is the operator's own."""
        return self.key.startswith(OWN)

    @property
    def release(self) -> tuple[int, int, int]:
        """The version as numbers, so that releases compare."""
        return release(self.version)

    @property
    def props(self) -> list[dict[str, Any]]:
        """A fresh copy of its configurable props, as on the wire."""
        props: list[dict[str, Any]] = orjson.loads(self.json)["configurable_props"]
        return props


@dataclass(frozen=True, slots=True)
class ComponentFilter:
    """What narrows a list of components. Equal questions make equal filters."""

    words: tuple[str, ...] | None
    app: str | None
    kind: Kind | None
    registry: Registry

    @classmethod
    def of(cls, q: str | None, app: str | None, kind: Kind | None, registry: Registry) -> "ComponentFilter":
        """The filter for the parameters of a request."""
        typed = words(q[:MAX_QUERY])[:MAX_WORDS] if q and q.strip() else None
        return cls(typed, app, kind, registry)

    def admits(self, info: ComponentInfo) -> bool:
        """Whether ``info`` passes. Every word must begin a word of its name, key, app or description."""
        return (
            (self.kind is None or info.kind == self.kind)
            and (self.app is None or info.app == self.app)
            and (self.registry == "all" or info.own == (self.registry == "private"))
            and (self.words is None or (bool(self.words) and all(f" {word}" in info.words for word in self.words)))
        )


class Components:
    """All components of one installation, every version of each."""

    def __init__(self, components: Iterable[ComponentInfo]) -> None:
        self._by_id: dict[str, ComponentInfo] = {}
        self._by_key: dict[str, dict[str, ComponentInfo]] = {}
        for info in components:
            self._by_id[info.id] = info
            self._by_key.setdefault(info.key, {})[info.version] = info
        newest = [max(versions.values(), key=lambda info: info.release) for versions in self._by_key.values()]
        self._newest = {info.key: info for info in newest}
        self._listing = functools.lru_cache(maxsize=64)(self._make_listing)

    def get(self, key_or_id: str, version: str | None = None) -> ComponentInfo | None:
        """The component with that key or ``sc_…``: in exactly that version, or the highest release of a key."""
        if key_or_id in self._by_id:
            info = self._by_id[key_or_id]
            return info if version in (None, info.version) else None
        if version is None:
            return self._newest.get(key_or_id)
        return self._by_key.get(key_or_id, {}).get(version)

    def search(self, narrowed: ComponentFilter, window: cursors.Window) -> cursors.Page[ComponentInfo]:
        """One page of the highest releases, by name; in a search, those whose name matches come first.

        Raises :class:`cursors.BadCursor`.
        """
        parts = (narrowed.words, narrowed.app, narrowed.kind, narrowed.registry)
        return self._listing(narrowed).page(window, cursors.fingerprint("components", *parts))

    def _make_listing(self, narrowed: ComponentFilter) -> Listing[ComponentInfo]:
        by = _order(narrowed.words or ())
        return Listing(sorted(filter(narrowed.admits, self._newest.values()), key=by.key_of), by)


def component(row: Mapping[str, Any], app_name: str | None, folder: Path) -> ComponentInfo:
    """The component in one row of ``components``; its file stands in ``folder``."""
    public = {
        "key": row["key"],
        "name": row["name"],
        "version": row["version"],
        "configurable_props": json.loads(row["configurable_props"]),
        "description": row["description"],
        "component_type": row["kind"],
        "annotations": {"title": row["name"], **_UNSAID, **json.loads(row["annotations"])},
    }
    if row["stash"]:
        public["stash"] = row["stash"]
    searched = f"{row['name']} {row['key']} {app_name or ''} {row['app'] or ''} {row['description']}"
    return ComponentInfo(
        id=stable_id("sc", row["key"], row["version"]),
        key=row["key"],
        version=row["version"],
        kind=row["kind"],
        name=row["name"],
        description=row["description"],
        app=row["app"],
        has_reload=bool(row["has_reload"]),
        path=folder / row["path"],
        json=kept_json(public),
        sort_name=fold(row["name"]),
        words="".join(f" {word}" for word in words(searched)),
        name_words="".join(f" {word}" for word in words(f"{row['name']} {app_name or ''}")),
        dedupe=row["dedupe"],
        hooks=frozenset(json.loads(row["hooks"])),
    )


def release(version: str) -> tuple[int, int, int]:
    """``version`` as numbers, so that 1.10.0 is above 1.9.0. Raises ``ValueError``."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version!r} is not a version such as 1.0.0")
    return int(match[1]), int(match[2]), int(match[3])


def _order(typed: tuple[str, ...]) -> Order[ComponentInfo]:
    def near(info: ComponentInfo) -> int:
        return 0 if all(f" {word}" in info.name_words for word in typed) else 1

    return Order((int, str, str), lambda info: (near(info), info.sort_name, info.key))
