"""A person's triggers at a glance: what needs somebody first, and how many each state has.

Up to :data:`READ` triggers are read and sorted here, because the API gives them in its own order; beyond that pages say
how many were looked at.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.triggers import TriggerClient

READ = 1_000
_CHUNK = 100
_RANK = {"off": 0, "waits": 0, "active": 1, "paused": 2}


@dataclass(frozen=True, slots=True)
class Triggers:
    """Triggers, those that need somebody first and then the newest. ``total`` counts those not read as well."""

    items: tuple[Trigger, ...]
    total: int

    @property
    def complete(self) -> bool:
        """Whether every trigger was read."""
        return len(self.items) >= self.total

    @property
    def needing(self) -> int:
        """How many stand still until somebody does something."""
        return sum(trigger.state in ("off", "waits") for trigger in self.items)

    def counts(self) -> Counter[str]:
        """How many there are of each state."""
        return Counter(trigger.state for trigger in self.items)

    def of_account(self) -> Counter[str]:
        """How many triggers use each account, by its id."""
        return Counter(account for trigger in self.items for account in set(trigger.accounts))

    def find(self, trigger_id: str) -> Trigger | None:
        """The trigger of that id, if it was read."""
        return next((trigger for trigger in self.items if trigger.id == trigger_id), None)


def read(client: TriggerClient) -> Triggers:
    """All triggers of a person, as far as :data:`READ`."""
    found: list[Trigger] = []
    cursor = ""
    while True:
        page = client.listed(limit=_CHUNK, after=cursor)
        found += page.items
        cursor = page.end_cursor
        if not cursor or not page.items or len(found) >= READ:
            return Triggers(tuple(in_order(found)), max(page.total, len(found)))


def in_order(found: Sequence[Trigger]) -> list[Trigger]:
    """What needs somebody first, then what runs, then what is paused; the newest first in each."""
    newest = sorted(found, key=lambda trigger: trigger.created_at or 0, reverse=True)
    return sorted(newest, key=lambda trigger: _RANK[trigger.state])
