"""What running an action of a piece means: as the piece says, else as its name does."""

import re
from collections.abc import Mapping

from webapp.service.components.checker import ANNOTATIONS
from webapp.service.pieces.metadata import Part

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_READS = frozenset(
    {"check", "count", "describe", "download", "export", "fetch", "find", "get", "list", "lookup", "query", "read",
     "retrieve", "search", "show", "view"}
)  # fmt: skip
_TAKES_AWAY = frozenset({"cancel", "clear", "delete", "destroy", "purge", "remove", "revoke", "trash", "wipe"})
_OVERWRITES = frozenset({"edit", "modify", "overwrite", "patch", "replace", "update", "upsert"})
_ANY_REQUEST = "custom_api_call"
_FILES = re.compile(r"\b(files?|download|export|attachments?|images?|pdf|audio|video|document)\b", re.IGNORECASE)


def annotations(part: Part) -> dict[str, bool]:
    """The four hints of an action. All reach out into the world."""
    read_only = _reads(part)
    takes_away = bool(_words(part.name) & (_TAKES_AWAY | _OVERWRITES))
    destructive = part.kind_of_use == "DESTRUCTIVE" or part.name == _ANY_REQUEST or takes_away
    told: Mapping[str, object] = part.ai
    idempotent = told["idempotent"] is True if "idempotent" in told else read_only
    return dict(zip(ANNOTATIONS, (read_only, destructive and not read_only, idempotent, True), strict=True))


def writes_files(part: Part) -> bool:
    """Whether what it writes may be wanted as files."""
    asks = any(isinstance(each, Mapping) and each.get("type") == "FILE" for each in part.props.values())
    return asks or bool(_FILES.search(f"{part.title} {part.description}"))


def _reads(part: Part) -> bool:
    if part.kind_of_use:
        return part.kind_of_use in ("READ", "SEARCH")
    first = {word.lower() for word in _WORD.findall(part.title)[:1] + _WORD.findall(part.name)[:2]}
    takes_away = _words(part.name) & (_TAKES_AWAY | _OVERWRITES)
    return part.name != _ANY_REQUEST and bool(first & _READS) and not takes_away


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}
