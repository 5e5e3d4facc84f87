"""The whole API of an app: brings the documents that the app's facts name, and makes their operations actions of it.

An extension changes the catalog of all projects, like an import. A document is brought by the exact version and
integrity that the facts name, and updated to another only when an owner has seen what would change. Accounts are not
touched by any of it. The importer is loaded at first use.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from webapp import audit
from webapp.body_limits import API_DOCUMENT
from webapp.errors import Conflict, Invalid, NotFound
from webapp.service.catalog import api_documents
from webapp.service.catalog.app import App
from webapp.service.catalog.component_keys import key_of, name_of
from webapp.service.catalog.importing import folders
from webapp.service.catalog.spec import ApiDocument
from webapp.service.components.declared import source
from webapp.service.directory import directory
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service
from webapp.service.pieces import package_archives
from webapp.service.pieces.package_archives import Archive, Package

if TYPE_CHECKING:
    from webapp.service.catalog.importing.extensions import Change, Choice, Extended, Extension, Origin

NONE = "There is no description of the whole API of {app} that is known here."


@dataclass(frozen=True, slots=True)
class View:
    """One of an app's documents, as its facts name it and as it is here. ``extension`` is None until it was brought."""

    facts: ApiDocument
    place: api_documents.Place
    extension: "Extension | None"


@dataclass(frozen=True, slots=True)
class Release:
    """A release of ``package`` (``npm:name`` or ``pypi:name``); the newest without a version."""

    package: str
    version: str
    integrity: str


@dataclass(frozen=True, slots=True)
class Brought:
    """A document that was brought: what its facts say, where it is from, and its content."""

    facts: ApiDocument
    origin: "Origin"
    content: bytes


def app(service: Service, slug: str) -> App:
    """The app ``slug``, or the one whose variant it is.

    Raises :class:`NotFound` for one that has no description of its whole API.
    """
    named = service.catalog.app(slug)
    known = service.catalog.app(named.spec.of) if named and named.spec.of else named
    if known is None:
        raise NotFound("There is no such app.")
    if known.spec.api is None:
        raise NotFound(NONE.format(app=known.name))
    return known


def views(service: Service, known: App) -> list[View]:
    """Every document of an app, in the order of its facts."""
    documents = known.spec.api.documents if known.spec.api else ()
    here = {each.document: each for each in _here(service, known.slug)} if documents else {}
    return [View(document, api_documents.place(document), here.get(document.name)) for document in documents]


def listed(service: Service) -> "list[Extension]":
    """Every document that was brought, by the slug of its app."""
    return _here(service)


def _here(service: Service, slug: str = "") -> "list[Extension]":
    """The documents that were brought; the importer is not loaded where there are none."""
    if not (service.settings.data / folders.EXTENSIONS).is_dir():
        return []
    from webapp.service.catalog.importing import extensions

    return extensions.listed(service.settings.data, slug)


def choose(
    service: Service,
    slug: str,
    choice: "Choice",
    *,
    preview: bool = False,
    archive: Path | None = None,
) -> "list[Change]":
    """Let the operations of ``choice``, and no others, be actions of the app ``slug``.

    Documents that are not here are brought first, or read from ``archive``. With ``preview``, nothing changes. Raises
    :class:`NotFound`, :class:`Invalid` and :class:`webapp.errors.UpstreamFailed`.
    """
    known = app(service, slug)
    folders.recover(service.settings.data)
    documents = views(service, known)
    here = [_kept(service, view.extension, view.facts) for view in documents if view.extension]
    missing = [view.facts for view in documents if view.extension is None]
    brought = _brought(service, missing, archive)
    changes = _extended(service, known, [*here, *brought], choice, preview=preview)
    if not preview:
        verb = "extended_again" if here else "extended"
        _settle(service, known.slug, verb, f"The whole API of {known.name}: {_counted(changes)} on.")
    return changes


