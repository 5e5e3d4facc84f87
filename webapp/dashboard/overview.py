"""A person's accounts at a glance: which are broken, and how many each app has.

The API gives accounts in its own order and at most 100 at a time; broken ones must come first. So up to
:data:`READ` accounts are read and sorted here. Beyond that the rest is reached through :attr:`Overview.next_cursor`,
and pages say how many were looked at.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from webapp.dashboard.client.accounts import UserClient
from webapp.dashboard.client.models.accounts import Account
from webapp.kit.translation import gettext, ngettext

READ = 1_000
_CHUNK = 100
_RANK = {"needs-you": 0, "retrying": 1, "working": 2}


@dataclass(frozen=True, slots=True)
class Overview:
    """Accounts, broken first and then newest first. ``total`` counts those that were not read as well."""

    accounts: tuple[Account, ...]
    total: int
    next_cursor: str

    @property
    def complete(self) -> bool:
        """Whether every account was read."""
        return not self.next_cursor and len(self.accounts) >= self.total

    @property
    def needing(self) -> list[Account]:
        """The accounts that nothing but a person can mend."""
        return [account for account in self.accounts if account.state == "needs-you"]

    def of_app(self, slug: str) -> list[Account]:
        """The accounts of one app."""
        return [account for account in self.accounts if account.app.slug == slug]

    def apps(self) -> list[tuple[str, str]]:
        """Slug and name of every app with an account, by name."""
        names = {account.app.slug: account.app.name for account in self.accounts}
        return sorted(names.items(), key=lambda item: item[1].lower())

    def badges(self) -> dict[str, tuple[str, str]]:
        """For each app: the words and the tone of its badge."""
        counts = Counter(account.app.slug for account in self.accounts)
        broken = {account.app.slug for account in self.needing}
        return {
            slug: (gettext("Needs you"), "bad") if slug in broken else (_connected(count), "ok")
            for slug, count in counts.items()
        }


def _connected(count: int) -> str:
    return ngettext("{count} connected", "{count} connected", count).format(count=count)


def read(user: UserClient, *, app: str = "", after: str = "") -> Overview:
    """Read a person's accounts, of one app if given, from ``after`` on."""
    found: list[Account] = []
    cursor = after
    while True:
        page = user.accounts(limit=_CHUNK, after=cursor, app=app)
        found += page.items
        cursor = page.end_cursor
        if not cursor or not page.items or len(found) >= READ:
            return Overview(tuple(in_order(found)), page.total, cursor if page.items else "")


def in_order(accounts: Sequence[Account]) -> list[Account]:
    """Broken first, then newest first."""
    newest = sorted(accounts, key=lambda account: account.created_at or "", reverse=True)
    return sorted(newest, key=lambda account: _RANK[account.state])
