"""Sends the requests of a form, parses the responses (JSON, or XML as JSON), and describes the app's errors."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from webapp.service.components.declared.filters import Encoded, as_text
from webapp.service.components.declared.form import Errors, Failing, Listing, Request
from webapp.service.components.declared.session import Session, file_in
from webapp.service.components.declared.templates import EMPTY, Hole, Scope, fill, parse
from webapp.service.components.errors import ComponentError, HttpError
from webapp.service.components.http import HttpResponse, refusal
from webapp.service.outbound.bodies import at_path, encode_multipart, parse_xml
from webapp.service.outbound.failures import Failure

_STEP_OUT = re.compile(r"(^|/)\.\.?(/|$)")
_WHOLE = ("https://", "http://", "/")
Sent = Mapping[str, Any]


def read(request: Request, answer: HttpResponse) -> Any:
    """Parse the response to ``request``. Raises :class:`HttpError`."""
    if request.answer == "json" or not answer.body.strip():
        return answer.json()
    parsed = parse_xml(answer.body, request.items.split(".")[-1:] if isinstance(request, Listing) else ())
    if isinstance(parsed, Failure):
        raise HttpError(parsed.sentence, answer.status, answer.body)
    return parsed.value


def read_or_none(request: Request, answer: HttpResponse) -> Any:
    """Parse the response; None if it cannot be parsed, such as the HTML page of a gateway."""
    try:
        return read(request, answer)
    except HttpError:
        return None


def ask(session: Session, request: Request, scope: Scope, more: Sent | None = None, place: str = "params") -> Any:
    """Send ``request`` and return the response's JSON; None for a bad status that it allows. Raises ComponentError."""
    answer = send(session, request, scope, more, place)
    return read(request, answer) if answer.ok else None


def send(
    session: Session, request: Request, scope: Scope, more: Sent | None = None, place: str = "params", url: str = ""
) -> HttpResponse:
    """Send ``request``, with ``more`` in its ``place``, to ``url`` in place of its own address.

    Raises :class:`ComponentError` if the app refuses it, or the response is too large.
    """
    own = first_address(session, request, scope)
    address = url or own
    session.check_time()
    session.check_address(address, own if url else None)
    added = {where: more or {} if where == place else {} for where in ("params", "json", "form")}
    params = {} if url else {**(fill(request.params, scope) or {}), **added["params"]}
    headers = {name: as_text(value) for name, value in (fill(request.headers, scope) or {}).items()}
    body, media_type = _body(session, request, scope, added)
    if media_type and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = media_type
    answer = session.http.request(
        request.method,
        address,
        params=dict(flat(params)),
        headers=headers,
        check=False,
        max_bytes=session.left_bytes + 1,
        **body,
    )
    session.count_answer(answer)
    if again := _instead(session, request, answer, scope):
        other = request.model_copy(update={"instead": None})
        return send(session, other, scope, {**(more or {}), **again}, request.instead.place if request.instead else "")
    _raise_for_refusal(session, request, answer)
    return answer


def first_address(session: Session, request: Request, scope: Scope) -> str:
    """The first URL of ``request`` whose placeholders all have a value. Raises :class:`ComponentError` without one."""
    template = next((url for url in request.url if has_values(url, scope)), request.url[-1])
    return address_of(session, template, scope)


def address_of(session: Session, template: str, scope: Scope) -> str:
    """The URL from ``template``; values are percent-encoded and cannot leave their path segment.

    Raises :class:`ComponentError` for a placeholder without a value.
    """
    parts = parse(template).parts
    address = ""
    for place, part in enumerate(parts):
        if isinstance(part, str):
            address += part
            continue
        value = part.of(scope)
        if value in (None, ""):
            raise ComponentError(_missing(session, part))
        text = as_text(value)
        whole = place == 0 and text.startswith(_WHOLE if part.path.root.startswith("$") else _WHOLE[:2])
        encoded = text if whole or isinstance(value, Encoded) else quote(text, safe="")
        if not whole and _STEP_OUT.search(encoded):
            raise ComponentError(f"{session.label_of(part.path.root)} is not a name that can be used in an address.")
        address += encoded
    return address


def flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a query or a form: a list repeats its name, a member of an object is ``name[member]``, of an
    object in a list ``name[0][member]``."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from flat({f"{name}[{member}]": inner for member, inner in value.items()})
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            yield from flat({f"{name.removesuffix('[]')}[{place}]": item for place, item in enumerate(value)})
        elif isinstance(value, list):
            yield name, [item if isinstance(item, str) else as_text(item) for item in value]
        else:
            yield name, value


