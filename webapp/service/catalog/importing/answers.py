"""What an operation answers: whether it is data or a file, and the sentence that tells what was done."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.refs import Refs, Unresolved
from webapp.service.catalog.importing.schemas import Shape, shape

_GOOD = ("200", "201", "202", "203", "204", "206", "2XX", "DEFAULT")
_PAST = {
    "add": "Added", "archive": "Archived", "assign": "Assigned", "cancel": "Cancelled", "check": "Checked",
    "close": "Closed", "complete": "Completed", "copy": "Copied", "create": "Created", "delete": "Deleted",
    "disable": "Disabled", "download": "Downloaded", "enable": "Enabled", "fetch": "Fetched", "find": "Found",
    "get": "Got", "invite": "Invited", "list": "Listed", "move": "Moved", "post": "Posted", "publish": "Published",
    "remove": "Removed", "rename": "Renamed", "replace": "Replaced", "retrieve": "Got", "return": "Got",
    "revoke": "Revoked", "search": "Searched", "send": "Sent", "set": "Set", "show": "Got", "start": "Started",
    "stop": "Stopped", "submit": "Submitted", "update": "Updated", "upload": "Uploaded",
}  # fmt: skip
_TITLES = ("name", "title", "id", "key")
_PLURALS = ("data", "items", "results", "records", "values", "list")


def summary(operation: Operation, answer: Shape | None, refs: Refs) -> str:
    """One sentence of what was done, with what the answer surely names."""
    first, *rest = operation.title.split(" ")
    verb = first.lower()
    stem = verb if verb in _PAST else verb.removesuffix("s")
    past = _PAST.get(stem, "")
    text = " ".join([past, *rest]) if past else f"Done: {operation.title}"
    text = text.replace("{", "{{").replace("}", "}}")
    if answer is None:
        return f"{text}: {{$file.name}}"
    if answer.kind == "array":
        return f"{text}: {{$answer|count('item')}}"
    lists = [name for name, node in answer.members.items() if _kind(refs, node) == "array"]
    plural = next(
        (name for name in lists if name in _PLURALS), lists[0] if len(lists) == 1 and operation.method == "GET" else ""
    )
    if plural.isidentifier() and "id" not in answer.members:
        return f"{text}: {{$answer.{plural}|count('item')}}"
    title = next(
        (
            name
            for name in _TITLES
            if name in answer.required and _kind(refs, answer.members.get(name)) in ("string", "integer")
        ),
        "",
    )
    return f"{text}: {{$answer.{title}}}" if title else text


def _kind(refs: Refs, node: Any) -> str:
    try:
        return shape(refs, node).kind
    except Unresolved:
        return "any"


def _content(refs: Refs, operation: Operation) -> Mapping[str, Any] | None:
    """What a good answer holds, by media type; None where nothing is said."""
    responses = refs.object(operation.node.get("responses"))
    good = [response for code, response in responses.items() if str(code).upper() in _GOOD]
    for response in good:
        content = refs.object(response).get("content")
        if isinstance(content, Mapping) and content:
            return content
    return None


def answer(refs: Refs, operation: Operation) -> Shape | None:
    """What the answer looks like; None for one that is no JSON, which is kept as a file."""
    content = _content(refs, operation)
    if content is None:
        return Shape()
    data = [name for name in content if "json" in str(name).lower() or "*" in str(name)]
    if not data:
        return None
    wanted = shape(refs, refs.object(content[data[0]]).get("schema", {}))
    return None if wanted.kind == "file" else wanted


def ending(refs: Refs, operation: Operation) -> str:
    """The ending of a file that the answer is kept as."""
    media_type = str(next(iter(_content(refs, operation) or {}), "")).partition(";")[0].strip().lower()
    kind = media_type.rpartition("/")[2].rpartition("+")[2]
    known = {"plain": "txt", "markdown": "md", "jpeg": "jpg", "octet-stream": "bin", "javascript": "js"}
    return known.get(kind, kind if kind.isalnum() and len(kind) <= 5 else "bin")
