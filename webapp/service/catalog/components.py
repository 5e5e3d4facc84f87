"""The components of a catalog: look-up by key or id, and search.

There may be a hundred thousand components, so they are read from ``catalog.db``, with a cache of the most recently used
ones. Running their code is left to :mod:`webapp.service.components`.
"""

import functools
import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from webapp.kit import cursors
from webapp.service.catalog import variables as placeholders
from webapp.service.catalog.component_keys import OWN
from webapp.service.catalog.search import MAX_QUERY, MAX_WORDS, Beginnings, words
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components.tool_names import ToolNames

Kind = Literal["action", "trigger"]
Dedupe = Literal["unique", "greatest", "last"]
Registry = Literal["public", "private", "all"]
LAST = "\U0010fffd"
"""What the sort name of an operation of a whole API begins with: a character behind all that are used."""
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_IS_OWN = f"substr(key, 1, {len(OWN)}) = '{OWN}'"
_IS_NOT_CONNECTED = " AND (app IS NULL OR app NOT IN (SELECT value FROM json_each(:connected)))"
_KEPT, _APPS_KEPT, _END = 512, 64, 2**62
_Place = tuple[int, int]
Read = Callable[[str, Mapping[str, Any]], list[sqlite3.Row]]


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """One version of a component, as declared. ``json`` is its Component object (contract "Components").

    ``app`` is the slug of its app; None for an operator's component without an account. ``hooks`` are those of
    ``deploy``, ``activate`` and ``deactivate`` that a trigger has. ``prop_aliases`` are names of props by alias.
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
    dedupe: Dedupe | None = None
    hooks: frozenset[str] = frozenset()
    prop_aliases: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def own(self) -> bool:
        """Whether it is one of the operator's own components."""
        return self.key.startswith(OWN)

    @property
    def of_piece(self) -> bool:
        """Whether its code is a piece's (:mod:`webapp.service.components.pieces.form`)."""
        return self.path.suffix == ".json"

    @property
    def of_python(self) -> bool:
        """Whether its code is Python."""
        return self.path.suffix == ".py"

    @property
    def release(self) -> tuple[int, int, int]:
        """The version as numbers, for comparisons."""
        return release(self.version)

    @property
    def props(self) -> list[dict[str, Any]]:
        """A new copy of its configurable props, as the API returns them."""
        props: list[dict[str, Any]] = orjson.loads(self.json)["configurable_props"]
        return props


def component(row: Mapping[str, Any], variables: Mapping[str, str], folder: Path) -> ComponentInfo:
    """The component in a row of ``components``; ``folder`` is the catalog's, to which its ``root`` is relative."""
    root = BUILT_IN if row["root"] is None else (folder / row["root"]).resolve()
    waits = "${" in row["description"]
    return ComponentInfo(
        id=row["id"],
        key=row["key"],
        version=row["version"],
        kind=row["kind"],
        name=row["name"],
        description=placeholders.fill(row["description"], variables) if waits else row["description"],
        app=row["app"],
        has_reload=bool(row["has_reload"]),
        path=root / row["path"],
        json=(placeholders.expand_json(row["json"], variables) if waits else row["json"]).encode(),
        dedupe=row["dedupe"],
        hooks=frozenset(json.loads(row["hooks"])),
        prop_aliases=json.loads(row["prop_aliases"]),
    )


