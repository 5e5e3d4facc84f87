"""The whole API of an app: the operations of its provider's document as further actions of the same app.

A document that was brought is kept in ``DATA/extensions/<slug>.<name>``: the document itself, ``app.toml`` which joins
the app, and a file for each operation that an owner added, named ``api-<operation>``. Accounts, credentials and the
base address are the app's own. An operation at a host that the app does not have is left out until an owner has
confirmed this host. What the app's own components are called is never taken: those win.
"""

import functools
import gzip
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import orjson

from webapp.errors import Invalid
from webapp.kit.scratch import LOCK, Scratch
from webapp.service.catalog.importing import actions, documents, lookups, operations, servers, words
from webapp.service.catalog.importing.actions import Action, App, Unsaid
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.files import APP_FILE, Files, toml
from webapp.service.catalog.importing.folders import EXTENSIONS, alone, exchange, remove_folder
from webapp.service.catalog.importing.lookups import Lookups, Own
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.plans import Left, Plan, too_many
from webapp.service.catalog.importing.records import MOST_ACTIONS, RECORD, Imported, Options, Record
from webapp.service.catalog.importing.words import Names
from webapp.service.catalog.spec import ApiDocument, AppSpec
from webapp.service.components.declared.source import SHARED
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import HostRules, parse_url