def has_values(template: str, scope: Scope, but: str = "") -> bool:
    """Whether all placeholders of the URL ``template`` have a value, except those with the root ``but``."""
    holes = (part for part in parse(template).parts if isinstance(part, Hole))
    return all(hole.of(scope) not in (None, "") for hole in holes if hole.path.root != but)


def _missing(session: Session, hole: Hole) -> str:
    return f"{session.label_of(hole.path.root)} is not chosen yet. Choose it first."


def _body(
    session: Session, request: Request, scope: Scope, added: Mapping[str, Sent]
) -> tuple[dict[str, Any], str | None]:
    if request.json_ is not None or added["json"]:
        filled = fill(request.json_, scope)
        if request.needed and isinstance(filled, Mapping | None):
            filled = {**{name: {} for name in request.needed}, **(filled or {})}
        if filled is None and request.bare and not added["json"]:
            return {}, None
        if filled is None:
            filled = {} if isinstance(request.json_, Mapping | None) else []
        return {"json": _with_members(filled, added["json"]) if isinstance(filled, Mapping) else filled}, None
    if request.form is not None:
        return {"data": dict(flat({**(fill(request.form, scope) or {}), **added["form"]}))}, None
    if request.multipart is not None:
        return _multipart(session, request.multipart, scope)
    if request.text is not None:
        return {"data": parse(request.text).text(scope).encode()}, "text/plain; charset=utf-8"
    if request.file is not None:
        name = parse(request.file).value(scope)
        return ({"data": file_in(session, name)[1]}, "application/octet-stream") if name else ({}, None)
    return {}, None


def _with_members(body: Mapping[str, Any], members: Sent) -> dict[str, Any]:
    """``body`` with ``members``, each at its dotted path, such as ``variables.after`` for GraphQL."""
    placed = dict(body)
    for path, value in members.items():
        name, _, rest = path.partition(".")
        inner = placed.get(name)
        placed[name] = _with_members(inner if isinstance(inner, Mapping) else {}, {rest: value}) if rest else value
    return placed


def _multipart(session: Session, fields: Mapping[str, Any], scope: Scope) -> tuple[dict[str, Any], str]:
    """The multipart body and its media type.

    A field that is a table with ``file`` is a file, with the optional ``name``.
    """
    parts: list[tuple[str, str | None, bytes]] = []
    for name, written in fields.items():
        filled = fill(written, scope)
        if isinstance(written, Mapping) and "file" in written:
            if isinstance(filled, Mapping) and filled.get("file"):
                file_name, content = file_in(session, filled["file"])
                parts.append((name, str(filled.get("name") or file_name), content))
            continue
        values = filled if isinstance(filled, list) else [filled]
        parts += [(name, None, as_text(value).encode()) for value in values if value not in (None, "")]
    data, media_type = encode_multipart(parts)
    return {"data": data}, media_type


def _instead(session: Session, request: Request, answer: HttpResponse, scope: Scope) -> Sent:
    """The fields for repeating the request; empty if they would change nothing."""
    instead, errors = request.instead, session.form.errors
    if instead is None or errors is None or not errors.code:
        return {}
    body = read_or_none(request, answer)
    if str(at_path(body, errors.code)) != instead.code:
        return {}
    return fill(instead.fields, {**scope, "$answer": body}) or {}


def _raise_for_refusal(session: Session, request: Request, answer: HttpResponse) -> None:
    """Raise :class:`HttpError` if the app refuses the request, with the most specific message available."""
    errors = session.form.errors or Errors()
    ok = answer.ok or answer.status in request.allow
    if ok and not errors.failing:
        return
    body = read_or_none(request, answer)
    if ok and (answer.status in request.allow or not any(_fails(failing, body) for failing in errors.failing)):
        return
    scope = session.with_(answer=body)
    code = at_path(body, errors.code) if errors.code else None
    other = errors.other if body is not None and answer.status < 500 else None
    written = errors.words.get(str(code)) or errors.words.get(str(answer.status)) or other
    sentence = parse(written).text(scope) if written else refusal(answer, errors.message)
    raise HttpError(sentence, answer.status, answer.body)


def _fails(failing: Failing, body: Any) -> bool:
    value = at_path(body, failing.path)
    return value not in EMPTY if failing.present else value == failing.equals
