"""``patchbay piece``: adds, updates, lists and removes integrations from npm packages."""

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.errors import Conflict, Invalid
from webapp.kit.clock import iso
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import listing, owner_decisions, pieces
from webapp.service.domain.pieces.listing import PieceView
from webapp.service.domain.pieces.owner_decisions import REGISTRY, Source
from webapp.service.domain.pieces.pieces import Piece
from webapp.service.pieces import npm_tarballs, packages
from webapp.service.pieces.packages import Wanted

_POLL_S = 0.05
_STEPS = {1: "Looking for it", 2: "Downloading it", 3: "Testing it in a sandbox", 4: "Writing it to the catalog"}
HOSTS = click.option("--host", "hosts", multiple=True, help="What it may reach, such as api.example.com (as proposed).")


@click.group()
def piece() -> None:
    """Integrations from npm packages of the Activepieces framework, as the manual's page on integrations says."""


@piece.command()
@click.argument("names", nargs=-1, required=True)
@HOSTS
@click.option("--hidden", is_flag=True, help="Not shown to people yet.")
@click.option("--from", "source", type=click.Path(path_type=Path), help="A folder of tarballs, without a network.")
@JSON
def add(names: tuple[str, ...], hosts: tuple[str, ...], hidden: bool, source: Path | None, as_json: bool) -> None:
    """Add the integrations NAMES (slack, slack@0.17.9, @acme/piece-shop), a tarball, or an author's ./folder."""
    with opened() as service:
        tell((_brought(service, name, source, hosts, hidden=hidden) for name in names), "was added", as_json=as_json)


@piece.command()
@click.argument("names", nargs=-1)
@click.option("--preview", is_flag=True, help="Show what would change, and change nothing.")
@JSON
def update(names: tuple[str, ...], preview: bool, as_json: bool) -> None:
    """Update NAMES, or all from the registry, to their newest version; the hosts that they may reach stay."""
    with opened() as service:
        named = [_named(service, name) for name in names] or [
            view.piece for view in listing.listed(service) if view.current and view.current.source == "registry"
        ]
        what = "would be so" if preview else "is up to date"
        tell((_updated(service, each, preview=preview) for each in named), what, as_json=as_json)


@piece.command("list")
@click.option("--check", is_flag=True, help="Read each file, and say what is not whole on this machine.")
@JSON
def list_(check: bool, as_json: bool) -> None:
    """List all integrations and how much they are used."""
    with opened() as service:
        views = listing.listed(service)
        troubles = _troubles(service) if check else {}
    facts = [{**facts_of(view), **({"whole": troubles.get(view.piece.id, "yes")} if check else {})} for view in views]
    if not as_json:
        short = ("name", "version", "newest", "actions", "triggers", "accounts", "deployed", "state", "whole")
        facts = [{name: each[name] for name in short if name in each} for each in facts]
    table(facts, as_json, "pieces", "No integration was added yet; `patchbay piece add NAME` adds one.")
    for view in views:
        if view.piece.error and not as_json:
            click.echo(f"{view.piece.title}: {view.piece.error}", err=True)
    raise SystemExit(1 if troubles else 0)


@piece.command()
@click.argument("name")
@click.option("--with-accounts", is_flag=True, help="Even while it is used; what uses it then does nothing.")
@JSON
def remove(name: str, with_accounts: bool, as_json: bool) -> None:
    """Remove the integration NAME with its actions and triggers."""
    with opened() as service:
        removed = owner_decisions.remove(service, _named(service, name).id, with_uses=with_accounts)
    show({"package": removed.package, "version": removed.version}, as_json, "The integration was removed.")


@piece.command()
@click.argument("name")
@HOSTS
@click.option("--shown/--hidden", "shown", default=None, help="Whether people see it.")
@JSON
def change(name: str, hosts: tuple[str, ...], shown: bool | None, as_json: bool) -> None:
    """Replace the hosts that the integration NAME may reach, or show or hide it."""
    from webapp.service.domain.pieces import disk

    with opened() as service:
        named = _named(service, name)
        if hosts:
            owner_decisions.set_hosts(service, named.id, hosts)
        if shown is not None:
            (owner_decisions.show if shown else owner_decisions.hide)(service, named.id)
        disk.sync(service)
        view = listing.find(service, named.id)
    tell([view], "was changed", as_json=as_json)


@piece.command()
@click.option("--from", "source", type=click.Path(path_type=Path), help="A folder of tarballs, without a network.")
@JSON
def sync(source: Path | None, as_json: bool) -> None:
    """Install on this machine what was added on others, and reinstall what is incomplete."""
    from webapp.service.domain.pieces import disk

    with opened() as service:
        findings = disk.sync(service, thoroughly=True, tarballs=source)
    rows_ = [{"package": each.piece.package, "version": each.version, "problem": each.sentence} for each in findings]
    table(rows_, as_json, "problems", "Everything that was added is complete on this machine.")
    raise SystemExit(1 if findings else 0)


def _brought(service: Service, name: str, source: Path | None, hosts: tuple[str, ...], *, hidden: bool) -> PieceView:
    chosen = _source(name, source)
    if chosen.kind in ("tarball", "folder"):
        name = owner_decisions.named_by(chosen, service.settings.piece_mb)
    begun = owner_decisions.begin(service, name, source=chosen)
    return _finished(service, begun.id, hosts or None, hidden=hidden)