def release(version: str) -> tuple[int, int, int]:
    """``version`` as numbers, so that 1.10.0 is above 1.9.0. Raises ``ValueError``."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version!r} is not a version such as 1.0.0")
    return int(match[1]), int(match[2]), int(match[3])


@dataclass(frozen=True, slots=True)
class ComponentFilter:
    """The criteria of a search for components. Equal criteria make equal filters.

    Every one of ``words`` must begin a word of its name, key, app or description.
    """

    words: tuple[str, ...] | None
    app: str | None
    kind: Kind | None
    registry: Registry

    @classmethod
    def of(cls, q: str | None, app: str | None, kind: Kind | None, registry: Registry) -> "ComponentFilter":
        """The filter for the parameters of a request."""
        typed = words(q[:MAX_QUERY])[:MAX_WORDS] if q and q.strip() else None
        return cls(typed, app, kind, registry)

    @property
    def matches(self) -> tuple[str, ...]:
        """The FTS5 queries of the words, whose results follow each other: first matches of names, then others."""
        if not self.words:
            return ()
        typed = " ".join(f'"{word}"*' for word in self.words)
        return f"{{name}} : ({typed})", f"({typed}) NOT {{name}} : ({typed})"

    @property
    def conditions(self) -> str:
        """The criteria except the words, for a WHERE clause over ``listed`` with the parameters :attr:`params`."""
        registries = {"all": "", "private": _IS_OWN, "public": f"NOT {_IS_OWN}"}
        parts = (self.app and "app = :app", self.kind and "kind = :kind", registries[self.registry])
        return "".join(f" AND {part}" for part in parts if part)

    @property
    def params(self) -> dict[str, str]:
        """The parameters of :attr:`conditions`."""
        return {name: value for name, value in (("app", self.app), ("kind", self.kind)) if value}

    def admits(self, row: sqlite3.Row) -> bool:
        """Whether a row of ``listed`` meets :attr:`conditions`."""
        registries = ("all", "private" if row["key"].startswith(OWN) else "public")
        return self.app in (None, row["app"]) and self.kind in (None, row["kind"]) and self.registry in registries


def component_words(row: Mapping[str, Any] | sqlite3.Row, app_name: str) -> tuple[Sequence[str], Sequence[str]]:
    """The words by which a component is found: of its name and its app's, and others."""
    others = f"{row['key']} {row['app'] or ''} {row['description']}"
    return words(f"{row['name']} {app_name}"), words(others)


class _OfApp:
    """The components of one app in the order of lists, found by their words without those of all others.

    There may be a hundred thousand others, and a full-text query first finds all that have a word.
    """

    def __init__(self, rows: Sequence[sqlite3.Row], app_name: str) -> None:
        texts = [component_words(row, app_name) for row in rows]
        self._rows, self._names = rows, Beginnings(name for name, _ in texts)
        self._words = Beginnings((*name, *others) for name, others in texts)

    def matching(self, narrowed: ComponentFilter) -> Iterator[tuple[bool, sqlite3.Row]]:
        """The rows that match, and whether all words are in the name."""
        typed = narrowed.words or ()
        named = set.intersection(*map(self._names.of, typed))
        for place in set.intersection(*map(self._words.of, typed)):
            if narrowed.admits(self._rows[place]):
                yield place in named, self._rows[place]


