"""What owners decide of integrations: to add one from an npm package, to confirm or stop that, to change and remove it.

The worker installs it (:mod:`webapp.service.domain.pieces.installation`): it finds the package, writes it to the disk
and tries it without a network. Then it waits until an owner has seen what it adds and which hosts it may reach; nothing
is in the catalog before that. Another version of an added integration goes the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from webapp import audit
from webapp.errors import Conflict, Invalid
from webapp.kit.crypto import new_id
from webapp.service.components.pieces import node
from webapp.service.domain.base import catalog_file, piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import piece_stores
from webapp.service.domain.pieces import pieces, trial, uses
from webapp.service.domain.pieces.pieces import Origin, Piece
from webapp.service.domain.pieces.uses import Uses
from webapp.service.outbound.urls import HostRules
from webapp.service.pieces import installer, npm_tarballs, packages
from webapp.service.pieces.packages import Places, Wanted
from webapp.store.contract import Tx

MOST_HOSTS = 100
NOUN = "integration"


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a package: the registry, a tarball, a folder of tarballs (``offline``), or an author's folder."""

    kind: Origin = "registry"
    path: Path | None = None


REGISTRY = Source()


def begin(service: Service, name: str, version: str = "", source: Source = REGISTRY) -> Piece:
    """Begin to add the integration ``name``, or to install another version of it; the newest by default.

    Raises :class:`Invalid`, and :class:`Conflict` without Node, or while it is being added.
    """
    if node.find() is None:
        raise Conflict(node.MISSING)
    wanted = packages.parse(f"{name}@{version}" if version else name)
    now = service.clock()
    with service.store.write() as tx:
        standing = pieces.of_package(tx, wanted.package)
        changes = {
            "state": "adding", "wanted": wanted.version, "step": 1, "error": "", "stopping": False, "holder": 0,
            "source": source.kind, "origin": str(source.path or ""), "changed_at": now,
        }  # fmt: skip
        if standing is None:
            piece = _fresh(wanted, source, now)
            pieces.insert(tx, piece)
        elif standing.state in ("adding", "writing"):
            raise Conflict(f"{standing.title} is being added just now; wait for it, or stop it.")
        else:
            piece = standing
            pieces.change(tx, piece, turn=piece.turn + 1, **changes)
        what = f"{wanted.package} {wanted.version}".rstrip()
        audit.write(tx, now, NOUN, piece.id, "looked_at", f"Began to bring the integration {what}.")
    service.wake()
    return pieces.get(service.store, piece.id)


def named_by(source: Source, most_mb: int) -> str:
    """The name of the package that a tarball or an author's folder holds. Raises :class:`Invalid`."""
    path = source.path
    if path is None or not path.exists():
        raise Invalid(f"There is nothing at {path}.")
    if source.kind == "tarball":
        return str(npm_tarballs.manifest(npm_tarballs.read(path, most_mb), path.name)["name"])
    return str(installer.read_manifest(path)["name"])


def confirm(
    service: Service, piece_id: str, hosts: Sequence[str], *, shown: bool = False, version: str | None = None
) -> Piece:
    """Add the installed package, let it reach ``hosts``, and list it for people if ``shown``.

    ``version`` is the one that was examined. Raises :class:`Conflict` unless it waits for confirmation, if another
    version waits now, or if a trigger needs a later one; :class:`Invalid` for a malformed host.
    """
    allowed = _check_hosts(hosts)
    with service.store.write() as tx:
        piece = pieces.get(tx, piece_id)
        if piece.state != "ready":
            raise Conflict(f"{piece.title} does not wait to be added.")
        if version is not None and version != piece.wanted:
            raise Conflict(f"Version {piece.wanted} was brought meanwhile; look at it before you add it.")
        _refuse_older(tx, piece)
        now = service.clock()
        hidden = not shown if not piece.version else piece.hidden and not shown
        changed = {"state": "writing", "step": 4, "hosts": allowed, "hidden": hidden, "changed_at": now}
        pieces.change(tx, piece, **changed)
        piece_hosts.forget(tx, piece.package, allowed)
        reachable = ", ".join(allowed) or "nothing on the internet"
        sentence = f"Added the integration {piece.package} {piece.wanted}; it may reach {reachable}."
        audit.write(tx, now, NOUN, piece.id, "added", sentence)
    service.wake()
    return pieces.get(service.store, piece_id)


def _refuse_older(tx: Tx, piece: Piece) -> None:
    """Raise :class:`Conflict` if a trigger is deployed with a later version, which new calls would not have."""
    later = [number for number in uses.pinned(tx, piece) if packages.newer(number, piece.wanted)]
    if later:
        raise Conflict(f"A trigger is deployed on {later[0]}, which is newer. Delete it, then go back.")


def stop(service: Service, piece_id: str) -> None:
    """Stop an installation, or dismiss its failure; what was added before stays.

    Raises :class:`Conflict` if there is none.
    """
    with service.store.write() as tx:
        piece = pieces.get(tx, piece_id)
        if piece.state == "added":
            raise Conflict(f"{piece.title} is not being added.")
        if piece.holder:
            pieces.change(tx, piece, stopping=True)
        else:
            undo(tx, piece, service.clock())
        audit.write(
            tx, service.clock(), NOUN, piece.id, "stopped", f"Stopped to bring the integration {piece.package}."
        )
    if not piece.holder:
        clear_unconfirmed(service, piece)
    service.wake()


