"""How lists and counts grow: each, by every filter, among few rows of others and among many."""

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from tests.bench.meter import medians
from tests.store.lists import LISTS, List, filled
from webapp.store.contract import Reader

TARGET = 1.3
WARM_UP = 5


@dataclass(frozen=True, slots=True)
class Growth:
    """CPU milliseconds of each list among ``few`` and among ``many`` rows of others, and their ratio."""

    few: int
    many: int
    lists: dict[str, tuple[float, float, float]]

    def text(self) -> str:
        """The lines to print."""
        (worst, (few, many, ratio)) = max(self.lists.items(), key=lambda item: item[1][2])
        reached = sum(ratio <= TARGET for _, _, ratio in self.lists.values())
        return (
            f"growth: {len(self.lists)} lists and counts, with the same matches among {self.few:,} and among "
            f"{self.many:,} rows of others: {reached} reach ≤ {TARGET:g} ×; the worst is {worst}: {few:.3f} and "
            f"{many:.3f} ms, {ratio:.2f} ×, {'yes' if ratio <= TARGET else 'no'}"
        )


def measure(folder: Path, few: int, many: int, count: int) -> Growth:
    """Ask for each list ``count`` times in each round, of two databases in ``folder`` that take turns."""
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(filled(folder / f"{rows}.db", rows))) for rows in (few, many)]
        lists = {}
        for name, listed in LISTS.items():
            one, other = medians([lambda s=store, f=listed: _cpu_ms(s, f, count) for store in stores])  # type: ignore[misc]
            lists[name] = (round(one, 4), round(other, 4), round(other / one, 2))
    return Growth(few, many, lists)


def _cpu_ms(reader: Reader, listed: List, count: int) -> float:
    for _ in range(WARM_UP):
        listed(reader)
    began = time.process_time()
    for _ in range(count):
        listed(reader)
    return (time.process_time() - began) / count * 1000
