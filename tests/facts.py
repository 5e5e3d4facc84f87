"""``make facts``: holds the requests of the built-in declared components against what is published of their APIs.

By hand, never in ``make test``: it brings the documents that ``[[api.documents]]`` of an app name from npm and PyPI,
in exactly the version that is written there (:mod:`tests.packages`). Compared are the method and the path, the
parameters and the fields of the body: those that are required, those that are unknown, and whether the operation is
deprecated. Queries are compared with GraphQL schemas (:mod:`tests.schemas`), and requests that are in no document with
SDKs (:mod:`tests.sdks`). What was found is written to ``checked.toml`` beside ``app.toml``
(:mod:`webapp.service.catalog.checked`); judgements that people wrote there stay.

A request that is nowhere is not checkable: a description or an SDK may lack a part of an API. One that is there in
another way is contradicted, until it is mended or judged, with a source.
"""

import functools
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase as fnmatch
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import tomli_w
from graphql import GraphQLSchema

from tests import packages, schemas, sdks
from tests.sdks import Calls, Same, Sdk
from webapp.service.catalog import api_documents, checked, sources
from webapp.service.catalog.checked import Checked, Description, NotCheckable, requests_digest, requests_of
from webapp.service.catalog.component_files import Component
from webapp.service.catalog.importing import documents
from webapp.service.catalog.importing.documents import Document, Refs, Unresolved
from webapp.service.catalog.importing.operations import Operation, listed
from webapp.service.catalog.sources import Places
from webapp.service.catalog.spec import ApiDocument, AppSpec
from webapp.service.components.declared.source import is_declared
from webapp.service.components.declared.templates import Hole, parse
from webapp.service.components.errors import LoadError

HOLE, PATH_HOLE = "\0", "\1"
_MOST_SEGMENTS, _MOST_DEPTH = 3, 4
_PARAMETER = re.compile(r"\{[^{}]*\}")
_BRACKETS = re.compile(r"\[.*")
_BODIES = {"json": "json", "form": "urlencoded", "multipart": "multipart"}
_CREDENTIALS = frozenset(("key", "api_key", "apikey", "token", "access_token", "appid", "oauth_token", "authorization"))


# --- bringing documents ---


def brought(document: ApiDocument) -> Document:
    """The document, from the cache or else from its registry. Raises ``ValueError`` and ``OSError``."""
    place = api_documents.place(document)
    return _read(packages.archive(place.package, place.version, place.integrity), place.path)


@functools.lru_cache(maxsize=4)
def _read(archive: Path, path: str) -> Document:
    return documents.read(packages.content(archive, path))


# --- comparing ---


@dataclass
class Found:
    """What was found about one component: ``contradictions``, requests that are nowhere, and those only in an SDK."""

    contradictions: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    only_in_sdk: list[str] = field(default_factory=list)


_Forms: TypeAlias = Sequence[Sequence[str]]
_Kind = TypeVar("_Kind")
_Of = TypeVar("_Of")


