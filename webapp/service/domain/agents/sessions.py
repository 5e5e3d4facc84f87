"""Sessions of agents that act for an external user (table ``agent_sessions``).

An agent authenticates by a person's sign-in (``person``, whose grant ends with the session), by a Connect token of a
product (``token``) or by a product's OAuth access token (``client``). The person whom it acts for may end its session:
until the person allows it again, it is refused under that name and credential, and its Connect token under any name.

Connect tokens that agents have sent are remembered (table ``agent_bearers``), since an agent may hold several and
none of them answers an agent's call.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from webapp import audit
from webapp.errors import Forbidden, NotFound
from webapp.kit.clock import DAY, MINUTE, iso
from webapp.kit.crypto import new_id
from webapp.people.agents import clients, grants, tokens
from webapp.people.agents.clients import shown_name
from webapp.quotas import USER_AGENTS
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

Kind = Literal["person", "token", "client"]
TOUCH_EVERY = MINUTE
KEPT = 90 * DAY
BEARERS_KEPT = 7 * DAY
ENDED = "The person ended this agent's access; they can let it in again on the page Agents."


@dataclass(frozen=True, slots=True)
class Entry:
    """How an agent authenticates: the kind, the grant or OAuth client, and the hash of its Connect token or ""."""

    kind: Kind
    credential: str
    token_hash: str = ""


@dataclass(frozen=True, slots=True)
class AgentSession:
    """The session of one agent of one user. Times are epoch milliseconds."""

    id: str
    external_user_id: str
    kind: Kind
    credential: str
    token_hash: str
    name: str
    created_at: int
    used_at: int
    ended_at: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The session as the API shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "created_at": iso(self.created_at),
            "used_at": iso(self.used_at),
            "ended_at": iso(self.ended_at) if self.ended_at is not None else None,
        }


_SESSIONS = Table("agent_sessions", AgentSession)
_ENDED_WITH_HASH = "external_user_id = :user AND token_hash = :hash AND ended_at IS NOT NULL"
_KEY = "external_user_id = :user AND kind = :kind AND credential = :credential AND name = :name"


def enter(service: Service, scene: Scene, external_id: str, entry: Entry, name: str) -> AgentSession:
    """Return the session of the agent ``name`` for the user ``external_id``, begun if it is new.

    ``used_at`` is updated at most once a minute. Raises :class:`Forbidden` if the person ended the session, or beyond
    the quota.
    """
    name, now = shown_name(name), service.clock()
    user = external_users.find(service.store, scene, external_id)
    session = _find(service.store, user, entry, name) if user else None
    if session is None:
        return _begin(service, scene, external_id, entry, name)
    if session.ended_at is not None:
        raise Forbidden(ENDED)
    if now - session.used_at >= TOUCH_EVERY or session.token_hash != entry.token_hash:
        with service.store.write() as tx:
            _SESSIONS.update(tx, session.id, used_at=now, token_hash=entry.token_hash)
            _note_bearer(tx, entry.token_hash, now)
    return replace(session, token_hash=entry.token_hash)


def of_user(reader: Reader, scene: Scene, external_id: str) -> list[AgentSession]:
    """The sessions of a user: the open ones, last used first, then those that were ended."""
    user = external_users.find(reader, scene, external_id)
    where = (
        "external_user_id = :user AND (kind <> 'person' OR EXISTS "
        "(SELECT 1 FROM agent_grants g WHERE g.id = agent_sessions.credential)) "
        "ORDER BY CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END, used_at DESC, id"
    )
    return _SESSIONS.all(reader, where, {"user": user.id}) if user else []


def get(reader: Reader, user: ExternalUser, session_id: str) -> AgentSession:
    """The session ``session_id`` of ``user``. Raises :class:`NotFound`."""
    session = _SESSIONS.get(reader, session_id)
    if session is None or session.external_user_id != user.id:
        raise NotFound("There is no such agent.")
    return session


def end(service: Service, user: ExternalUser, session_id: str) -> AgentSession:
    """End a session, and the grant of a person's sign-in with it. Raises :class:`NotFound`."""
    with service.store.write() as tx:
        session = get(tx, user, session_id)
        if session.kind == "person":
            grants.end(tx, service.clock(), session.credential, "A person ended the access of an agent.")
        if session.ended_at is None:
            session = replace(session, ended_at=service.clock())
            _SESSIONS.update(tx, session.id, ended_at=session.ended_at)
            _note(service, tx, user, session, "ended", f"Ended the access of the agent “{session.name}”.")
    return session


