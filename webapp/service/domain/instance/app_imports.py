"""Imports apps from OpenAPI documents into this installation: preview, import, list and remove.

An import changes the catalog of all projects. The files are written to the data folder, like an operator's own apps,
and the catalog is rebuilt at once. The importer is loaded at first use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from webapp import audit
from webapp.body_limits import API_DOCUMENT
from webapp.errors import Conflict, Invalid
from webapp.kit.clock import iso
from webapp.service.catalog.app import App
from webapp.service.catalog.component_keys import name_of
from webapp.service.catalog.importing.records import Options, Record, Summary
from webapp.service.catalog.spec import Origin
from webapp.service.directory import directory
from webapp.service.domain.accounts import registered_clients
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import held_tools
from webapp.service.outbound.failures import Failure

if TYPE_CHECKING:
    from webapp.service.catalog.importing.actions import Action
    from webapp.service.catalog.importing.files import Written
    from webapp.service.catalog.importing.plans import Plan

FETCH_S = 60.0
HOPS = 5
IN_SERVER = "mcp:"
"""What the source of an app begins with that comes from an MCP server."""
IN_DIRECTORY = "directory:"
"""What the source of a document of the public directory begins with."""
METADATA_S, METADATA_BYTES, MOST_METADATA = 8.0, 256 * 1024, 3  # of what a document refers to
_KINDS = "application/json, application/yaml, text/yaml, */*"


@dataclass(frozen=True, slots=True)
class Source:
    """A document: its bytes, and its address or file name; ``origin`` is set for one of the public directory."""

    content: bytes
    name: str
    address: str = ""
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Uses:
    """The uses of an app: the number of its accounts, and how often its actions ran while runs are kept."""

    accounts: int
    runs: Mapping[str, int]


def fetched(service: Service, url: str) -> Source:
    """The document at ``url``. Raises :class:`Invalid` with a sentence if it cannot be fetched."""
    return Source(_fetch(service, url), url, url)


def of_directory(service: Service, name: str) -> Source:
    """The document ``name`` of the public directory, such as ``googleapis.com:calendar``.

    Raises :class:`webapp.errors.NotFound`.
    """
    document = directory.document(service.settings.data, name)
    about = document.about
    origin = Origin(directory=document.name, version=about.version, date=iso(about.date)[:10])
    return Source(document.content, f"{IN_DIRECTORY}{document.name}", origin=origin)


def preview(service: Service, source: Source, slug: str, options: Options) -> "Written":
    """The result of importing ``source`` as the app ``slug``, without writing; only counts if it is too much.

    Raises :class:`Invalid`, :class:`Conflict`.
    """
    from webapp.service.catalog.importing import files

    planned, before = _plan(service, source, slug, options, preview=True)
    if planned.excess:
        return files.Written(planned, (), (), (), (), ())
    return files.preview(planned, service.settings.data, before)


def bring(service: Service, source: Source, slug: str, options: Options) -> "Written":
    """Import ``source`` as the app ``slug``, new or again. Raises :class:`Invalid`, :class:`Conflict`."""
    from webapp.service.catalog.importing import files

    planned, before = _plan(service, source, slug, options)
    written = files.write(planned, service.settings.data, before, source.name, service.clock())
    verb, again = ("imported_again", "again ") if before else ("imported", "")
    count = len(written.plan.actions)
    _note(service, slug, verb, f"Imported the app {slug} {again}with {count} action{'' if count == 1 else 's'}.")
    catalog_file.update(service)
    service.catalog.refresh()
    return written


def listed(service: Service) -> list[Summary]:
    """Every app that was imported, by slug."""
    from webapp.service.catalog.importing import files

    return files.listed(service.settings.data)


def remove(service: Service, slug: str, *, with_accounts: bool = False) -> Record:
    """Remove an imported app. Raises :class:`webapp.errors.NotFound`, and :class:`Conflict` while it has accounts."""
    from webapp.service.catalog.importing import files

    count = accounts(service, slug)
    if count and not with_accounts and any(standing.slug == slug for standing in listed(service)):
        subject = "1 account is" if count == 1 else f"{count} accounts are"
        raise Conflict(f"{subject} connected to {slug}. Disconnect them first.")
    standing = files.remove(service.settings.data, slug)
    registered_clients.forget(service, slug)
    _note(service, slug, "removed", f"Removed the imported app {slug}.")
    catalog_file.update(service)
    service.catalog.refresh()
    return standing


def uses(service: Service, slug: str) -> Uses:
    """The uses of the app ``slug`` in all projects."""
    rows = service.store.all(
        "SELECT component_key, COUNT(*) AS n FROM runs WHERE app = :app GROUP BY component_key", {"app": slug}
    )
    runs = {name_of(str(row["component_key"]), slug): int(row["n"]) for row in rows}
    return Uses(accounts(service, slug), runs)


def accounts(service: Service, slug: str) -> int:
    """How many accounts of the app ``slug`` all projects have."""
    row = service.store.one("SELECT COUNT(*) AS n FROM accounts WHERE app = :app", {"app": slug}) or {}
    return int(row.get("n", 0))


def _plan(
    service: Service, source: Source, slug: str, options: Options, *, preview: bool = False
) -> "tuple[Plan, Record | None]":
    from webapp.service.catalog.importing import documents, files, folders
    from webapp.service.catalog.importing.plans import plan

    data = service.settings.data
    folders.recover(data)
    known = service.catalog.app(slug)
    is_hosted = known is not None and _is_hosted(known, source)
    before = files.check_slug(data, slug, hosted=is_hosted)
    if known is not None and (known.slug != slug or not (known.own or is_hosted)):
        raise Conflict(f"{slug} is already the slug of the app {known.name}. Give this one another slug.")
    document = documents.read(source.content, source.address)
    reserved = files.others(data, slug, before)
    planned = plan(document, slug, options, before, reserved, _metadata(service), preview=preview)
    if is_hosted:
        planned = replace(planned, actions=[_going_on(action) for action in planned.actions])
    if source.origin is not None:
        planned = replace(planned, app={**planned.app, "origin": source.origin.model_dump()})
    return planned, before


def _going_on(action: "Action") -> "Action":
    """``action``, which goes on when its tool changes: it is one of a server that its provider hosts."""
    return replace(action, toml={**action.toml, "tool": {**action.toml["tool"], "goes_on": True}})


def _is_hosted(app: App, source: Source) -> bool:
    """Whether ``source`` is the MCP server whose tools are the actions of ``app``."""
    server = app.spec.mcp if app.server else None
    return server is not None and source.name == f"{IN_SERVER}{server.url}"


def _metadata(service: Service) -> Callable[[str], bytes]:
    """The function that fetches the few documents to which a document may refer."""
    left = iter(range(MOST_METADATA))

    def fetch(url: str) -> bytes:
        if next(left, None) is None:
            raise Invalid("The document refers to too many addresses.")
        return _fetch(service, url, METADATA_S, METADATA_BYTES)

    return fetch


def _fetch(service: Service, url: str, deadline_s: float = FETCH_S, max_bytes: int = API_DOCUMENT) -> bytes:
    outcome = service.outbound.request(
        "GET",
        url,
        headers={"Accept": _KINDS},
        deadline_s=deadline_s,
        max_bytes=max_bytes,
        max_redirects=HOPS,
    )
    if isinstance(outcome, Failure):
        raise Invalid.of("url", outcome.sentence)
    if not outcome.ok:
        raise Invalid.of("url", f"The address answered with status {outcome.status}. Check it, or download the file.")
    return outcome.body


def _note(service: Service, slug: str, verb: str, sentence: str) -> None:
    with service.store.write() as tx:
        held_tools.forget(tx, slug)
        audit.write(tx, service.clock(), "app", slug, verb, sentence)