class Api:
    """What is written of the API of one app: the operations of its documents, the calls of SDKs, GraphQL schemas."""

    def __init__(
        self,
        app: AppSpec,
        described: Sequence[tuple[ApiDocument, Document]],
        called: Sequence[tuple[Sdk, Calls]] = (),
        graphs: Sequence[GraphQLSchema] = (),
        same: Sequence[Same] = (),
    ) -> None:
        self._app, self._graphs, self._same = app, graphs, same
        self._operations: list[tuple[Operation, Document, _Forms]] = [
            (operation, document, [_segments(prefix + operation.path) for prefix in _prefixes(app, declared, document)])
            for declared, document in described
            for operation in listed(document)
        ]
        self._calls: list[tuple[str, Calls, _Forms]] = [
            (method, calls, [_segments(prefix + path) for prefix in {sdk.below, _server_path(app.base_url or "")}])
            for sdk, calls in called
            for method, path in calls.written
        ]

    def check(self, request: Mapping[str, Any], found: Found) -> None:
        """Add to ``found`` what contradicts ``request``."""
        urls = request["url"] if isinstance(request["url"], list) else [request["url"]]
        for url in urls:
            path, query = self._path(url)
            method = str(request.get("method", "GET"))
            shown = f"{method} {path.replace(HOLE, '…').replace(PATH_HOLE, '…')}"
            if not path:  # an address that the app has answered before
                continue
            if self._graphs and _is_graphql(request):
                differences = [list(schemas.differences(graph, request)) for graph in self._graphs]
                found.contradictions += [f"{shown}: {each}" for each in min(differences, key=len)]
            elif described := self._described(path):
                found.contradictions += _of_operations(described, request, query, method, shown)
            elif called := _fitting(self._calls, path):
                found.only_in_sdk.append(shown)
                found.contradictions += _of_calls(called, request, query, method, shown)
            else:
                found.unknown.append(shown)

    def _described(self, path: str) -> list[tuple[Operation, Document]]:
        """The operations with this path, or with what is the same."""
        paths = (path, *(same.described(path) for same in self._same))
        return next((fitting for each in paths if (fitting := _fitting(self._operations, each))), [])

    def _path(self, url: str) -> tuple[str, set[str]]:
        """The path of a template of a URL, with marks for its placeholders, and the names in its query."""
        text = "".join(_mark(part) for part in parse(url).parts)
        if text.startswith("/"):
            base = str(self._app.base_url or "")
            text = re.sub(r"\$?\{[^}]*\}", HOLE, base).rstrip("/") + text
        text = re.sub(r"^(https?://)?[^/]*", "", text, count=1)
        path, _, query = text.partition("?")
        return path, {name for name, _ in parse_qsl(query, keep_blank_values=True)}


def _is_graphql(request: Mapping[str, Any]) -> bool:
    body = request.get("json")
    return isinstance(body, Mapping) and isinstance(body.get("query"), str) and "{{" in body["query"]


def _fitting(written: Sequence[tuple[_Kind, _Of, _Forms]], path: str) -> list[tuple[_Kind, _Of]]:
    """What is written of this path: that which has most of it literally."""
    fitting = list[tuple[int, _Kind, _Of]]()
    for wanted in _spread(path):
        for each, of, forms in written:
            literal = max((_alike(form, wanted) for form in forms), default=-1)
            if literal >= 0:
                fitting.append((literal, each, of))
    best = max((literal for literal, *_ in fitting), default=0)
    return [(each, of) for literal, each, of in fitting if literal == best]


def _of_operations(
    fitting: Sequence[tuple[Operation, Document]], request: Mapping[str, Any], query: set[str], method: str, shown: str
) -> list[str]:
    same = [each for each in fitting if each[0].method == method]
    if same:
        differences = [list(_differences(document, each, request, query, shown)) for each, document in same]
        return min(differences, key=len)
    methods = sorted({operation.method for operation, _ in fitting})
    return [f"{shown}: the document has only {', '.join(methods)}"]


def _of_calls(
    fitting: Sequence[tuple[str, Calls]], request: Mapping[str, Any], query: set[str], method: str, shown: str
) -> list[str]:
    same = [calls for written, calls in fitting if written in (method, sdks.ANY)]
    if not same:
        return [f"{shown}: the SDK has only {', '.join(sorted({written for written, _ in fitting}))}"]
    names = sorted(query | _sent(request))
    return min(
        ([f"{shown}: the SDK has no {name}" for name in names if not calls.knows(name)] for calls in same), key=len
    )


def _sent(request: Mapping[str, Any]) -> set[str]:
    """The names of parameters and of the fields of the body, at every depth."""
    names = _names(request.get("params", {})) | _paged(request, "params")
    for kind in _BODIES:
        names |= set(_members(request.get(kind))) | _paged(request, kind)
    return {name for name in names if "{" not in name and name.lower() not in _CREDENTIALS}