FILE = "extension.json"
DOCUMENT = "document.json.gz"
PREFIX = "api-"
_SCRATCH = ".importing-"
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document is from: the package in an exact version with its integrity, or the public directory.

    ``brought_at`` is in epoch milliseconds.
    """

    package: str
    version: str
    integrity: str
    path: str
    brought_at: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    """An operation of a document. ``action`` is the name of what it is now, or would be; empty if it cannot be one,
    for the ``reason``. ``on`` if an owner added it."""

    id: str
    title: str
    tag: str
    action: str
    on: bool
    reason: str = ""
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Extension:
    """A document that extends the app ``slug``, as an owner chose: ``hosts`` are those that were confirmed.

    ``only`` are the tags, operation ids, or methods and paths that were added; None for all. ``waiting`` are hosts that
    the app does not have, by the number of operations there.
    """

    slug: str
    document: str
    origin: Origin
    version: str
    only: tuple[str, ...] | None = None
    hosts: tuple[str, ...] = ()
    waiting: Mapping[str, int] = field(default_factory=dict)
    operations: tuple[Listed, ...] = ()

    @property
    def count(self) -> int:
        """The number of its actions."""
        return sum(each.on for each in self.operations)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The one in ``folder``; None if there is none, or its file cannot be read."""
        try:
            status = (folder / FILE).stat()
            return cls._read(folder / FILE, (status.st_ino, status.st_mtime_ns, status.st_size))
        except OSError:
            return None

    @classmethod
    @functools.lru_cache(maxsize=128)
    def _read(cls, file: Path, _mark: tuple[int, int, int]) -> Self | None:
        try:
            fields: dict[str, Any] = orjson.loads(file.read_bytes())
            listed = tuple(Listed(**each) for each in fields.pop("operations"))
            origin = Origin(**fields.pop("origin"))
            only = None if fields["only"] is None else tuple(fields["only"])
            return cls(**{**fields, "only": only, "hosts": tuple(fields["hosts"])}, origin=origin, operations=listed)
        except (OSError, ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class Choice:
    """What an owner chooses: operations or tags (``only``; None for all), and hosts that the app does not have."""

    only: tuple[str, ...] | None = None
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What a choice or another document changes: the names of actions that are added, changed, the same and removed."""

    extension: Extension
    added: tuple[str, ...]
    changed: tuple[str, ...]
    same: tuple[str, ...]
    removed: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Extended:
    """The app that is extended. ``taken`` are the names of the components that it has without the document, and
    ``files`` those of its own declared components, whose look-ups are offered to operations."""

    spec: AppSpec
    taken: tuple[str, ...]
    files: tuple[Path, ...] = ()


def folder_of(data: Path, slug: str, document: str) -> Path:
    """The folder of the document ``document`` of the app ``slug``."""
    return data / EXTENSIONS / f"{slug}.{document}"


def listed(data: Path, slug: str = "") -> list[Extension]:
    """Every document that extends the app ``slug``, or any app."""
    every = [Extension.read(folder) for folder in sorted((data / EXTENSIONS).glob("*.*"))]
    return [extension for extension in every if extension and slug in ("", extension.slug)]


def content(data: Path, slug: str, document: str) -> bytes:
    """The document that was brought. Raises :class:`Invalid` if it is gone."""
    with suppress(OSError, EOFError):
        return gzip.decompress((folder_of(data, slug, document) / DOCUMENT).read_bytes())
    raise Invalid(f"The document of {slug} is not on this machine any more. Add it again.")


def extend(
    data: Path, app: Extended, facts: ApiDocument, origin: Origin, text: bytes, choice: Choice, *, preview: bool = False
) -> Change:
    """Make the operations of the document ``text`` actions of ``app``, as ``choice`` has it.

    With ``preview``, nothing is written. Raises :class:`Invalid` with a sentence about a document or a choice that
    cannot be used; then nothing has changed.
    """
    document = documents.read(text)
    folder = folder_of(data, app.spec.slug, facts.name)
    before = Record.read(folder)
    with Scratch(_SCRATCH, data) as scratch, alone(data):
        draft = scratch / EXTENSIONS / folder.name
        shutil.copytree(folder, draft) if folder.exists() else (draft / "actions").mkdir(parents=True)
        (draft / "actions").mkdir(exist_ok=True)
        change = _written(draft, app, facts, origin, document, choice, before)
        (draft / FILE).write_bytes(orjson.dumps(asdict(change.extension), option=orjson.OPT_INDENT_2))
        (draft / DOCUMENT).write_bytes(gzip.compress(text, 6, mtime=0))
        (draft / LOCK).unlink(missing_ok=True)
        if not preview:
            exchange(data, folder.name, draft, EXTENSIONS)
    return change


def remove(data: Path, slug: str, document: str) -> None:
    """Remove the actions and the document. Accounts and the app's own components stay."""
    remove_folder(data, folder_of(data, slug, document).name, EXTENSIONS)


def _written(
    draft: Path, app: Extended, facts: ApiDocument, origin: Origin, document: Document, choice: Choice,
    before: Record | None,
) -> Change:  # fmt: skip
    """Write the files into ``draft``."""
    writer = _Writer(document, app, facts, choice.hosts)
    below = (facts.within,) if facts.within else facts.below
    every = [each for each in operations.listed(document) if not below or _is_below(each.path, below)]
    if not every:
        raise Invalid("The document names no operation, so there is nothing to add.")
    present = operations.Present(every)
    only = None if choice.only is None else tuple(name for name in choice.only if name in present)
    chosen = [] if only == () else operations.chosen(every, only or ())
    if len(chosen) > MOST_ACTIONS:
        raise Invalid.of("only", too_many(len(chosen)))
    writer.write(every, before, {operation.id for operation in chosen})
    plan = _plan(app.spec, document, every, writer)
    files = Files(draft, before)
    files.put(SHARED, toml({"errors": lookups.errors(app.files)}))
    plan = files.actions(plan)
    files.removals(plan)
    joined = {"joins": app.spec.slug, **({"allowed_hosts": list(choice.hosts)} if choice.hosts else {})}
    files.put(APP_FILE, toml(joined))
    on = {action.operation.id for action in plan.actions}
    reasons = {each.operation: each.reason for each in plan.left}
    names = writer.names.known
    extension = Extension(
        app.spec.slug, facts.name, origin, str(document.info.get("version") or ""), only, choice.hosts, writer.waiting,
        tuple(
            Listed(each.id, each.title, each.tags[0], "" if each.id in reasons else names.get(each.id, ""),
                   each.id in on, reasons.get(each.id, ""), each.deprecated)
            for each in every
        ),
    )  # fmt: skip
    record = Record(
        app.spec.slug, app.spec.name, extension.version, origin.package, origin.brought_at, Options(only or ()),
        {**_remembered(before), **{each.operation.id: Imported(each.operation.operation_id, each.name, each.props)
                                   for each in plan.actions}},
        files.digests,
    )  # fmt: skip
    (draft / RECORD).write_bytes(record.to_json())
    notes = tuple(f"{place} was changed by hand and stays as it is." for place in files.by_hand)
    return Change(extension, tuple(files.added), tuple(files.changed), tuple(files.same), tuple(files.removed), notes)


def _is_below(path: str, places: Sequence[str]) -> bool:
    return any(path.partition("#")[0] == place or path.startswith(f"{place}/") for place in places)


def _remembered(before: Record | None) -> Mapping[str, Imported]:
    """The operations that had an action once, whose names nothing else may get."""
    return before.operations if before else {}


def _plan(spec: AppSpec, document: Document, every: Sequence[Operation], writer: "_Writer") -> Plan:
    return Plan(
        slug=spec.slug, title=spec.name, version="", app={}, actions=writer.done, left=writer.left, notes=(),
        options=Options(), operations=every, sign_ins=(), servers=servers.choices(document), tests=(),
    )  # fmt: skip


class _Writer:
    """Makes actions of operations; what cannot be one is ``left``."""

    def __init__(self, document: Document, app: Extended, facts: ApiDocument, hosts: Sequence[str]) -> None:
        self._document, self._spec, self._facts, self._taken = document, app.spec, facts, app.taken
        places = {"body": actions.BODY}
        values = {f"{places.get(each.place, '')}{each.name}": "" for each in app.spec.credentials if each.name}
        values |= dict.fromkeys(app.spec.headers, "")
        self._app = App(app.spec.slug, "", _docs_url(document, app.spec), {**values, **facts.values})
        self._rules = HostRules.of(*[rule for rule in (*app.spec.allowed_hosts, *hosts) if "{" not in rule])
        self._server = _server(document, app.spec, facts)
        self._files = app.files
        self.names = Names({}, (), "-")
        self.done: list[Action] = []
        self.left: list[Left] = []
        self.waiting: dict[str, int] = {}

    def write(self, every: Sequence[Operation], before: Record | None, chosen: set[str]) -> None:
        """Name ``every`` operation, in the same way whatever was chosen, and make actions of the ``chosen`` ones."""
        known = before.operations if before else {}
        self.names = Names({id_: each.action for id_, each in known.items()}, self._taken, "-")
        drafts = {(each.method, self._whole_path(each)): functools.partial(self._meanings, each) for each in every}
        known_here = Lookups(Own(self._files, self._spec.base_url or "", self._facts.equals), drafts)
        for operation in every:
            wanted = f"{PREFIX}{operation.wanted_key}"[:_LONGEST_NAME].rstrip("-")
            name = self.names.name(operation.id, wanted, operation.method.lower())
            url = self._url(operation)
            if host := self._foreign_host(url):
                self.waiting[host] = self.waiting.get(host, 0) + 1
                reason = f"it is at {host}, which {self._spec.name} does not have until an owner confirms it"
                self.left.append(Left(operation.id, operation.title, reason))
            elif operation.id in chosen:
                props = known[operation.id].props if operation.id in known else {}
                self._add(operation, name, url, props, known_here)

    def _add(self, operation: Operation, name: str, url: str, props: Mapping[str, str], known: Lookups) -> None:
        try:
            action = actions.action(self._document, self._shown(operation), name, self._app, props)
            action = replace(known.offered(action, self._whole_path(operation)), operation=operation)
        except Unsaid as error:
            self.left.append(Left(operation.id, operation.title, str(error)))
            return
        request, scopes = action.toml["request"], self._scopes(operation)
        fields = {
            **action.toml,
            "tag": operation.tags[0][:100],
            "request": {**request, "url": f"{url}{request['url']}"},
        }
        self.done.append(replace(action, toml={**fields, "scopes": scopes} if scopes else fields))

    def _shown(self, operation: Operation) -> Operation:
        """``operation`` with the part of its path that is not in the app's own address."""
        return replace(operation, path=operation.path.removeprefix(self._facts.within) or "/")

    def _whole_path(self, operation: Operation) -> str:
        """The path of ``operation`` below the app's own address, or its whole address."""
        path = f"{self._url(operation)}{self._shown(operation).path}".partition("#")[0]
        base = (self._spec.base_url or "").rstrip("/")
        return path[len(base) :] if base and path.startswith(f"{base}/") else path

    def _meanings(self, operation: Operation) -> Iterable[str]:
        """What the props of ``operation`` stand for."""
        try:
            return actions.action(self._document, self._shown(operation), "", self._app, {}).props
        except Unsaid:
            return ()

    def _scopes(self, operation: Operation) -> list[list[str]]:
        """The OAuth scopes that ``operation`` needs, as alternatives; none where one of them needs no scope."""
        ways = operation.node.get("security", self._document.root.get("security"))
        if self._spec.auth_type != "oauth" or not isinstance(ways, list):
            return []
        named = [
            [str(scope) for scopes in way.values() if isinstance(scopes, list) for scope in scopes]
            for way in ways
            if isinstance(way, Mapping)
        ]
        return named if all(named) else []

    def _url(self, operation: Operation) -> str:
        """What stands before the path of ``operation``: a whole address, or nothing but a path below the app's own."""
        own = servers.own_address(self._document, operation) or self._server
        base = (self._spec.base_url or "").rstrip("/")
        return own[len(base) :] if base and (own == base or own.startswith(f"{base}/")) else own

    def _foreign_host(self, url: str) -> str:
        """The host of ``url``, if the app does not have it."""
        checked = parse_url(url) if "://" in url else None
        if checked is None or (not isinstance(checked, Failure) and self._rules.admit(checked)):
            return ""
        return url.partition("://")[2].partition("/")[0]


def _server(document: Document, spec: AppSpec, facts: ApiDocument) -> str:
    """What stands before each path, where the document does not say another address of an operation."""
    if facts.server.startswith("/"):
        return f"{(spec.base_url or '').rstrip('/')}{facts.server}".rstrip("/")
    url = facts.server or servers.server(document).plain
    return url.rstrip("/")


def _docs_url(document: Document, spec: AppSpec) -> str:
    external = document.refs.object(document.root.get("externalDocs")).get("url")
    url = external if isinstance(external, str) and external.startswith("https://") else spec.docs_url
    return url or ""


def tags(extension: Extension) -> dict[str, list[Listed]]:
    """The operations by their tag, in the order of their names."""
    grouped: dict[str, list[Listed]] = {}
    for each in extension.operations:
        grouped.setdefault(each.tag, []).append(each)
    return dict(sorted(grouped.items(), key=lambda item: words.label(item[0]).lower()))
