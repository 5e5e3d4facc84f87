"""Connected accounts (table ``accounts``; specification 2.10): reading, listing, naming, removing rows.

Every look-up goes through an owner: a scene, and for a Connect token its user. What changes an account's
credentials or health stands in :mod:`credentials`, :mod:`refreshing` and :mod:`health`.
"""

import functools
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from webapp.errors import Detail, Invalid, NotFound
from webapp.kit import cursors
from webapp.service.domain.base import counters
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users, history
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.history import Subject
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Params, Reader, Tx

MAX_NAME = 200


class Account(NamedTuple):
    """A connected account. ``external_user_id`` is our id (``exu_…``), ``external_id`` the developer's.

    ``credentials_sealed`` is None in a list that was read without credentials. A tuple rather than a frozen dataclass,
    which takes four times as long to make: a list of 100 would pay that 100 times.
    """

    scene: Scene
    healthy: bool
    dead: bool
    authorized_scopes: tuple[str, ...]
    id: str
    external_user_id: str
    external_id: str
    app: str
    oauth_app_id: str | None
    name: str | None
    identity_id: str | None
    identity_name: str | None
    error: str | None
    scope_profile: str | None
    credentials_sealed: bytes | None
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


_AS_THEY_ARE = Account._fields[4:]  # columns that need no conversion; those before them are made by _account
_WHOLE = f"healthy, dead, authorized_scopes, {', '.join(_AS_THEY_ARE)}"
_WITHOUT_CREDENTIALS = _WHOLE.replace("credentials_sealed", "NULL")


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list of accounts is limited to; ``external_id`` is the developer's id of the user."""

    external_id: str | None = None
    app: str | None = None
    oauth_app_id: str | None = None


def get(reader: Reader, scene: Scene, account_id: str, *, user: ExternalUser | None = None) -> Account:
    """The account ``account_id`` of ``scene``, and of ``user`` when one is given. Raises :class:`NotFound`."""
    where = "id = :id AND project_id = :project AND environment = :environment"
    params = {"id": account_id, "project": scene.project_id, "environment": scene.environment}
    found = _read(reader, scene, f"{_WHOLE} FROM accounts WHERE {where}", params)
    if not found or (user is not None and found[0].external_user_id != user.id):
        raise NotFound("There is no such account.")
    return found[0]


def page(
    reader: Reader, scene: Scene, wanted: Filter, window: cursors.Window, *, with_credentials: bool = False
) -> cursors.Page[Account]:
    """Accounts of ``scene``, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    chosen = _where(reader, scene, wanted)
    if chosen is None:
        return cursors.Page([], 0, "", "")
    where, params, name = chosen
    mark = cursors.fingerprint("accounts", name)
    plan = cursors.keyset(window, mark, ("created_at", "id"), descending=False)
    columns = _WHOLE if with_credentials else _WITHOUT_CREDENTIALS
    found = _read(
        reader,
        scene,
        f"{columns} FROM accounts WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",
        {**params, **plan.params, "limit": plan.limit},
    )
    return cursors.page(found, window, plan, mark, lambda a: (a.created_at, a.id), counters.read(reader, name))


def of_user(reader: Reader, user: ExternalUser, *, with_credentials: bool = False) -> list[Account]:
    """Every account of one user, oldest first."""
    columns = _WHOLE if with_credentials else _WITHOUT_CREDENTIALS
    sql = f"{columns} FROM accounts WHERE external_user_id = :user ORDER BY created_at, id"
    return _read(reader, user.scene, sql, {"user": user.id})


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


def of_app(reader: Reader, scene: Scene, app: str, *, user: ExternalUser | None) -> list[Account]:
    """Every account of ``app`` in ``scene`` (of ``user`` when one is given), without its credentials."""
    where, params = "project_id = :project AND environment = :environment AND app = :app", dict[str, Any]()
    params.update(project=scene.project_id, environment=scene.environment, app=app)
    if user is not None:
        where, params["user"] = f"{where} AND external_user_id = :user", user.id
    return _read(reader, scene, f"{_WITHOUT_CREDENTIALS} FROM accounts WHERE {where}", params)


def erase_of_user(service: Service, tx: Tx, user: ExternalUser) -> None:
    """Remove every account of a user who goes, in the transaction that removes them."""
    sql = f"{_WITHOUT_CREDENTIALS} FROM accounts WHERE external_user_id = :user"
    remove(tx, _read(tx, user.scene, sql, {"user": user.id}), service.clock())


def remove(tx: Tx, found: Iterable[Account], now: int) -> None:
    """Remove the rows of accounts with their credentials; what that stops is :mod:`instance.disconnecting`'s to say."""
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
    """The row of ``account``, by column."""
    return {
        "project_id": account.scene.project_id,
        "environment": account.scene.environment,
        "healthy": int(account.healthy),
        "dead": int(account.dead),
        "authorized_scopes": json.dumps(account.authorized_scopes),
        **{name: getattr(account, name) for name in _AS_THEY_ARE},
    }


def _read(reader: Reader, scene: Scene, query: str, params: Params) -> list[Account]:
    """The accounts of ``scene`` that ``SELECT`` with ``query`` finds."""
    return [_account(scene, row) for row in reader.tuples(f"SELECT {query}", params)]


def _account(scene: Scene, row: tuple[Any, ...]) -> Account:
    healthy, dead, authorized_scopes, *as_they_are = row
    return Account._make((scene, bool(healthy), bool(dead), _scopes(authorized_scopes), *as_they_are))


@functools.lru_cache(maxsize=1024)  # accounts of one app mostly share their scopes
def _scopes(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
