"""A component of a catalog as the service knows it: what one version of it declares. Its code is not loaded here.

:mod:`component_search` finds them.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from webapp.service.catalog import variables as placeholders
from webapp.service.catalog.sources import BUILT_IN

Kind = Literal["action", "trigger"]
Dedupe = Literal["unique", "greatest", "last"]
Registry = Literal["public", "private", "all"]
OWN = "~/"
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """One version of one component, as declared. ``json`` is its Component object (contract "Components").

    ``app`` is the slug of the app that it belongs to; None for one of the operator's own without an account. A
    trigger's ``hooks`` are those of ``deploy``, ``activate`` and ``deactivate`` that it has. ``prop_aliases`` are the
    names of its props by others that they are known by.
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
        """Whether it is the operator's own."""
        return self.key.startswith(OWN)

    @property
    def of_piece(self) -> bool:
        """Whether its code is a piece's (:mod:`webapp.service.components.pieces.form`)."""
        return self.path.suffix == ".json"

    @property
    def of_python(self) -> bool:
        """Whether its code is Python, and neither a piece's nor data."""
        return self.path.suffix == ".py"

    @property
    def release(self) -> tuple[int, int, int]:
        """The version as numbers, so that releases compare."""
        return release(self.version)

    @property
    def props(self) -> list[dict[str, Any]]:
        """A fresh copy of its configurable props, as on the wire."""
        props: list[dict[str, Any]] = orjson.loads(self.json)["configurable_props"]
        return props


def component(row: Mapping[str, Any], variables: Mapping[str, str], folder: Path) -> ComponentInfo:
    """The component in one row of ``components``; ``folder`` is where the catalog stands, unless it is built in."""
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
