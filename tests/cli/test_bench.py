"""A small run of the bench: every operation answers, the table and the JSON are whole. No figure is judged here."""

import json
from typing import Any


def test_bench_prints_every_operation_with_its_ratio_to_bare(shell: Any) -> None:
    done = shell.run("bench", "--accounts", "120", "--apps", "5", "--requests", "5", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["operation"].split()[0] for one in found["results"]] == ["create", "check", "list", "get", "search"]
    for one in found["results"]:
        assert one["bytes"] > 50 and one["app_ms"] > 0 and one["server_ms"] > 0 and one["bare_server_ms"] > 0
    assert found["results"][2]["bytes"] > 30_000, "a hundred accounts"
