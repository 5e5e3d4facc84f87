"""What a later request of an agent tells whoever still answers an earlier one (table ``agent_signals``).

The two may be in different processes, so that one writes a row and the other looks for it. Names are hashes, which
nobody can guess without the conversation. A signal counts for ten minutes.
"""

from collections.abc import Sequence

from webapp.kit.clock import MINUTE
from webapp.service.domain.base.service import Service

KEPT = 10 * MINUTE


def name_of(service: Service, parts: Sequence[str | int]) -> str:
    """The name of the signal about ``parts``, such as a conversation and the number of a request in it."""
    return service.keys.keyed_hash("agent-signals", "\x1f".join(f"{type(part).__name__}:{part}" for part in parts))


def send(service: Service, name: str, value: str) -> None:
    """Tell whoever looks for ``name`` the ``value``; the first one stands."""
    with service.store.write() as tx:
        tx.run(
            "INSERT INTO agent_signals (name, value, sent_at) VALUES (:name, :value, :now) "
            "ON CONFLICT (name) DO NOTHING",
            {"name": name, "value": value, "now": service.clock()},
        )


def look(service: Service, name: str) -> str | None:
    """What was told under ``name``, if anything."""
    row = service.store.one(
        "SELECT value FROM agent_signals WHERE name = :name AND sent_at > :limit",
        {"name": name, "limit": service.clock() - KEPT},
    )
    return str(row["value"]) if row else None


def purge(service: Service) -> int:
    """Forget what counts no more; how many there were."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM agent_signals WHERE sent_at <= :limit", {"limit": service.clock() - KEPT})
