"""Reads the sources of a catalog: folders of apps, each ``<slug>/app.toml`` with its components, and the categories.

An operator's own components may also be outside any app, as ``<name>/<version>.py`` in their own folder. An operator's
own app may leave out its sources: its documentation counts as the source. An ``app.toml`` with ``joins = "<slug>"``
adds its components to another app, as pieces do for a built-in app, except for keys that the app already has. In the
folder of extensions, which has an app's whole API, it may also add ``allowed_hosts``, which an owner has confirmed.
An ``app.toml`` with ``[mcp]`` also declares the app of its provider's MCP server (:mod:`hosted_servers`).
``unlisted.txt`` names apps and components that lists leave out, but that still work. A file that cannot be read is
reported as a problem and left out; checking the facts of the others is left to ``check``.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webapp.service.catalog import hosted_servers, registry_keys, variants
from webapp.service.catalog.component_files import Component, components
from webapp.service.catalog.source_files import OF_APPS, OF_PIECES, SourceFolder, TomlFiles, look
from webapp.service.catalog.spec import AppSpec, Category

BUILT_IN = Path(__file__).parent / "apps"
CATEGORIES = "categories.toml"
_TABLES = (
    "test", "identity", "refusals", "session", "assertion", "client", "look_up", "long_lived", "revocation", "check",
    "events", "notices",
)  # fmt: skip
_INNER = ("request", "seen_by", "oauth", "sign_in", *_TABLES)
JOINS = "joins"
UNLISTED = "unlisted.txt"


@dataclass(frozen=True, slots=True)
class Source:
    """An app as it was read, with the path of its file; ``own`` if it is the operator's.

    ``of`` is the app whose variant it is, if it is one. ``keys`` are those of the public registry that it answers.
    """

    path: str
    spec: AppSpec
    own: bool
    components: tuple[Component, ...] = ()
    of: str | None = None
    keys: registry_keys.Keys = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of the sources: the built-in apps, the operator's ``own`` folders of apps, and components.

    ``components`` is the folder of components without an app, ``pieces`` the folder of the apps of installed pieces,
    ``extensions`` that of the documents that extend apps.
    """

    own: Sequence[Path] = ()
    built_in: Path = BUILT_IN
    components: Path | None = None
    pieces: Path | None = None
    extensions: Path | None = None

    @classmethod
    def of(cls, data: Path) -> "Places":
        """The folders of an installation with the data folder ``data``."""
        return cls(
            [data / "apps"],
            components=data / "components",
            pieces=data / "pieces" / "apps",
            extensions=data / "extensions",
        )

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of apps."""
        return (self.built_in, *self.own, *(folder for folder in (self.pieces, self.extensions) if folder))


@dataclass(frozen=True, slots=True)
class Files:
    """What stands in the folders of ``places``: one for each folder of apps, and that of components without an app."""

    places: Places
    of_apps: Mapping[Path, SourceFolder]
    of_components: SourceFolder | None

    @classmethod
    def of(cls, places: Places) -> "Files":
        """Read all files of ``places``."""
        of_apps = {folder: look(folder, OF_PIECES if folder == places.pieces else OF_APPS) for folder in places.folders}
        return cls(places, of_apps, look(places.components) if places.components is not None else None)

    @property
    def digest(self) -> str:
        """A hash of the names and contents of all of them. A folder of components that is missing is an empty one."""
        digests = [folder.digest for folder in self.of_apps.values()]
        if self.of_components is not None and self.of_components.files:
            digests.append(self.of_components.digest)
        unlisted = "\n".join(read_unlisted(self.places.pieces)).encode()
        return hashlib.sha256(b"\0".join([*digests, unlisted])).hexdigest()


@dataclass(slots=True)
class Sources:
    """Everything that was read, the built-in apps first, and the problems as ``path: sentence``."""

    apps: list[Source] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    categories: dict[str, Category] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    toml: TomlFiles = field(default_factory=TomlFiles)


def read(places: Places) -> Sources:
    """Read the built-in folder, then the operator's own, each sorted by name."""
    return read_from(Files.of(places), {})