def _members(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else ():
        yield from _members(item)
    for name, member in value.items() if isinstance(value, Mapping) else ():
        yield str(name)
        yield from _members(member)


def _mark(part: str | Hole) -> str:
    if isinstance(part, str):
        return part
    return PATH_HOLE if any(name == "path" for name, _ in part.filters) else HOLE


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def _spread(path: str) -> Iterator[list[str]]:
    """``path`` as segments; a placeholder for a path is one to three of them."""
    parts = path.split(PATH_HOLE)
    for counts in product(range(1, _MOST_SEGMENTS + 1), repeat=min(len(parts) - 1, 2)):
        text = parts[0]
        for number, part in enumerate(parts[1:]):
            text += "/".join([PATH_HOLE] * (counts[number] if number < len(counts) else 1)) + part
        yield _segments(text)


def _prefixes(app: AppSpec, declared: ApiDocument, document: Document) -> set[str]:
    """What may stand before the paths of a document: nothing, the path of a server, or that of the app's base URL."""
    servers = [server.get("url", "") for server in document.root.get("servers", ()) if isinstance(server, Mapping)]
    return {"", *(_server_path(str(url)) for url in (*servers, declared.server, app.base_url or ""))}


def _server_path(url: str) -> str:
    marked = _PARAMETER.sub(HOLE, url)
    path = re.sub(r"^(https?://)?[^/]*", "", marked, count=1) if not marked.startswith("/") else marked
    return path.rstrip("/")


@functools.cache
def _pattern(segment: str) -> re.Pattern[str]:
    literal = [re.escape(part) for part in _PARAMETER.split(segment.replace(HOLE, "{}"))]
    return re.compile("[^/]+".join(literal), re.IGNORECASE)


def _alike(form: Sequence[str], wanted: Sequence[str]) -> int:
    """How many segments are literally the same; -1 if the paths differ."""
    pairs = list(zip(form, wanted, strict=False))
    if len(form) != len(wanted) or not all(
        other == PATH_HOLE or _pattern(one).fullmatch(other) for one, other in pairs
    ):
        return -1
    return sum(one == other for one, other in pairs)


def _differences(
    document: Document, operation: Operation, request: Mapping[str, Any], query: set[str], shown: str
) -> Iterator[str]:
    refs = document.refs
    if operation.deprecated:
        yield f"{shown}: deprecated"
    nodes = [
        refs.object(each) for each in (*operation.shared.get("parameters", ()), *operation.node.get("parameters", ()))
    ]
    params = {str(each.get("name")): each for each in nodes if each.get("in") == "query"}
    body = refs.object(operation.node.get("requestBody"))
    kind = next((kind for kind in _BODIES if request.get(kind) is not None), None)
    schema = _schema(refs, body, _BODIES.get(kind or "json", "json"))
    sent = query | _names(request.get("params", {})) | _paged(request, "params")
    known = {_plain(name) for name in params}
    for name in sorted(_plain(name) for name in sent):
        if name not in known and name.lower() not in _CREDENTIALS:
            is_field = bool(body) and name in map(_plain, _shape(refs, schema).members)
            yield f"{shown}: the parameter {name} is {'a field of the body' if is_field else 'unknown'}"
    for name, node in sorted(params.items()):
        has_default = "default" in refs.object(node.get("schema"))
        is_needed = node.get("required") and not has_default and name.lower() not in _CREDENTIALS
        if is_needed and _plain(name) not in map(_plain, sent):
            yield f"{shown}: the parameter {name} is required"
    if kind is None:
        if request.get("text") is None and request.get("file") is None and body.get("required"):
            yield from _fields(refs, schema, dict.fromkeys(sent), shown, "", depth=0)
        return
    fields = request[kind]
    if not isinstance(fields, Mapping):
        return
    if not body:
        yield f"{shown}: it takes no body"
        return
    shaped = dict(fields) | {
        name.partition(".")[0]: fields.get(name.partition(".")[0], "") for name in _paged(request, kind)
    }
    yield from _fields(refs, schema, shaped, shown, "", depth=0)


def _names(params: Any) -> set[str]:
    return {str(name) for name in params} if isinstance(params, Mapping) else set()


def _paged(request: Mapping[str, Any], place: str) -> set[str]:
    """What the pages of a list send in that place."""
    pages = request.get("pages") or {}
    if pages.get("place", "params") != place:
        return set()
    return {str(pages[name]) for name in ("param", "size_param") if pages.get(name)}


def _plain(name: str) -> str:
    return _BRACKETS.sub("", name)


def _schema(refs: Refs, body: Mapping[str, Any], kind: str) -> Any:
    content = refs.object(body.get("content"))
    fitting = [media for name, media in content.items() if kind in name] or list(content.values())
    return refs.object(fitting[0]).get("schema") if fitting else None


@dataclass
class Shape:
    """The members of an object: each with its schemas, those that are required, and whether there may be others."""

    members: dict[str, list[Any]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    is_open: bool = False


def _shape(refs: Refs, schema: Any, depth: int = 0) -> Shape:
    shape = Shape()
    try:
        node = refs.follow(schema)
    except Unresolved:
        return Shape(is_open=True)
    if not isinstance(node, Mapping) or depth > _MOST_DEPTH:
        return Shape(is_open=True)
    for name, member in refs.object(node.get("properties")).items():
        shape.members.setdefault(name, []).append(member)
    shape.required = {str(name) for name in node.get("required", ()) if not isinstance(node.get("required"), bool)}
    shape.is_open = bool(node.get("additionalProperties"))
    for word in ("allOf", "oneOf", "anyOf"):
        parts = [_shape(refs, part, depth + 1) for part in node.get(word, ())]
        for part in parts:
            for name, members in part.members.items():
                shape.members.setdefault(name, []).extend(members)
            shape.is_open = shape.is_open or (part.is_open and word == "allOf" and bool(part.members))
        if word == "allOf":
            shape.required |= {name for part in parts for name in part.required}
        elif parts:
            shape.required |= set.intersection(*(part.required for part in parts))
            shape.is_open = shape.is_open or any(part.is_open for part in parts)
    shape.is_open = shape.is_open or not shape.members
    return shape


def _fields(refs: Refs, schema: Any, sent: Mapping[str, Any], shown: str, above: str, *, depth: int) -> Iterator[str]:
    """What is unknown or missing among the members ``sent``, which stand below ``above``."""
    shape = _shape(refs, schema)
    names = {_plain(name): value for name, value in sent.items()}
    known = {_plain(name) for name in shape.members}
    for name, value in sorted(names.items()):
        if "{" in name:
            return
        if name not in known and not shape.is_open:
            yield f"{shown}: the field {above}{name} is unknown"
        members = shape.members.get(name, ())
        if len(members) == 1 and depth < _MOST_DEPTH:
            yield from _member(refs, members[0], value, shown, f"{above}{name}.", depth=depth + 1)
    for name in sorted(shape.required - names.keys() - set(map(_plain, sent))):
        member = refs.object((shape.members.get(name) or [{}])[0])
        is_kept_out = member.get("readOnly") or "default" in member or name.startswith("@odata.")
        if not is_kept_out and name.lower() not in _CREDENTIALS:
            yield f"{shown}: the field {above}{name} is required"


def _member(refs: Refs, schema: Any, value: Any, shown: str, above: str, *, depth: int) -> Iterator[str]:
    """What is unknown or missing in ``value``, an object or a list of objects."""
    if isinstance(value, Mapping):
        yield from _fields(refs, schema, value, shown, above, depth=depth)
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            yield from _fields(refs, refs.object(schema).get("items"), item, shown, above, depth=depth)


# --- all apps ---


def verdict(api: Api, component: Component) -> Found | str:
    """What was found about ``component``, or why it cannot be checked."""
    if not is_declared(component.file):
        return "It is written in Python."
    try:
        requests = requests_of(component.file)
    except LoadError as error:
        return str(error)
    if not requests:
        return "It sends no request."
    found = Found()
    for request in requests:
        api.check(request, found)
    return found


def _is_judged(before: Checked, component: str, finding: str) -> bool:
    return any(fnmatch(component, each.component) and fnmatch(finding, each.finding) for each in before.judged)


def check(source: sources.Source) -> Checked | None:
    """What is to be written beside the app; None for one without documents."""
    slug, declared = source.spec.slug, source.spec.api.documents if source.spec.api else ()
    called, graphs = sdks.of_app(slug), sdks.of_app(slug, "graphql")
    if not (declared or called or graphs):
        return None
    before = checked.of_folder(folder_of(source))
    described = [(document, brought(document)) for document in declared]
    api = Api(
        source.spec,
        described,
        [(sdk, sdks.brought(sdk)) for sdk in called],
        [schemas.brought(graph) for graph in graphs],
        sdks.same_of_app(slug),
    )
    right, by_sdk = dict[str, str](), dict[str, str]()
    contradicted, unchecked = dict[str, list[str]](), dict[str, NotCheckable]()
    for component in sorted(source.components, key=lambda each: each.key):
        name, found = component.key.split("-", 1)[1], verdict(api, component)
        if isinstance(found, str):
            unchecked[name] = NotCheckable(requests="", why=found)
            continue
        digest = requests_digest(component.file)
        wrong = [each for each in dict.fromkeys(found.contradictions) if not _is_judged(before, name, each)]
        if wrong:
            contradicted[name] = wrong
        elif found.unknown:
            where = "SDK" if not (declared or graphs) else "description or SDK" if called else "description"
            why = f"Not in the {where}: {', '.join(dict.fromkeys(found.unknown))}."
            unchecked[name] = NotCheckable(requests=digest, why=why)
        elif found.only_in_sdk:
            by_sdk[name] = digest
        else:
            right[name] = digest
    return Checked(
        documents=tuple(_descriptions(declared, graphs)),
        sdks=tuple(_compared(sdk) for sdk in called),
        checked=right,
        checked_by_sdk=by_sdk,
        not_checkable=unchecked,
        contradicted=contradicted,
        judged=before.judged,
    )


def _descriptions(declared: Sequence[ApiDocument], graphs: Sequence[Sdk]) -> Iterator[Description]:
    for place in map(api_documents.place, declared):
        day = packages.released_on(place.package, place.version)
        yield Description(place=f"{place.package} {place.version} {place.path}", of=day)
    yield from map(_compared, graphs)


def _compared(sdk: Sdk) -> Description:
    return Description(place=sdk.place, of=packages.released_on(sdk.package, sdk.version))


def folder_of(source: sources.Source) -> Path:
    """The folder of a built-in app."""
    return (sources.BUILT_IN / source.path).parent


def write(folder: Path, result: Checked) -> None:
    """Write ``result`` to an app's folder."""
    content = result.model_dump(exclude_defaults=True)
    head = "# Written by `make facts`, apart from what is judged.\n\n"
    (folder / checked.FILE).write_text(head + tomli_w.dumps(content), "utf-8")


def main(names: Sequence[str]) -> int:
    """Check every app, or those of ``names``, and print what was found."""
    counts, wrong = dict.fromkeys(("checked", "checked by an SDK", "contradicted", "not checkable"), 0), 0
    for source in sources.read(Places()).apps:
        if names and source.spec.slug not in names:
            continue
        try:
            result = check(source)
        except (ValueError, OSError, KeyError, subprocess.CalledProcessError) as error:
            print(f"{source.spec.slug}: {error}", file=sys.stderr)
            wrong += 1
            continue
        if result is None:
            continue
        write(folder_of(source), result)
        counts["checked"] += len(result.checked)
        counts["checked by an SDK"] += len(result.checked_by_sdk)
        counts["not checkable"] += len(result.not_checkable)
        counts["contradicted"] += len(result.contradicted)
        for name, findings in result.contradicted.items():
            print(*(f"{source.spec.slug}-{name}: {finding}" for finding in findings), sep="\n")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if wrong or counts["contradicted"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
