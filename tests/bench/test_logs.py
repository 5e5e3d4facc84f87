"""A small run of ``make bench-logs``: each filter is asked of both databases. No figure is judged."""

import pytest
from click.testing import CliRunner

from tests.bench import logs
from tests.bench.logs import WHICH, WHO, bench


@pytest.mark.faults  # it loads the machine
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_each_filter_is_measured(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "ROUNDS", 1)
    monkeypatch.setattr(logs, "WARM_UP", 1)
    options = ["--few", "700", "--many", "1400", "--requests", "1", "--store", store]
    printed = CliRunner().invoke(bench, options)
    assert printed.exit_code == 0, printed.output
    measured = [line for line in printed.output.splitlines() if " ms " in line and "×" in line]
    assert len([line for line in measured if ", " in line]) >= len(WHO) * len(WHICH)


def test_steps_are_the_same_however_busy_the_machine_is() -> None:
    options = ["--few", "700", "--many", "1400", "--steps", "--only", "a rare user's own, about a rare trigger"]
    first, again = (CliRunner().invoke(bench, options).output for _ in range(2))
    assert first == again and "1.00 ×" in first and "1 of 1 filters reach" in first
