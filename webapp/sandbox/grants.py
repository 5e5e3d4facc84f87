"""Grants, their authorization codes and their tokens, with the attributes that Authlib reads. Owns their tables.

Codes and tokens are stored only as SHA-256. A code or refresh token is used up by one conditional UPDATE, so of two
concurrent requests one succeeds; the other counts as a replay and revokes the grant (RFC 9700 section 4.14.2, RFC 6749
section 4.1.2). The protocol is left to ``oauth``, and so is most of what a grant's behaviour means.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from webapp.kit import crypto
from webapp.kit.clock import DAY, MINUTE, SECOND, Clock
from webapp.kit.crypto import hash_token
from webapp.sandbox.people import Person, find_person
from webapp.sandbox.store import Store

HOUR_SECONDS = 3600
SHORT_SECONDS = 60
CODE_LIFE = 5 * MINUTE
REFRESH_LIFE = 90 * DAY
GRANT_COLUMNS = (
    "g.id AS grant_id, g.client_id, g.person_id, g.scope AS granted, g.behaviour, g.created_at,"
    " g.exchanged_at, g.refreshed_at, g.revoked_at"
)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the sandbox treats a grant. ``access_seconds`` is the lifetime of access tokens; ``revokes`` ends the grant
    at its first refresh."""

    slug: str
    label: str
    words: str
    access_seconds: int = HOUR_SECONDS
    slow: bool = False
    revokes: bool = False
    trouble: bool = False


BEHAVIOURS = {
    behaviour.slug: behaviour
    for behaviour in (
        Behaviour("normal", "Normal", "Everything works."),
        Behaviour("slow", "Slow", "Tokens and the API answer after about 3 seconds.", slow=True),
        Behaviour("short-lived", "Short-lived", "Access ends after 60 seconds, and can be refreshed.", SHORT_SECONDS),
        Behaviour(
            "revoking",
            "Revoking",
            "Access ends after 60 seconds; the first refresh works, then the access is taken back.",
            SHORT_SECONDS,
            revokes=True,
        ),
        Behaviour("trouble", "Server trouble", "The API answers 503 to every request.", trouble=True),
    )
}
NORMAL = BEHAVIOURS["normal"]


def _behaviour_of(slug: str) -> Behaviour:
    """The behaviour with this name; the normal one for an unknown name."""
    return BEHAVIOURS.get(slug, NORMAL)


@dataclass(frozen=True, slots=True)
class Grant:
    """A person's consent, with the behaviour that was chosen for it. Times are epoch milliseconds."""

    id: str
    client_id: str
    person: Person
    scope: str
    behaviour: Behaviour
    created_at: int
    exchanged_at: int | None
    refreshed_at: int | None
    revoked_at: int | None


@dataclass(frozen=True, slots=True)
class Code:
    """An authorization code that may still be redeemed; the attribute names are those Authlib reads."""

    hash: str
    grant: Grant
    redirect_uri: str
    code_challenge: str
    code_challenge_method: str = "S256"

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.grant.scope


@dataclass(frozen=True, slots=True)
class Token:
    """An access or refresh token; the method names are those Authlib calls."""

    hash: str
    kind: str
    grant: Grant
    scope: str
    expired: bool

    def check_client(self, client: Any) -> bool:
        return bool(client.client_id == self.grant.client_id)

    def get_scope(self) -> str:
        return self.scope

    def is_expired(self) -> bool:
        return self.expired

    def is_revoked(self) -> bool:
        return self.grant.revoked_at is not None


