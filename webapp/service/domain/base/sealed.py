"""How a table that holds sealed values shows them to a rotation; each such table's module declares its own."""

from collections.abc import Callable
from dataclasses import dataclass

from webapp.service.domain.base.keyring import Place


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """One sealed column.

    ``page`` selects ``id``, ``owner`` (whose data key it is), ``sealed`` and ``version`` (NULL where the box holds
    it) of at most ``:limit`` rows after ``:after`` in the order of their ids; ``update`` writes ``:sealed``, and
    ``:version`` where there is such a column, to the row ``:id``, and touches nothing else.
    """

    table: str
    page: str
    update: str
    place: Callable[[str, str], Place]
