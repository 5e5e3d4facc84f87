"""Overviews of a person's accounts and triggers: those that need attention first, and counts.

The API returns at most 100 at a time in its own order, but pages show broken ones first. So up to :data:`READ` are read
and sorted here, and pages say how many were read. The remaining accounts are available from
:attr:`Overview.next_cursor`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from webapp.dashboard.client.connect import UserCalls
from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.client.models.lenient import Lenient, PageOf
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.transport import Params
from webapp.errors import Invalid
from webapp.kit.translation import gettext, ngettext

EXTENDED: Params = {"extensions": True}  # requests members that only the embedded service has; others ignore it
READ = 1_000
_CHUNK = 100
_ACCOUNT_RANKS = {"needs-you": 0, "no-app": 1, "retrying": 1, "working": 2}
_TRIGGER_RANKS = {"off": 0, "waits": 0, "no-app": 0, "active": 1, "paused": 2}

M = TypeVar("M", bound=Lenient)


@dataclass(frozen=True, slots=True)
class Overview:
    """Accounts, broken ones first, then the newest. ``total`` includes those that were not read."""

    accounts: tuple[Account, ...]
    total: int
    next_cursor: str

    @property
    def complete(self) -> bool:
        """Whether every account was read."""
        return not self.next_cursor and len(self.accounts) >= self.total

    @property
    def needing(self) -> list[Account]:
        """The accounts that only a person can repair."""
        return [account for account in self.accounts if account.state == "needs-you"]

    def find(self, account_id: str) -> Account | None:
        """The account with that id."""
        return next((account for account in self.accounts if account.id == account_id), None)

    def of_app(self, slug: str) -> list[Account]:
        """The accounts of one app."""
        return [account for account in self.accounts if account.app.slug == slug]

    def apps(self) -> list[tuple[str, str]]:
        """The slugs and names of the apps with an account, by name."""
        names = {account.app.slug: account.app.name for account in self.accounts}
        return sorted(names.items(), key=lambda item: item[1].lower())

    def badges(self) -> dict[str, tuple[str, str]]:
        """The text and tone of each app's badge."""
        counts = Counter(account.app.slug for account in self.accounts)
        broken = {account.app.slug for account in self.needing}
        return {
            slug: (gettext("Needs you"), "bad") if slug in broken else (_connected(count), "ok")
            for slug, count in counts.items()
        }


@dataclass(frozen=True, slots=True)
class TriggerOverview:
    """Triggers, those that need attention first, then the newest. ``total`` includes those that were not read."""

    items: tuple[Trigger, ...]
    total: int

    @property
    def complete(self) -> bool:
        """Whether every trigger was read."""
        return len(self.items) >= self.total

    @property
    def needing(self) -> int:
        """The number of triggers that are stopped until a person does something."""
        return sum(trigger.state in ("off", "waits", "no-app") for trigger in self.items)

    def of_account(self) -> Counter[str]:
        """The number of triggers by account id."""
        return Counter(account for trigger in self.items for account in set(trigger.accounts))


class Lists(UserCalls):
    """The lists of accounts and triggers, which every page counts."""

    def accounts(self, *, limit: int, after: str = "", app: str = "") -> PageOf[Account]:
        """``GET P/accounts`` for this user."""
        params = {"external_user_id": self.user_id, **EXTENDED, "limit": limit, "after": after, "app": app}
        return self.ask(PageOf[Account], "GET", self.client.path("accounts"), params=params)

    def triggers(self, *, limit: int, after: str = "") -> PageOf[Trigger]:
        """``GET P/deployed-triggers`` of every emitter; only of sources if the service does not support ``all``."""
        path = self.client.path("deployed-triggers")
        params = {"external_user_id": self.user_id, "limit": limit, **EXTENDED, "after": after}
        try:
            return self.ask(PageOf[Trigger], "GET", path, params={**params, "emitter_type": "all"})
        except Invalid:
            return self.ask(PageOf[Trigger], "GET", path, params=params)


def read_accounts(user: Lists, *, app: str = "", after: str = "") -> Overview:
    """Read a person's accounts, of one app if given, from ``after`` on."""
    accounts, total, cursor = _read(lambda cursor: user.accounts(limit=_CHUNK, after=cursor, app=app), after)
    accounts.sort(key=lambda account: account.created_at or "", reverse=True)
    return Overview(tuple(sorted(accounts, key=lambda account: _ACCOUNT_RANKS[account.state])), total, cursor)


def read_triggers(user: Lists) -> TriggerOverview:
    """Read a person's triggers."""
    triggers, total, _ = _read(lambda cursor: user.triggers(limit=_CHUNK, after=cursor))
    triggers.sort(key=lambda trigger: trigger.created_at or 0, reverse=True)
    ordered = sorted(triggers, key=lambda trigger: _TRIGGER_RANKS[trigger.state])
    return TriggerOverview(tuple(ordered), max(total, len(ordered)))


def _read(fetch: Callable[[str], PageOf[M]], after: str = "") -> tuple[list[M], int, str]:
    """Up to :data:`READ` entries of a list, the total number, and the cursor to the rest."""
    items: list[M] = []
    while True:
        page = fetch(after)
        items += page.items
        after = page.end_cursor if page.items else ""
        if not after or len(items) >= READ:
            return items, page.total, after


def _connected(count: int) -> str:
    return ngettext("{count} connected", "{count} connected", count).format(count=count)
