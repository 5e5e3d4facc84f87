"""Connected accounts (table ``accounts``; contract "Accounts"): reading and listing them, and their JSON in the API.

Every query is limited to an owner: a scene, and for a Connect token its user. Only :mod:`account_state` writes rows.
"""

import functools
import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeVar

import orjson

from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.kit.clock import iso, iso_or_none
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import apps
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.activity import Subject
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Params, Reader
from webapp.store.table import indexed_condition, read_counts


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
    lease_holder: str | None = None

    @property
    def subject(self) -> Subject:
        """The subject of this account's entries in the activity."""
        return Subject(self.id, self.scene, self.external_user_id, self.app)

    @property
    def as_listed(self) -> "ListedAccount":
        """The columns of the account that a list shows."""
        return ListedAccount(*(getattr(self, name) for name in ListedAccount._fields))


class ListedAccount(NamedTuple):
    """The columns that a list shows, as the store has them: reading whole accounts takes twice as long.

    ``healthy`` and ``dead`` are 0 or 1.
    """

    id: str
    external_id: str
    app: str
    oauth_app_id: str | None
    name: str | None
    healthy: int
    dead: int
    authorized_scopes: tuple[str, ...]
    error: str | None
    expires_at: int | None
    last_refreshed_at: int | None
    next_refresh_at: int | None
    created_at: int
    updated_at: int


_COLUMNS = ", ".join(Account._fields[1:])
_WITHOUT_CREDENTIALS = _COLUMNS.replace("credentials_sealed", "NULL")
_LISTED = ", ".join(ListedAccount._fields)
_SCOPES_AT = ListedAccount._fields.index("authorized_scopes")
Row = TypeVar("Row", Account, ListedAccount)


@dataclass(frozen=True, slots=True)
class Filter:
    """The filters of a list of accounts; ``external_id`` is the developer's id of the user."""

    external_id: str | None = None
    app: str | None = None
    oauth_app_id: str | None = None


def get(reader: Reader, scene: Scene, account_id: str, *, user: ExternalUser | None = None) -> Account:
    """The account ``account_id`` of ``scene``, and of ``user`` if given. Raises :class:`NotFound`."""
    where = "id = :id AND project_id = :project AND environment = :environment"
    params = {"id": account_id, "project": scene.project_id, "environment": scene.environment}
    accounts = _read(reader, scene, f"{_COLUMNS} FROM accounts WHERE {where}", params)
    if not accounts or (user is not None and accounts[0].external_user_id != user.id):
        raise NotFound("There is no such account.")
    return accounts[0]


def find(reader: Reader, scene: Scene, account_id: str) -> Account | None:
    """The account ``account_id`` of ``scene``, if there is one."""
    try:
        return get(reader, scene, account_id)
    except NotFound:
        return None


def page(
    reader: Reader, scene: Scene, filters: Filter, window: cursors.Window, *, with_credentials: bool = False
) -> cursors.Page[Account]:
    """Accounts of ``scene``, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    columns = _COLUMNS if with_credentials else _WITHOUT_CREDENTIALS
    return _page(reader, scene, filters, window, columns, functools.partial(_account, scene))


def listed_page(reader: Reader, scene: Scene, filters: Filter, window: cursors.Window) -> cursors.Page[ListedAccount]:
    """:func:`page` with only the columns that a list shows. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return _page(reader, scene, filters, window, _LISTED, _listed)


def count_of_oauth_app(reader: Reader, oauth_app_id: str) -> int:
    """The number of accounts that were connected with a client."""
    row = reader.one("SELECT COUNT(*) AS n FROM accounts WHERE oauth_app_id = :id", {"id": oauth_app_id})
    return int(row["n"]) if row else 0


def of_user(reader: Reader, user: ExternalUser, *, with_credentials: bool = False) -> list[Account]:
    """Every account of one user, oldest first."""
    columns = _COLUMNS if with_credentials else _WITHOUT_CREDENTIALS
    sql = f"{columns} FROM accounts WHERE external_user_id = :user ORDER BY created_at, id"
    return _read(reader, user.scene, sql, {"user": user.id})


def of_app(reader: Reader, scene: Scene, app: str, *, user: ExternalUser | None) -> list[Account]:
    """All accounts of ``app`` in ``scene`` (of ``user`` if given), without their credentials."""
    chosen = {"external_user_id": user.id if user else None, "app": app}
    where, params = indexed_condition(asdict(scene), chosen, alone=("external_user_id",))
    return _read(reader, scene, f"{_WITHOUT_CREDENTIALS} FROM accounts WHERE {where}", params)


def find_app(service: Service, account: Account) -> App | None:
    """The app of ``account`` in the way in which it was connected, by a key or a sign-in; None if it left the
    catalog."""
    app = service.catalog.app(account.app)
    return app.connected_by(account.oauth_app_id) if app else None


def app_of(service: Service, account: Account) -> App:
    """:func:`find_app` of an app that is there. Raises :class:`NotFound`."""
    return service.app(account.app).connected_by(account.oauth_app_id)


