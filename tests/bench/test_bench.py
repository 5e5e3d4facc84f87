"""One small run of the bench: everything is measured, and the table says what the JSON does. No figure is judged."""

import json
import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from tests.bench import report
from tests.bench.calls import Request
from tests.bench.deliveries import FEW
from tests.bench.meter import serving_bare
from tests.bench.serving import PROCESSES
from tests.bench.steady import Sample, verdict
from tests.cli.conftest import ROOT
from tests.store.lists import LISTS

pytestmark = pytest.mark.faults  # it loads the machine

SMALL = (
    *("--accounts", "120", "--many", "2000", "--apps", "5", "--requests", "6", "--timers", "30", "--idle", "0.2"),
    *("--load", "200", "--operations", "500"),
)


@pytest.fixture(scope="module")
def measured() -> Any:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", *SMALL, "--json"], env=env, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_operation_and_page_is_measured_on_each_side(measured: Any) -> None:
    names = [row["operation"].split()[0] for row in measured["results"]]
    operations = ["create", "check", "list", "get", "search", "search", "overhead:"]
    assert names == [*operations, *["the"] * 4, "its", "the", "what", "options", "run", "tool:", "tools", "tools:"]
    for row in measured["results"]:
        assert row["bytes"] > 50
        assert min(row[f"{side}_ms"] for side in ("one", "many", "bare")) > 0
    assert [row["raw_sql_ms"] is None for row in measured["results"]] == [False] * 7 + [True] * 12
    assert measured["results"][2]["bytes"] > 30_000, "a hundred accounts"


def test_every_list_is_asked_for_among_few_and_among_many(measured: Any) -> None:
    growth = measured["growth"]
    assert growth["many"] == 2000 and growth["lists"].keys() == LISTS.keys()
    assert all(few > 0 < many for few, many, _ in growth["lists"].values())


def test_tools_are_searched_among_operations(measured: Any) -> None:
    found = measured["tools"]
    assert found["operations"] > 1_500 and 0 < found["median_ms"] <= found["p95_ms"]
    assert found["first"] <= found["five"] <= 100 and found["held_first"] <= found["held_five"] <= 100


def test_runs_that_wait_overlap(measured: Any) -> None:
    runs = measured["runs"]
    assert runs["run_ms"] > 0 <= runs["bare_ms"]
    assert runs["overhead_ms"] == pytest.approx(runs["run_ms"] - runs["bare_ms"], abs=0.02)
    assert runs["side_by_side_s"] >= runs["wait_s"]
    assert 1 < runs["most_at_once"] <= runs["at_once"] == 6


def test_tools_of_a_server_are_called_and_added(measured: Any) -> None:
    servers = measured["tool_servers"]
    assert servers["tools"] == 200 and servers["add_s"] > 0
    assert 0 < servers["call_ms"] < servers["first_ms"], "the first call has the list to read"


def test_pieces_are_measured_beside_their_provider(measured: Any) -> None:
    pieces = measured["pieces"]
    assert min(pieces.values()) > 0 and pieces["cold_ms"] > pieces["warm_ms"]
    assert (pieces["at_once"], pieces["places"]) == (6, 8)


def test_events_deliveries_timers_and_the_server_at_rest_are_measured(measured: Any) -> None:
    assert measured["ingestion"]["events"] == 18 and min(measured["ingestion"].values()) > 0
    assert (measured["deliveries"]["few"], measured["deliveries"]["many"]) == (FEW, 2000)
    assert min(measured["deliveries"].values()) > 0
    assert (measured["timers"]["count"], measured["timers"]["all_s"] >= measured["timers"]["half_s"] >= 0) == (30, True)
    rest = measured["rest"]
    assert list(rest["memory_mb"]) == ["supervisor", *PROCESSES]
    assert sum(rest["memory_mb"].values()) == pytest.approx(rest["total_mb"], abs=0.1)
    assert min(rest["memory_mb"].values()) > 1
    assert rest["requests"] == 200 and 45 <= rest["events"] <= 50, "every fourth request is an event"
    assert 0 <= rest["idle_worker_percent"] <= rest["idle_all_percent"]


def test_the_table_says_what_is_to_be_reached(measured: Any) -> None:
    printed = report.text(measured)
    assert "≤ 1.2" in printed and f"growth: {len(LISTS)} lists and counts" in printed
    for goal in ("to reach ≥ 300", "to reach < 60 s", "to reach < 250 MB", "to reach < 1 %", "6 runs at once"):
        assert goal in printed


def test_an_answer_that_is_not_as_it_should_be_ends_it() -> None:
    with serving_bare([("text/plain", b"x")], threads=1) as server, closing(server.client()) as client:
        assert client.ask(Request("GET", "/bare/0")) == b"x"
        with pytest.raises(RuntimeError, match="GET /bare/x answered 404"):
            client.ask(Request("GET", "/bare/x"))


def test_a_steady_pace_is_looked_at_while_it_lasts() -> None:
    command = [sys.executable, "-m", "tests.bench.steady", "--minutes", "0.1", "--samples", "6", "--json"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    taken = [Sample(**sample) for sample in json.loads(done.stdout)]
    assert len(taken) == 6 and all(sample.at_s >= number for number, sample in enumerate(taken, 1))
    assert taken[0].requests < taken[-1].requests <= 60 and min(sample.memory_mb for sample in taken) > 50
    assert verdict([replace(taken[0], memory_mb=100.0 + number) for number in range(6)]).startswith(
        "memory 101.0 MB, then 105.0 MB: +4.0 %, to reach ≤ 3 %, no;"
    )
