"""That a person lets an agent act for them, in one project and environment. This module owns ``agent_grants``.

A grant begins with a code, which the agent exchanges once, within two minutes, and with the verifier of its challenge
(RFC 7636, S256). A code that comes twice ends the grant with all its tokens (RFC 6749 section 4.1.2). Codes are kept as
their SHA-256.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field

from webapp import audit
from webapp.kit.clock import MINUTE
from webapp.kit.crypto import hash_token, new_id, same
from webapp.people.agents import clients
from webapp.people.agents.clients import AgentClient
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

CODE = "mcpc_"
CODE_LIVES = 2 * MINUTE


@dataclass(frozen=True, slots=True)
class Grant:
    """One grant. Times are epoch milliseconds; ``expires_at`` is that of its code, then of its last refresh token."""

    id: str
    user_id: str
    project_id: str
    environment: str
    client_id: str
    client_name: str
    redirect_uri: str
    code_hash: str = field(repr=False)
    challenge: str
    exchanged: bool
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class Consent:
    """What a person agrees to: which agent acts for whom and where, and how it is told."""

    client: AgentClient
    user_id: str
    project_id: str
    environment: str
    redirect_uri: str
    challenge: str


_GRANTS = Table("agent_grants", Grant)


def begin(store: Store, now: int, consent: Consent) -> str:
    """Keep that a person agreed; the code, which exists nowhere else."""
    code = CODE + secrets.token_urlsafe(32)
    grant = Grant(
        id=new_id("grant"),
        user_id=consent.user_id,
        project_id=consent.project_id,
        environment=consent.environment,
        client_id=consent.client.id,
        client_name=consent.client.name,
        redirect_uri=consent.redirect_uri,
        code_hash=hash_token(code),
        challenge=consent.challenge,
        exchanged=False,
        created_at=now,
        expires_at=now + CODE_LIVES,
    )
    with store.write() as tx:
        _GRANTS.insert(tx, grant)
        clients.used(tx, grant.client_id, now)
        _note(tx, now, grant, "allowed", f"Let the agent “{grant.client_name}” act for a person.")
    return code


def by_code(reader: Reader, code: str) -> Grant | None:
    """The grant that the code is of, exchanged or not."""
    return _GRANTS.one(reader, "code_hash = :hash", {"hash": hash_token(code)}) if code.startswith(CODE) else None


def get(reader: Reader, grant_id: str) -> Grant | None:
    """The grant of that id, while it stands."""
    return _GRANTS.get(reader, grant_id)


def proves(grant: Grant, verifier: str) -> bool:
    """Whether ``verifier`` is what the grant's challenge was made of (RFC 7636 section 4.6)."""
    if not 43 <= len(verifier) <= 128 or not verifier.isascii():
        return False
    digest = hashlib.sha256(verifier.encode()).digest()
    return same(base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), grant.challenge)


def use_code(tx: Tx, grant: Grant) -> bool:
    """Use the code of a grant up; whether it was unused."""
    return bool(tx.run("UPDATE agent_grants SET exchanged = 1 WHERE id = :id AND exchanged = 0", {"id": grant.id}))


def prolong(tx: Tx, grant: Grant, expires_at: int) -> None:
    """The agent got a refresh token that lasts until ``expires_at``."""
    _GRANTS.update(tx, grant.id, expires_at=expires_at)


def end(tx: Tx, now: int, grant_id: str, sentence: str) -> bool:
    """End a grant with all its tokens; whether it still stood."""
    grant = get(tx, grant_id)
    if grant is None:
        return False
    _GRANTS.delete(tx, grant.id)
    _note(tx, now, grant, "ended", f"{sentence} (“{grant.client_name}”)")
    return True


def end_all(tx: Tx, now: int, user_id: str, sentence: str) -> None:
    """End every grant of a person."""
    for grant in _GRANTS.all(tx, "user_id = :user", {"user": user_id}):
        end(tx, now, grant.id, sentence)


def purge(store: Store, now: int) -> int:
    """Forget grants whose last token is over; how many there were."""
    with store.write() as tx:
        return tx.run("DELETE FROM agent_grants WHERE expires_at <= :now", {"now": now})


def _note(tx: Tx, now: int, grant: Grant, verb: str, sentence: str) -> None:
    where = {"project": grant.project_id, "environment": grant.environment}
    audit.write(tx, now, "agent", grant.id, verb, sentence, **where)
