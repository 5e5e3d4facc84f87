"""Reads an OpenAPI document: JSON or YAML, OpenAPI 3 or Swagger 2.0, a discovery document of Google, or the listing of
an MCP server, within bounds of size, depth and time.

Everything else in this room works on a :class:`Document`, which has the form of OpenAPI 3 whatever was read.
Swagger's bodies, parameters, addresses and security schemes are converted; schemas stay where they are, since
references find them anywhere. :class:`Refs` follows ``$ref`` within the document; nothing outside it is ever
fetched.

YAML is read as YAML 1.2 and as data only: what JSON can hold, so that ``no`` and ``12:30`` are texts. Only the
events of PyYAML's parser are used: no tag makes an object, aliases may not grow a text beyond bounds, and nothing
may hold itself.
"""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urljoin

import orjson

from webapp.body_limits import API_DOCUMENT
from webapp.errors import Invalid
from webapp.service.catalog.importing import discovery, mcp_tools

MAX_HOPS = 50
MOST_STEPS = 2_000_000  # of looking at one document
_LONGEST_INDEX = 9
_VERSIONS = ("3.0", "3.1")
METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_FORM, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_STYLES: Mapping[str, Mapping[str, Any]] = {
    "csv": {"explode": False},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "tsv": {"style": "tabDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "multi": {"explode": True},
}
_PARAMETER_MEMBERS = ("name", "in", "description", "required", "deprecated")
_FLOWS = {"accessCode": "authorizationCode", "application": "clientCredentials"}
_FLOW_MEMBERS = ("authorizationUrl", "tokenUrl", "scopes")
MOST_NODES = 4_000_000
MAX_DEPTH = 200
MOST_SECONDS = 60.0
_YAML_INTEGER = re.compile(r"[-+]?[0-9]{1,40}|0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}")
_YAML_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")
_YAML_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_BASES = {"0o": 8, "0x": 16}
_TOO_LARGE = "its aliases repeat so much that it would not fit into memory."


class Unresolved(ValueError):
    """A reference leads nowhere that can be read. The message is a reason, without a full stop."""


class Refs:
    """The references of one document."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._steps = 0

    def count(self, steps: int) -> None:
        """Count ``steps`` of looking at the document. Raises :class:`Invalid` once they are too many."""
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise Invalid("The document refers to itself so often that it cannot be read. Choose less of it.")

    def follow(self, node: Any) -> Any:
        """``node``, or what its reference leads to in the end. Raises :class:`Unresolved`.

        What stands beside a reference (OpenAPI 3.1) wins over what it leads to.
        """
        self.count(1)
        beside: dict[str, Any] = {}
        for _ in range(MAX_HOPS):
            if not (isinstance(node, Mapping) and isinstance(node.get("$ref"), str)):
                return {**node, **beside} if beside and isinstance(node, Mapping) else node
            beside = {**{name: value for name, value in node.items() if name != "$ref"}, **beside}
            node = self.at(node["$ref"])
        raise Unresolved("a reference leads back to itself")

    def object(self, node: Any) -> Mapping[str, Any]:
        """The same, for what should be an object; an empty one for anything else."""
        try:
            followed = self.follow(node)
        except Unresolved:
            return {}
        return followed if isinstance(followed, Mapping) else {}

    def at(self, reference: str) -> Any:
        """What a reference names: a JSON Pointer (RFC 6901) in the fragment. Raises :class:`Unresolved`."""
        file, _, pointer = reference.partition("#")
        if file:
            raise Unresolved(f"it refers to another document, {file[:100]}")
        node: Any = self._root
        for part in pointer.split("/")[1:]:
            step = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and step in node:
                node = node[step]
            elif isinstance(node, list) and (index := _index(step)) < len(node):
                node = node[index]
            else:
                raise Unresolved(f"it refers to {reference[:100]}, which does not exist")
        return node


def _index(step: str) -> int:
    """The place in a list that ``step`` names; behind any end where it names none."""
    return int(step) if step.isdecimal() and len(step) <= _LONGEST_INDEX else 10**_LONGEST_INDEX


@dataclass(frozen=True, slots=True)
class Document:
    """An API's description. ``address`` is where it was fetched, empty for a file. ``server`` is set for the listing of
    an MCP server."""

    root: Mapping[str, Any]
    refs: Refs
    address: str = ""
    server: mcp_tools.Server | None = None

    @property
    def info(self) -> Mapping[str, Any]:
        """What it says of the API as a whole."""
        return self.refs.object(self.root.get("info"))

    def absolute(self, url: str) -> str:
        """``url`` resolved against the URL of the document."""
        return urljoin(self.address, url) if self.address else url


def read(content: bytes, address: str = "") -> Document:
    """The document in ``content``. Raises :class:`Invalid` with a sentence for what is none."""
    if len(content) > API_DOCUMENT:
        raise Invalid(f"The document has {len(content) / 2**20:.0f} MiB. It may have 20 MiB at most.")
    root = _parsed(content)
    if not isinstance(root, dict):
        raise Invalid("This is no OpenAPI document: it holds no object. Choose the API's openapi.json or openapi.yaml.")
    if str(root.get("swagger", "")).startswith("2."):
        root = converted(root)
    elif discovery.is_discovery(root):
        root = discovery.converted(root)
    elif mcp_tools.is_listing(root):
        root, server = mcp_tools.converted(root)
        return Document(root, Refs(root), "", server)
    version = str(root.get("openapi", ""))
    if not version.startswith(_VERSIONS):
        version_found = f"It says openapi: {version}." if version else "It says neither openapi nor swagger."
        raise Invalid(f"This is no document of OpenAPI 3.0 or 3.1, nor of Swagger 2.0. {version_found[:100]}")
    if not isinstance(root.get("paths", {}), dict):
        raise Invalid("The document names no paths, so there is nothing to import.")
    return Document(root, Refs(root), address)


def _parsed(content: bytes) -> Any:
    text = content.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        raise Invalid("The document is empty.")
    if text.startswith((b"{", b"[")):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            wrong = f"{error.msg} (line {error.lineno})."
            if b'"' in text[:200]:
                raise Invalid(f"The document cannot be read as JSON: {wrong}") from None
    try:
        return load(text)
    except YamlMistake as error:
        raise Invalid(f"The document cannot be read as YAML: {error}") from None


def converted(old: Mapping[str, Any]) -> dict[str, Any]:
    """The document ``old`` in the form of OpenAPI 3."""
    refs = Refs(old)
    new = {
        name: value for name, value in old.items() if name not in ("swagger", "host", "basePath", "schemes", "paths")
    }
    definitions = refs.object(old.get("securityDefinitions"))
    paths = refs.object(old.get("paths"))
    return {
        **new,
        "openapi": "3.0.3",
        "servers": [{"url": url} for url in _servers(old)],
        "paths": {path: _path(old, refs, refs.object(item)) for path, item in paths.items()},
        "components": {"securitySchemes": {name: _scheme(refs.object(node)) for name, node in definitions.items()}},
    }


def _servers(old: Mapping[str, Any]) -> list[str]:
    host, base = old.get("host"), str(old.get("basePath") or "/").rstrip("/")
    if not isinstance(host, str) or not host:
        return [base or "/"]
    schemes = [scheme for scheme in _list(old.get("schemes")) if scheme in ("https", "http")]
    return [f"{scheme}://{host}{base}" for scheme in sorted(schemes, reverse=True) or ["https"]]


def _path(old: Mapping[str, Any], refs: Refs, item: Mapping[str, Any]) -> dict[str, Any]:
    shared = _list(item.get("parameters"))
    operations = {method: item[method] for method in METHODS if isinstance(item.get(method), Mapping)}
    return {method: _operation(old, refs, operation, shared) for method, operation in operations.items()}


def _operation(old: Mapping[str, Any], refs: Refs, operation: Mapping[str, Any], shared: list[Any]) -> dict[str, Any]:
    parameters = {}
    for node in (*shared, *_list(operation.get("parameters"))):
        parameter = refs.object(node)
        parameters[parameter.get("name"), parameter.get("in")] = parameter
    listed = list(parameters.values())
    consumes = _list(operation.get("consumes")) or _list(old.get("consumes"))
    produces = _list(operation.get("produces")) or _list(old.get("produces")) or ["application/json"]
    kept = {name: value for name, value in operation.items() if name not in ("parameters", "consumes", "responses")}
    kept["parameters"] = [_parameter(each) for each in listed if each.get("in") in ("path", "query", "header")]
    kept["responses"] = {
        str(code): _response(refs.object(response), produces)
        for code, response in refs.object(operation.get("responses")).items()
    }
    if body := _body(listed, consumes):
        kept["requestBody"] = body
    return kept


def _parameter(old: Mapping[str, Any]) -> dict[str, Any]:
    style = _STYLES.get(str(old.get("collectionFormat", "csv")), {}) if old.get("type") == "array" else {}
    return {**{name: old[name] for name in _PARAMETER_MEMBERS if name in old}, **style, "schema": _schema(old)}


def _schema(old: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a parameter, which stood in the parameter itself."""
    kept = {
        name: value for name, value in old.items() if name not in (*_PARAMETER_MEMBERS, "collectionFormat", "schema")
    }
    return {"type": "string", "format": "binary"} if kept.get("type") == "file" else kept


def _body(parameters: list[Mapping[str, Any]], consumes: list[Any]) -> dict[str, Any] | None:
    bodies = [each for each in parameters if each.get("in") == "body"]
    if bodies:
        media = {kind: {"schema": bodies[0].get("schema", {})} for kind in consumes or ["application/json"]}
        return {**{name: bodies[0][name] for name in _PARAMETER_MEMBERS[2:] if name in bodies[0]}, "content": media}
    fields = [each for each in parameters if each.get("in") == "formData"]
    if not fields:
        return None
    has_file = any(each.get("type") == "file" for each in fields)
    kind = _MULTIPART if has_file or (_MULTIPART in consumes and _FORM not in consumes) else _FORM
    schema = {
        "type": "object",
        "properties": {
            str(each.get("name")): {**_schema(each), "description": each.get("description", "")} for each in fields
        },
        "required": [each.get("name") for each in fields if each.get("required") is True],
    }
    encoding = {
        str(each.get("name")): style
        for each in fields
        if (style := {**_parameter(each)}) and each.get("type") == "array"
    }
    styles = {
        name: {key: style[key] for key in ("style", "explode") if key in style} for name, style in encoding.items()
    }
    return {"content": {kind: {"schema": schema, "encoding": styles}}}


def _response(old: Mapping[str, Any], produces: list[Any]) -> dict[str, Any]:
    schema = old.get("schema")
    return {"content": {str(kind): {"schema": schema} for kind in produces}} if isinstance(schema, Mapping) else {}


def _scheme(old: Mapping[str, Any]) -> dict[str, Any]:
    about = {name: old[name] for name in ("description",) if name in old}
    if old.get("type") == "basic":
        return {"type": "http", "scheme": "basic", **about}
    if old.get("type") == "oauth2":
        flow = str(old.get("flow"))
        return {
            "type": "oauth2",
            "flows": {_FLOWS.get(flow, flow): {n: old[n] for n in _FLOW_MEMBERS if n in old}},
            **about,
        }
    return dict(old)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class YamlMistake(ValueError):
    """The text is no YAML that can be read. The message is the end of a sentence."""


@dataclass(slots=True)
class _Open:
    """A list or an object that is being read; ``nodes`` are those in it, with all that aliases repeat."""

    value: list[Any] | dict[str, Any]
    anchor: str | None
    key: str | None = None
    merged: list[Any] = field(default_factory=list)
    nodes: int = 1


def load(text: bytes) -> Any:
    """The data of the one document in ``text``. Raises :class:`YamlMistake`."""
    import yaml  # 30 ms that nobody else pays

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder().build(yaml.parse(text, Loader=loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" on line {mark.line + 1}" if mark is not None else ""
        raise YamlMistake(
            f"{getattr(error, 'problem', None) or 'it holds a character that may not stand there'}{place}."
        ) from None
    except (UnicodeDecodeError, RecursionError):
        raise YamlMistake("it is no UTF-8, or nested too deeply.") from None


class _Builder:
    """Makes data of the events of one document."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._root: Any = None
        self._documents = 0
        self._ends = time.monotonic() + MOST_SECONDS

    def build(self, events: Iterator[Any]) -> Any:
        """The data. Raises :class:`YamlMistake`, and what the parser does."""
        for event in events:
            getattr(self, f"_on_{type(event).__name__}", self._ignore)(event)
        return self._root

    def _ignore(self, event: Any) -> None:
        """The beginning and end of the stream and of its document."""

    def _on_DocumentStartEvent(self, _: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise YamlMistake("it holds several documents.")

    def _on_ScalarEvent(self, event: Any) -> None:
        plain = event.implicit[0] and not event.style
        value = _plain(event.value) if plain else event.value
        is_key = bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None
        if is_key:
            value = event.value
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._add(value, 1)

    def _on_SequenceStartEvent(self, event: Any) -> None:
        self._begin([], event.anchor)

    def _on_MappingStartEvent(self, event: Any) -> None:
        self._begin({}, event.anchor)

    def _on_SequenceEndEvent(self, _: Any) -> None:
        self._end()

    def _on_MappingEndEvent(self, _: Any) -> None:
        self._end()

    def _on_AliasEvent(self, event: Any) -> None:
        if any(each.anchor == event.anchor for each in self._open):
            raise YamlMistake("an alias leads to what holds it.")
        if event.anchor not in self._anchors:
            raise YamlMistake(f"the alias {event.anchor} leads nowhere.")
        self._add(*self._anchors[event.anchor])

    def _begin(self, value: list[Any] | dict[str, Any], anchor: str | None) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise YamlMistake("it is nested too deeply.")
        if self._open and isinstance(self._open[-1].value, dict) and self._open[-1].key is None:
            raise YamlMistake("the name of a member is a list or an object.")
        if time.monotonic() > self._ends:
            raise YamlMistake("it takes too long to read. Give it as JSON.")
        self._open.append(_Open(value, anchor))

    def _end(self) -> None:
        done = self._open.pop()
        if isinstance(done.value, dict):
            for other in done.merged:
                done.value |= {name: value for name, value in other.items() if name not in done.value}
        if done.anchor:
            self._anchors[done.anchor] = (done.value, done.nodes)
        self._add(done.value, done.nodes)

    def _add(self, value: Any, nodes: int) -> None:
        if not self._open:
            self._root = value
            return
        around = self._open[-1]
        around.nodes += nodes
        if around.nodes > MOST_NODES:
            raise YamlMistake(_TOO_LARGE)
        if isinstance(around.value, list):
            around.value.append(value)
        elif around.key is None:
            around.key = str(value)
        else:
            self._put(around, value)

    def _put(self, around: _Open, value: Any) -> None:
        assert isinstance(around.value, dict) and around.key is not None
        if around.key == "<<":
            around.merged += [
                each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)
            ]
        else:
            around.value[around.key] = value
        around.key = None


def _plain(text: str) -> Any:
    """What an unquoted scalar is (YAML 1.2.2, section 10.3.2)."""
    if text in _YAML_WORDS:
        return _YAML_WORDS[text]
    if _YAML_INTEGER.fullmatch(text):
        return int(text[2:], _BASES[text[:2]]) if text[:2] in _BASES else int(text)
    return float(text) if _YAML_NUMBER.fullmatch(text) else text
