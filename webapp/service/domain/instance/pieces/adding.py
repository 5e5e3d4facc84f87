"""Adding an integration from an npm package: asked for, confirmed, or stopped. The worker does it (:mod:`steps`).

It is found, brought to the disk, and tried, shut in. Then it waits until an owner has seen what it adds and what it may
reach: nothing is in the catalog before that. Another version of one that is there goes the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from webapp import audit
from webapp.errors import Conflict, Invalid
from webapp.kit.crypto import new_id
from webapp.service.components.pieces import node
from webapp.service.domain.base import piece_reach
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import rows, uses
from webapp.service.domain.instance.pieces.rows import Origin, Piece
from webapp.service.outbound.urls import HostRules
from webapp.service.pieces import fetch, packages, tarballs
from webapp.service.pieces.packages import Places, Wanted
from webapp.store.contract import Tx

MOST_HOSTS = 100
NOUN = "integration"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a package comes from: the registry, a tarball, a folder of tarballs (``offline``), an author's folder."""

    kind: Origin = "registry"
    path: Path | None = None


REGISTRY = Source()


def begin(service: Service, name: str, version: str = "", source: Source = REGISTRY) -> Piece:
    """Begin to add the integration ``name``, or to bring another version of it; the newest one unless told.

    Raises :class:`Invalid`, and :class:`Conflict` without Node, or while it is being added.
    """
    if node.find() is None:
        raise Conflict(node.MISSING)
    wanted = packages.parse(f"{name}@{version}" if version else name)
    now = service.clock()
    with service.store.write() as tx:
        standing = rows.of_package(tx, wanted.package)
        changes = {
            "state": "adding", "wanted": wanted.version, "step": 1, "error": "", "stopping": False, "holder": 0,
            "source": source.kind, "origin": str(source.path or ""), "changed_at": now,
        }  # fmt: skip
        if standing is None:
            piece = _fresh(wanted, source, now)
            rows.insert(tx, piece)
        elif standing.state in ("adding", "writing"):
            raise Conflict(f"{standing.title} is being added just now; wait for it, or stop it.")
        else:
            piece = standing
            rows.change(tx, piece, turn=piece.turn + 1, **changes)
        what = f"{wanted.package} {wanted.version}".rstrip()
        audit.write(tx, now, NOUN, piece.id, "looked_at", f"Began to bring the integration {what}.")
    service.wake()
    return rows.get(service.store, piece.id)


def named_by(source: Source, most_mb: int) -> str:
    """The name of the package that a tarball or an author's folder holds. Raises :class:`Invalid`."""
    path = source.path
    if path is None or not path.exists():
        raise Invalid(f"There is nothing at {path}.")
    if source.kind == "tarball":
        return str(tarballs.manifest(tarballs.read(path, most_mb), path.name)["name"])
    return str(fetch.read_manifest(path)["name"])


def confirm(
    service: Service, piece_id: str, hosts: Sequence[str], *, shown: bool = False, version: str | None = None
) -> Piece:
    """Add what was brought, let it reach ``hosts``, and show it to people where it is to be ``shown``.

    ``version`` is the one that was looked at. Raises :class:`Conflict` unless it waits for that, where another version
    waits by now, or where a trigger needs a later one; :class:`Invalid` for what is no host.
    """
    allowed = check_hosts(hosts)
    with service.store.write() as tx:
        piece = rows.get(tx, piece_id)
        if piece.state != "ready":
            raise Conflict(f"{piece.title} does not wait to be added.")
        if version is not None and version != piece.wanted:
            raise Conflict(f"Version {piece.wanted} was brought meanwhile; look at it before you add it.")
        _refuse_older(tx, piece)
        now = service.clock()
        hidden = not shown if not piece.version else piece.hidden and not shown
        changed = {"state": "writing", "step": 4, "hosts": allowed, "hidden": hidden, "changed_at": now}
        rows.change(tx, piece, **changed)
        piece_reach.forget(tx, piece.package, allowed)
        told = ", ".join(allowed) or "nothing on the internet"
        sentence = f"Added the integration {piece.package} {piece.wanted}; it may reach {told}."
        audit.write(tx, now, NOUN, piece.id, "added", sentence)
    service.wake()
    return rows.get(service.store, piece_id)


def _refuse_older(tx: Tx, piece: Piece) -> None:
    """Raise :class:`Conflict` where a trigger is deployed on a later version, which new calls would then go on with."""
    later = [number for number in uses.pinned(tx, piece) if packages.newer(number, piece.wanted)]
    if later:
        raise Conflict(f"A trigger is deployed on {later[0]}, which is newer. Delete it, then go back.")


def stop(service: Service, piece_id: str) -> None:
    """Give up what is being brought, or put away why it failed; what was added before stays.

    Raises :class:`Conflict` where nothing is under way.
    """
    with service.store.write() as tx:
        piece = rows.get(tx, piece_id)
        if piece.state == "added":
            raise Conflict(f"{piece.title} is not being added.")
        if piece.holder:
            rows.change(tx, piece, stopping=True)
        else:
            undo(tx, piece, service.clock())
        audit.write(
            tx, service.clock(), NOUN, piece.id, "stopped", f"Stopped to bring the integration {piece.package}."
        )
    if not piece.holder:
        clear(service, piece)
    service.wake()


def undo(tx: Tx, piece: Piece, now: int) -> None:
    """Bring the row to what it was before: as it was added, or gone."""
    if not piece.version:
        rows.delete(tx, piece)
        piece_reach.forget(tx, piece.package)
        return
    rows.change(
        tx, piece, state="added", wanted="", step=0, error="", stopping=False, holder=0, turn=piece.turn + 1,
        changed_at=now,
    )  # fmt: skip
    if piece.wanted not in {piece.version, *uses.pinned(tx, piece)}:
        rows.forget_version(tx, piece, piece.wanted)


def clear(service: Service, piece: Piece) -> None:
    """Remove from this machine's disk the version that is not wanted any more."""
    if piece.wanted and piece.wanted not in {piece.version, *uses.pinned(service.store, piece)}:
        packages.remove(Places(service.settings.data).package(piece.folder, piece.wanted))


def check_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """``hosts`` as they are kept. Raises :class:`Invalid`."""
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
