"""Connect tokens that agents have sent (table ``agent_bearers``): none of them answers an agent's call.

Each is remembered, since an agent may hold several. It is forgotten long after it has ended.
"""

from webapp.kit.clock import DAY
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Tx

KEPT = 7 * DAY


def note(tx: Tx, token_hash: str, now: int) -> None:
    """An agent has sent the Connect token with that hash; "" for an agent that came in without one."""
    if token_hash:
        sql = (
            "INSERT INTO agent_bearers (token_hash, noted_at) VALUES (:hash, :now) ON CONFLICT (token_hash) DO NOTHING"
        )
        tx.run(sql, {"hash": token_hash, "now": now})


def is_agents(reader: Reader, token_hash: str) -> bool:
    """Whether an agent has sent the Connect token with that hash."""
    return bool(reader.tuples("SELECT 1 FROM agent_bearers WHERE token_hash = :hash", {"hash": token_hash}))


def purge(service: Service) -> int:
    """Forget tokens that have ended long ago; how many there were."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM agent_bearers WHERE noted_at < :limit", {"limit": service.clock() - KEPT})
