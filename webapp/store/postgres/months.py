"""The months of PostgreSQL: partitions of the tables in :data:`webapp.store.postgres.month_functions.TABLES`."""

import json
import logging
import re
from collections.abc import Mapping, Sequence

from webapp.errors import Unavailable
from webapp.store.contract import Reader, Store, Tx
from webapp.store.months import BEFORE, Month, MonthCount, name_of, number_at, start_of

log = logging.getLogger(__name__)
COUNTERS = "counters"
_NAME = re.compile(rf"events_((?:{BEFORE})?\d{{4}}_\d\d)")
_TABLES = (
    "SELECT relname::text, relispartition FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
    "AND relkind = 'r' AND relname ~ '^events_' ORDER BY relname"
)


class PostgresMonths:
    """A :class:`webapp.store.months.Months`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def standing(self) -> Sequence[Month]:
        """Those that have tables, the oldest first."""
        return months(self._store)

    def missing(self, now: int) -> Sequence[str]:
        """Of the month of ``now`` and the next, the names of those that are not there."""
        there, number = self.standing(), number_at(now)
        past = [month.end for month in there if month.has_past]
        names = {month.name for month in there}
        wanted = (name_of(each) for each in (number, number + 1))
        return [name for name in wanted if name not in names and Month(name).end > max(past, default=0)]

    def ensure(self, now: int) -> None:
        """Make the month of ``now`` and the next, where they are missing and nobody reads for long."""
        if missing := self.missing(now):
            try:
                self.make(now, start_of(number_at(now) + 1))
            except Unavailable as error:
                log.warning("the tables of %s cannot be made yet: %s", " and ".join(missing), error.message)

    def make(self, first: int, last: int) -> None:
        """Make those from the time ``first`` to ``last`` that are missing."""
        with self._store.write() as tx:
            numbers = {"first": number_at(first), "last": number_at(last)}
            tx.tuples("SELECT patchbay_make_months(CAST(:first AS INTEGER), CAST(:last AS INTEGER))", numbers)

    def astray(self) -> int:
        """How many events are in no month."""
        ((count,),) = self._store.tuples("SELECT COUNT(*) FROM events_default")
        return int(count)

    def detach(self, tx: Tx, month: Month) -> None:
        """Let no statement see ``month`` any more."""
        tx.tuples("SELECT patchbay_detach_month(:name)", {"name": month.name})

    def counts(self, month: Month) -> Sequence[MonthCount]:
        """What there is in a ``month``, once it is detached."""
        rows = self._store.tuples("SELECT * FROM patchbay_month_counts(:name)", {"name": month.name})
        return [MonthCount(*row) for row in rows]

    def drop(self, tx: Tx, month: Month, counted: Mapping[str, int]) -> None:
        """Remove a ``month`` that is detached, and take from the counters what was ``counted`` of it."""
        tx.run(
            f"UPDATE {COUNTERS} AS c SET n = c.n - CAST(less.value AS BIGINT) "  # noqa: S608
            "FROM json_each_text(CAST(:counted AS JSON)) AS less WHERE c.name = less.key",
            {"counted": json.dumps(dict(counted))},
        )
        tx.tuples("SELECT patchbay_drop_month(:name)", {"name": month.name})


def months(reader: Reader) -> list[Month]:
    """The months that have tables, the oldest first."""
    tables = [(_NAME.fullmatch(str(name)), attached) for name, attached in reader.tuples(_TABLES)]
    named = [Month(match[1], bool(attached)) for match, attached in tables if match]
    return sorted(named, key=lambda month: month.end)
