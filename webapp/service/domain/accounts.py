"""Connected accounts (table ``accounts``; specification 2.10): reading, listing, naming, removing.

Every look-up goes through an owner: a scene, and for a Connect token its user. What changes an account's
credentials or health stands in :mod:`credentials`, :mod:`refreshing` and :mod:`health`.
"""

import functools
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from webapp.errors import Detail, Invalid, NotFound
from webapp.kit import cursors
from webapp.service.domain import counters, external_users, history
from webapp.service.domain.external_users import ExternalUser
from webapp.service.domain.history import Subject
from webapp.service.domain.projects import Scene
from webapp.service.domain.service import Service
from webapp.store.contract import Reader, Row, Tx

MAX_NAME = 200


@dataclass(slots=True)
class Account:
    """A connected account. ``external_user_id`` is our id (``exu_…``), ``external_id`` the developer's.

    Nobody changes one; it is not declared frozen because a frozen one takes four times as long to make, which a list
    of 100 pays 100 times.
    """

    id: str
    scene: Scene
    external_user_id: str
    external_id: str
    app: str
    oauth_app_id: str | None
    name: str | None
    identity_id: str | None
    identity_name: str | None
    healthy: bool
    dead: bool
    error: str | None
    authorized_scopes: tuple[str, ...]
    scope_profile: str | None
    credentials_sealed: bytes
    credentials_key: int
    expires_at: int | None
    last_refreshed_at: int | None
    next_refresh_at: int | None
    last_checked_at: int | None
    next_check_at: int | None
    failures: int
    lease_until: int
    revision: int
    created_at: int
    updated_at: int

    @property
    def subject(self) -> Subject:
        """Whose history this account's is."""
        return Subject(self.id, self.scene, self.external_user_id, self.app)


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list of accounts is limited to; ``external_id`` is the developer's id of the user."""

    external_id: str | None = None
    app: str | None = None
    oauth_app_id: str | None = None


def get(reader: Reader, scene: Scene, account_id: str, *, user: ExternalUser | None = None) -> Account:
    """The account ``account_id`` of ``scene``, and of ``user`` when one is given. Raises :class:`NotFound`."""
    row = reader.one(
        "SELECT * FROM accounts WHERE id = :id AND project_id = :project AND environment = :environment",
        {"id": account_id, "project": scene.project_id, "environment": scene.environment},
    )
    if row is None or (user is not None and row["external_user_id"] != user.id):
        raise NotFound("There is no such account.")
    return _account(row)


def page(reader: Reader, scene: Scene, wanted: Filter, window: cursors.Window) -> cursors.Page[Account]:
    """Accounts of ``scene``, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    chosen = _where(reader, scene, wanted)
    if chosen is None:
        return cursors.Page([], 0, "", "")
    where, params, name = chosen
    mark = cursors.fingerprint("accounts", name)
    plan = cursors.keyset(window, mark, ("created_at", "id"), descending=False)
    rows = reader.all(
        f"SELECT * FROM accounts WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",  # noqa: S608
        {**params, **plan.params, "limit": plan.limit},
    )
    found = [_account(row) for row in rows]
    return cursors.page(found, window, plan, mark, lambda a: (a.created_at, a.id), counters.read(reader, name))


def of_user(reader: Reader, user: ExternalUser) -> list[Account]:
    """Every account of one user, oldest first."""
    sql = "SELECT * FROM accounts WHERE external_user_id = :user ORDER BY created_at, id"
    return [_account(row) for row in reader.all(sql, {"user": user.id})]


def insert(tx: Tx, account: Account) -> None:
    """Add ``account`` and count it."""
    values = _values(account)
    names = ", ".join(values)
    tx.run(f"INSERT INTO accounts ({names}) VALUES ({', '.join(':' + name for name in values)})", values)  # noqa: S608
    counters.add(tx, _counts(account), 1)


def replace(tx: Tx, account: Account) -> int:
    """Write ``account`` over the row of the same id, with a revision above the row's; 0 when there is none."""
    values = _values(account)
    kept = ("id", "project_id", "environment", "external_user_id", "external_id", "revision", "created_at")
    changes = ", ".join(f"{name} = :{name}" for name in values if name not in kept)
    sql = f"UPDATE accounts SET {changes}, revision = revision + 1, lease_holder = NULL WHERE id = :id"  # noqa: S608
    return tx.run(sql, {name: value for name, value in values.items() if name == "id" or name not in kept})


def recount(tx: Tx, before: Account, after: Account) -> None:
    """Move an account from the counts it was part of to those it is part of now."""
    counters.add(tx, _counts(before), -1)
    counters.add(tx, _counts(after), 1)


def rename(service: Service, account: Account, name: str | None) -> Account:
    """Give ``account`` its own name, or none. Raises :class:`Invalid`."""
    name = checked_name(name)
    now = service.clock()
    with service.store.write() as tx:
        tx.run(
            "UPDATE accounts SET name = :name, updated_at = :now WHERE id = :id",
            {"name": name, "now": now, "id": account.id},
        )
        sentence = f"Renamed to “{name}”." if name else "The name was removed."
        history.write(tx, account.subject, now, "renamed", sentence, good=True)
        return get(tx, account.scene, account.id)


