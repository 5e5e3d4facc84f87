"""What ``make bench`` found, as it is printed: the JSON form is the whole truth, and the table is made from it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.bench.deliveries import Deliveries
from tests.bench.meter import ROUNDS
from tests.bench.runs import Runs
from tests.bench.serve import Serve
from tests.bench.timers import Timers

GROWTH_TARGET = 1.3
LEGEND = """\
CPU milliseconds per request, medians of {rounds} rounds.
app     through the app, without an HTTP server; this is held against the figure to reach
server  the same through the real server: it includes reading and writing HTTP, which "bare server" shows alone
bare    a Flask route that gives the same bytes, without and with the server
raw     the SQL of the operation by sqlite3 alone; what the catalog answers from memory has none
"""


@dataclass(frozen=True, slots=True)
class Result:
    """CPU milliseconds per request of one operation; ``judged_ms`` is what is held against ``target_ms``."""

    operation: str
    bytes: int
    app_ms: float
    bare_app_ms: float
    server_ms: float
    bare_server_ms: float
    raw_sql_ms: float
    judged_ms: float
    target_ms: float | None


@dataclass(frozen=True, slots=True)
class Growth:
    """The same page of accounts from few and from many: CPU milliseconds through the app, and their ratio."""

    accounts: int
    many: int
    app_ms: float
    many_app_ms: float
    ratio: float
    target_ratio: float = GROWTH_TARGET

    def text(self) -> str:
        """The line to print."""
        return (
            f"growth: the same page from {self.accounts:,} and from {self.many:,} accounts costs "
            f"{self.app_ms:.2f} and {self.many_app_ms:.2f} in the app: {self.ratio:.2f} ×, to reach "
            f"≤ {self.target_ratio:g} ×, {_verdict(self.ratio, self.target_ratio)}"
        )


def text(found: Mapping[str, Any]) -> str:
    """The lines to print of what was found, which is given as the JSON has it."""
    before, after = found["load"]
    return "\n".join(
        [
            LEGEND.format(rounds=ROUNDS),
            f"{'operation':<34} {'bytes':>7} {'app':>7} {'bare':>7} {'server':>7} {'bare server':>12} {'raw':>7} "
            f"{'to reach':>9}  reached",
            *(_row(Result(**one)) for one in found["results"]),
            "",
            Growth(**found["growth"]).text(),
            Runs(**found["runs"]).text(),
            Deliveries(**found["deliveries"]).text(),
            Timers(**found["timers"]).text(),
            Serve(**found["serve"]).text(),
            f"load average before and after: {before} and {after} on {os.cpu_count()} processors",
        ]
    )


def _row(one: Result) -> str:
    target = "–" if one.target_ms is None else f"≤ {one.target_ms:g}"
    return (
        f"{one.operation:<34} {one.bytes:>7} {one.app_ms:>7.2f} {one.bare_app_ms:>7.2f} {one.server_ms:>7.2f} "
        f"{one.bare_server_ms:>12.2f} {one.raw_sql_ms:>7.2f} {target:>9}  {_verdict(one.judged_ms, one.target_ms)}"
    )


def _verdict(found: float, target: float | None) -> str:
    if target is None:
        return "–"
    return f"yes, {found:.2f}" if found <= target else f"no, {found:.2f}"
