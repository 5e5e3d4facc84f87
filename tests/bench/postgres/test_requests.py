"""A small run over both databases: each row is measured on both sides. No figure is judged."""

import json

import pytest
from click.testing import CliRunner

from tests.bench.postgres.requests import DELIVERED, KEPT, Row, requests, text
from tests.bench.test_sizes import POSTGRES


@pytest.mark.faults  # it loads the machine
@pytest.mark.skipif(POSTGRES is None, reason="PostgreSQL's server programs are not installed")
def test_each_request_is_measured_over_both_databases() -> None:
    small = ("--accounts", "20", "--apps", "5", "--requests", "2", "--json")
    printed = CliRunner().invoke(requests, small)
    assert printed.exit_code == 0, printed.output
    rows = [Row(**row) for row in json.loads(printed.stdout)]
    names = [row.name for row in rows]
    assert {"create a Connect token", "the page of apps", "run a declared component", KEPT, DELIVERED} <= set(names)
    assert len(names) == 21
    for row in rows:
        assert row.sqlite_ms > 0 and row.postgres_ms > row.server_ms >= 0


def test_a_row_is_held_against_two_and_a_half_times() -> None:
    lines = text([Row("a", 1.0, 2.5, 0.5), Row("b", 1.0, 2.6, 0.6)]).splitlines()
    assert lines[2].endswith("2.50  yes") and lines[3].endswith("2.60  no")
    assert lines[4].startswith("1 of 2 reach ≤ 2.5 ×")
