"""The operations of a document, in its order, and which of them are chosen."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from webapp.errors import Invalid
from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.documents import Document

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_UNSENDABLE = ("OPTIONS", "TRACE")
UNTAGGED = "Others"
MOST = 20_000
_MOST_TAGS = 20
_NAME = re.compile(r"[\w.-]+")
_SAYS_NOTHING = re.compile(r"(?i)apis?|rest|v\d[\w.]*|[\d.-]+")  # such as /api/v2


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. ``node`` is what the document says of it, ``shared`` what it says of all of its path. ``tool`` is
    its name at an MCP server; empty for an operation of an API."""

    method: str
    path: str
    node: Mapping[str, Any]
    shared: Mapping[str, Any]
    tool: str = ""

    @property
    def id(self) -> str:
        """What tells it from all others: ``GET /pets``, or the name of a tool."""
        return self.tool or f"{self.method} {self.path}"

    @property
    def operation_id(self) -> str:
        """Its own name in the document; empty where it has none."""
        return str(self.node.get("operationId") or "")

    @property
    def deprecated(self) -> bool:
        """Whether it should not be used any more."""
        return self.node.get("deprecated") is True

    @property
    def tags(self) -> tuple[str, ...]:
        """The groups that it belongs to."""
        tags = self.node.get("tags")
        return tuple(str(tag) for tag in tags[:_MOST_TAGS]) if isinstance(tags, list) and tags else (UNTAGGED,)

    @property
    def groups(self) -> tuple[str, ...]:
        """Its tags; for one without any, the first part of its path that says something."""
        return self.tags if self.tags != (UNTAGGED,) else (_of_path(self.path),)

    @property
    def title(self) -> str:
        """What it does, in a few words."""
        summary = words.sentences(self.node.get("summary"), 80).rstrip(".")
        return summary or words.label(self.operation_id or f"{self.method.capitalize()} {self.path}")

    @property
    def wanted_key(self) -> str:
        """What its action would be called."""
        return words.key(self.operation_id) or words.key(f"{self.method.lower()} {self.path}") or "call"


def listed(document: Document) -> list[Operation]:
    """Every operation that could be sent. Raises :class:`Invalid` where they are too many to look at."""
    operations = list(islice(_operations(document), MOST + 1))
    if len(operations) > MOST:
        raise Invalid(f"The document has more than {MOST:,} operations. Import a part of it.")
    return operations


def counts(operations: Iterable[Operation]) -> dict[str, int]:
    """How many operations that are not deprecated each group has, by name; case does not count."""
    names, numbers = dict[str, str](), Counter[str]()
    for operation in operations:
        if not operation.deprecated:
            numbers.update({names.setdefault(group.lower(), group) for group in operation.groups})
    return dict(sorted(numbers.items(), key=lambda item: item[0].lower()))


def chosen(operations: Iterable[Operation], only: Iterable[str]) -> list[Operation]:
    """Those that ``only`` names by group, id, or method and path; without any, all that are not deprecated.

    Raises :class:`Invalid` for a name that fits none.
    """
    known, names = list(operations), [name for name in only if name]
    if not names:
        return [operation for operation in known if not operation.deprecated]
    present = Present(known)
    for name in names:
        if name not in present:
            raise Invalid(f"The document has no tag and no operation {name[:100]!r}; `--preview` lists them.")
    exactly, groups = set(names), set(map(str.lower, names))
    return [
        operation
        for operation in known
        if not exactly.isdisjoint((operation.operation_id, operation.id))
        or (not operation.deprecated and not groups.isdisjoint(_group_names(operation)))
    ]


class Present:
    """The names of operations and of their groups, in which case does not count."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._exactly, self._groups = set[str](), set[str]()
        for operation in operations:
            self._exactly |= {operation.operation_id, operation.id}
            self._groups.update(_group_names(operation))

    def __contains__(self, name: str) -> bool:
        return name in self._exactly or name.lower() in self._groups


def _group_names(operation: Operation) -> set[str]:
    """What may name its groups, in lower case; :data:`UNTAGGED` is all operations without a tag."""
    return {group.lower() for group in (*operation.tags, *operation.groups)}


def _of_path(path: str) -> str:
    parts = (match[0] for part in path.split("/") if (match := _NAME.match(part)))
    return next((part for part in parts if not _SAYS_NOTHING.fullmatch(part)), UNTAGGED)


def _operations(document: Document) -> Iterator[Operation]:
    for path, item in document.refs.object(document.root.get("paths")).items():
        shared = document.refs.object(item)
        for method in METHODS:
            node = shared.get(method.lower())
            if isinstance(node, Mapping) and str(path).startswith("/"):
                tool = str(node.get("operationId") or "") if document.server else ""
                yield Operation(method, str(path), node, shared, tool)


def unsendable(document: Document) -> list[str]:
    """The operations whose method no action has, such as ``OPTIONS /pets``."""
    paths = document.refs.object(document.root.get("paths"))
    items = [(path, document.refs.object(item)) for path, item in paths.items()]
    return [f"{method} {path}" for path, item in items for method in _UNSENDABLE if method.lower() in item]
