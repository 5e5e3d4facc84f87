"""A small run of the bench: every operation answers, the table and the JSON are whole. No figure is judged here."""

import json
from typing import Any

SMALL = ("--accounts", "120", "--many", "300", "--apps", "5", "--requests", "5")


def test_bench_measures_every_operation_on_each_side(shell: Any) -> None:
    done = shell.run("bench", *SMALL, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    names = [one["operation"].split()[0] for one in found["results"]]
    assert names == ["create", "check", "list", "get", "search", "search", "overhead:"]
    for one in found["results"]:
        assert one["bytes"] > 50
        assert min(one[f"{side}_ms"] for side in ("app", "bare_app", "server", "bare_server", "raw_sql")) > 0
    assert found["results"][2]["bytes"] > 30_000, "a hundred accounts"
    assert found["growth"]["many"] == 300 and found["growth"]["many_app_ms"] > 0


def test_bench_prints_what_is_to_be_reached(shell: Any) -> None:
    done = shell.run("bench", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "≤ 1.5" in done.stdout and "growth: the same page from 120 and from 300 accounts" in done.stdout
