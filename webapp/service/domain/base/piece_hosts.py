"""The hosts that an integration may reach, and those that were refused (table ``piece_refused_hosts``).

Its owner allows hosts. The last few refused ones are kept, so that the owner can allow them.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from webapp.errors import Unavailable
from webapp.kit.clock import MINUTE
from webapp.kit.crypto import hash_token
from webapp.service.components.calls import Call, Reply
from webapp.service.components.errors import LoadError
from webapp.service.components.pieces import form
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Tx

MAX_KEPT = 20
MAX_LENGTH = 260


@dataclass(frozen=True, slots=True)
class RefusedHost:
    """A host, and when it was refused last (epoch milliseconds)."""

    host: str
    seen_at: int


def call(service: Service, request: Call) -> Reply:
    """Call a component of an integration with the hosts that its owner allowed, and record those that were refused.

    The key of the external user, by which processes are kept apart, reveals nothing of the user to the integration.
    """
    user = hash_token(request.user) if request.user else ""
    reply = service.executor.call(replace(request, user=user, hosts=hosts(service, request.path)))
    note(service, request.path, reply.refused_hosts)
    return reply


def hosts(service: Service, path: str) -> tuple[str, ...]:
    """The hosts that the component at ``path`` may reach; none if it belongs to no integration."""
    package = package_of(path)
    return of_package(service.store, package) if package else ()


def of_package(reader: Reader, package: str) -> tuple[str, ...]:
    """The hosts that the integration of the npm package may reach."""
    rows = reader.tuples("SELECT hosts FROM pieces WHERE package = :package", {"package": package})
    return tuple(orjson.loads(rows[0][0])) if rows else ()


def note(service: Service, path: str, refused: Sequence[str]) -> None:
    """Remember that the component at ``path`` asked for hosts that it may not reach."""
    package = package_of(path) if refused else ""
    if package:
        note_of(service, package, refused)


def note_of(service: Service, package: str, refused: Sequence[str]) -> None:
    """Record hosts that the integration of the npm package was refused.

    Hosts recorded within the last minute are skipped. A busy store does not fail the call.
    """
    now = service.clock()
    known = {each.host: each.seen_at for each in refused_of(service.store, package)}
    fresh = [host for host in dict.fromkeys(refused) if len(host) <= MAX_LENGTH and now - known.get(host, 0) >= MINUTE]
    if not fresh:
        return
    with suppress(Unavailable), service.store.write() as tx:
        for host in fresh[:MAX_KEPT]:
            tx.run(
                "INSERT INTO piece_refused_hosts (package, host, seen_at) VALUES (:package, :host, :now) "
                "ON CONFLICT (package, host) DO UPDATE SET seen_at = excluded.seen_at",
                {"package": package, "host": host, "now": now},
            )
        tx.run(
            "DELETE FROM piece_refused_hosts WHERE package = :package AND host NOT IN (SELECT host FROM "
            "piece_refused_hosts WHERE package = :package ORDER BY seen_at DESC, host LIMIT :kept)",
            {"package": package, "kept": MAX_KEPT},
        )


def refused_of(reader: Reader, package: str) -> list[RefusedHost]:
    """The hosts that the integration of that npm package was refused, the latest first."""
    sql = "SELECT host, seen_at FROM piece_refused_hosts WHERE package = :package ORDER BY seen_at DESC, host"
    return [RefusedHost(row["host"], row["seen_at"]) for row in reader.all(sql, {"package": package})]


def forget(tx: Tx, package: str, hosts: Sequence[str] | None = None) -> None:
    """Forget that these hosts were refused, or all of them."""
    if hosts is None:
        tx.run("DELETE FROM piece_refused_hosts WHERE package = :package", {"package": package})
        return
    for host in hosts:
        params = {"package": package, "host": host}
        tx.run("DELETE FROM piece_refused_hosts WHERE package = :package AND host = :host", params)


def package_of(path: str) -> str:
    """The npm package of the component at ``path``; "" for one that is no piece's."""
    if not form.is_piece(path):
        return ""
    try:
        return form.read(Path(path)).piece.package
    except LoadError:  # which the call itself tells
        return ""
