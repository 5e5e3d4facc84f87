"""Tables by month, for events and what belongs to them, so that old ones are deleted a month at a time.

The ids of these rows contain the time at which they were created (:func:`webapp.kit.crypto.ordered_id`), so a month is
a range of ids. Each month has its own tables, and dropping them costs the same however many rows they have. How tables
are partitioned is left to the store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from webapp.kit.clock import SECOND
from webapp.kit.crypto import ordered_id_at
from webapp.store.contract import Tx

BEFORE = "before_"
"""The prefix of the table for everything before the month that follows it in the name."""


@dataclass(frozen=True, slots=True)
class Month:
    """A month with its own tables, whose names end with ``name``, such as ``2026_11``.

    A month that is not ``attached`` is about to be dropped, and statements do not see its rows.
    """

    name: str
    attached: bool = True

    @property
    def holds_earlier(self) -> bool:
        """Whether it also holds all earlier rows."""
        return self.name.startswith(BEFORE)

    @property
    def end(self) -> int:
        """When the month ends, in epoch milliseconds."""
        number = number_of(self.name.removeprefix(BEFORE))
        return start_of(number if self.holds_earlier else number + 1)

    def ids(self, prefix: str) -> tuple[str, str]:
        """The range of its ids that begin with ``prefix``: the first, and the end, which is not in it."""
        first = "" if self.holds_earlier else ordered_id_at(prefix, start_of(number_of(self.name)))
        return first, ordered_id_at(prefix, self.end)


@dataclass(frozen=True, slots=True)
class MonthCount:
    """A count of a month's rows: by ``status``, the deliveries of a trigger.

    The status ``kept`` counts the bytes of the trigger's events, and ``events`` the events of all triggers.
    """

    trigger_id: str | None
    status: str
    count: int


class Months(Protocol):
    """The monthly tables of a store."""

    def existing(self) -> Sequence[Month]:
        """The months that have tables, the oldest first."""
        ...

    def missing(self, now: int) -> Sequence[str]:
        """The names of the required months that have no tables: the month of ``now`` and the next are required."""
        ...

    def ensure(self, now: int) -> None:
        """Create the tables of the missing months."""
        ...

    def make(self, first: int, last: int) -> None:
        """Create the missing tables of the months from ``first`` to ``last``, in epoch milliseconds."""
        ...

    def strays(self) -> int:
        """The number of events that are in no month, because they were stored while its tables were missing."""
        ...

    def detach(self, tx: Tx, month: Month) -> None:
        """Hide ``month`` from all statements. Raises :class:`webapp.errors.Unavailable` while others read."""
        ...

    def counts(self, month: Month) -> Sequence[MonthCount]:
        """The counts of the rows of a detached ``month``."""
        ...

    def drop(self, tx: Tx, month: Month, counted: Mapping[str, int]) -> None:
        """Drop the tables of a detached ``month``, and subtract ``counted`` from the counters.

        Raises :class:`webapp.errors.Unavailable` while others read.
        """
        ...


def number_at(at: int) -> int:
    """The number of the month of ``at`` (epoch milliseconds, UTC): months since the year 0."""
    moment = datetime.fromtimestamp(at / SECOND, UTC)
    return moment.year * 12 + moment.month - 1


def number_of(name: str) -> int:
    """The number of the month ``name``, such as ``2026_11``."""
    year, month = name.split("_")
    return int(year) * 12 + int(month) - 1


def name_of(number: int) -> str:
    """The name of the month ``number``, such as ``2026_11``."""
    return f"{number // 12:04}_{number % 12 + 1:02}"


def start_of(number: int) -> int:
    """When the month ``number`` begins, in epoch milliseconds."""
    return int(datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC).timestamp()) * SECOND
