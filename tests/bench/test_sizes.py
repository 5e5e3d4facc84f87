"""A small run of ``make sizes``, and of what ``make far`` measures besides. No figure is judged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import partitions
from tests.bench.costs import Costs
from tests.bench.sizes import Rate, need
from tests.cli.conftest import ROOT

POSTGRES = shutil.which("initdb") or next(Path("/usr/lib/postgresql").glob("*/bin/initdb"), None)
COSTS = Costs(1, 1, 2_000, 3_000, 50_000, 1, 1, 1, 0.2, 0.7, 2.0, 1.0)
RATES = [Rate("create a Connect token", 300, 1.5), Rate("an event, delivered", 200, 3.0)]


def test_what_a_load_needs_is_what_one_takes_times_how_many_there_are() -> None:
    row = need(COSTS, RATES, accounts=0, events=864_000, calls=86_400)
    assert (row.busy, row.busy_at_peak, row.disk_gb) == (0.032, 0.16, 51.8)
    upkeep = need(COSTS, RATES, accounts=3_300_000, events=0, calls=0)
    assert upkeep.busy == pytest.approx(2.0 + 3_300_000 / 19_440 / 1000, abs=0.01)
    assert upkeep.busy_at_peak == pytest.approx(upkeep.busy, abs=0.01), "tokens know no busy hour"


@pytest.mark.faults  # it loads the machine
def test_a_machine_is_measured() -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    small = ("--events", "200", "--accounts", "50", "--requests", "16", "--json")
    command = [sys.executable, "-m", "tests.bench.sizes", *small]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert len(measured["rates"]) == 6 and all(rate["per_s"] > 0 < rate["cpu_ms"] for rate in measured["rates"])
    assert min(measured["costs"].values()) > 0 and measured["memory_mb"] > 50
    assert [row["events"] for row in measured["needs"]] == sorted(row["events"] for row in measured["needs"])


@pytest.mark.faults
@pytest.mark.skipif(POSTGRES is None, reason="PostgreSQL's server programs are not installed")
def test_what_partitions_cost_is_measured() -> None:
    measured = partitions.measure(100)
    assert measured.count == 100 and min(measured.cpu_ms, measured.delete_ms, measured.drop_ms) > 0
    assert measured.room > len(partitions.BODY) < measured.log
