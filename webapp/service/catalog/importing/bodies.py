"""The body of an operation: JSON, a form, a form with files, text or a file, member by member where that helps."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.drafts import Draft, Unsaid, plain
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.refs import Unresolved
from webapp.service.catalog.importing.schemas import Shape, shape

JSON, FORM, MULTIPART, TEXT = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "text/plain",
)
_MOST_FLAT = 8  # members of an object within the body that become fields of their own
_SIMPLE = ("boolean", "integer", "number", "string")
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json")
_WITHOUT = ("GET", "HEAD")
Content = Mapping[str, Any]


def add(draft: Draft, operation: Operation) -> None:
    """Ask for the body. Raises :class:`Unsaid` for one that cannot be sent."""
    if "requestBody" not in operation.node:
        return
    body = draft.refs.follow(operation.node["requestBody"])
    content = draft.refs.object(body).get("content")
    if not isinstance(content, Mapping) or not content:
        return
    required = draft.refs.object(body).get("required") is True
    if operation.method in _WITHOUT:
        if required:
            raise Unsaid(f"it is a {operation.method} with a body, which is never sent")
        draft.leave_out("the body", f"a {operation.method} has none")
        return
    kind, media_type, media = _chosen(content, draft)
    wanted = shape(draft.refs, media.get("schema", {}))
    about = str(draft.refs.object(body).get("description") or "")
    _WRITERS[kind](draft, wanted, media, about, required)
    if media_type.partition(";")[0].strip() not in (JSON, FORM, MULTIPART, TEXT) and "*" not in media_type:
        draft.headers["Content-Type"] = plain(media_type)


def _chosen(content: Content, draft: Draft) -> tuple[str, str, Content]:
    """The kind of body that is sent, its media type, and what is said of it."""
    named = [(str(name), name.partition(";")[0].strip().lower()) for name in content]
    tests: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("json", lambda name: name == JSON),
        ("json", lambda name: _JSON.fullmatch(name) is not None),
        ("form", lambda name: name == FORM),
        ("multipart", lambda name: name.startswith("multipart/form")),
        ("json", lambda name: name == "*/*" and _is_data(content, name, draft)),
        ("text", lambda name: name.startswith("text/")),
        ("file", lambda name: not name.startswith("multipart/") and not name.endswith(("/xml", "+xml"))),
    )
    for kind, fits in tests:
        for written, name in named:
            if fits(name):
                return kind, written, draft.refs.object(content[written])
    raise Unsaid(f"its body is {', '.join(name for _, name in named)[:100]}, which actions do not write")


def _is_data(content: Content, name: str, draft: Draft) -> bool:
    return shape(draft.refs, draft.refs.object(content.get(name)).get("schema", {})).kind != "file"


def _json(draft: Draft, wanted: Shape, _: Content, about: str, required: bool) -> None:
    if wanted.kind != "object" or not wanted.members:
        draft.body["json"] = draft.ask("body", "body", wanted, required=required, description=about)
        return
    draft.body["json"] = dict(_members(draft, wanted, "body", within=False))


def _form(draft: Draft, wanted: Shape, media: Content, about: str, required: bool) -> None:
    if not wanted.members:
        draft.body["form"] = {}
        draft.leave_out("the body", "the document does not say which fields it has")
        return
    styles = draft.refs.object(media.get("encoding"))
    fields = dict(_members(draft, wanted, "form", within=False))
    draft.body["form"] = dict(_styled(draft, name, hole, wanted, styles) for name, hole in fields.items())


def _styled(draft: Draft, name: str, hole: Any, wanted: Shape, styles: Content) -> tuple[str, Any]:
    """A list in a form as its encoding says: one name several times, ``name[]``, or one text."""
    style = draft.refs.object(styles.get(name))
    if not isinstance(hole, str) or shape(draft.refs, wanted.members[name]).kind != "array":
        return name, hole
    if style.get("style") == "deepObject":
        return f"{name.removesuffix('[]')}[]", hole
    return name, draft.joined(hole, ",") if style.get("explode") is False else hole


def _multipart(draft: Draft, wanted: Shape, _: Content, about: str, required: bool) -> None:
    fields: dict[str, Any] = {}
    for name, hole in _members(draft, wanted, "form", within=False):
        member = shape(draft.refs, wanted.members[name])
        fields[name] = {"file": hole} if member.kind == "file" else hole
    if not fields:
        raise Unsaid("the document does not say which parts its body has")
    draft.body["multipart"] = fields


def _text(draft: Draft, wanted: Shape, _: Content, about: str, required: bool) -> None:
    draft.body["text"] = draft.ask("body", "body", Shape("string"), required=required, description=about, label="Text")


def _file(draft: Draft, wanted: Shape, _: Content, about: str, required: bool) -> None:
    draft.body["file"] = draft.ask("body", "file", Shape("file"), required=required, description=about)


_WRITERS = {"json": _json, "form": _form, "multipart": _multipart, "text": _text, "file": _file}


def _members(
    draft: Draft, wanted: Shape, place: str, *, within: bool, before: str = "", needed: bool = True
) -> Iterator[tuple[str, Any]]:
    """Every member of an object, asked for one by one, as it stands in the body."""
    for name, node in wanted.members.items():
        required = needed and name in wanted.required
        try:
            member = shape(draft.refs, node)
        except Unresolved as error:
            if required:
                raise Unsaid(f"{name} is required, and {error}") from None
            draft.leave_out(name, str(error))
            continue
        if member.read_only:
            continue
        if member.deprecated and not required:
            draft.leave_out(f"{before}{name}", "it is deprecated")
        elif member.constant is not None and required:
            yield name, plain(member.constant)
        elif not within and _is_flat(draft, member, required):
            inner = dict(_members(draft, member, place, within=True, before=f"{name}.", needed=required))
            if inner:
                yield name, inner
        else:
            yield name, _one(draft, place, f"{before}{name}", member, required)


def _one(draft: Draft, place: str, path: str, member: Shape, required: bool) -> str:
    if member.kind == "array" and isinstance(member.items, Mapping) and place == "form":
        item = shape(draft.refs, member.items)
        if item.kind == "file":
            member = Shape("file", description=member.description or item.description)
            draft.notes.append(f"{path} takes one file at a time.")
    return draft.ask(place, path, member, required=required, label=words.label(path))


def _is_flat(draft: Draft, member: Shape, required: bool) -> bool:
    """Whether the members of an object within the body are asked for one by one: few, simple, and no trap.

    An object that may be missing, but not without some of its members, would be half filled in.
    """
    if member.kind != "object" or not 0 < len(member.members) <= _MOST_FLAT or not member.closed:
        return False
    if member.required and not required:
        return False
    return all(shape(draft.refs, node).kind in _SIMPLE for node in member.members.values())