def read_from(files: Files, known: Mapping[str, str]) -> Sources:
    """The sources in ``files``, as :func:`read` returns them; ``known`` is what an earlier build kept of their TOML."""
    sources, drafts, places = Sources(toml=TomlFiles(known)), list[_Draft](), files.places
    for root, folder in files.of_apps.items():
        _read_categories(sources, root)
        drafts += _drafts(sources, folder, own=root != places.built_in)
    drafts = _with_servers(drafts)
    apps = [draft for draft in drafts if _joined_app(draft.fields) is None]
    by_slug = {draft.fields.get("slug"): draft for draft in reversed(apps)}
    joining = _joining(sources, drafts, by_slug)
    extended = [draft for draft in drafts if draft.folder.root == places.extensions]
    by_slug = {slug: _with_hosts(draft, extended) for slug, draft in by_slug.items()}
    for draft in apps:
        whole = by_slug.get(draft.fields.get("slug"), draft)
        _read_app(sources, whole if whole.file == draft.file else draft, by_slug, joining)
    if files.of_components is not None:
        sources.components += components(files.of_components, None, None, sources.problems)
    return sources


def categories(places: Places) -> dict[str, Category]:
    """The categories by slug."""
    read = Sources()
    for folder in places.folders:
        _read_categories(read, folder)
    return read.categories


def _read_categories(sources: Sources, folder: Path) -> None:
    file = folder / CATEGORIES
    if not file.is_file():
        return
    for fields in (_load(sources, file, CATEGORIES, b"") or {}).get("categories", []):
        try:
            category = Category.model_validate(fields)
        except ValidationError as error:
            sources.problems += _sentences(CATEGORIES, error)
            continue
        if category.slug in sources.categories:
            sources.problems.append(f"{CATEGORIES}: the category {category.slug} stands here twice.")
        sources.categories.setdefault(category.slug, category)


@dataclass(frozen=True, slots=True)
class _Draft:
    """One ``app.toml`` as it was read, and the folder of apps in which it stands."""

    folder: SourceFolder
    file: Path
    fields: dict[str, Any]
    own: bool

    @property
    def label(self) -> str:
        return f"{self.file.parent.name}/{self.file.name}"

    @property
    def of(self) -> str | None:
        """The slug of the app that it is another way to connect."""
        of = self.fields.get("of")
        return of if isinstance(of, str) else None


def _drafts(sources: Sources, folder: SourceFolder, *, own: bool) -> Iterator[_Draft]:
    for app in folder.apps:
        file = folder.root / app / "app.toml"
        fields = _load(sources, file, f"{app}/{file.name}", folder.digest_of(f"{app}/{file.name}"))
        if fields is not None:
            yield _Draft(folder, file, fields, own)


def _with_servers(drafts: Sequence[_Draft]) -> list[_Draft]:
    """``drafts``, with those of hosted servers; one that the operator's installation has taken up looks as declared."""
    kept, servers = list[_Draft](), dict[Any, _Draft]()
    for draft in drafts:
        if server := None if draft.own else hosted_servers.server_facts(draft.fields):
            file = draft.folder.root / str(server.get("slug")) / draft.file.name
            servers[server.get("slug")] = _Draft(draft.folder, file, server, own=False)
        fields = draft.fields if draft.own else hosted_servers.own_facts(draft.fields)
        if fields is not None:
            kept.append(replace(draft, fields=fields))
    for number, draft in enumerate(kept):
        if draft.own and (declared := servers.pop(draft.fields.get("slug"), None)):
            kept[number] = replace(draft, fields=hosted_servers.taken_up(declared.fields, draft.fields))
    return [*(draft for draft in kept if not draft.own), *servers.values(), *(draft for draft in kept if draft.own)]


def _joining(sources: Sources, drafts: Iterable[_Draft], by_slug: Mapping[Any, _Draft]) -> dict[str, list[Component]]:
    """The components that join another app, by its slug."""
    joining: dict[str, list[Component]] = {}
    for draft in drafts:
        slug = _joined_app(draft.fields)
        if slug is not None and slug in by_slug:
            joining.setdefault(slug, []).extend(_components_beside(draft.file, slug, sources.problems, draft.folder))
        elif slug is not None:
            sources.problems.append(f"{draft.label}: joins: there is no app {slug}.")
    return joining


def _with_hosts(draft: _Draft, extended: Iterable[_Draft]) -> _Draft:
    """``draft`` with the hosts that an owner confirmed for its whole API."""
    slug = draft.fields.get("slug")
    added = [
        host for each in extended if _joined_app(each.fields) == slug for host in each.fields.get("allowed_hosts", ())
    ]
    known = draft.fields.get("allowed_hosts", ())
    new = [host for host in dict.fromkeys(added) if host not in known]
    return replace(draft, fields={**draft.fields, "allowed_hosts": [*known, *new]}) if new else draft


