"""``make facts``: holds the requests of the built-in declared components against the descriptions of their providers.

By hand, never in ``make test``: it brings the documents that ``[[api.documents]]`` of an app name from npm and PyPI, in
exactly the version that is written there, and keeps them below ``instance/facts``. Compared are the method and the
path, the parameters and the fields of the body: those that are required, those that are unknown, and whether the
operation is deprecated. What was found is written to ``checked.toml`` beside ``app.toml``
(:mod:`webapp.service.catalog.checked`); judgements that people wrote there stay.

A request that a document does not have is not checkable: a description may lack a part of an API. One that a document
has in another way is contradicted, until it is mended or judged, with a source.
"""

import base64
import functools
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase as fnmatch
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import tomli_w

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

CACHE = Path("instance/facts")
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
    return _read(_archive(place.package, place.version, place.integrity), place.path)


@functools.lru_cache(maxsize=4)
def _read(archive: Path, path: str) -> Document:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return documents.read(opened.read(path))
    with tarfile.open(archive) as opened:
        member = opened.extractfile(f"package/{path}")
        if member is None:
            raise ValueError(f"{path} is no file")
        return documents.read(member.read())


def _archive(package: str, version: str, integrity: str) -> Path:
    """The archive of ``package``. Raises ``ValueError`` if it is not the one that the integrity names."""
    folder = CACHE / re.sub("[^a-z0-9]+", "-", f"{package}-{version}".lower()).strip("-")
    if not list(folder.glob("*.*")):
        folder.mkdir(parents=True, exist_ok=True)
        registry, _, name = package.partition(":")
        npm = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{name}@{version}"]
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), f"{name}=={version}"]
        subprocess.run(npm if registry == "npm" else pip, check=True, capture_output=True)
    (archive,) = folder.glob("*.*")
    algorithm, _, digest = integrity.partition("-")
    if base64.b64encode(hashlib.new(algorithm, archive.read_bytes()).digest()).decode() != digest:
        raise ValueError(f"{archive} is not what {package} {version} was")
    return archive


@functools.cache
def released_on(package: str, version: str) -> date:
    """When that version of ``package`` was published."""
    registry, _, name = package.partition(":")
    if registry == "npm":
        done = subprocess.run(["npm", "view", name, "time", "--json"], check=True, capture_output=True)
        return date.fromisoformat(json.loads(done.stdout)[version][:10])
    archive = next((CACHE / re.sub("[^a-z0-9]+", "-", f"{package}-{version}".lower()).strip("-")).glob("*.whl"))
    with zipfile.ZipFile(archive) as opened:
        return date(*max(info.date_time for info in opened.infolist())[:3])


# --- comparing ---


@dataclass
class Found:
    """What was found about one component: ``contradictions``, and the requests that are in no document."""

    contradictions: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


class Api:
    """The operations of the documents of one app."""

    def __init__(self, app: AppSpec, described: Sequence[tuple[ApiDocument, Document]]) -> None:
        self._app = app
        self._operations = [
            (document, operation, [_segments(prefix + operation.path) for prefix in _prefixes(app, declared, document)])
            for declared, document in described
            for operation in listed(document)
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
            fitting = self._fitting(path)
            same = [each for each in fitting if each[1].method == method]
            if same:
                differences = [list(_differences(*each, request, query, shown)) for each in same]
                found.contradictions += sorted(differences, key=lambda findings: len(findings))[0]
            elif fitting:
                methods = sorted({operation.method for _, operation in fitting})
                found.contradictions.append(f"{shown}: the document has only {', '.join(methods)}")
            else:
                found.unknown.append(shown)

    def _path(self, url: str) -> tuple[str, set[str]]:
        """The path of a template of a URL, with marks for its placeholders, and the names in its query."""
        text = "".join(_mark(part) for part in parse(url).parts)
        if text.startswith("/"):
            base = str(self._app.base_url or "")
            text = re.sub(r"\$?\{[^}]*\}", HOLE, base).rstrip("/") + text
        text = re.sub(r"^(https?://)?[^/]*", "", text, count=1)
        path, _, query = text.partition("?")
        return path, {name for name, _ in parse_qsl(query, keep_blank_values=True)}

    def _fitting(self, path: str) -> list[tuple[Document, Operation]]:
        """The operations with this path, those that have most of it literally first."""
        fitting = list[tuple[int, Document, Operation]]()
        for wanted in _spread(path):
            for document, operation, forms in self._operations:
                literal = max((_alike(form, wanted) for form in forms), default=-1)
                if literal >= 0:
                    fitting.append((literal, document, operation))
        best = max((literal for literal, *_ in fitting), default=0)
        return [(document, operation) for literal, document, operation in fitting if literal == best]


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
            for name, schemas in part.members.items():
                shape.members.setdefault(name, []).extend(schemas)
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
    if source.spec.api is None:
        return None
    before = checked.of_folder(folder_of(source))
    described = [(declared, brought(declared)) for declared in source.spec.api.documents]
    api = Api(source.spec, described)
    right, contradicted, unchecked = dict[str, str](), dict[str, list[str]](), dict[str, NotCheckable]()
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
            why = f"Not in the description: {', '.join(dict.fromkeys(found.unknown))}."
            unchecked[name] = NotCheckable(requests=digest, why=why)
        else:
            right[name] = digest
    places = [(declared, api_documents.place(declared)) for declared in source.spec.api.documents]
    descriptions = tuple(
        Description(place=f"{place.package} {place.version} {place.path}", of=released_on(place.package, place.version))
        for _, place in places
    )
    return Checked(
        documents=descriptions, checked=right, not_checkable=unchecked, contradicted=contradicted, judged=before.judged
    )


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
    counts, wrong = dict.fromkeys(("checked", "contradicted", "not checkable"), 0), 0
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
        counts["not checkable"] += len(result.not_checkable)
        counts["contradicted"] += len(result.contradicted)
        for name, findings in result.contradicted.items():
            print(*(f"{source.spec.slug}-{name}: {finding}" for finding in findings), sep="\n")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if wrong or counts["contradicted"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
