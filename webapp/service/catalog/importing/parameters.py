"""Parameters of an operation: those of its path, its query and its headers, in every style that a request can have."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.drafts import Draft, Unsaid, plain
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.refs import Refs, Unresolved
from webapp.service.catalog.importing.schemas import Shape, shape
from webapp.service.outbound.client import header_refusal

_HOLE = re.compile(r"\{\+?([^{}]+?)\*?\}")
_BETWEEN = {"form": ",", "simple": ",", "spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_MOST = 500
_OURS = ("accept", "content-type", "authorization")  # OpenAPI says these elsewhere


def parameters(refs: Refs, operation: Operation) -> list[Mapping[str, Any]]:
    """Every parameter of ``operation``, its own in place of those of its path. Raises :class:`Unsaid`."""
    listed: dict[tuple[str, str], Mapping[str, Any]] = {}
    for node in (*_nodes(operation.shared), *_nodes(operation.node)):
        if len(listed) > _MOST:
            raise Unsaid(f"it has more than {_MOST} parameters")
        try:
            parameter = refs.follow(node)
        except Unresolved as error:
            raise Unsaid(f"a parameter cannot be read: {error}") from None
        if isinstance(parameter, Mapping) and isinstance(parameter.get("name"), str):
            listed[parameter["name"], str(parameter.get("in"))] = parameter
    return list(listed.values())


def add(draft: Draft, operation: Operation) -> str:
    """Ask for every parameter; the path with their holes. Raises :class:`Unsaid`."""
    listed = parameters(draft.refs, operation)
    in_path = {each["name"]: each for each in listed if each.get("in") == "path"}
    path = _path(draft, operation.path, in_path)
    for parameter in listed:
        if parameter.get("in") == "query":
            _guarded(draft, parameter, _query)
        elif parameter.get("in") == "header":
            _guarded(draft, parameter, _header)
        elif parameter.get("in") == "cookie":
            _unsayable(draft, parameter, "actions send no cookies")
    return path


def _path(draft: Draft, path: str, known: Mapping[str, Mapping[str, Any]]) -> str:
    path = path.partition("#")[0]  # which some documents tell operations of one path apart by; it is never sent

    def hole(match: re.Match[str]) -> str:
        parameter = known.get(match[1], {"name": match[1]})
        wanted = _shape(draft.refs, parameter)
        if wanted.kind in ("object", "file"):
            raise Unsaid(f"{match[1]} is an object in its path")
        template = draft.ask(
            "path", match[1], wanted, required=True, description=str(parameter.get("description") or "")
        )
        if wanted.kind == "array":
            template = draft.joined(template, ",")
        return f"{template[:-1]}|path}}" if match[0].startswith("{+") or match[0].endswith("*}") else template

    pieces, end = [], 0
    for match in _HOLE.finditer(path):
        pieces += [plain(path[end : match.start()]), hole(match)]
        end = match.end()
    return "".join([*pieces, plain(path[end:])])


def _guarded(draft: Draft, parameter: Mapping[str, Any], add_one: Any) -> None:
    """Ask for one parameter; one that cannot be said ends the operation where it is required."""
    if parameter.get("deprecated") is True and parameter.get("required") is not True:
        draft.leave_out(parameter["name"], "it is deprecated")
        return
    try:
        wanted = _shape(draft.refs, parameter)
    except Unresolved as error:
        _unsayable(draft, parameter, str(error))
        return
    if wanted.constant is not None and parameter.get("required") is True and parameter.get("in") == "query":
        draft.params[parameter["name"]] = plain(wanted.constant)
        return
    add_one(draft, parameter, wanted)


def _query(draft: Draft, parameter: Mapping[str, Any], wanted: Shape) -> None:
    name, style = parameter["name"], str(parameter.get("style", "form"))
    explode = parameter.get("explode", style in ("form", "deepObject"))
    if wanted.kind == "object" and "content" not in parameter:
        _object(draft, parameter, wanted, style, explode=explode is not False)
        return
    template = _ask(draft, "query", parameter, wanted)
    if "content" in parameter:
        draft.params[name] = f"{template[:-1]}|text}}"
    elif wanted.kind == "array" and style == "deepObject":
        draft.params[f"{name.removesuffix('[]')}[]"] = template
    elif wanted.kind == "array" and explode is False:
        draft.params[name] = draft.joined(template, _BETWEEN.get(style, ","))
    else:
        draft.params[name] = template


def _object(draft: Draft, parameter: Mapping[str, Any], wanted: Shape, style: str, *, explode: bool) -> None:
    """An object in the query: with its name before each member, or its members alone."""
    if style == "deepObject":
        draft.params[parameter["name"]] = _ask(draft, "query", parameter, wanted)
        return
    if not (explode and wanted.members):
        _unsayable(draft, parameter, "an object cannot be written into the query so")
        return
    for name, node in wanted.members.items():
        member = shape(draft.refs, node)
        required = parameter.get("required") is True and name in wanted.required
        draft.params[name] = draft.ask("query", name, member, required=required)


def _header(draft: Draft, parameter: Mapping[str, Any], wanted: Shape) -> None:
    name = parameter["name"]
    if name.lower() in _OURS:
        return
    if header_refusal(name, ""):
        draft.leave_out(name, "it is set when the request is sent")
    elif wanted.kind in ("object", "file"):
        _unsayable(draft, parameter, "an object cannot be written into a header")
    else:
        template = _ask(draft, "header", parameter, wanted, words.label(re.sub("^x-", "", name, flags=re.IGNORECASE)))
        draft.headers[name] = draft.joined(template, ",") if wanted.kind == "array" else template


def _ask(draft: Draft, place: str, parameter: Mapping[str, Any], wanted: Shape, label: str = "") -> str:
    required, about = parameter.get("required") is True, str(parameter.get("description") or "")
    return draft.ask(place, parameter["name"], wanted, required=required, description=about, label=label)


def _unsayable(draft: Draft, parameter: Mapping[str, Any], reason: str) -> None:
    if parameter.get("required") is True:
        raise Unsaid(f"{parameter['name']} is required, and {reason}")
    draft.leave_out(parameter["name"], reason)


def _shape(refs: Refs, parameter: Mapping[str, Any]) -> Shape:
    content = parameter.get("content")
    if isinstance(content, Mapping):
        media = refs.object(next(iter(content.values()), {}))
        return shape(refs, media.get("schema", {}))
    return shape(refs, parameter.get("schema", {"type": "string"}))


def _nodes(node: Mapping[str, Any]) -> Iterator[Any]:
    listed = node.get("parameters")
    yield from listed if isinstance(listed, list) else ()
