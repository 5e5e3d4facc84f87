"""What the index says of a document: its title and hosts, and the words by which its operations are found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.documents import METHODS
from webapp.service.catalog.search import words as folded

MOST_HOSTS, MOST_CATEGORIES = 20, 10
_LONGEST_TITLE, _LONGEST_VERSION = 120, 60
_DROPPED = frozenset(("a", "an", "and", "by", "for", "from", "in", "is", "of", "on", "or", "that", "the", "to", "with"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One document in the index. ``version`` is its own; ``operations`` is how many it has.

    ``words`` are those of its operations, folded, each once.
    """

    name: str
    title: str
    version: str
    description: str
    hosts: tuple[str, ...]
    categories: tuple[str, ...]
    operations: int
    size: int
    words: tuple[str, ...] = field(default=(), repr=False)

    @property
    def provider(self) -> str:
        """The domain of the provider."""
        return self.name.partition(":")[0]

    @property
    def service(self) -> str:
        """Which of the provider's APIs it is; "" where the provider has only one."""
        return self.name.partition(":")[2]


def entry(name: str, content: bytes) -> Entry | None:
    """The entry of a document; None for what is none, or names no operation."""
    try:
        root = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(root, dict):
        return None
    info = _object(root.get("info"))
    operations = list(_operations(root))
    if not operations:
        return None
    listed = info.get("x-apisguru-categories")
    return Entry(
        name,
        words.sentences(info.get("title"), _LONGEST_TITLE).rstrip(".") or name,
        words.sentences(str(info.get("version") or ""), _LONGEST_VERSION),
        words.one_sentence(info.get("description")),
        _hosts(root),
        _texts(listed)[:MOST_CATEGORIES],
        len(operations),
        len(content),
        _words(operations),
    )


def _operations(root: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each operation with its path."""
    for path, item in _object(root.get("paths")).items():
        for method, operation in _object(item).items():
            if method in METHODS and isinstance(operation, Mapping):
                yield path, operation


def _hosts(root: Mapping[str, Any]) -> tuple[str, ...]:
    """The hosts that it is served from, without those that a variable decides."""
    servers = root.get("servers")
    urls = [str(_object(server).get("url") or "") for server in (servers if isinstance(servers, list) else ())]
    hosts = dict.fromkeys(host for url in urls if (host := _host(url)))
    return tuple(hosts)[:MOST_HOSTS]


def _host(url: str) -> str:
    try:
        host = (urlsplit(url).hostname or "") if "://" in url else ""
    except ValueError:
        return ""
    return host if host and not set(host) & set("{} %") else ""


def _words(operations: list[tuple[str, Mapping[str, Any]]]) -> tuple[str, ...]:
    distinct: dict[str, None] = {}
    for path, operation in operations:
        parts = [part for part in path.split("/") if "{" not in part]
        tags = _texts(operation.get("tags"))
        texts = (str(operation.get("summary") or "")[:300], str(operation.get("operationId") or "")[:200])
        for text in (*tags, *parts, *texts):
            for name in words.parts(text):
                distinct.update(dict.fromkeys(folded(name)))
    return tuple(word for word in distinct if len(word) > 1 and word not in _DROPPED)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
