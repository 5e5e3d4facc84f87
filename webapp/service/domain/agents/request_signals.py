"""Signals from a later request of an agent to an earlier one that is still being answered (table ``agent_signals``).

The two requests may be in different processes, so one writes a row and the other polls for it. Names are keyed hashes,
which cannot be guessed. A signal is valid for ten minutes.
"""

from collections.abc import Sequence

from webapp.kit.clock import MINUTE
from webapp.service.domain.base.service import Service

KEPT = 10 * MINUTE


def name_of(service: Service, parts: Sequence[str | int]) -> str:
    """The name of the signal about ``parts``, such as a conversation and the number of a request in it."""
    return service.keys.keyed_hash("agent-signals", "\x1f".join(f"{type(part).__name__}:{part}" for part in parts))


def send(service: Service, name: str, value: str) -> None:
    """Store ``value`` under ``name``, unless it has a value already."""
    with service.store.write() as tx:
        tx.run(
            "INSERT INTO agent_signals (name, value, sent_at) VALUES (:name, :value, :now) "
            "ON CONFLICT (name) DO NOTHING",
            {"name": name, "value": value, "now": service.clock()},
        )


def look(service: Service, name: str) -> str | None:
    """The value stored under ``name`` in the last ten minutes, or None."""
    row = service.store.one(
        "SELECT value FROM agent_signals WHERE name = :name AND sent_at > :limit",
        {"name": name, "limit": service.clock() - KEPT},
    )
    return str(row["value"]) if row else None


def purge(service: Service) -> int:
    """Delete expired signals, and return their number."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM agent_signals WHERE sent_at <= :limit", {"limit": service.clock() - KEPT})
