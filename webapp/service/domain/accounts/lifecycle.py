"""The states of an account, written in one place: working, retrying, needs you (WIRE "Account states").

Each verb takes the account as it was read and writes only if its credentials are still the same revision, so that
a slow check never overwrites a newer reconnect or refresh.
"""

import zlib
from collections.abc import Mapping

from webapp.errors import NotFound
from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.service.domain.accounts import accounts, credentials, notifications
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import history
from webapp.store.contract import Tx

BACK_OFF = (30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR)
EARLY = 5 * MINUTE
CHECK_EVERY = 6 * HOUR


def back_off(failures: int) -> int:
    """How long to wait, in milliseconds, after that many failures in a row."""
    return BACK_OFF[min(max(failures, 1), len(BACK_OFF)) - 1]


def refresh_time(now: int, expires_at: int | None) -> int | None:
    """When to refresh a token that expires then: 5 minutes early, or after four fifths of a shorter life."""
    if expires_at is None:
        return None
    return max(expires_at - min(EARLY, (expires_at - now) // 5), now)


def check_time(account_id: str, now: int) -> int:
    """When to look after a working account next: in 6 hours, up to a fifth earlier, so that they spread out."""
    return now + CHECK_EVERY - zlib.crc32(account_id.encode()) % (CHECK_EVERY // 5)


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
    """A check succeeded."""
    now = service.clock()
    sql = (
        "UPDATE accounts SET healthy = 1, dead = 0, error = NULL, failures = 0, last_checked_at = :now, "
        "next_check_at = :next, updated_at = CASE WHEN healthy = 1 THEN updated_at ELSE :now END "
        "WHERE id = :id AND revision = :revision"
    )
    with service.store.write() as tx:
        values = {"now": now, "next": check_time(account.id, now), "id": account.id, "revision": account.revision}
        changed = tx.run(sql, values)
        if changed and not account.healthy:
            history.write(tx, account.subject, now, "recovered", "Working again.", good=True)
        return reread(tx, account)


def mark_retrying(service: Service, account: Account, reason: str, *, retry_after_s: int | None = None) -> Account:
    """A failure that may pass: unhealthy with a reason, tried again after a growing pause."""
    now = service.clock()
    pause = max(back_off(account.failures + 1), min(retry_after_s or 0, 24 * 3600) * SECOND)
    sql = (
        "UPDATE accounts SET healthy = 0, error = :reason, failures = failures + 1, last_checked_at = :now, "
        "next_check_at = :next, next_refresh_at = CASE WHEN next_refresh_at IS NULL THEN NULL ELSE :next END, "
        "updated_at = :now, lease_until = 0, lease_holder = NULL WHERE id = :id AND revision = :revision AND dead = 0"
    )
    values = {"reason": reason, "now": now, "next": now + pause, "id": account.id, "revision": account.revision}
    with service.store.write() as tx:
        changed = tx.run(sql, values)
        if changed and account.healthy:
            history.write(tx, account.subject, now, "trouble", reason, good=False)
        return reread(tx, account)


def mark_dead(service: Service, account: Account, reason: str) -> Account:
    """The credentials are refused for good: only the person can mend it, by reconnecting."""
    now = service.clock()
    sql = (
        "UPDATE accounts SET healthy = 0, dead = 1, error = :reason, failures = failures + 1, last_checked_at = :now, "
        "next_check_at = NULL, next_refresh_at = NULL, updated_at = :now, lease_until = 0, lease_holder = NULL "
        "WHERE id = :id AND revision = :revision"
    )
    with service.store.write() as tx:
        changed = tx.run(sql, {"reason": reason, "now": now, "id": account.id, "revision": account.revision})
        if changed and not account.dead:
            history.write(tx, account.subject, now, "dead", reason, good=False)
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
        "check": check_time(account.id, now),
        "next": refresh_time(now, expires_at) if values.get(credentials.REFRESH_TOKEN) else expires_at,
        "id": account.id,
        "revision": account.revision,
    }
    with service.store.write() as tx:
        sealed, version = credentials.seal(service, tx, account.scene.project_id, account.id, values)
        changed = tx.run(sql, {**row, "sealed": sealed, "version": version})
        if changed and not account.healthy:
            history.write(tx, account.subject, now, "recovered", "Working again.", good=True)
        return reread(tx, account)


def reread(tx: Tx, account: Account) -> Account:
    """The account as it stands now. Raises :class:`NotFound` when it was removed meanwhile."""
    try:
        return accounts.get(tx, account.scene, account.id)
    except NotFound as error:
        raise NotFound("The account was disconnected meanwhile.") from error
