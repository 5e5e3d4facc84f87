"""Link sessions (table ``link_sessions``): a top-level Connect Link page whose token left the URL for a cookie.

The cookie holds a secret of the session alone; here its hash stands beside the token's. A session ends with its
token, and is remembered as long as the token's row, so that a late visitor reads "expired" and not "unknown".
"""

import json
import secrets as random
from collections.abc import Mapping
from dataclasses import dataclass

from webapp.kit.ids import new_id
from webapp.kit.secrets import hash_token, same
from webapp.service.domain.access.tokens import ORIGINS_REMEMBERED, ConnectToken
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Row


@dataclass(frozen=True, slots=True)
class LinkSession:
    """One page: its id stands in the URL, its parameters are the link's own query."""

    id: str
    token_hash: str
    parameters: Mapping[str, str]
    expires_at: int


def create(service: Service, token: ConnectToken, parameters: Mapping[str, str]) -> tuple[LinkSession, str]:
    """A new session for ``token``, and the secret for its cookie."""
    secret = random.token_urlsafe(32)
    session = LinkSession(new_id("ls"), token.hash, dict(parameters), token.expires_at)
    with service.store.write() as tx:
        tx.run(
            "INSERT INTO link_sessions (id, secret_hash, token_hash, parameters, created_at, expires_at) "
            "VALUES (:id, :secret, :token, :parameters, :now, :expires)",
            {
                "id": session.id,
                "secret": hash_token(secret),
                "token": token.hash,
                "parameters": json.dumps(session.parameters),
                "now": service.clock(),
                "expires": session.expires_at,
            },
        )
    return session, secret


def find(reader: Reader, session_id: str, secret: str | None) -> LinkSession | None:
    """The session ``session_id``, when ``secret`` is its own; whether its token still lives is for others to ask."""
    row = reader.one("SELECT * FROM link_sessions WHERE id = :id", {"id": session_id})
    if row is None or secret is None or not same(row["secret_hash"], hash_token(secret)):
        return None
    return _session(row)


def by_id(reader: Reader, session_id: str) -> LinkSession | None:
    """The session ``session_id``, for those who came from it; what it shows still asks for its cookie."""
    row = reader.one("SELECT * FROM link_sessions WHERE id = :id", {"id": session_id})
    return _session(row) if row else None


def purge(service: Service) -> int:
    """Forget sessions that ended more than 7 days ago; how many there were."""
    with service.store.write() as tx:
        limit = {"limit": service.clock() - ORIGINS_REMEMBERED}
        return tx.run("DELETE FROM link_sessions WHERE expires_at < :limit", limit)


def _session(row: Row) -> LinkSession:
    return LinkSession(row["id"], row["token_hash"], json.loads(row["parameters"]), row["expires_at"])
