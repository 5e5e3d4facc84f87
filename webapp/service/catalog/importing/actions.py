"""An operation as a declared action: what stands in ``actions/<name>.toml``.

A :class:`Draft` collects the props and the request while parameters and body are read, and notes what it cannot
express. :class:`Unsaid` means that the operation cannot become an action at all; its message is the reason. The
answer decides whether the result is data or a file, and the sentence of ``$summary``.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from webapp.service.catalog.importing import mcp_tools, schemas, words
from webapp.service.catalog.importing.documents import Document, Refs, Unresolved
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.schemas import Shape, shape
from webapp.service.catalog.importing.words import Names
from webapp.service.outbound.headers import header_refusal

ACCOUNT = "account"
BODY = "body:"
"""What stands before the name of a member of the body, among the parameters that nobody is asked for."""
_DEEPEST_TEMPLATE = 20  # lists and objects within each other that a template holds
_HOLE = re.compile(r"\{\+?([^{}]+?)\*?\}")
_SEPARATORS = {"form": ",", "simple": ",", "spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_MOST_PARAMETERS = 500
_SET_ELSEWHERE = ("accept", "content-type", "authorization")  # OpenAPI says these elsewhere
_OF_SIGNATURES = tuple(  # of AWS, version 4, which the request gets when it is sent
    f"x-amz-{name}"
    for name in ("algorithm", "content-sha256", "credential", "date", "security-token", "signature", "signedheaders")
)
JSON, FORM, MULTIPART, TEXT = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "text/plain",
)
_MOST_FLAT = 8  # members of an object within the body that become fields of their own
_SCALARS = ("boolean", "integer", "number", "string")
_JSON_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json")
_BODILESS = ("GET", "HEAD")
Content = Mapping[str, Any]
_SUCCESS = ("200", "201", "202", "203", "204", "206", "2XX", "DEFAULT")
_PAST_TENSE = {
    "add": "Added", "archive": "Archived", "assign": "Assigned", "cancel": "Cancelled", "check": "Checked",
    "close": "Closed", "complete": "Completed", "copy": "Copied", "create": "Created", "delete": "Deleted",
    "disable": "Disabled", "download": "Downloaded", "enable": "Enabled", "fetch": "Fetched", "find": "Found",
    "get": "Got", "invite": "Invited", "list": "Listed", "move": "Moved", "post": "Posted", "publish": "Published",
    "remove": "Removed", "rename": "Renamed", "replace": "Replaced", "retrieve": "Got", "return": "Got",
    "revoke": "Revoked", "search": "Searched", "send": "Sent", "set": "Set", "show": "Got", "start": "Started",
    "stop": "Stopped", "submit": "Submitted", "update": "Updated", "upload": "Uploaded",
}  # fmt: skip
_TITLE_MEMBERS = ("name", "title", "id", "key")
_LIST_MEMBERS = ("data", "items", "results", "records", "values", "list")
FIRST_VERSION = "0.0.1"
_ADDRESS_CHARACTERS = ":/?#[]@!$&'*+,;=%~"  # all that an address may hold but brackets, which would end the link
HINTS = {
    "GET": "reads",
    "HEAD": "reads",
    "POST": "creates",
    "PUT": "overwrites",
    "PATCH": "overwrites",
    "DELETE": "overwrites",
}


class Unsaid(ValueError):
    """The operation cannot be an action. The message is the reason, without a full stop."""


@dataclass(slots=True)
class Draft:
    """What becomes ``actions/<name>.toml``. ``names`` are those of its props by what they stand for; ``bare`` are query
    parameters that are sent without a value."""

    refs: Refs
    names: Names
    values: Mapping[str, str] = field(default_factory=dict)
    props: dict[str, dict[str, Any]] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    bare: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def ask(
        self, place: str, name: str, wanted: Shape, *, required: bool, description: str = "", label: str = ""
    ) -> str:
        """Ask for a value, and return its hole in the template. ``place`` is where it goes in the request."""
        value = schemas.value(self.refs, wanted, label or words.label(name), required=required, description=description)
        prop = self.names.name(f"{place}:{name}", words.prop(name), place)
        self.props[prop] = dict(value.fields)
        return value.hole(prop)

    def joined(self, hole: str, between: str) -> str:
        """``hole``, whose value is a list, as one text."""
        return f"{hole[:-1]}|join('{between}')}}"

    def leave_out(self, name: str, reason: str) -> None:
        """Note that a part of the request cannot be filled in."""
        self.notes.append(f"{name} is left out: {reason}.")

    def toml(self, account: str | None) -> dict[str, Any]:
        """The tables of props, required ones first; with ``account``, the app whose account it works with."""
        first = {ACCOUNT: {"type": "app", "app": account}} if account else {}
        required = {name: prop for name, prop in self.props.items() if not prop.get("optional")}
        return {**first, **required, **{name: prop for name, prop in self.props.items() if name not in required}}


@dataclass(frozen=True, slots=True)
class Action:
    """An action as it will be written. ``toml`` is its file, but for its version; ``notes`` tell what it leaves out.

    ``props`` are the names of its props by what they stand for.
    """

    operation: Operation
    name: str
    toml: Mapping[str, Any]
    notes: tuple[str, ...]
    props: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class App:
    """What actions need to know of the app that they are written for. ``slug`` is None where it has no accounts.

    ``base_url`` stands before each path where there is no account to say it; ``docs_url`` is the reference. ``values``
    are templates of the parameters that nobody is asked for, by their names; empty for those that are not sent.
    """

    slug: str | None
    base_url: str
    docs_url: str
    values: Mapping[str, str] = field(default_factory=dict)


def action(document: Document, operation: Operation, name: str, app: App, known: Mapping[str, str]) -> Action:
    """``operation`` as the action ``name``. ``known`` are the names that its props had. Raises :class:`Unsaid`."""
    names = Names(dict(known), (ACCOUNT,))
    draft = Draft(document.refs, names, app.values)
    try:
        path = _add_parameters(draft, operation)
        _add_body(draft, operation)
        answer = answer_shape(document.refs, operation)
    except Unresolved as error:
        raise Unsaid(str(error)) from None
    url = path if app.slug else f"{app.base_url}{path}"
    toml = {
        "name": operation.title,
        "description": _description(operation, app),
        "hints": HINTS[operation.method],
        "summary": summary(operation, answer, document.refs),
        "props": draft.toml(app.slug),
        "request": _request(operation, draft, url),
    }
    if document.server is not None:
        toml = mcp_tools.action(document.server, operation.tool, toml, "" if app.slug else app.base_url)
    elif answer is None:
        toml["file"] = f"{name}.{_file_ending(document.refs, operation)}"
    return Action(operation, name, toml, tuple(draft.notes), dict(names.known))


def _request(operation: Operation, draft: Draft, url: str) -> dict[str, Any]:
    parts = {"params": draft.params, "headers": draft.headers}
    return {
        "method": operation.method,
        "url": url,
        **{name: part for name, part in parts.items() if part},
        **draft.body,
    }


def _description(operation: Operation, app: App) -> str:
    about = words.one_sentence(operation.node.get("description")) or words.one_sentence(operation.title)
    external = operation.node.get("externalDocs")
    link = str(external.get("url") or "") if isinstance(external, Mapping) else ""
    link = link if link.startswith(("https://", "http://")) else app.docs_url
    return f"{about} [See the documentation]({quote(link, safe=_ADDRESS_CHARACTERS)})" if link else about


def plain(value: Any, depth: int = 0) -> Any:
    """JSON of the document whose texts stand in a template as they are. Raises :class:`Unsaid` for what is too deep."""
    if depth > _DEEPEST_TEMPLATE:
        raise Unsaid("a value in it is nested too deeply")
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, Mapping):
        return {name: plain(member, depth + 1) for name, member in value.items()}
    return [plain(item, depth + 1) for item in value] if isinstance(value, list) else value


def parameters(refs: Refs, operation: Operation) -> list[Mapping[str, Any]]:
    """Every parameter of ``operation``, its own in place of those of its path. Raises :class:`Unsaid`."""
    listed: dict[tuple[str, str], Mapping[str, Any]] = {}
    for node in (*_nodes(operation.shared), *_nodes(operation.node)):
        if len(listed) > _MOST_PARAMETERS:
            raise Unsaid(f"it has more than {_MOST_PARAMETERS} parameters")
        try:
            parameter = refs.follow(node)
        except Unresolved as error:
            raise Unsaid(f"a parameter cannot be read: {error}") from None
        if isinstance(parameter, Mapping) and isinstance(parameter.get("name"), str):
            listed[parameter["name"], str(parameter.get("in"))] = parameter
    return list(listed.values())


def _add_parameters(draft: Draft, operation: Operation) -> str:
    """Ask for every parameter; the path with their holes. Raises :class:`Unsaid`."""
    listed = parameters(draft.refs, operation)
    in_path = {each["name"]: each for each in listed if each.get("in") == "path"}
    path = _path(draft, operation.path, in_path)
    for parameter in listed:
        if (value := draft.values.get(parameter["name"])) is not None:
            _add_known(draft, parameter, value)
        elif parameter.get("in") == "query":
            _guarded(draft, parameter, _query)
        elif parameter.get("in") == "header":
            _guarded(draft, parameter, _header)
        elif parameter.get("in") == "cookie":
            _unsayable(draft, parameter, "actions send no cookies")
    return f"{path}?{'&'.join(f'{quote(name)}=' for name in draft.bare)}" if draft.bare else path


def _add_known(draft: Draft, parameter: Mapping[str, Any], value: str) -> None:
    """Send the ``value`` of a parameter that nobody is asked for, unless it is empty."""
    into = {"query": draft.params, "header": draft.headers}.get(str(parameter.get("in")))
    if into is not None and value:
        into[parameter["name"]] = value


def _path(draft: Draft, path: str, known: Mapping[str, Mapping[str, Any]]) -> str:
    path = path.partition("#")[0]  # which some documents tell operations of one path apart by; it is never sent

    def hole(match: re.Match[str]) -> str:
        if value := draft.values.get(match[1]):
            return value
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
        if wanted.constant is True and parameter.get("allowEmptyValue") is True:
            draft.bare.append(parameter["name"])  # it only tells operations of one path apart, such as ?tagging of S3
            return
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
        draft.params[name] = draft.joined(template, _SEPARATORS.get(style, ","))
    else:
        draft.params[name] = template


def _object(draft: Draft, parameter: Mapping[str, Any], wanted: Shape, style: str, *, explode: bool) -> None:
    """An object in the query: with its name before each member, or only its members."""
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
    if name.lower() in (*_SET_ELSEWHERE, *_OF_SIGNATURES):
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


def _add_body(draft: Draft, operation: Operation) -> None:
    """Ask for the body. Raises :class:`Unsaid` for one that cannot be sent."""
    if "requestBody" not in operation.node:
        return
    body = draft.refs.follow(operation.node["requestBody"])
    content = draft.refs.object(body).get("content")
    if not isinstance(content, Mapping) or not content:
        return
    required = draft.refs.object(body).get("required") is True
    if operation.method in _BODILESS:
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
        ("multipart", lambda name: name.startswith("multipart/form") and _has_files(content[name], draft)),
        ("json", lambda name: name == JSON),
        ("json", lambda name: _JSON_TYPE.fullmatch(name) is not None),
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


def _has_files(media: Any, draft: Draft) -> bool:
    """Whether the body has a part that is a file, which JSON could not hold."""
    members = shape(draft.refs, draft.refs.object(media).get("schema", {})).members
    return any(_is_file(draft, node) for node in members.values())


def _is_file(draft: Draft, node: Any) -> bool:
    """Whether a part of a body is a file, or a list of files, of which one is sent."""
    part = shape(draft.refs, node)
    items = shape(draft.refs, part.items) if part.kind == "array" and part.items is not None else part
    return items.kind == "file"


def _json(draft: Draft, wanted: Shape, _: Content, about: str, required: bool) -> None:
    if wanted.kind != "object" or not wanted.members:
        draft.body["json"] = draft.ask("body", "body", wanted, required=required, description=about)
    else:
        draft.body["json"] = dict(_members(draft, wanted, "body", within=False))
        empty = [name for name, hole in draft.body["json"].items() if isinstance(hole, Mapping)]
        needed = [name for name in empty if name in wanted.required]
        draft.body |= {"needed": needed} if required and needed else {}
    draft.body |= {} if required else {"bare": True}


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
        fields[name] = {"file": hole} if _is_file(draft, wanted.members[name]) else hole
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
        if not within and f"{BODY}{name}" in draft.values:
            continue
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
    return all(shape(draft.refs, node).kind in _SCALARS for node in member.members.values())


def summary(operation: Operation, answer: Shape | None, refs: Refs) -> str:
    """One sentence of what was done, with what the answer surely names."""
    first, *rest = operation.title.split(" ")
    verb = first.lower()
    stem = verb if verb in _PAST_TENSE else verb.removesuffix("s")
    past = _PAST_TENSE.get(stem, "")
    text = " ".join([past, *rest]) if past else f"Done: {operation.title}"
    text = text.replace("{", "{{").replace("}", "}}")
    if answer is None:
        return f"{text}: {{$file.name}}"
    if answer.kind == "array":
        return f"{text}: {{$answer|count('item')}}"
    lists = [name for name, node in answer.members.items() if _kind(refs, node) == "array"]
    plural = next(
        (name for name in lists if name in _LIST_MEMBERS),
        lists[0] if len(lists) == 1 and operation.method == "GET" else "",
    )
    if plural.isidentifier() and "id" not in answer.members:
        return f"{text}: {{$answer.{plural}|count('item')}}"
    title = next(
        (
            name
            for name in _TITLE_MEMBERS
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
    good = [response for code, response in responses.items() if str(code).upper() in _SUCCESS]
    for response in good:
        content = refs.object(response).get("content")
        if isinstance(content, Mapping) and content:
            return content
    return None


def answer_shape(refs: Refs, operation: Operation) -> Shape | None:
    """What the answer looks like; None for one that is no JSON, which is kept as a file."""
    content = _content(refs, operation)
    if content is None:
        return Shape()
    data = [name for name in content if "json" in str(name).lower() or "*" in str(name)]
    if not data:
        return None
    wanted = shape(refs, refs.object(content[data[0]]).get("schema", {}))
    return None if wanted.kind == "file" else wanted


def _file_ending(refs: Refs, operation: Operation) -> str:
    """The ending of a file that the answer is kept as."""
    media_type = str(next(iter(_content(refs, operation) or {}), "")).partition(";")[0].strip().lower()
    kind = media_type.rpartition("/")[2].rpartition("+")[2]
    known = {"plain": "txt", "markdown": "md", "jpeg": "jpg", "octet-stream": "bin", "javascript": "js"}
    return known.get(kind, kind if kind.isalnum() and len(kind) <= 5 else "bin")