def checked_name(name: str | None) -> str | None:
    """``name`` without outer spaces; nothing is None. Raises :class:`Invalid`."""
    name = (name or "").strip() or None
    if name and (len(name) > MAX_NAME or not name.isprintable()):
        message = f"Use at most {MAX_NAME} printable characters."
        raise Invalid(f"The name is not valid: {message}", [Detail("name", message)])
    return name


def delete(service: Service, account: Account) -> None:
    """Remove ``account`` with its credentials; its history stays."""
    with service.store.write() as tx:
        _remove(tx, [account], service.clock())


def delete_of_app(service: Service, scene: Scene, app: str, *, user: ExternalUser | None) -> int:
    """Remove every account of ``app`` in ``scene`` (of ``user`` when one is given); how many there were."""
    where, params = "project_id = :project AND environment = :environment AND app = :app", dict[str, Any]()
    params.update(project=scene.project_id, environment=scene.environment, app=app)
    if user is not None:
        where, params["user"] = f"{where} AND external_user_id = :user", user.id
    with service.store.write() as tx:
        found = [_account(row) for row in tx.all(f"SELECT * FROM accounts WHERE {where}", params)]  # noqa: S608
        _remove(tx, found, service.clock())
    return len(found)


def _remove(tx: Tx, found: Iterable[Account], now: int) -> None:
    for account in found:
        if tx.run("DELETE FROM accounts WHERE id = :id", {"id": account.id}):
            counters.add(tx, _counts(account), -1)
            history.write(tx, account.subject, now, "disconnected", "Disconnected.", good=True)


def _where(reader: Reader, scene: Scene, wanted: Filter) -> tuple[str, dict[str, Any], str] | None:
    """The condition, its parameters and the counter's name; None when no row can match."""
    conditions = ["project_id = :project", "environment = :environment"]
    params: dict[str, Any] = {"project": scene.project_id, "environment": scene.environment}
    user_id = ""
    if wanted.external_id is not None:
        user = external_users.find(reader, scene, wanted.external_id)
        if user is None:
            return None
        user_id = params["user"] = user.id
        conditions.append("external_user_id = :user")
    if wanted.app is not None:
        params["app"] = wanted.app
        conditions.append("app = :app")
    if wanted.oauth_app_id is not None:
        params["oauth_app"] = wanted.oauth_app_id
        conditions.append("oauth_app_id = :oauth_app")
    return " AND ".join(conditions), params, _counter(scene, user_id, wanted.app or "", wanted.oauth_app_id or "")


def _counts(account: Account) -> list[str]:
    """The names of every count that ``account`` is part of: one for each set of filters that finds it."""
    choices = [{value, ""} for value in (account.external_user_id, account.app, account.oauth_app_id or "")]
    return [_counter(account.scene, *chosen) for chosen in itertools.product(*map(sorted, choices))]


def _counter(scene: Scene, user_id: str, app: str, oauth_app_id: str) -> str:
    return f"{scene.project_id}|{scene.environment}|accounts|{user_id}|{app}|{oauth_app_id}"


def _values(account: Account) -> dict[str, Any]:
    return {
        "id": account.id,
        "project_id": account.scene.project_id,
        "environment": account.scene.environment,
        "external_user_id": account.external_user_id,
        "external_id": account.external_id,
        "app": account.app,
        "oauth_app_id": account.oauth_app_id,
        "name": account.name,
        "identity_id": account.identity_id,
        "identity_name": account.identity_name,
        "healthy": int(account.healthy),
        "dead": int(account.dead),
        "error": account.error,
        "authorized_scopes": json.dumps(account.authorized_scopes),
        "scope_profile": account.scope_profile,
        "credentials_sealed": account.credentials_sealed,
        "credentials_key": account.credentials_key,
        "expires_at": account.expires_at,
        "last_refreshed_at": account.last_refreshed_at,
        "next_refresh_at": account.next_refresh_at,
        "last_checked_at": account.last_checked_at,
        "next_check_at": account.next_check_at,
        "failures": account.failures,
        "lease_until": account.lease_until,
        "revision": account.revision,
        "created_at": account.created_at,
        "updated_at": account.updated_at,
    }


def _account(row: Row) -> Account:
    return Account(
        id=row["id"],
        scene=Scene(row["project_id"], row["environment"]),
        external_user_id=row["external_user_id"],
        external_id=row["external_id"],
        app=row["app"],
        oauth_app_id=row["oauth_app_id"],
        name=row["name"],
        identity_id=row["identity_id"],
        identity_name=row["identity_name"],
        healthy=bool(row["healthy"]),
        dead=bool(row["dead"]),
        error=row["error"],
        authorized_scopes=_scopes(row["authorized_scopes"]),
        scope_profile=row["scope_profile"],
        credentials_sealed=row["credentials_sealed"],
        credentials_key=row["credentials_key"],
        expires_at=row["expires_at"],
        last_refreshed_at=row["last_refreshed_at"],
        next_refresh_at=row["next_refresh_at"],
        last_checked_at=row["last_checked_at"],
        next_check_at=row["next_check_at"],
        failures=row["failures"],
        lease_until=row["lease_until"],
        revision=row["revision"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


@functools.lru_cache(maxsize=1024)  # accounts of one app mostly share their scopes
def _scopes(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
