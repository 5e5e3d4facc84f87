"""Access tokens that were refused because they had expired (table ``ended_access_tokens``).

They are signed, not stored, so that only what was refused needs a row: a clock that is set back revives none of them.
"""

from contextlib import suppress

from webapp.errors import Unavailable
from webapp.kit.clock import DAY
from webapp.kit.secrets import hash_token
from webapp.service.domain.base.service import Service

REMEMBERED = 30 * DAY


def has_ended(service: Service, token: str) -> bool:
    """Whether ``token`` was refused as expired before."""
    sql = "SELECT 1 FROM ended_access_tokens WHERE token_hash = :hash"
    return service.store.one(sql, {"hash": hash_token(token)}) is not None


def end(service: Service, token: str) -> None:
    """Remember that ``token`` has expired. It is refused either way, so a store that is busy does not matter."""
    if has_ended(service, token):
        return
    sql = "INSERT INTO ended_access_tokens (token_hash, ended_at) VALUES (:hash, :now) ON CONFLICT DO NOTHING"
    with suppress(Unavailable), service.store.write() as tx:
        tx.run(sql, {"hash": hash_token(token), "now": service.clock()})


def purge(service: Service) -> int:
    """Forget those that ended more than 30 days ago; how many there were."""
    limit = {"limit": service.clock() - REMEMBERED}
    if service.store.one("SELECT 1 FROM ended_access_tokens WHERE ended_at < :limit LIMIT 1", limit) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("DELETE FROM ended_access_tokens WHERE ended_at < :limit", limit)