class Grants:
    """The grants in ``store``, as of ``clock``."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def allow(
        self, code: str, client_id: str, person: Person, scope: str, behaviour: Behaviour, uri: str, challenge: str
    ) -> None:
        """Record a consent and its authorization ``code``, which is valid for five minutes."""
        now, grant_id = self._clock(), crypto.new_id("grant")
        row = {"id": grant_id, "client_id": client_id, "person_id": person.id, "scope": scope}
        pending = {"grant_id": grant_id, "redirect_uri": uri, "challenge": challenge, "expires_at": now + CODE_LIFE}
        with self._store.write() as db:
            db.table("grants").insert(row | {"behaviour": behaviour.slug, "created_at": now})
            db.table("codes").insert(pending | {"hash": hash_token(code)})

    def find_code(self, code: str, client_id: str) -> Code | None:
        """The code if it can be redeemed, or None. Using a code again revokes its grant."""
        row = self._one("codes", code)
        if row is None or row["client_id"] != client_id or row["expires_at"] <= self._clock():
            return None
        if row["used_at"] is not None:
            self.revoke(row["grant_id"], "The authorization code was used twice.")
            return None
        if row["revoked_at"] is not None:
            return None
        return Code(row["hash"], _grant(row), row["redirect_uri"], row["challenge"])

    def redeem(self, code: Code, token: Mapping[str, Any]) -> bool:
        """Exchange ``code`` for ``token``, a token response. Returns False if another request was first."""
        return self._exchange("codes", code.hash, code.grant, "exchanged_at", token)

    def find_access(self, token: str) -> Token | None:
        """The access token, even if it is expired or revoked, or None if it is unknown."""
        return self._token(token, "access")

    def find_refresh(self, token: str) -> Token | None:
        """The refresh token if it is valid, or None. Using one again after its rotation revokes its grant."""
        row = self._one("tokens", token)
        if row is None or row["kind"] != "refresh":
            return None
        if row["used_at"] is not None:
            self.revoke(row["grant_id"], "A refresh token was used twice.")
            return None
        refresh = self._of_row(row)
        return None if refresh.expired or refresh.is_revoked() else refresh

    def rotate(self, old: Token, token: Mapping[str, Any]) -> bool:
        """Replace the refresh token ``old`` with the pair in ``token``. Returns False if another request was first."""
        done = self._exchange("tokens", old.hash, old.grant, "refreshed_at", token)
        if done and old.grant.behaviour.revokes:
            self.revoke(old.grant.id, "This account takes access back after its first refresh.")
        return done

    def find_any(self, token: str) -> Token | None:
        """The access or refresh token, for revocation (RFC 7009 section 2.1), or None."""
        return self._token(token, "access") or self._token(token, "refresh")

    def revoke(self, grant_id: str, why: str) -> bool:
        """Revoke a grant with all its tokens. Returns False if it does not exist or is revoked already."""
        with self._store.write() as db:
            return self._end(db, grant_id, why)

    def set_behaviour(self, grant_id: str, behaviour: Behaviour) -> None:
        """Change a grant's behaviour from its next request on."""
        with self._store.write() as db:
            db.execute("UPDATE grants SET behaviour = ? WHERE id = ?", [behaviour.slug, grant_id])

    def live(self, client_id: str) -> list[Grant]:
        """The client's grants that are in use, newest first."""
        sql = f"""SELECT {GRANT_COLUMNS} FROM grants g WHERE client_id = ? AND exchanged_at IS NOT NULL
            AND revoked_at IS NULL ORDER BY created_at DESC, id"""  # noqa: S608 - a constant
        with self._store.read() as db:
            return [_grant(row) for row in db.query(sql, [client_id])]

    def _exchange(self, table: str, used: str, grant: Grant, stamp: str, token: Mapping[str, Any]) -> bool:
        now = self._clock()
        with self._store.write() as db:
            claim = f"UPDATE {table} SET used_at = ? WHERE hash = ? AND used_at IS NULL"  # noqa: S608
            if db.execute(claim, [now, used]).rowcount != 1:
                self._end(db, grant.id, "A code or refresh token was used twice.")
                return False
            db.execute(f"UPDATE grants SET {stamp} = ? WHERE id = ?", [now, grant.id])  # noqa: S608
            db.table("tokens").insert_all(_token_rows(grant, token, now))
            return True

    def _end(self, db: Database, grant_id: str, why: str) -> bool:
        sql = "UPDATE grants SET revoked_at = ?, revoked_why = ? WHERE id = ? AND revoked_at IS NULL"
        return db.execute(sql, [self._clock(), why, grant_id]).rowcount == 1

    def _token(self, token: str, kind: str) -> Token | None:
        row = self._one("tokens", token)
        return self._of_row(row) if row is not None and row["kind"] == kind else None

    def _of_row(self, row: dict[str, Any]) -> Token:
        return Token(row["hash"], row["kind"], _grant(row), row["scope"], row["expires_at"] <= self._clock())

    def _one(self, table: str, secret: str) -> dict[str, Any] | None:
        sql = f"SELECT t.*, {GRANT_COLUMNS} FROM {table} t JOIN grants g ON g.id = t.grant_id WHERE hash = ?"  # noqa: S608
        with self._store.read() as db:
            return next(iter(db.query(sql, [hash_token(secret)])), None)


def _token_rows(grant: Grant, token: Mapping[str, Any], now: int) -> list[dict[str, Any]]:
    access = {"kind": "access", "scope": token["scope"], "expires_at": now + token["expires_in"] * SECOND}
    refresh = {"kind": "refresh", "scope": grant.scope, "expires_at": now + REFRESH_LIFE}
    return [
        row | {"hash": hash_token(token[f"{row['kind']}_token"]), "grant_id": grant.id, "used_at": None}
        for row in (access, refresh)
    ]


def _grant(row: Mapping[str, Any]) -> Grant:
    person = find_person(row["person_id"])
    if person is None:
        raise LookupError(f"grant {row['grant_id']} belongs to nobody")
    return Grant(
        id=row["grant_id"],
        client_id=row["client_id"],
        person=person,
        scope=row["granted"],
        behaviour=_behaviour_of(row["behaviour"]),
        created_at=row["created_at"],
        exchanged_at=row["exchanged_at"],
        refreshed_at=row["refreshed_at"],
        revoked_at=row["revoked_at"],
    )
