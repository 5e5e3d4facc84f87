"""What ``make bench`` found, as it is printed: the JSON form is the whole truth, and the table is made from it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.bench.deliveries import Deliveries
from tests.bench.growth import Growth
from tests.bench.meter import ROUNDS
from tests.bench.pieces import Pieces
from tests.bench.runs import Runs
from tests.bench.serving import Rest
from tests.bench.timers import Timers
from tests.bench.tool_servers import ToolServers
from tests.bench.tools import Tools

MANY_CLIENTS = 8
LEGEND = """\
CPU milliseconds per request that all processes of ``patchbay serve`` spend, medians of {rounds} rounds.
one     one client on a kept-alive connection; this is held against the figure to reach
eight   {many} clients side by side
bare    a Flask route that gives the same bytes by the same HTTP server
raw     the SQL of the operation by sqlite3 alone; what the catalog answers from memory has none
"""


@dataclass(frozen=True, slots=True)
class Result:
    """CPU milliseconds per request of one operation; ``judged_ms`` is what is held against ``target_ms``."""

    operation: str
    bytes: int
    one_ms: float
    many_ms: float
    bare_ms: float
    raw_sql_ms: float | None
    judged_ms: float
    target_ms: float | None


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Events that one client sends one after another: CPU milliseconds of all processes until each is delivered, and
    the 95th percentile of the time until it is accepted."""

    events: int
    cpu_ms: float
    p95_ms: float

    def text(self) -> str:
        """The line to print."""
        return (
            f"{self.events:,} events of one client, one after another: {self.cpu_ms:.2f} ms of CPU each, delivery "
            f"included; accepted within {self.p95_ms:.1f} ms (p95)"
        )


def text(measured: Mapping[str, Any]) -> str:
    """The lines to print of what was measured, which is given as the JSON has it."""
    before, after = measured["load"]
    return "\n".join(
        [
            LEGEND.format(rounds=ROUNDS, many=MANY_CLIENTS),
            f"{'operation':<34} {'bytes':>7} {'one':>7} {'eight':>7} {'bare':>7} {'raw':>7} {'to reach':>9}  reached",
            *(_row(Result(**row)) for row in measured["results"]),
            "",
            Growth(**measured["growth"]).text(),
            Tools(**measured["tools"]).text(),
            Runs(**measured["runs"]).text(),
            Pieces(**measured["pieces"]).text(),
            ToolServers(**measured["tool_servers"]).text(),
            Ingestion(**measured["ingestion"]).text(),
            Deliveries(**measured["deliveries"]).text(),
            Timers(**measured["timers"]).text(),
            Rest(**measured["rest"]).text(),
            f"load average before and after: {before} and {after} on {os.cpu_count()} processors",
        ]
    )


def _row(row: Result) -> str:
    target = "–" if row.target_ms is None else f"≤ {row.target_ms:g}"
    raw = "–" if row.raw_sql_ms is None else f"{row.raw_sql_ms:.2f}"
    return (
        f"{row.operation:<34} {row.bytes:>7} {row.one_ms:>7.2f} {row.many_ms:>7.2f} {row.bare_ms:>7.2f} {raw:>7} "
        f"{target:>9}  {_verdict(row.judged_ms, row.target_ms)}"
    )


def _verdict(measured: float, target: float | None) -> str:
    if target is None:
        return "–"
    return f"yes, {measured:.2f}" if measured <= target else f"no, {measured:.2f}"