def switch(
    service: Service,
    slug: str,
    add: Iterable[str],
    remove: Iterable[str],
    confirmed: Iterable[str] = (),
    *,
    preview: bool = False,
) -> "list[Change]":
    """Add and remove operations of documents that are here, by their tags, or methods and paths.

    ``confirmed`` are hosts that the app does not have, beside those that were confirmed before.

    Raises like :func:`choose`, and :class:`Conflict` if no document is here.
    """
    from webapp.service.catalog.importing.extensions import Choice

    added, removed = set(add), set(remove)
    here = [view.extension for view in views(service, app(service, slug)) if view.extension]
    if not here:
        raise Conflict("The operations are not known yet. Bring the description first.")
    on = tuple(
        each.id
        for extension in here
        for each in extension.operations
        if each.id in added
        or (each.tag in added and not each.deprecated)
        or (each.on and not {each.id, each.tag} & removed)
    )
    known = {name for extension in here for each in extension.operations for name in (each.id, each.tag)}
    if unknown := sorted((added | removed) - known):
        raise Invalid(f"There is no tag and no operation {unknown[0][:100]!r}.")
    hosts = [host for extension in here for host in extension.hosts]
    return choose(service, slug, Choice(on, tuple(dict.fromkeys((*hosts, *confirmed)))), preview=preview)


def bring(
    service: Service, slug: str, *, archive: Path | None = None, releases: Iterable[Release] = ()
) -> "list[Brought]":
    """The documents of an app that are here, each brought anew: in ``releases``, and without any in the newest ones.

    Raises like :func:`choose`, :class:`Conflict` if no document is here, and :class:`Invalid` for releases that leave
    out the package of a document.
    """
    known = app(service, slug)
    here = [view for view in views(service, known) if view.extension]
    if not here:
        raise Conflict(f"The whole API of {known.name} was not added yet.")
    newest = {view.place.package: Release(view.place.package, "", "") for view in here}
    wanted = {each.package: each for each in releases} or newest
    if missing := sorted(newest.keys() - wanted.keys()):
        raise Invalid.of("releases", f"Name a release of {missing[0]}, too.")
    documents = [view.facts for view in here]
    return _brought(service, documents, archive, {view.facts.name: wanted[view.place.package] for view in here})


def update(service: Service, slug: str, brought: "list[Brought]", *, preview: bool = False) -> "list[Change]":
    """Use documents that :func:`bring` brought, with what was chosen before. With ``preview``, nothing changes."""
    known = app(service, slug)
    here = [view for view in views(service, known) if view.extension]
    changes = _updated(service, known, here, brought, preview=preview)
    if not preview:
        versions = ", ".join(dict.fromkeys(each.origin.version for each in brought))
        _settle(service, known.slug, "extension_updated", f"Updated the whole API of {known.name} to {versions}.")
    return changes


def remove(service: Service, slug: str) -> int:
    """Remove the whole API of an app with its actions; return how many there were. Accounts stay.

    Raises :class:`NotFound`.
    """
    from webapp.service.catalog.importing import extensions

    folders.recover(service.settings.data)
    named = service.catalog.app(slug)
    slug = (named.spec.of or named.slug) if named else slug
    here = _here(service, slug)
    if not here:
        raise NotFound(f"The whole API of {slug[:100]} was not added.")
    for each in here:
        extensions.remove(service.settings.data, slug, each.document)
    _settle(service, slug, "extension_removed", f"Removed the whole API of {slug}.")
    return sum(each.count for each in here)


def _updated(
    service: Service, known: App, here: list[View], brought: "list[Brought]", *, preview: bool
) -> "list[Change]":
    from webapp.service.catalog.importing.extensions import Choice

    changes = []
    for view in here:
        extension = view.extension
        for each in brought:
            if extension and each.facts.name == view.facts.name:
                choice = Choice(extension.only, extension.hosts)
                changes += _extended(service, known, [each], choice, preview=preview, strict=False)
    return changes


def _extended(
    service: Service, known: App, brought: "list[Brought]", choice: "Choice", *, preview: bool, strict: bool = True
) -> "list[Change]":
    from webapp.service.catalog.importing import extensions

    changes: list[Change] = []
    if strict and choice.only:
        _refuse_unknown(choice.only, brought)
    for each in brought:
        extended = _without(service, known, each.facts.name)
        changes.append(
            extensions.extend(
                service.settings.data, extended, each.facts, each.origin, each.content, choice, preview=preview
            )
        )
    return changes


