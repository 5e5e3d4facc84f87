"""Searches the registry of npm, by npm itself, so that a company's registry works as well.

In a registry without a search, names that the text may stand for are looked up.
"""

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from webapp.errors import Invalid, NotFound, UpstreamFailed
from webapp.kit.clock import SECOND
from webapp.kit.scratch import Scratch
from webapp.kit.slots import this_thread
from webapp.service.components.pieces import node
from webapp.service.pieces import npm, packages
from webapp.service.pieces.packages import Wanted

DEADLINE_S = 30.0
SEARCH_S = 12.0
"""For one search in all, since somebody waits for it who is typing."""
WAIT_S = 6.0
"""Of them, at most, until others make room; the registry has the rest, so that a failure is its own."""
QUIET_S = 20.0
"""For which no search asks a registry again that did not answer one."""
SEARCHES = 2
"""At once in this process; each is a process of npm."""
MOST = 20
SCRATCH = ".looking-"
_OTHERS = "Others search the registry just now. Try again in a moment."
_PART = re.compile(r"[a-z0-9][a-z0-9-]*")
_NUMBER = re.compile(r"[0-9][0-9A-Za-z.+-]{0,99}")  # any version number; pre-releases are refused later
_SEEN = ("name", "version", "license", "description", "author", "dist", "time", "dist-tags")


@dataclass(frozen=True, slots=True)
class Release:
    """One version of a package in the registry.

    ``size`` in bytes and ``published_at`` (epoch milliseconds) are None, and texts empty, if unknown. ``newest`` is the
    package's newest version.
    """

    package: str
    version: str
    newest: str
    description: str = ""
    licence: str = ""
    author: str = ""
    size: int | None = None
    published_at: int | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a search. ``exact`` if the registry has no search, so that only exact names were tried."""

    releases: tuple[Release, ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class Registry:
    """The registry at ``url``, or npm's default; npm runs below ``folder``."""

    folder: Path
    url: str | None = None

    def look_up(self, wanted: Wanted, deadline_s: float = DEADLINE_S) -> Release:
        """Return the release ``wanted``. Raises :class:`NotFound`, :class:`UpstreamFailed`."""
        answer = self._call(["view", wanted.spec, *_SEEN, "--json"], deadline_s)
        facts = _json(answer.out)
        if not answer.ok:
            if _code(facts) == "E404":
                what = f"{wanted.package} {wanted.version}".rstrip()
                raise NotFound(f"The registry has no {what}.")
            raise _failed(answer)
        if isinstance(facts, list):  # several versions match
            facts = facts[-1] if facts else {}
        release = _release(facts, wanted.package)
        if release is None:
            raise UpstreamFailed(f"The registry tells of {wanted.package} what nobody can read.")
        return release

    def search(self, text: str) -> Results:
        """Return packages of integrations that match ``text``, within :data:`SEARCH_S`.

        Raises :class:`UpstreamFailed`, at once where a search failed within the last :data:`QUIET_S`.
        """
        words = _PART.findall(text.lower())[:4]
        if not words:
            return Results((), exact=False)
        with _SEARCHES.one(self) as ends:
            return self._search(text, words, ends)

    def _search(self, text: str, words: list[str], ends: float) -> Results:
        command = ["search", "--json", f"--searchlimit={MOST}", "activepieces", "piece", *words]
        answer = self._call(command, _left(ends))
        listed = _json(answer.out)
        if answer.ok and isinstance(listed, list):
            releases = (_release(each, "") for each in listed)
            pieces = [each for each in releases if each and "piece-" in each.package]
            exact = self._exact(text, words, ends) if not pieces else ()
            return Results((*exact, *pieces), exact=False)
        if not answer.ok and answer.ended:
            raise _failed(answer)
        return Results(self._exact(text, words, ends), exact=True)

    def _exact(self, text: str, words: list[str], ends: float) -> tuple[Release, ...]:
        """The packages with exactly these names."""
        names = [f"{packages.SCOPE}piece-{name}" for name in dict.fromkeys(("-".join(words), "".join(words)))]
        with suppress(Invalid):
            names = [packages.parse(text).package] if text.strip().startswith("@") else names
        releases = []
        for name in names:
            with suppress(NotFound):
                releases.append(self.look_up(Wanted(name), _left(ends)))
        return tuple(releases)

    def _call(self, arguments: list[str], deadline_s: float) -> npm.Answer:
        if npm.command() is None:
            raise UpstreamFailed(node.MISSING)
        with Scratch(SCRATCH, self.folder) as folder:
            return npm.call(arguments, folder, registry=self.url, deadline_s=deadline_s)


class _Searches:
    """The searches of this process: how many run at once, and the registries that failed one, with until when."""

    def __init__(self) -> None:
        self._free = threading.Semaphore(SEARCHES)
        self._failed: dict[Registry, tuple[float, UpstreamFailed]] = {}

    @contextmanager
    def one(self, registry: Registry) -> Iterator[float]:
        """One search of ``registry``, and when it must end. Raises :class:`UpstreamFailed` without one.

        It begins within :data:`WAIT_S` or not at all.
        """
        ends = time.monotonic() + SEARCH_S
        with this_thread.waiting:
            is_free = self._free.acquire(timeout=WAIT_S)
        if not is_free:
            raise UpstreamFailed(_OTHERS)
        try:
            until, error = self._failed.get(registry, (0.0, None))
            if error is not None and time.monotonic() < until:
                raise UpstreamFailed(error.message)
            if ends - time.monotonic() < SEARCH_S - WAIT_S:  # this thread had to wait for its slot as well
                raise UpstreamFailed(_OTHERS)
            try:
                yield ends
            except UpstreamFailed as failure:
                self._failed = {registry: (time.monotonic() + QUIET_S, failure)}
                raise
        finally:
            self._free.release()


_SEARCHES = _Searches()


def _left(ends: float) -> float:
    return max(0.1, ends - time.monotonic())


def _release(facts: Any, package: str) -> Release | None:
    if not isinstance(facts, Mapping):
        return None
    version = _number(facts.get("version"))
    if not version:
        return None
    dist, times, tags = (_mapping(facts.get(name)) for name in ("dist", "time", "dist-tags"))
    size = dist.get("unpackedSize")
    return Release(
        _text(facts.get("name")) or package,
        version,
        _number(tags.get("latest")) or version,
        _text(facts.get("description"))[:500],
        named(facts.get("license"), "type")[:200],
        named(facts.get("author") or facts.get("publisher"), "name")[:200],
        size if isinstance(size, int) else None,
        _moment(times.get(version) or facts.get("date")),
    )


def _failed(answer: npm.Answer) -> UpstreamFailed:
    return UpstreamFailed(
        f"The registry could not be asked: {answer.reason}. Check the connection of this machine, or name another "
        "registry in PATCHBAY_PIECE_REGISTRY."
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _code(facts: Any) -> str:
    return _text(_mapping(_mapping(facts).get("error")).get("code"))


def _number(value: Any) -> str:
    """The number of a version, which becomes the name of a folder; "" if it is invalid."""
    return _text(value) if _NUMBER.fullmatch(_text(value)) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def named(value: Any, member: str) -> str:
    """A value that npm writes as a text, or as an object with that member."""
    return _text(_mapping(value).get(member)) if isinstance(value, Mapping) else _text(value)


def _moment(value: Any) -> int | None:
    try:
        return round(datetime.fromisoformat(_text(value)).timestamp() * SECOND)
    except ValueError:
        return None
