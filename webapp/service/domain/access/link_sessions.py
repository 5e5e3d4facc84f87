"""Link sessions (table ``link_sessions``): a Connect Link page whose token left the URL.

A top-level page holds the secret of its session in a cookie, a page inside a portal, which has none, in its address;
here its hash stands beside the token's. A session ends with its token, and is remembered as long as the token's row, so
that a late visitor reads "expired" and not "unknown".
"""

import secrets as random
from collections.abc import Mapping
from dataclasses import dataclass, field

from webapp.kit.crypto import hash_token, new_id, same
from webapp.service.domain.access.origins import REMEMBERED
from webapp.service.domain.access.tokens import ConnectToken
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader
from webapp.store.table import Table

SUCCESS, FAILURE = "successRedirectUri", "errorRedirectUri"


@dataclass(frozen=True, slots=True)
class LinkSession:
    """One page: its id stands in the URL, its parameters are the link's own query; those of a portal's page also hold
    where it leads afterwards (:data:`SUCCESS`, :data:`FAILURE`)."""

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
    """The session ``session_id``, for those who came from it; what it shows still asks for its cookie."""
    return _SESSIONS.get(reader, session_id)


def purge(service: Service) -> int:
    """Forget sessions that ended more than 7 days ago; how many there were."""
    with service.store.write() as tx:
        limit = {"limit": service.clock() - REMEMBERED}
        return tx.run("DELETE FROM link_sessions WHERE expires_at < :limit", limit)
