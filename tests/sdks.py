"""SDKs of providers, read as text: the method and path of each call that they write, and the names that they know.

``sdks.toml`` has the packages, and the ways in which paths are written in them. A way is a pattern with the group
``path`` and perhaps ``method``; without that group, the SDK says paths only. Nothing of a package is run.
"""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tests import packages

FILE = Path(__file__).with_name("sdks.toml")
ANY = "*"
_HOLE = re.compile(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\{[^{}]*\}")
_MOST_DEPTH = 3
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Way(_Model):
    """How an SDK writes its calls: the pattern of one, and what makes a path of it.

    ``constant`` is the pattern of a constant, with the groups ``name`` and ``value``; constants in a path are replaced
    by their values. ``form`` is the path by the groups of the call. ``clean`` are patterns in it, and what replaces
    them. ``method`` is that of all calls, ``methods`` are the SDK's words for methods.
    """

    call: str
    constant: str = ""
    form: str = r"\g<path>"
    clean: tuple[tuple[str, str], ...] = ()
    method: str = ""
    methods: dict[str, str] = Field(default_factory=dict)


class Sdk(_Model):
    """An SDK or a GraphQL schema, and the apps that are compared with it.

    ``files`` have its calls, or the schema; ``names`` are further files that have names of parameters and fields.
    Without ``fields``, it does not name them, and they are not compared. Its paths are below ``below``.
    """

    apps: tuple[str, ...] = Field(min_length=1)
    kind: Literal["sdk", "graphql"] = "sdk"
    package: str
    version: str
    integrity: str
    files: tuple[str, ...]
    names: tuple[str, ...] = ()
    way: tuple[str, ...] = ()
    below: str = ""
    fields: bool = True
    source: str = Field(pattern=r"^https://")

    @property
    def place(self) -> str:
        """What was compared, as ``checked.toml`` writes it."""
        return f"{self.package} {self.version}"


class Same(_Model):
    """What an app writes in another way than the description of its API: patterns in a path, and what replaces them.

    ``source`` is where the provider says that both are the same.
    """

    apps: tuple[str, ...] = Field(min_length=1)
    rewrite: tuple[tuple[str, str], ...] = Field(min_length=1)
    source: str = Field(pattern=r"^https://")

    def described(self, path: str) -> str:
        """``path`` as the description has it."""
        for pattern, replacement in self.rewrite:
            path = re.sub(pattern, replacement, path)
        return path


class _File(_Model):
    ways: dict[str, Way]
    same: tuple[Same, ...] = ()
    sdks: tuple[Sdk, ...]


@dataclass(frozen=True)
class Calls:
    """What an SDK writes: calls as methods and paths, and its words, folded; None if it does not name fields."""

    written: frozenset[tuple[str, str]]
    words: frozenset[str] | None

    def knows(self, name: str) -> bool:
        """Whether the SDK has ``name``, in whatever case."""
        return self.words is None or all(part in self.words for part in map(folded, _parts(name)))


def folded(name: str) -> str:
    """``name`` without its case: ``dueDate``, ``due_date`` and ``due-date`` are the same."""
    return re.sub(r"[\W_]", "", name).lower()


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[.\[\]$/]+", name) if folded(part) and not part.isdigit()]


@functools.cache
def _declared() -> _File:
    return _File.model_validate(tomllib.loads(FILE.read_text("utf-8")))


def of_app(slug: str, kind: str = "sdk") -> list[Sdk]:
    """What the app ``slug`` is compared with beside its descriptions."""
    return [sdk for sdk in _declared().sdks if slug in sdk.apps and sdk.kind == kind]


def same_of_app(slug: str) -> list[Same]:
    """What the app ``slug`` writes in another way than the description of its API."""
    return [same for same in _declared().same if slug in same.apps]


@functools.cache
def brought(sdk: Sdk) -> Calls:
    """What ``sdk`` writes. Raises like :func:`tests.packages.archive`, and ``ValueError`` if no call is found in it."""
    archive, ways = packages.archive(sdk.package, sdk.version, sdk.integrity), _declared().ways
    written, words = set[tuple[str, str]](), set[str]()
    files = list(packages.texts(archive, sdk.files))
    for way in (ways[name] for name in sdk.way):
        constants = constants_in(files, way)
        for text in files:
            written |= calls_in(text, way, constants)
    for text in files:
        words |= words_in(text)
    for text in packages.texts(archive, sdk.names):
        words |= words_in(text)
    if not written:
        raise ValueError(f"no call is found in {sdk.place}")
    return Calls(frozenset(written), frozenset(words) if sdk.fields else None)


def constants_in(files: Iterable[str], way: Way) -> dict[str, str]:
    """The constants of which paths are made, by their names."""
    if not way.constant:
        return {}
    found = (match for text in files for match in re.finditer(way.constant, text))
    return {match["name"]: match["value"] for match in found}


def calls_in(text: str, way: Way, constants: Mapping[str, str]) -> set[tuple[str, str]]:
    """The calls in ``text``, with ``{}`` for the placeholders of their paths."""
    found = set[tuple[str, str]]()
    for match in re.finditer(way.call, text, re.DOTALL):
        method = match.groupdict().get("method") or way.method or ANY
        path = match.expand(way.form)
        for _ in range(_MOST_DEPTH if constants else 0):
            path = _WORD.sub(lambda word: constants.get(word[0], word[0]), path)
        for pattern, replacement in way.clean:
            path = re.sub(pattern, replacement, path)
        path = _HOLE.sub("{}", path).partition("?")[0].strip("/")
        if re.search(r"\w", path):
            found.add((way.methods.get(method, method).upper(), f"/{path}"))
    return found


def words_in(text: str) -> set[str]:
    """The words of ``text``, folded."""
    return {folded(word) for word in _WORD.findall(text)}