def let_in(service: Service, user: ExternalUser, session_id: str) -> AgentSession:
    """Allow an agent again whose session was ended. Raises :class:`NotFound`."""
    with service.store.write() as tx:
        session = get(tx, user, session_id)
        if session.ended_at is not None:
            session = replace(session, ended_at=None)
            _SESSIONS.update(tx, session.id, ended_at=None)
            _note(service, tx, user, session, "let_in", f"Let the agent “{session.name}” in again.")
    return session


def purge(service: Service) -> int:
    """Delete open sessions that were not used for 90 days, and those whose grant ended; return their number."""
    with service.store.write() as tx:
        return tx.run(
            "DELETE FROM agent_sessions WHERE (used_at < :limit AND ended_at IS NULL) OR (kind = 'person' "
            "AND NOT EXISTS (SELECT 1 FROM agent_grants g WHERE g.id = agent_sessions.credential))",
            {"limit": service.clock() - KEPT},
        )


def _begin(service: Service, scene: Scene, external_id: str, entry: Entry, name: str) -> AgentSession:
    now = service.clock()
    with service.store.write() as tx:
        user = external_users.ensure(tx, scene, external_id, now)
        session = _find(tx, user, entry, name)  # another process may have been quicker
        if session is None:
            if entry.token_hash and _SESSIONS.count(tx, _ENDED_WITH_HASH, {"user": user.id, "hash": entry.token_hash}):
                raise Forbidden(ENDED)
            count = _SESSIONS.count(tx, "external_user_id = :user", {"user": user.id})
            service.check_quota(USER_AGENTS, count + 1)
            session = AgentSession(new_id("ags"), user.id, **asdict(entry), name=name, created_at=now, used_at=now)
            _SESSIONS.insert(tx, session)
            _note_bearer(tx, entry.token_hash, now)
            _note(service, tx, user, session, "came_in", f"The agent “{name}” came in.")
    return session


def _find(reader: Reader, user: ExternalUser, entry: Entry, name: str) -> AgentSession | None:
    params = {"user": user.id, "kind": entry.kind, "credential": entry.credential, "name": name}
    return _SESSIONS.one(reader, _KEY, params)


def _note(service: Service, tx: Tx, user: ExternalUser, session: AgentSession, verb: str, sentence: str) -> None:
    where = {**user.scene.params, "external_user_id": user.id}
    audit.write(tx, service.clock(), "agent", session.id, verb, sentence, **where)


def _note_bearer(tx: Tx, token_hash: str, now: int) -> None:
    """Remember that an agent sent the Connect token with that hash, unless it is ""."""
    if token_hash:
        sql = (
            "INSERT INTO agent_bearers (token_hash, noted_at) VALUES (:hash, :now) ON CONFLICT (token_hash) DO NOTHING"
        )
        tx.run(sql, {"hash": token_hash, "now": now})


def is_bearer_of_agent(reader: Reader, token_hash: str) -> bool:
    """Whether an agent has sent the Connect token with that hash."""
    return bool(reader.tuples("SELECT 1 FROM agent_bearers WHERE token_hash = :hash", {"hash": token_hash}))


def purge_bearers(service: Service) -> int:
    """Delete the hashes of tokens that ended long ago, and return their number."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM agent_bearers WHERE noted_at < :limit", {"limit": service.clock() - BEARERS_KEPT})


def purge_grants(service: Service) -> int:
    """Delete tokens and grants that ended and clients that are not in use, and return their number."""
    now = service.clock()
    over = tokens.purge(service.store, now) + grants.purge(service.store, now)
    return over + clients.purge(service.store, service.clock)