class Components:
    """All versions of all components of an installation, read when they are needed."""

    def __init__(
        self,
        read: Read,
        make: Callable[[sqlite3.Row], ComponentInfo],
        hidden: Iterable[str] = (),
        *,
        unlisted: Collection[str] = (),
        app_name: Callable[[str], str] = str,
    ) -> None:
        """``read`` queries the catalog, ``make`` converts a row, and ``app_name`` is the name of an app by its slug.

        Components of the apps ``hidden`` cannot be found; those with the keys ``unlisted`` are only left out of lists.
        """
        self._read, self._make, self._hidden = read, make, frozenset(hidden)
        self._shown = f" AND (app IS NULL OR app NOT IN ({self._names()}))" if self._hidden else ""
        self._listed, self._unlisted = self._shown, unlisted
        if unlisted:
            self._listed += " AND key NOT IN (SELECT name FROM unlisted)"
        self.get = functools.lru_cache(maxsize=_KEPT)(self._get)
        self._count = functools.lru_cache(maxsize=_KEPT)(self._count_all)
        self._app, self._app_name = functools.lru_cache(maxsize=_APPS_KEPT)(self._read_app), app_name

    def _get(self, key_or_id: str, version: str | None = None) -> ComponentInfo | None:
        """The component with that key or id ``sc_…``, in exactly ``version`` or else its highest version."""
        if info := self._one("SELECT * FROM components WHERE id = :name", name=key_or_id):
            return info if version in (None, info.version) else None
        names = self._read("SELECT key FROM other_keys WHERE other = :name", {"name": key_or_id})
        key = names[0]["key"] if names else key_or_id
        if version is None:
            return self._one(
                "SELECT c.* FROM listed JOIN components AS c USING (key, version) WHERE key = :key", key=key
            )
        return self._one("SELECT * FROM components WHERE key = :key AND version = :version", key=key, version=version)

    def search(
        self, narrowed: ComponentFilter, window: cursors.Window, connected: Collection[str] = ()
    ) -> cursors.Page[ComponentInfo]:
        """A page of the components in their highest versions, by name; in a search, those of the apps ``connected``
        come first, and matches of names before others.

        What is connected is not part of a cursor. Raises :class:`cursors.BadCursor`.
        """
        parts = (narrowed.words, narrowed.app, narrowed.kind, narrowed.registry)
        mark = cursors.fingerprint("components", *parts)
        plan = cursors.keyset(window, mark, ("near", "sort_name", "key"), descending=False)
        bounds = (self._bound(plan, "after", (-_END, 0)), self._bound(plan, "before", (_END, 0)))
        places = list(self._places(narrowed, connected, plan, *bounds))
        infos = {row["key"]: self.get(row["key"]) for _, row in places}
        keys = {row["key"]: (near, row["sort_name"], row["key"]) for near, row in places}
        items = [info for info in infos.values() if info]
        return cursors.page(items, window, plan, mark, lambda info: keys[info.key], self._count(narrowed))

    @functools.cached_property
    def tool_names(self) -> ToolNames:
        """The tool names of all actions for agents."""
        searched = self._read(f"SELECT key FROM listed WHERE kind = 'action' AND tag <> ''{self._shown}", {})  # noqa: S608
        return ToolNames(self._actions(), self._unlisted, {row["key"] for row in searched})

    def _actions(self) -> Iterator[tuple[str, str | None]]:
        """The keys of all actions, and their apps; some at a time, since rows take more memory than what is kept."""
        where = f"+kind = 'action' AND key > :after{self._shown}"  # by the index of keys, which are in order there
        sql, after = f"SELECT key, app FROM listed WHERE {where} ORDER BY key LIMIT 2000", ""  # noqa: S608
        while rows := self._read(sql, {"after": after}):
            yield from ((row["key"], row["app"]) for row in rows)
            after = rows[-1]["key"]

    def keys(self, app: str) -> list[str]:
        """The keys of all components of the app."""
        return [row["key"] for row in self._read("SELECT key FROM listed WHERE app = :app", {"app": app})]

    def tags(self, keys: Collection[str]) -> dict[str, str]:
        """The tags of those of ``keys`` that are operations of an app's whole API."""
        rows = self._read(
            "SELECT key, tag FROM listed WHERE tag <> '' AND key IN (SELECT value FROM json_each(:keys))",
            {"keys": json.dumps(list(keys))},
        )
        return {row["key"]: row["tag"] for row in rows}

    @functools.cached_property
    def _last_own(self) -> int | None:
        """The number of the last component that is no operation of a whole API; None if there are none of these."""
        ((operations, number),) = self._read(
            "SELECT sum(tag <> '') AS operations, max(CASE WHEN tag = '' THEN n END) AS number FROM listed", {}
        )
        return int(number or 0) if operations else None

    def _places(
        self, narrowed: ComponentFilter, connected: Collection[str], plan: cursors.Keyset, after: _Place, before: _Place
    ) -> Iterator[tuple[int, sqlite3.Row]]:
        """Up to ``plan.limit`` rows of ``listed`` between two places, each with the number of its query."""
        if narrowed.words == ():
            return
        own, whose = list[tuple[int, sqlite3.Row]](), ""
        if narrowed.words and connected:
            own, whose = self._of_connected(narrowed, connected, after, before), _IS_NOT_CONNECTED
        room, parts = plan.limit, list(enumerate(self._parts(narrowed)))
        if not plan.reverse:
            yield from own[:room]
            room -= len(own)
        for near, (match, first, last) in reversed(parts) if plan.reverse else parts:
            if room <= 0:
                return
            low = max(first, after[1] if after[0] == near else 0 if after[0] < near else _END)
            high = min(last, before[1] if before[0] == near else _END if before[0] > near else 0)
            params = {"match": match, "connected": json.dumps(list(connected)), "low": low, "high": high, "room": room}
            # The full-text index has its rows in this order and is read no further than to the limit.
            number, way = "listed_words.rowid" if match else "n", "DESC" if plan.reverse else "ASC"
            where = f"{self._where(narrowed, match)}{whose} AND {number} > :low AND {number} < :high"
            sql = f"SELECT key, sort_name FROM {where} ORDER BY {number} {way} LIMIT :room"  # noqa: S608
            rows = self._read(sql, params | narrowed.params)
            yield from ((near, row) for row in rows)
            room -= len(rows)
        if plan.reverse:
            yield from own[::-1][: max(room, 0)]

    def _parts(self, narrowed: ComponentFilter) -> list[tuple[str, int, int]]:
        """The queries whose results follow each other, each with the numbers between which its rows are.

        Whatever matches of the apps' own components comes before operations of a whole API.
        """
        matches = narrowed.matches or ("",)
        last = self._last_own if narrowed.words else None
        ranges = [(0, _END)] if last is None else [(0, last + 1), (last, _END)]
        return [(match, first, end) for first, end in ranges for match in matches]

    def _of_connected(
        self, narrowed: ComponentFilter, connected: Collection[str], after: _Place, before: _Place
    ) -> list[tuple[int, sqlite3.Row]]:
        """The rows that match of the apps ``connected``, between two places, in the order of :meth:`_parts`; each with
        the number of a query that comes before those."""
        rows = [
            (2 * bool(row["tag"]) + (not named) - 4, row)
            for app in connected
            for named, row in self._app(app).matching(narrowed)
        ]
        within = [(near, row) for near, row in rows if after < (near, row["n"]) < before]
        return sorted(within, key=lambda each: (each[0], each[1]["n"]))

    def _read_app(self, app: str) -> _OfApp:
        facts = "(SELECT key, version, name, description FROM components)"
        listed = f"(SELECT * FROM listed WHERE app = :app{self._listed})"  # noqa: S608
        sql = f"SELECT * FROM {listed} JOIN {facts} USING (key, version) ORDER BY n"  # noqa: S608
        return _OfApp(self._read(sql, {"app": app}), self._app_name(app))

    def _count_all(self, narrowed: ComponentFilter) -> int:
        if narrowed.words == ():
            return 0
        return sum(
            int(count)
            for match in narrowed.matches or ("",)
            for (count,) in self._read(
                f"SELECT count(*) FROM {self._where(narrowed, match)}",  # noqa: S608
                {**narrowed.params, "match": match},
            )
        )

    def _where(self, narrowed: ComponentFilter, match: str) -> str:
        # CROSS JOIN makes SQLite query the words first, instead of testing each action for them.
        words_too = "listed_words CROSS JOIN listed ON n = listed_words.rowid WHERE listed_words MATCH :match"
        return f"{words_too if match else 'listed WHERE true'}{narrowed.conditions}{self._listed}"

    def _bound(self, plan: cursors.Keyset, side: str, otherwise: _Place) -> _Place:
        """The query and the row number of a cursor's row, or of the nearest row if it no longer exists."""
        if f"{side}_0" not in plan.params:
            return otherwise
        near, sort_name, key = (plan.params[f"{side}_{index}"] for index in range(3))
        if not (isinstance(near, int) and isinstance(sort_name, str) and isinstance(key, str)):
            raise cursors.BadCursor("The cursor is broken; start again without it.")
        compared, which = ("<=", "max") if side == "after" else (">=", "min")
        sql = f"SELECT {which}(n) AS n FROM listed WHERE (sort_name, key) {compared} (:sort_name, :key)"  # noqa: S608
        ((number,),) = self._read(sql, {"sort_name": sort_name, "key": key})
        return near, number if number is not None else 0 if side == "after" else _END

    def _one(self, sql: str, **params: str) -> ComponentInfo | None:
        for row in self._read(sql, params):
            if row["app"] not in self._hidden:
                return self._make(row)
        return None

    def _names(self) -> str:
        return ", ".join("'{}'".format(name.replace("'", "''")) for name in sorted(self._hidden))
