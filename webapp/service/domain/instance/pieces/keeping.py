"""Changing and removing what was added: whether people see it, what it may reach, and that it goes."""

from collections.abc import Sequence

from webapp import audit
from webapp.errors import Conflict
from webapp.service.domain.base import piece_reach
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import piece_stores
from webapp.service.domain.instance import opening
from webapp.service.domain.instance.pieces import adding, contents, rows, trying, uses
from webapp.service.domain.instance.pieces.rows import Piece
from webapp.service.domain.instance.pieces.uses import Uses
from webapp.service.pieces import packages
from webapp.service.pieces.packages import Places


def show(service: Service, piece_id: str) -> Piece:
    """Show the integration to people. Raises :class:`webapp.errors.NotFound`, :class:`Conflict` before it is added."""
    return _changed(service, piece_id, "shown", "Showed the integration {} to people.", hidden=False)


def hide(service: Service, piece_id: str) -> Piece:
    """Show it in no list any more; what is connected and deployed goes on."""
    return _changed(service, piece_id, "hidden", "Hid the integration {} from people.", hidden=True)


def set_hosts(service: Service, piece_id: str, hosts: Sequence[str]) -> Piece:
    """Let it reach ``hosts`` and nothing else, from its next call on. Raises :class:`webapp.errors.Invalid`."""
    allowed = adding.check_hosts(hosts)
    told = ", ".join(allowed) or "nothing on the internet"
    return _changed(service, piece_id, "hosts_changed", f"Let the integration {{}} reach {told}.", hosts=allowed)


def allow(service: Service, piece_id: str, host: str) -> Piece:
    """Let it reach ``host``, too."""
    piece = rows.get(service.store, piece_id)
    return set_hosts(service, piece_id, (*piece.hosts, host))


def used(service: Service, piece: Piece) -> Uses:
    """What ``piece`` is used for."""
    return uses.of(service.store, map(contents.of, rows.versions(service.store, piece.id)))


def remove(service: Service, piece_id: str, *, with_uses: bool = False) -> Piece:
    """Remove an integration with its actions and triggers.

    Raises :class:`Conflict` while it is used, unless ``with_uses``: its accounts and triggers, and what it keeps for
    users, stay then and do nothing until it is added again; or while it is being added.
    """
    piece = rows.get(service.store, piece_id)
    if piece.state in ("adding", "writing"):
        raise Conflict(f"{piece.title} is being added just now; stop it first.")
    told = used(service, piece)
    if told.sentence and not with_uses:
        raise Conflict(
            f"{piece.title} is used by {told.sentence}. They stay when it is removed, and do nothing until it is added "
            "again: disconnect and delete them first, or remove it with them as they are."
        )
    with service.store.write() as tx:
        rows.delete(tx, piece)
        piece_reach.forget(tx, piece.package)
        if not with_uses:
            piece_stores.forget(tx, piece.package)
        audit.write(
            tx, service.clock(), adding.NOUN, piece.id, "removed", f"Removed the integration {piece.package}."
        )  # fmt: skip
    clear(service, piece)
    return piece


def clear(service: Service, piece: Piece) -> None:
    """Remove its files from this machine, and its parts from the catalog."""
    places = Places(service.settings.data)
    trying.remove(places.data, piece.package)
    packages.remove(places.versions(piece.folder))
    opening.update_catalog(service)
    service.catalog.refresh()


def _changed(service: Service, piece_id: str, verb: str, sentence: str, **changes: object) -> Piece:
    now = service.clock()
    with service.store.write() as tx:
        piece = rows.get(tx, piece_id)
        if not piece.version:
            raise Conflict(f"{piece.title} is not added yet.")
        rows.change(tx, piece, changed_at=now, **changes)
        if "hosts" in changes:
            piece_reach.forget(tx, piece.package, rows.get(tx, piece_id).hosts)
        audit.write(tx, now, adding.NOUN, piece.id, verb, sentence.format(piece.package))
    service.wake()
    return rows.get(service.store, piece_id)