def _updated(service: Service, standing: Piece, *, preview: bool) -> PieceView:
    """The integration in its newest version, updated if it is not up to date."""
    used = pieces.version(service.store, standing, standing.version)
    source = Source(used.source, Path(used.origin)) if used and used.source != "registry" else REGISTRY
    if source.kind == "registry":
        newest = listing.registry(service).look_up(Wanted(standing.package)).version
        if not packages.newer(newest, standing.version):
            return listing.find(service, standing.id)
    owner_decisions.begin(service, standing.package, source=source)
    return _finished(service, standing.id, None, hidden=standing.hidden, preview=preview)


def _source(name: str, tarballs_in: Path | None) -> Source:
    if tarballs_in is not None:
        return Source("offline", tarballs_in.resolve())
    path = Path(name)
    if name.endswith(npm_tarballs.ENDINGS) and "://" not in name:
        return Source("tarball", path.resolve())
    if name.startswith((".", "/", "~")):
        return Source("folder", path.expanduser().resolve())
    return REGISTRY


def _finished(
    service: Service, piece_id: str, hosts: tuple[str, ...] | None, *, hidden: bool, preview: bool = False
) -> PieceView:
    """Wait until the integration is added, and return it; with ``preview`` it is not. Raises :class:`Conflict`."""
    try:
        for step in _followed(service, piece_id):
            click.echo(f"{_STEPS[step]} …", err=True)
        view = listing.find(service, piece_id)
        if view.piece.state == "ready" and preview:
            owner_decisions.stop(service, piece_id)
            return view
        if view.piece.state == "ready":
            chosen = hosts if hosts is not None else view.piece.hosts or view.offered.hosts
            owner_decisions.confirm(service, piece_id, chosen, shown=not hidden)
            list(_followed(service, piece_id))
            view = listing.find(service, piece_id)
    except KeyboardInterrupt:
        owner_decisions.stop(service, piece_id)
        raise
    if view.piece.state == "failed":
        owner_decisions.stop(service, piece_id)
        raise Conflict(view.piece.error)
    return view


def _followed(service: Service, piece_id: str) -> Iterator[int]:
    """The numbers of the steps as they start, in this process or in a worker that was faster."""
    from webapp.service.domain.pieces import installation

    seen, works = 0, threading.Thread(target=installation.work, args=(service,), daemon=True)
    now = pieces.get(service.store, piece_id)
    works.start()
    while now.state in ("adding", "writing"):
        if now.step > seen:
            seen = now.step
            yield seen
        if not now.holder and not works.is_alive():
            works = threading.Thread(target=installation.work, args=(service,), daemon=True)
            works.start()
        time.sleep(_POLL_S)
        now = pieces.get(service.store, piece_id)
    works.join()


def _named(service: Service, name: str) -> Piece:
    standing = pieces.of_package(service.store, packages.parse(name).package)
    if standing is None:
        raise Invalid(f"There is no integration {name}; `patchbay piece list` shows what was added.")
    return standing


def _troubles(service: Service) -> dict[str, str]:
    from webapp.service.domain.pieces import disk

    return {finding.piece.id: finding.sentence for finding in disk.check(service.store, service.settings.data)}


def facts_of(view: PieceView) -> dict[str, Any]:
    """An integration as the command prints it in JSON."""
    version, contents = view.shown_version, view.added if view.current else view.offered
    return {
        "name": view.piece.title,
        "package": view.piece.package,
        "version": view.piece.version or view.piece.wanted,
        "newest": view.piece.newest,
        "app": contents.app,
        "actions": len(contents.actions),
        "triggers": len(contents.triggers),
        "left_out": [{"name": each.name, "kind": each.kind, "reason": each.reason} for each in contents.left_out],
        "hosts": list(view.piece.hosts),
        "refused_hosts": [each.host for each in view.refused_hosts],
        "licence": version.licence if version else "",
        "size": version.size if version else 0,
        "accounts": view.uses.accounts,
        "deployed": view.uses.triggers,
        "hidden": view.piece.hidden,
        "state": view.piece.state,
        "error": view.piece.error,
        "source": view.piece.origin or view.piece.source,
        "added_at": iso(view.piece.added_at),
    }


def tell(done: Iterable[PieceView], what: str, *, as_json: bool) -> None:
    """Print each integration and ``what`` was done with it, even if a later one fails."""
    views: list[PieceView] = []
    try:
        views.extend(done)
    except (Conflict, Invalid):
        if views:
            _tell(views, what, as_json=as_json)
        raise
    _tell(views, what, as_json=as_json)


def _tell(views: list[PieceView], what: str, *, as_json: bool) -> None:
    facts = []
    for view in views:
        changes = view.changes
        changed = [f"{part.name}: {sentence}" for part, sentence in changes.changed] if changes else []
        gone = [part.name for part in changes.gone] if changes else []
        facts.append({**facts_of(view), "gone": gone, "changed": changed})
    if as_json:
        show({"pieces": facts}, True)
        return
    for each in facts:
        licence = each["licence"] or "not named by the package"
        shown = {name: each[name] for name in ("package", "version", "app", "actions", "triggers", "hosts")}
        show({**shown, "licence": licence}, False, f"The integration {each['name']} {what}.")
        for left in each["left_out"]:
            click.echo(f"{left['name']} is left out: {left['reason']}", err=True)
        for line in (*(f"{name} was removed." for name in each["gone"]), *each["changed"]):
            click.echo(line, err=True)