def to_json(
    service: Service, account: Account, *, credentials: dict[str, Any] | None = None, extensions: bool = False
) -> dict[str, Any]:
    """``account`` for :func:`orjson.dumps`, with its app as the catalog built it. While the app is removed, the
    account is shown as unhealthy.

    ``credentials`` are added if given; ``extensions`` adds the members that only Patchbay has.
    """
    facts = listed_to_json(service, account.as_listed)
    if credentials is not None:
        facts["credentials"] = credentials
    if extensions:
        identity = {"id": account.identity_id, "name": account.identity_name}
        facts["identity"] = identity if account.identity_id or account.identity_name else None
        facts["last_checked_at"] = iso_or_none(account.last_checked_at)
        facts["next_check_at"] = iso_or_none(account.next_check_at)
        facts["oauth_app_id"] = account.oauth_app_id
        facts["scope_profile"] = account.scope_profile
        facts["available"] = service.catalog.app(account.app) is not None
    return facts


def listed_to_json(service: Service, account: ListedAccount) -> dict[str, Any]:
    """:func:`to_json` of what a list shows."""
    embedded = service.catalog.embedded(account.app, account.oauth_app_id)
    removed = None if embedded else apps.removed_reason(service, account.app)
    facts: dict[str, Any] = {
        "id": account.id,
        "name": account.name,
        "external_id": account.external_id,
        "healthy": removed is None and bool(account.healthy),
        "dead": bool(account.dead),
        "app": embedded or orjson.Fragment(orjson.dumps(apps.facts(service, account.app))),
        "created_at": iso(account.created_at),
        "updated_at": iso(account.updated_at),
        "authorized_scopes": account.authorized_scopes,
        "error": removed or account.error,
        "last_refreshed_at": iso_or_none(account.last_refreshed_at),
        "next_refresh_at": iso_or_none(account.next_refresh_at),
    }
    if account.expires_at is not None:  # a string where it stands, so it is left out where there is none
        facts["expires_at"] = iso(account.expires_at)
    return facts


def _page(
    reader: Reader,
    scene: Scene,
    filters: Filter,
    window: cursors.Window,
    columns: str,
    make: Callable[[tuple[Any, ...]], Row],
) -> cursors.Page[Row]:
    selection = _where(reader, scene, filters)
    if selection is None:
        return cursors.Page([], 0, "", "")
    where, params, counter = selection
    mark = cursors.fingerprint("accounts", counter)
    plan = cursors.keyset(window, mark, ("created_at", "id"), descending=False)
    query = f"{columns} FROM accounts WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit"
    rows = list(map(make, reader.tuples(f"SELECT {query}", {**params, **plan.params, "limit": plan.limit})))
    count = sum(read_counts(reader, counter).values())
    return cursors.page(rows, window, plan, mark, lambda account: (account.created_at, account.id), count)


def _where(reader: Reader, scene: Scene, filters: Filter) -> tuple[str, dict[str, Any], str] | None:
    """The condition, its parameters and the counter's name; None when no row can match."""
    user = None
    if filters.external_id is not None:
        user = external_users.find(reader, scene, filters.external_id)
        if user is None:
            return None
    user_id = user.id if user else None
    scope = {"project_id": scene.project_id, "environment": scene.environment}
    chosen = {"external_user_id": user_id, "oauth_app_id": filters.oauth_app_id, "app": filters.app}
    where, params = indexed_condition(scope, chosen, alone=("external_user_id",))
    return where, params, _counter(scene, user_id or "", filters.app or "", filters.oauth_app_id or "")


def counter_names(account: Account) -> list[str]:
    """The names of every count that ``account`` is part of: one for each set of filters that finds it."""
    choices = [{value, ""} for value in (account.external_user_id, account.app, account.oauth_app_id or "")]
    return [_counter(account.scene, *choice) for choice in itertools.product(*map(sorted, choices))]


def _counter(scene: Scene, user_id: str, app: str, oauth_app_id: str) -> str:
    return f"{scene.project_id}|{scene.environment}|accounts|{user_id}|{app}|{oauth_app_id}"


def _read(reader: Reader, scene: Scene, query: str, params: Params) -> list[Account]:
    """The accounts of ``scene`` that ``SELECT`` with ``query`` finds."""
    return [_account(scene, row) for row in reader.tuples(f"SELECT {query}", params)]


def _account(scene: Scene, row: tuple[Any, ...]) -> Account:
    healthy, dead, authorized_scopes, *others = row
    return Account._make((scene, bool(healthy), bool(dead), _scopes(authorized_scopes), *others))


def _listed(row: tuple[Any, ...]) -> ListedAccount:
    return ListedAccount._make((*row[:_SCOPES_AT], _scopes(row[_SCOPES_AT]), *row[_SCOPES_AT + 1 :]))


@functools.lru_cache(maxsize=1024)  # accounts of one app mostly share their scopes
def _scopes(text: str) -> tuple[str, ...]:
    return tuple(orjson.loads(text))