def _read_app(
    sources: Sources, draft: _Draft, by_slug: Mapping[Any, _Draft], joining: Mapping[str, list[Component]]
) -> None:
    base = by_slug.get(draft.of) if draft.of else None
    if draft.of and (base is None or base.of or base.file == draft.file):
        sources.problems.append(f"{draft.label}: of: there is no app {draft.of} that is connected in a way of its own.")
        return
    fields = variants.whole(draft.fields, base.fields) if base else draft.fields
    try:
        spec = AppSpec.model_validate(with_sources(fields) if draft.own else fields)
    except ValidationError as error:
        sources.problems += _sentences(draft.label, error)
        return
    own = _components_beside(draft.file, spec.slug, sources.problems, draft.folder)
    listed = joined(own, joining.get(spec.slug, ()), sources.problems)
    if base and draft.of:
        more = joining.get(draft.of, ())
        of_base: Iterable[Component] = ()
        if not variants.only_joined(draft.fields, base.fields):
            of_base = _components_beside(base.file, draft.of, [], base.folder)
        listed_of_base = joined(of_base, more, [])
        listed += variants.components(spec.slug, draft.of, listed_of_base)
    keys = _keys(sources, base or draft)
    sources.apps.append(Source(draft.label, spec, draft.own, tuple(listed), draft.of, keys))


def _keys(sources: Sources, draft: _Draft) -> registry_keys.Keys:
    """The keys of the public registry that the app's components answer."""
    app = draft.file.parent.name
    try:
        return registry_keys.load(
            draft.file.parent, draft.folder.digest_of(f"{app}/{registry_keys.FILE}"), sources.toml
        )
    except ValueError as error:
        sources.problems.append(f"{app}/{registry_keys.FILE}: {error}")
        return {}


def _load(sources: Sources, file: Path, label: str, digest: bytes) -> dict[str, Any] | None:
    try:
        return sources.toml.load(file, digest)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        sources.problems.append(f"{label}: it cannot be read as TOML ({error}).")
        return None


def _sentences(label: str, error: ValidationError) -> Iterator[str]:
    for details in error.errors(include_url=False, include_input=False, include_context=False):
        place = ".".join(str(step) for step in details["loc"])
        message = details["msg"].removeprefix("Value error, ")
        yield f"{label}: {place + ': ' if place else ''}{message[:1].lower()}{message[1:]}."


def with_sources(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The ``fields`` of an ``app.toml``, with ``docs_url`` as every source that is missing."""
    docs_url = fields.get("docs_url")
    if not isinstance(docs_url, str):
        return dict(fields)
    filled = _filled("", fields, docs_url)
    return {"sources": [docs_url], **filled}


def _filled(name: str, table: Mapping[str, Any], docs_url: str) -> dict[str, Any]:
    filled = dict(table)
    for member, value in table.items():
        if isinstance(value, Mapping) and member in _INNER:
            filled[member] = _filled(member, value, docs_url)
        elif member == "credentials" and isinstance(value, list):
            filled[member] = [{"source": docs_url, **each} if isinstance(each, Mapping) else each for each in value]
    if name in _TABLES or name == "request":
        filled.setdefault("source", docs_url)
    if name == "oauth":
        filled.setdefault("sources", [docs_url])
    if name == "client":
        filled.setdefault("console_url", docs_url)
    return filled


def _joined_app(fields: Mapping[str, Any]) -> str | None:
    """The slug of the app that an ``app.toml`` with these ``fields`` joins, or None."""
    slug = fields.get(JOINS)
    return slug if isinstance(slug, str) else None


def _components_beside(file: Path, slug: str, problems: list[str], folder: SourceFolder) -> Iterator[Component]:
    """The components beside the ``app.toml`` at ``file`` in a ``folder`` of apps, as components of the app ``slug``."""
    return components(folder, file.parent.name, slug, problems)


def joined(own: Iterable[Component], more: Iterable[Component], problems: list[str]) -> list[Component]:
    """The ``own`` components of an app and ``more`` that join it, except those with a key of its own."""
    listed = list(own)
    taken = {component.key for component in listed}
    for component in more:
        if component.key in taken:
            problems.append(f"{component.path}: its app has a component of this name already; give it another.")
        else:
            listed.append(component)
    return listed


def read_unlisted(folder: Path | None) -> list[str]:
    """The names of unlisted apps and components; ``folder`` has the apps of integrations."""
    try:
        return (folder / UNLISTED).read_text("utf-8").split() if folder else []
    except (OSError, UnicodeDecodeError):
        return []


def write_unlisted(folder: Path, names: Iterable[str]) -> bool:
    """Write the names of unlisted apps and components. Returns whether they changed."""
    wanted = sorted(set(names))
    if read_unlisted(folder) == wanted:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{UNLISTED}.new"
    draft.write_text("".join(f"{name}\n" for name in wanted), encoding="utf-8")
    draft.replace(folder / UNLISTED)
    return True
