"""One small run of the bench: everything is measured, and the table says what the JSON does. No figure is judged."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.bench import report
from tests.bench.deliveries import FEW
from tests.bench.serve import PROCESSES
from tests.cli.conftest import ROOT

pytestmark = pytest.mark.faults  # it loads the machine

SMALL = ("--accounts", "120", "--many", "2000", "--apps", "5", "--requests", "6", "--timers", "30", "--idle", "0.2")


@pytest.fixture(scope="module")
def found() -> Any:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", *SMALL, "--json"], env=env, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_operation_is_measured_on_each_side(found: Any) -> None:
    names = [one["operation"].split()[0] for one in found["results"]]
    assert names == ["create", "check", "list", "get", "search", "search", "overhead:"]
    for one in found["results"]:
        assert one["bytes"] > 50
        assert min(one[f"{side}_ms"] for side in ("app", "bare_app", "server", "bare_server", "raw_sql")) > 0
    assert found["results"][2]["bytes"] > 30_000, "a hundred accounts"
    assert found["growth"]["many"] == 2000 and found["growth"]["many_app_ms"] > 0


def test_runs_that_wait_overlap(found: Any) -> None:
    runs = found["runs"]
    assert runs["run_ms"] > 0 <= runs["bare_ms"]
    assert runs["overhead_ms"] == pytest.approx(runs["run_ms"] - runs["bare_ms"], abs=0.02)
    assert runs["side_by_side_s"] >= runs["wait_s"]
    assert 1 < runs["most_at_once"] <= runs["at_once"] == 6


def test_deliveries_timers_and_the_server_at_rest_are_measured(found: Any) -> None:
    assert (found["deliveries"]["few"], found["deliveries"]["many"]) == (FEW, 2000)
    assert min(found["deliveries"].values()) > 0
    assert (found["timers"]["count"], found["timers"]["all_s"] >= found["timers"]["half_s"] >= 0) == (30, True)
    serve = found["serve"]
    assert list(serve["memory_mb"]) == ["supervisor", *PROCESSES]
    assert sum(serve["memory_mb"].values()) == pytest.approx(serve["total_mb"], abs=0.1)
    assert min(serve["memory_mb"].values()) > 1
    assert (serve["requests"], serve["events"]) == (42, 6)
    assert 0 <= serve["idle_worker_percent"] <= serve["idle_all_percent"]


def test_the_table_says_what_is_to_be_reached(found: Any) -> None:
    printed = report.text(found)
    assert "≤ 1.5" in printed and "growth: the same page from 120 and from 2,000 accounts" in printed
    for goal in ("to reach ≥ 300", "to reach < 60 s", "to reach < 250 MB", "to reach < 1 %", "6 runs at once"):
        assert goal in printed
