"""What was checked of the requests of built-in components: ``checked.toml`` beside ``app.toml``, by ``make facts``.

They are compared with descriptions that machines read (OpenAPI, discovery documents, GraphQL schemas), and where there
is none of a request, with the source of an SDK.

A component that is checked has the digest of its requests: their methods, addresses, parameters and bodies. Words,
labels and results may change without another check; a request that changes makes its entry stale, which a test finds.
"""

import functools
import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from webapp.service.catalog.components import ComponentInfo
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components.declared import source

FILE = "checked.toml"
Against: TypeAlias = Literal["description", "sdk"]
_COMPARED = ("method", "url", "params", "json", "form", "multipart")
_PAGED = ("param", "size_param", "place")
_OPAQUE = frozenset(
    (*_COMPARED, "headers", "where", "result", "values", "exports", "each", "fields", "default", "write")
)
"""What is in a request or a result, and holds no further request."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Description(_Model):
    """A document or an SDK that was compared: its package, version and path, and when that version was published."""

    place: str
    of: date


class NotCheckable(_Model):
    """A component that the documents and SDKs do not say enough about. ``requests`` is its digest, if it has any."""

    requests: str = ""
    why: str


class Judged(_Model):
    """A contradiction that was judged: why the component is right, and where the provider says so.

    ``read_on`` is the day on which that was read there, None while it is from knowledge.
    """

    component: str
    finding: str
    why: str
    source: str
    read_on: date | None = None


class Checked(_Model):
    """What was found about the components of an app, by their names.

    Those of ``checked`` agree with the ``documents``. Of those of ``checked_by_sdk``, at least one request is in none
    of these, and agrees with one of the ``sdks``.
    """

    documents: tuple[Description, ...] = ()
    sdks: tuple[Description, ...] = ()
    checked: dict[str, str] = Field(default_factory=dict)
    checked_by_sdk: dict[str, str] = Field(default_factory=dict)
    not_checkable: dict[str, NotCheckable] = Field(default_factory=dict)
    contradicted: dict[str, list[str]] = Field(default_factory=dict)
    judged: tuple[Judged, ...] = ()


def of_folder(folder: Path) -> Checked:
    """What is written in an app's folder; nothing if it was never checked."""
    file = folder / FILE
    if not file.is_file():
        return Checked()
    return Checked.model_validate(tomllib.loads(file.read_text("utf-8")))


@dataclass(frozen=True, slots=True)
class Check:
    """What the requests of a component agree with, and when that was published; of several, the oldest."""

    against: Against
    of: date


def of_component(component: ComponentInfo) -> Check | None:
    """What the requests of ``component`` were checked against; None if they were not checked.

    Those of a variant of an app, which differs in how people sign in, are those of that app.
    """
    app, _, name = component.key.partition("-")
    if component.app != app or not component.path.is_relative_to(BUILT_IN):
        return None
    result = _of_app(component.path.relative_to(BUILT_IN).parts[0])
    if name in result.checked:
        return Check("description", min(document.of for document in result.documents))
    if name in result.checked_by_sdk:
        return Check("sdk", min(each.of for each in (*result.documents, *result.sdks)))
    return None


def counted(apps: Iterable[str]) -> dict[Against, int]:
    """How many components of built-in ``apps`` agree with a description, and how many with an SDK."""
    results = [_of_app(app) for app in apps]
    return {
        "description": sum(len(result.checked) for result in results),
        "sdk": sum(len(result.checked_by_sdk) for result in results),
    }


@functools.lru_cache(maxsize=256)
def _of_app(slug: str) -> Checked:
    return of_folder(BUILT_IN / slug)


def requests_of(file: Path) -> list[Mapping[str, Any]]:
    """The requests of the declared component in ``file``, as its file and those that it shares have them.

    Raises :class:`webapp.service.components.errors.LoadError`.
    """
    return list(_requests(source.read(file).fields))


def requests_digest(file: Path) -> str:
    """A digest of what is compared of the requests of the component in ``file``. Raises like :func:`requests_of`."""
    compared = [
        {
            **{name: request[name] for name in _COMPARED if name in request},
            "pages": {name: request.get("pages", {}).get(name) for name in _PAGED},
        }
        for request in requests_of(file)
    ]
    return hashlib.sha256(json.dumps(compared, sort_keys=True, default=str).encode()).hexdigest()[:12]


def _requests(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, list):
        for item in node:
            yield from _requests(item)
    if not isinstance(node, Mapping):
        return
    if isinstance(node.get("url"), str | list):
        yield node
    for name, value in node.items():
        if name not in _OPAQUE:
            yield from _requests(value)
