"""Link sessions (table ``link_sessions``): pages of the Connect Link whose token has left the URL.

A top-level page has the secret of its session in a cookie; a page inside a portal, which has none, in its address. The
secret's hash is stored with the token's. A session ends with its token, and is kept as long as the token's row, so that
a late visitor reads "expired" and not "unknown".
"""

import secrets as random
from collections.abc import Mapping
from dataclasses import dataclass, field

from webapp.connect_token_facts import REMEMBERED_S
from webapp.kit.clock import SECOND
from webapp.kit.crypto import hash_token, new_id, same
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader
from webapp.store.table import Table

SUCCESS, FAILURE = "successRedirectUri", "errorRedirectUri"


@dataclass(frozen=True, slots=True)
class LinkSession:
    """One page: its id is in the URL, its parameters are the link's query.

    A portal's page has also the addresses that it leads to afterwards (:data:`SUCCESS`, :data:`FAILURE`).
    """

    id: str
    secret_hash: str = field(repr=False)
    token_hash: str
    parameters: Mapping[str, str]
    created_at: int
    expires_at: int

    @property
    def of_portal(self) -> bool:
        """Whether it is one of the many connections of a portal, which do not use the token's link up."""
        return SUCCESS in self.parameters


_SESSIONS = Table("link_sessions", LinkSession)


def create(service: Service, token: ConnectToken, parameters: Mapping[str, str]) -> tuple[LinkSession, str]:
    """A new session for ``token``, and the secret for its cookie."""
    secret = random.token_urlsafe(32)
    facts = (dict(parameters), service.clock(), token.expires_at)
    session = LinkSession(new_id("ls"), hash_token(secret), token.token_hash, *facts)
    with service.store.write() as tx:
        _SESSIONS.insert(tx, session)
    return session, secret


def find(reader: Reader, session_id: str, secret: str | None) -> LinkSession | None:
    """The session ``session_id``, when ``secret`` is its own; whether its token still lives is for others to ask."""
    session = by_id(reader, session_id)
    if session is None or secret is None or not same(session.secret_hash, hash_token(secret)):
        return None
    return session


def by_id(reader: Reader, session_id: str) -> LinkSession | None:
    """The session ``session_id``, without a check of its secret: to show its page, the cookie is needed."""
    return _SESSIONS.get(reader, session_id)


def purge(service: Service) -> int:
    """Forget sessions that ended more than 7 days ago; how many there were."""
    with service.store.write() as tx:
        limit = {"limit": service.clock() - REMEMBERED_S * SECOND}
        return tx.run("DELETE FROM link_sessions WHERE expires_at < :limit", limit)