def _refuse_unknown(only: Iterable[str], brought: "list[Brought]") -> None:
    """Raise :class:`Invalid` for a name that is in none of the documents."""
    from webapp.service.catalog.importing import documents, operations

    present = [operations.Present(operations.listed(documents.read(each.content))) for each in brought]
    for name in only:
        if not any(name in each for each in present):
            raise Invalid.of("only", f"The API has no tag and no operation {name[:100]!r}; `--list` shows them.")


def _without(service: Service, known: App, document: str) -> "Extended":
    """The app, with the names of all components that it has beside this document."""
    from webapp.service.catalog.importing import extensions
    from webapp.service.catalog.importing.extensions import Extended

    own = extensions.listed(service.settings.data, known.slug)
    mine = {each.action for extension in own if extension.document == document for each in extension.operations}
    others = {each.action for extension in own if extension.document != document for each in extension.operations}
    names = {name_of(key, known.slug) for key in service.catalog.keys(known.slug)}
    curated = [service.catalog.component(key_of(known.slug, name)) for name in sorted(names - mine - others)]
    files = tuple(each.path for each in curated if each and source.is_declared(each.path))
    return Extended(known.spec, tuple(sorted((names - mine) | others)), files)


def _kept(service: Service, extension: "Extension", facts: ApiDocument) -> Brought:
    from webapp.service.catalog.importing import extensions

    content = extensions.content(service.settings.data, extension.slug, extension.document)
    return Brought(facts, extension.origin, content)


def _brought(
    service: Service,
    documents: Iterable[ApiDocument],
    archive: Path | None,
    releases: Mapping[str, Release] | None = None,
) -> "list[Brought]":
    """The content of ``documents``, each archive brought once, in ``releases`` instead of those that facts name."""
    from webapp.service.catalog.importing.extensions import Origin

    wanted: dict[Package, list[tuple[ApiDocument, str]]] = {}
    brought: list[Brought] = []
    for document in documents:
        place = api_documents.place(document)
        release = releases[document.name] if releases else Release(place.package, place.version, place.integrity)
        package = Package.of(place.package, release.version, release.integrity)
        if document.directory and archive is None and (present := _in_directory(service, document, package)):
            brought.append(present)
            continue
        wanted.setdefault(package, []).append((document, place.path))
    for package, members in wanted.items():
        with _archive(service, package, archive) as opened:
            for document, path in members:
                of = opened.package
                origin = Origin(f"{of.registry}:{of.name}", of.version, of.integrity, path, service.clock())
                brought.append(Brought(document, origin, opened.read(path, API_DOCUMENT)))
    return brought


def _in_directory(service: Service, document: ApiDocument, package: Package) -> Brought | None:
    """The document in the public directory on this machine; None if it is not here in that release."""
    from webapp.service.catalog.importing.extensions import Origin

    present = directory.about(service.settings.data)
    if present is None or package.integrity not in ("", present.integrity):
        return None
    entry = directory.document(service.settings.data, document.directory or "")
    place = api_documents.place(document)
    origin = Origin(place.package, present.version, present.integrity, place.path, service.clock())
    return Brought(document, origin, entry.content)


@contextmanager
def _archive(service: Service, package: Package, archive: Path | None) -> Iterator[Archive]:
    if archive is not None:
        yield package_archives.checked(package, archive)
        return
    with package_archives.brought(package, service.settings.data, service.settings.piece_registry) as opened:
        yield opened


def _counted(changes: "list[Change]") -> str:
    count = sum(change.extension.count for change in changes)
    return f"{count:,} operation{'' if count == 1 else 's'}"


def _settle(service: Service, slug: str, verb: str, sentence: str) -> None:
    """Write down what was done, and let everybody see it."""
    with service.store.write() as tx:
        audit.write(tx, service.clock(), "app", slug, verb, sentence)
    catalog_file.update(service)
    service.catalog.refresh()
