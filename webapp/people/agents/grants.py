"""Grants: a person allows an agent to act for them in one project and environment. This module owns
``agent_grants``.

A grant begins with an authorization code, which the agent exchanges once, within two minutes, with the verifier of its
challenge (RFC 7636, S256). If a code is used twice, the grant ends with all its tokens (RFC 6749 section 4.1.2). Codes
are stored as their SHA-256.
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
    """One grant, with times in epoch milliseconds.

    ``expires_at`` is when its code expires, later its last refresh token.
    """

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
    """What a person agreed to: the agent, the person and place that it acts for, and its redirect URI and challenge."""

    client: AgentClient
    user_id: str
    project_id: str
    environment: str
    redirect_uri: str
    challenge: str


_GRANTS = Table("agent_grants", Grant)


def begin(store: Store, now: int, consent: Consent) -> str:
    """Store a consent and return its authorization code, which is not stored."""
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
    """The grant of an authorization code, exchanged or not; None if there is none."""
    return _GRANTS.one(reader, "code_hash = :hash", {"hash": hash_token(code)}) if code.startswith(CODE) else None


def get(reader: Reader, grant_id: str) -> Grant | None:
    """The grant with that id; None if it has ended."""
    return _GRANTS.get(reader, grant_id)


def proves(grant: Grant, verifier: str) -> bool:
    """Whether ``verifier`` matches the grant's challenge (RFC 7636 section 4.6)."""
    if not 43 <= len(verifier) <= 128 or not verifier.isascii():
        return False
    digest = hashlib.sha256(verifier.encode()).digest()
    return same(base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), grant.challenge)


def use_code(tx: Tx, grant: Grant) -> bool:
    """Mark the code of a grant as used; return whether it was unused."""
    return bool(tx.run("UPDATE agent_grants SET exchanged = 1 WHERE id = :id AND exchanged = 0", {"id": grant.id}))


def prolong(tx: Tx, grant: Grant, expires_at: int) -> None:
    """Extend the grant to ``expires_at``, when its new refresh token expires."""
    _GRANTS.update(tx, grant.id, expires_at=expires_at)


def end(tx: Tx, now: int, grant_id: str, sentence: str) -> bool:
    """End a grant with all its tokens, and log ``sentence``; return whether it existed."""
    grant = get(tx, grant_id)
    if grant is None:
        return False
    _GRANTS.delete(tx, grant.id)
    _note(tx, now, grant, "ended", f"{sentence} (“{grant.client_name}”)")
    return True


def end_all(tx: Tx, now: int, user_id: str, sentence: str) -> None:
    """End all grants of a person, and log ``sentence`` for each."""
    for grant in _GRANTS.all(tx, "user_id = :user", {"user": user_id}):
        end(tx, now, grant.id, sentence)


def purge(store: Store, now: int) -> int:
    """Delete grants whose last token has expired; return their number."""
    with store.write() as tx:
        return tx.run("DELETE FROM agent_grants WHERE expires_at <= :now", {"now": now})


def _note(tx: Tx, now: int, grant: Grant, verb: str, sentence: str) -> None:
    where = {"project": grant.project_id, "environment": grant.environment}
    audit.write(tx, now, "agent", grant.id, verb, sentence, **where)
