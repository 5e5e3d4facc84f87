"""The warm-up goes the way of a call, and leaves nothing behind."""

import subprocess
import sys
from pathlib import Path

import pytest

from webapp.service.components.context import Context
from webapp.service.components.warmup import warm_up


def test_it_runs_an_action_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".lock").touch()
    exports: list[str] = []
    monkeypatch.setattr(Context, "export", lambda _, name, value: exports.append(f"{name} {value}"))
    warm_up(tmp_path)
    assert exports == ["$summary Warm"]
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_drivers_come_with_the_first_call_that_may_need_them() -> None:
    """They take 11 MB, which a runner whose calls need no database does without."""
    program = (
        "import sys\n"
        "from webapp.service.components import limits, runner_process, warmup\n"
        "before = limits.own_bytes()\n"
        "assert not {'psycopg', 'pymysql'} & sys.modules.keys()\n"
        "warmup.preload(warmup.DRIVERS)\n"
        "assert {'psycopg', 'pymysql'} <= sys.modules.keys() and limits.own_bytes() > before\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
