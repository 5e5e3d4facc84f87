"""The tokens of agents: access tokens, and refresh tokens that work once. This module owns ``agent_tokens``.

A refresh token that is used twice has been stolen, by its first or its second user, so the grant ends with all its
tokens (RFC 9700 section 4.14). Tokens are stored as their SHA-256.
"""

import secrets
from dataclasses import dataclass, field
from typing import Literal

from webapp.kit.clock import DAY, HOUR, SECOND
from webapp.kit.crypto import hash_token
from webapp.people.agents import grants
from webapp.people.agents.grants import Grant
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

ACCESS, REFRESH = "mcpa_", "mcpr_"
ACCESS_LIVES, REFRESH_LIVES = HOUR, 30 * DAY
LONGEST = 365 * DAY
"""However often it is used, the person is asked again after a year."""


@dataclass(frozen=True, slots=True)
class _StoredToken:
    token_hash: str = field(repr=False)
    grant_id: str
    kind: Literal["access", "refresh"]
    used: bool
    expires_at: int


@dataclass(frozen=True, slots=True)
class TokenPair:
    """What a token response contains; ``expires_in`` is in seconds."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    expires_in: int


_TOKENS = Table("agent_tokens", _StoredToken, key="token_hash")


def exchange_code(
    store: Store, now: int, *, code: str, client_id: str, redirect_uri: str | None, verifier: str
) -> TokenPair | None:
    """The first tokens of a grant; None for a code that does not fit. A code that is used twice ends its grant."""
    with store.write() as tx:
        grant = grants.by_code(tx, code)
        if grant is None or grant.client_id != client_id:
            return None
        if not grant.exchanged:
            fits = grant.expires_at > now and redirect_uri in (None, grant.redirect_uri)
            if not (fits and grants.proves(grant, verifier)):
                return None
        if not grants.use_code(tx, grant):
            grants.end(tx, now, grant.id, "A code of an agent came twice, so its access was ended.")
            return None
        return _issue(tx, now, grant)


def exchange_refresh(store: Store, now: int, *, token: str, client_id: str) -> TokenPair | None:
    """New tokens for a refresh token; None for one that does not fit. One that is used twice ends its grant."""
    with store.write() as tx:
        stored, grant = _find(tx, token, REFRESH)
        if stored is None or grant is None or grant.client_id != client_id:
            return None
        if stored.expires_at <= now:
            return None
        sql = "UPDATE agent_tokens SET used = 1 WHERE token_hash = :hash AND used = 0"
        if not tx.run(sql, {"hash": stored.token_hash}):
            grants.end(tx, now, grant.id, "A refresh token of an agent came twice, so its access was ended.")
            return None
        return _issue(tx, now, grant)


def grant_of(reader: Reader, token: str, now: int) -> Grant | None:
    """The grant of an access token; None if the token has expired or does not exist."""
    stored, grant = _find(reader, token, ACCESS)
    return grant if stored is not None and stored.expires_at > now else None


def revoke(store: Store, now: int, *, token: str, client_id: str) -> bool:
    """End the grant of an access or refresh token (RFC 7009); return whether there was one."""
    with store.write() as tx:
        for prefix in (ACCESS, REFRESH):
            _stored, grant = _find(tx, token, prefix)
            if grant is not None and grant.client_id == client_id:
                return grants.end(tx, now, grant.id, "An agent signed out.")
    return False


def purge(store: Store, now: int) -> int:
    """Delete expired tokens; return their number. A used refresh token is kept until it expires."""
    with store.write() as tx:
        return tx.run("DELETE FROM agent_tokens WHERE expires_at <= :now", {"now": now})


def _find(reader: Reader, token: str, prefix: str) -> tuple[_StoredToken | None, Grant | None]:
    if not token.startswith(prefix):
        return None, None
    stored = _TOKENS.get(reader, hash_token(token))
    return stored, grants.get(reader, stored.grant_id) if stored else None


def _issue(tx: Tx, now: int, grant: Grant) -> TokenPair:
    access, refresh = ACCESS + secrets.token_urlsafe(32), REFRESH + secrets.token_urlsafe(32)
    expires_at = min(now + REFRESH_LIVES, grant.created_at + LONGEST)
    _TOKENS.insert(tx, _StoredToken(hash_token(access), grant.id, "access", False, now + ACCESS_LIVES))
    _TOKENS.insert(tx, _StoredToken(hash_token(refresh), grant.id, "refresh", False, expires_at))
    grants.prolong(tx, grant, expires_at)
    return TokenPair(access, refresh, ACCESS_LIVES // SECOND)
