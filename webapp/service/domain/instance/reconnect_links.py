"""The links in reconnect mails (operate "Mails to people"). This module owns ``reconnect_links``.

A link lets whoever has it reconnect the accounts that it names, and nothing else. Its token is stored as its SHA-256,
works once, within seven days, and while its person has an enabled login. The browser that used it may continue for an
hour, by the secret of its cookie, since a link can name several accounts.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from webapp import audit
from webapp.audit import Actor
from webapp.kit.clock import DAY, HOUR
from webapp.kit.crypto import hash_token, new_id, same
from webapp.people import users
from webapp.people.users import User
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

LIFETIME = 7 * DAY
VISIT = HOUR
REMEMBERED = 7 * DAY  # past its expiry, so that a late visitor reads "expired" and not "unknown"


@dataclass(frozen=True, slots=True)
class ReconnectLink:
    """A link. ``visit_hash`` is that of the secret of the browser that used it. Times are epoch milliseconds."""

    id: str
    user_id: str
    token_hash: str = field(repr=False)
    account_ids: tuple[str, ...]
    created_at: int
    expires_at: int
    used_at: int | None = None
    visit_hash: str | None = field(repr=False, default=None)


_LINKS = Table("reconnect_links", ReconnectLink)


def new_token() -> str:
    """The secret of a new link."""
    return secrets.token_urlsafe(24)


def insert(tx: Tx, now: int, user_id: str, token: str, reconnected: Iterable[Account]) -> None:
    """Let ``token`` reconnect the accounts ``reconnected`` of a person."""
    account_ids = tuple(account.id for account in reconnected)
    _LINKS.insert(tx, ReconnectLink(new_id("rl"), user_id, hash_token(token), account_ids, now, now + LIFETIME))


def by_token(reader: Reader, token: str) -> ReconnectLink | None:
    """The link with ``token``, also when it was used or has expired; None if its person may not sign in."""
    return _of_enabled(reader, _LINKS.one(reader, "token_hash = :hash", {"hash": hash_token(token)}))


def of_visit(reader: Reader, now: int, link_id: str, secret: str | None) -> ReconnectLink | None:
    """The link ``link_id``, for the browser that used it within the last hour."""
    link = _of_enabled(reader, _LINKS.get(reader, link_id))
    if link is None or link.used_at is None or link.visit_hash is None or secret is None:
        return None
    return link if same(link.visit_hash, hash_token(secret)) and now < link.used_at + VISIT else None


def use(tx: Tx, now: int, token: str) -> str | None:
    """Use the link of ``token`` up, and return the secret of the browser's visit; None if it cannot be used."""
    link, secret = by_token(tx, token), secrets.token_urlsafe(32)
    if link is None or link.used_at is not None or link.expires_at <= now:
        return None
    _LINKS.update(tx, link.id, used_at=now, visit_hash=hash_token(secret))
    with audit.acting(Actor("person", link.user_id)):
        sentence = "Opened the link in a mail to reconnect accounts."
        audit.write(tx, now, "person", link.user_id, "reconnect_link_used", sentence)
    return secret


def owner(reader: Reader, link: ReconnectLink) -> User:
    """The person whom the link was mailed to. Raises :class:`webapp.errors.NotFound`."""
    return users.get(reader, link.user_id)


def accounts_of(reader: Reader, link: ReconnectLink) -> list[Account]:
    """The accounts that the link reconnects and that are still its person's, oldest first."""
    return [account for account in accounts_of_person(reader, link.user_id) if account.id in link.account_ids]


def accounts_of_person(reader: Reader, user_id: str) -> list[Account]:
    """All accounts of a person of the dashboard, in every project and environment, without their credentials."""
    return [account for known in external_users.of_id(reader, user_id) for account in accounts.of_user(reader, known)]


def purge(service: Service) -> int:
    """Delete links that expired more than 7 days ago; return how many there were."""
    limit = {"limit": service.clock() - REMEMBERED}
    if service.store.one("SELECT 1 FROM reconnect_links WHERE expires_at < :limit LIMIT 1", limit) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("DELETE FROM reconnect_links WHERE expires_at < :limit", limit)


def _of_enabled(reader: Reader, link: ReconnectLink | None) -> ReconnectLink | None:
    person = users.by_id(reader, link.user_id) if link else None
    return link if person is not None and person.enabled else None