def undo(tx: Tx, piece: Piece, now: int) -> None:
    """Restore the row to what was added before, or delete it."""
    if not piece.version:
        pieces.delete(tx, piece)
        piece_hosts.forget(tx, piece.package)
        return
    pieces.change(
        tx, piece, state="added", wanted="", step=0, error="", stopping=False, holder=0, turn=piece.turn + 1,
        changed_at=now,
    )  # fmt: skip
    if piece.wanted not in {piece.version, *uses.pinned(tx, piece)}:
        pieces.forget_version(tx, piece, piece.wanted)


def clear_unconfirmed(service: Service, piece: Piece) -> None:
    """Remove from this machine's disk the version that is not wanted any more."""
    if piece.wanted and piece.wanted not in {piece.version, *uses.pinned(service.store, piece)}:
        packages.remove(Places(service.settings.data).package(piece.folder, piece.wanted))


def _check_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """``hosts`` in their stored form. Raises :class:`Invalid`."""
    cleaned = tuple(dict.fromkeys(host.strip().lower() for host in hosts if host.strip()))
    if len(cleaned) > MOST_HOSTS:
        raise Invalid.of("hosts", f"An integration may reach at most {MOST_HOSTS} hosts by name.")
    try:
        HostRules.of(*cleaned)
    except ValueError as error:
        raise Invalid.of("hosts", str(error)) from error
    return cleaned


def _fresh(wanted: Wanted, source: Source, now: int) -> Piece:
    return Piece(
        id=new_id("pc"),
        package=wanted.package,
        folder=packages.folder(wanted.package),
        source=source.kind,
        origin=str(source.path or ""),
        title=packages.title(wanted.package),
        summary="",
        version="",
        hidden=True,
        hosts=(),
        state="adding",
        wanted=wanted.version,
        step=1,
        error="",
        stopping=False,
        holder=0,
        turn=0,
        newest="",
        looked_at=0,
        added_at=now,
        changed_at=now,
    )


def show(service: Service, piece_id: str) -> Piece:
    """Show the integration to people. Raises :class:`webapp.errors.NotFound`, :class:`Conflict` before it is added."""
    return _changed(service, piece_id, "shown", "Showed the integration {} to people.", hidden=False)


def hide(service: Service, piece_id: str) -> Piece:
    """Hide it from lists; accounts and triggers continue to work."""
    return _changed(service, piece_id, "hidden", "Hid the integration {} from people.", hidden=True)


def set_hosts(service: Service, piece_id: str, hosts: Sequence[str]) -> Piece:
    """Let it reach only ``hosts``, from its next call on. Raises :class:`webapp.errors.Invalid`."""
    allowed = _check_hosts(hosts)
    reachable = ", ".join(allowed) or "nothing on the internet"
    return _changed(service, piece_id, "hosts_changed", f"Let the integration {{}} reach {reachable}.", hosts=allowed)


def allow(service: Service, piece_id: str, host: str) -> Piece:
    """Let it reach ``host``, too."""
    piece = pieces.get(service.store, piece_id)
    return set_hosts(service, piece_id, (*piece.hosts, host))


def used(service: Service, piece: Piece) -> Uses:
    """What ``piece`` is used for."""
    return uses.uses_of(service.store, map(pieces.contents_of, pieces.versions(service.store, piece.id)))


def remove(service: Service, piece_id: str, *, with_uses: bool = False) -> Piece:
    """Remove an integration with its actions and triggers.

    Raises :class:`Conflict` while it is being added, or while it is used, unless ``with_uses``: then its accounts,
    triggers and stores stay, and do nothing until it is added again.
    """
    piece = pieces.get(service.store, piece_id)
    if piece.state in ("adding", "writing"):
        raise Conflict(f"{piece.title} is being added just now; stop it first.")
    uses = used(service, piece)
    if uses.sentence and not with_uses:
        raise Conflict(
            f"{piece.title} is used by {uses.sentence}. They stay when it is removed, and do nothing until it is added "
            "again: disconnect and delete them first, or remove it with them as they are."
        )
    with service.store.write() as tx:
        pieces.delete(tx, piece)
        piece_hosts.forget(tx, piece.package)
        if not with_uses:
            piece_stores.forget(tx, piece.package)
        audit.write(
            tx, service.clock(), NOUN, piece.id, "removed", f"Removed the integration {piece.package}."
        )  # fmt: skip
    _clear_removed(service, piece)
    return piece


def _clear_removed(service: Service, piece: Piece) -> None:
    """Remove its files from this machine, and its parts from the catalog."""
    places = Places(service.settings.data)
    trial.remove(places.data, piece.package)
    packages.remove(places.versions(piece.folder))
    catalog_file.update(service)
    service.catalog.refresh()


def _changed(service: Service, piece_id: str, verb: str, sentence: str, **changes: object) -> Piece:
    now = service.clock()
    with service.store.write() as tx:
        piece = pieces.get(tx, piece_id)
        if not piece.version:
            raise Conflict(f"{piece.title} is not added yet.")
        pieces.change(tx, piece, changed_at=now, **changes)
        if "hosts" in changes:
            piece_hosts.forget(tx, piece.package, pieces.get(tx, piece_id).hosts)
        audit.write(tx, now, NOUN, piece.id, verb, sentence.format(piece.package))
    service.wake()
    return pieces.get(service.store, piece_id)
