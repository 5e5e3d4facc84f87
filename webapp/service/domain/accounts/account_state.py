"""The state of an account, and every other change of its row (table ``accounts``): connected, renamed, removed.

    working ──a failure that may pass──▶ retrying ──refused for good──▶ dead: it needs its person
      ◀──────────one success───────────────┘                             │
      ◀────────────────────────reconnected by its person─────────────────┘

A change of state takes the account as it was read, and is written only if its credentials still have the same
``revision``, so that a slow check never overwrites a newer reconnect or refresh. A refresh is claimed by a lease in the
row, and a check postpones the next one. When they are due is decided in :mod:`check_times`,
:mod:`refresh_times` and :mod:`retry_times`.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from webapp.errors import NotFound
from webapp.kit.clock import HOUR, MINUTE
from webapp.service.domain.accounts import (
    account_names,
    accounts,
    check_times,
    credentials,
    notifications,
    refresh_times,
    retry_times,
)
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table, add_to_counts

_REFRESH_PAUSE = 10 * MINUTE  # while nothing can refresh a token
_ACCOUNTS = Table("accounts", Account)
_KEPT = ("id", "project_id", "environment", "external_user_id", "external_id", "revision", "created_at")
_ASSIGNMENTS = ", ".join(
    f"{name} = :{name}" for name in _ACCOUNTS.columns.split(", ") if name not in (*_KEPT, "lease_holder")
)


def insert(tx: Tx, account: Account) -> None:
    """Add ``account`` and count it."""
    _ACCOUNTS.insert(tx, account)
    add_to_counts(tx, accounts.counter_names(account), 1)


def overwrite(tx: Tx, before: Account, after: Account) -> None:
    """Write ``after`` over the row of ``before``, with a revision above the row's, even if a refresh changed it
    since.

    Raises :class:`NotFound` if it was removed since.
    """
    free = "lease_holder = NULL, checked_by = NULL"
    sql = f"UPDATE accounts SET {_ASSIGNMENTS}, revision = revision + 1, {free} WHERE id = :id"  # noqa: S608
    values = {name: value for name, value in _ACCOUNTS.values(after).items() if name == "id" or name not in _KEPT}
    if not tx.run(sql, values):
        raise NotFound("The account was disconnected meanwhile. Connect it again.")
    if before.oauth_app_id != after.oauth_app_id:
        add_to_counts(tx, accounts.counter_names(before), -1)
        add_to_counts(tx, accounts.counter_names(after), 1)


def rename(service: Service, account: Account, name: str | None) -> Account:
    """Rename ``account``; without a name, it has that of its identity. Raises :class:`Invalid`."""
    name = account_names.checked(name)
    now = service.clock()
    with service.store.write() as tx:
        identity = account.identity_name or account.identity_id
        name = name or account_names.free(tx, account.external_user_id, account.app, identity, but=account.id)
        _ACCOUNTS.update(tx, account.id, name=name, updated_at=now)
        sentence = f"Renamed to “{name}”." if name else "The name was removed."
        activity.write(tx, account.subject, now, "renamed", sentence, good=True)
        return accounts.get(tx, account.scene, account.id)


def remove(tx: Tx, to_remove: Iterable[Account], now: int) -> None:
    """Delete the rows of accounts with their credentials; :mod:`instance.removal` first ends what uses them."""
    for account in to_remove:
        if _ACCOUNTS.delete(tx, account.id):
            add_to_counts(tx, accounts.counter_names(account), -1)
            activity.write(tx, account.subject, now, "disconnected", "Disconnected.", good=True)


def discard(tx: Tx, account: Account) -> None:
    """Remove the row of an account of which nobody knows yet."""
    if _ACCOUNTS.delete(tx, account.id):
        add_to_counts(tx, accounts.counter_names(account), -1)


def claim_refresh(service: Service, account: Account) -> Account | None:
    """``account`` with a lease for its refresh; None if another caller holds it or the credentials have changed."""
    now = service.clock()
    with service.store.write() as tx:
        claimed = tx.run(
            "UPDATE accounts SET lease_until = :until, lease_holder = :holder "
            "WHERE id = :id AND revision = :revision AND dead = 0 AND lease_until <= :now",
            {
                "until": now + leases.REFRESH,
                "holder": str(service.generation),  # its column is TEXT; ``checked_by`` is a number
                "id": account.id,
                "revision": account.revision,
                "now": now,
            },
        )
        return accounts.get(tx, account.scene, account.id) if claimed else None


def due_for_refresh(service: Service, limit: int) -> list[Account]:
    """Accounts whose token is due for a refresh, the most urgent first."""
    now = service.clock()
    rows = service.store.all(
        "SELECT id, project_id, environment FROM accounts WHERE next_refresh_at IS NOT NULL "
        "AND next_refresh_at <= :now AND lease_until <= :now AND dead = 0 ORDER BY next_refresh_at LIMIT :limit",
        {"now": now, "limit": limit},
    )
    urgent = []
    for row in rows:
        with suppress(NotFound):
            urgent.append(accounts.get(service.store, Scene(row["project_id"], row["environment"]), row["id"]))
    return urgent


def earliest_refresh_at(service: Service) -> int | None:
    """When the first of all tokens is due for a refresh, in epoch milliseconds; None without any."""
    row = service.store.one("SELECT MIN(next_refresh_at) AS at FROM accounts WHERE next_refresh_at IS NOT NULL")
    return row["at"] if row else None


def earliest_check_at(service: Service) -> int | None:
    """When the first of all checks is due, in epoch milliseconds; None without accounts."""
    row = service.store.one("SELECT MIN(next_check_at) AS at FROM accounts WHERE next_check_at IS NOT NULL")
    return row["at"] if row else None


def put_off_refresh(service: Service, account: Account) -> None:
    """Postpone the refresh of ``account``, since nothing can refresh it now; not counted as a failure."""
    later = {"id": account.id, "revision": account.revision, "later": service.clock() + _REFRESH_PAUSE}
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET next_refresh_at = :later WHERE id = :id AND revision = :revision", later)


_WANTS_CHECK = "SELECT id FROM accounts WHERE next_check_at IS NOT NULL AND next_check_at <= :now AND dead = 0"


def claim_checks(service: Service, limit: int) -> list[Account]:
    """Accounts to check now, each claimed (:data:`leases.CHECK`), so that no other process checks it too."""
    now = service.clock()
    if service.store.one(f"{_WANTS_CHECK} LIMIT 1", {"now": now}) is None:
        return []  # an idle worker takes no write lock
    with service.store.write() as tx:
        rows = tx.all(
            f"UPDATE accounts SET next_check_at = :later, checked_by = :holder WHERE id IN ({_WANTS_CHECK} "  # noqa: S608
            "ORDER BY next_check_at LIMIT :limit) RETURNING id, project_id, environment",
            {"now": now, "later": now + leases.CHECK, "holder": service.generation, "limit": limit},
        )
        return [accounts.get(tx, Scene(row["project_id"], row["environment"]), row["id"]) for row in rows]


def check_soon(tx: Tx, now: int, to_check: Iterable[Account]) -> None:
    """Make the next check of these accounts due at ``now``; dead ones are not checked."""
    for account in to_check:
        tx.run("UPDATE accounts SET next_check_at = :now WHERE id = :id AND dead = 0", {"now": now, "id": account.id})


def take_over(tx: Tx, service: Service, dead: int) -> None:
    """Release the refreshes and checks of the generation ``dead``.

    The holder of a refresh stays in the row: it shows that the refresh was interrupted.
    """
    tx.run("UPDATE accounts SET lease_until = 0 WHERE lease_holder = :dead", {"dead": str(dead)})
    tx.run(
        "UPDATE accounts SET next_check_at = CASE WHEN next_check_at > :now THEN :now ELSE next_check_at END, "
        "checked_by = NULL WHERE checked_by = :dead",
        {"now": service.clock(), "dead": dead},
    )


def realign(service: Service) -> None:
    """Bring near what a clock that has since been set back put too far away: leases, checks, and the times of tokens
    that were obtained by it."""
    now = service.clock()
    times = {"now": now, "lease": now + 2 * MINUTE, "longest": now + 25 * HOUR}
    born = "COALESCE(last_refreshed_at, created_at)"
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET lease_until = 0 WHERE lease_until > :lease", times)
        tx.run("UPDATE accounts SET next_check_at = :now WHERE next_check_at > :longest", times)
        tx.run(
            f"UPDATE accounts SET expires_at = :now + expires_at - {born}, "  # noqa: S608
            f"next_refresh_at = :now + next_refresh_at - {born}, last_refreshed_at = :now WHERE {born} > :now",
            times,
        )


def mark_working(service: Service, account: Account) -> Account:
    """Write down that a check of ``account`` succeeded; return the account."""
    now = service.clock()
    sql = (
        "UPDATE accounts SET healthy = 1, dead = 0, error = NULL, failures = 0, last_checked_at = :now, "
        "next_check_at = :next, checked_by = NULL, updated_at = CASE WHEN healthy = 1 THEN updated_at ELSE :now END "
        "WHERE id = :id AND revision = :revision"
    )
    with service.store.write() as tx:
        values = {
            "now": now,
            "next": check_times.check_time(account.id, now),
            "id": account.id,
            "revision": account.revision,
        }
        changed = tx.run(sql, values)
        if changed and not account.healthy:
            activity.write(tx, account.subject, now, "recovered", "Working again.", good=True)
        return reread(tx, account)


def mark_retrying(service: Service, account: Account, reason: str, *, retry_after_s: int | None = None) -> Account:
    """A failure that may pass: unhealthy with a reason, tried again after a growing pause.

    ``retry_after_s``: how many seconds the provider asks to wait. At most a day counts.
    """
    now = service.clock()
    again = retry_times.retry_time(account.failures + 1, now, retry_after_s)
    sql = (
        "UPDATE accounts SET healthy = 0, error = :reason, failures = failures + 1, last_checked_at = :now, "
        "next_check_at = :next, next_refresh_at = CASE WHEN next_refresh_at IS NULL THEN NULL ELSE :next END, "
        "updated_at = :now, lease_until = 0, lease_holder = NULL, checked_by = NULL "
        "WHERE id = :id AND revision = :revision AND dead = 0"
    )
    values = {"reason": reason, "now": now, "next": again, "id": account.id, "revision": account.revision}
    with service.store.write() as tx:
        changed = tx.run(sql, values)
        if changed and account.healthy:
            activity.write(tx, account.subject, now, "trouble", reason, good=False)
        return reread(tx, account)


def mark_dead(service: Service, account: Account, reason: str) -> Account:
    """The credentials are refused for good: only the person can mend it, by reconnecting."""
    now = service.clock()
    sql = (
        "UPDATE accounts SET healthy = 0, dead = 1, error = :reason, failures = failures + 1, last_checked_at = :now, "
        "next_check_at = NULL, next_refresh_at = NULL, updated_at = :now, lease_until = 0, lease_holder = NULL, "
        "checked_by = NULL "
        "WHERE id = :id AND revision = :revision"
    )
    with service.store.write() as tx:
        changed = tx.run(sql, {"reason": reason, "now": now, "id": account.id, "revision": account.revision})
        if changed and not account.dead:
            activity.write(tx, account.subject, now, "dead", reason, good=False)
            notifications.account_dead(tx, service, reread(tx, account), reason)
        ended = reread(tx, account)
    service.wake()
    return ended


def save_refresh(service: Service, account: Account, values: Mapping[str, str], expires_at: int | None) -> Account:
    """A refresh succeeded: new credentials, a new revision, no trouble left."""
    now = service.clock()
    sql = (
        "UPDATE accounts SET credentials_sealed = :sealed, credentials_key = :version, revision = revision + 1, "
        "healthy = 1, dead = 0, error = NULL, failures = 0, expires_at = :expires, last_refreshed_at = :now, "
        "next_refresh_at = :next, next_check_at = CASE WHEN healthy = 1 THEN next_check_at ELSE :check END, "
        "updated_at = :now, lease_until = 0, lease_holder = NULL "
        "WHERE id = :id AND revision = :revision"
    )
    row = {
        "expires": expires_at,
        "now": now,
        "check": check_times.check_time(account.id, now),
        "next": refresh_times.refresh_time(now, values, expires_at),
        "id": account.id,
        "revision": account.revision,
    }
    with service.store.write() as tx:
        sealed, version = credentials.seal(service, tx, account.scene.project_id, account.id, values)
        changed = tx.run(sql, {**row, "sealed": sealed, "version": version})
        if changed and not account.healthy:
            activity.write(tx, account.subject, now, "recovered", "Working again.", good=True)
        return reread(tx, account)


def reread(reader: Reader, account: Account) -> Account:
    """The account as it is now. Raises :class:`NotFound` if it was removed since."""
    try:
        return accounts.get(reader, account.scene, account.id)
    except NotFound as error:
        raise NotFound("The account was disconnected meanwhile.") from error
