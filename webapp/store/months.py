"""What a store keeps by months, and forgets a month at a time: events, with all that belongs to them.

Their ids carry the time at which they were made (:func:`webapp.kit.crypto.ordered_id`), so that a month is a range of
ids. A month has tables of its own: to forget it is to drop them, which costs the same however many rows there are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from webapp.kit.clock import SECOND
from webapp.kit.crypto import ordered_id_at
from webapp.store.contract import Tx

BEFORE = "before_"
"""Begins the name of the table for what is older than months: everything up to the month that follows."""


@dataclass(frozen=True, slots=True)
class Month:
    """A month that has tables of its own. ``name`` is what they end with, such as ``2026_11``; one that is not
    ``attached`` is about to be dropped, and no statement sees it."""

    name: str
    attached: bool = True

    @property
    def holds_earlier(self) -> bool:
        """Whether it also holds everything older."""
        return self.name.startswith(BEFORE)

    @property
    def end(self) -> int:
        """When it ends (epoch milliseconds)."""
        number = number_of(self.name.removeprefix(BEFORE))
        return start_of(number if self.holds_earlier else number + 1)

    def ids(self, prefix: str) -> tuple[str, str]:
        """The range of its ids that begin with ``prefix``: the first, and the one that is no longer in it."""
        first = "" if self.holds_earlier else ordered_id_at(prefix, start_of(number_of(self.name)))
        return first, ordered_id_at(prefix, self.end)


@dataclass(frozen=True, slots=True)
class MonthCount:
    """How many deliveries of a trigger a month holds in one ``status``; or as ``kept`` how many bytes of its events,
    or as ``events`` how many events there are of whomever."""

    trigger_id: str | None
    status: str
    count: int


class Months(Protocol):
    """The months of a store."""

    def existing(self) -> Sequence[Month]:
        """Those that have tables, the oldest first."""
        ...

    def missing(self, now: int) -> Sequence[str]:
        """Of the months that have to be there, the one of ``now`` and the next, the names of those that are not."""
        ...

    def ensure(self, now: int) -> None:
        """Make those that are missing."""
        ...

    def make(self, first: int, last: int) -> None:
        """Make those from the time ``first`` to ``last`` (epoch milliseconds) that are missing."""
        ...

    def strays(self) -> int:
        """How many events are in no month: they came while theirs was missing."""
        ...

    def detach(self, tx: Tx, month: Month) -> None:
        """Hide ``month`` from every statement. Raises :class:`webapp.errors.Unavailable` while others read."""
        ...

    def counts(self, month: Month) -> Sequence[MonthCount]:
        """What there is in a ``month``, once it is detached."""
        ...

    def drop(self, tx: Tx, month: Month, counted: Mapping[str, int]) -> None:
        """Remove a ``month`` that is detached, and take from the counters what was ``counted`` of it.

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
    """What the month ``number`` is called."""
    return f"{number // 12:04}_{number % 12 + 1:02}"


def start_of(number: int) -> int:
    """When the month ``number`` begins (epoch milliseconds)."""
    return int(datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC).timestamp()) * SECOND
