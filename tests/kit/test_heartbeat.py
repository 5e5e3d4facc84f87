"""A process's sign of life is the time of a file, and a disk that takes nothing does no harm."""

import os
import time
from pathlib import Path

from webapp.kit.heartbeat import age_s, beat


def test_a_beat_makes_the_file_young(tmp_path: Path) -> None:
    file = tmp_path / "worker"
    assert age_s(file) is None
    beat(file)
    os.utime(file, (time.time() - 60, time.time() - 60))
    assert 59 < (age_s(file) or 0) < 70
    beat(file)
    age = age_s(file)
    assert age is not None and age < 10


def test_a_time_in_the_future_is_no_age(tmp_path: Path) -> None:
    beat(tmp_path / "worker")
    os.utime(tmp_path / "worker", (time.time() + 60, time.time() + 60))
    assert age_s(tmp_path / "worker") == 0


def test_a_folder_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    beat(tmp_path / "gone" / "worker")
    assert age_s(tmp_path / "gone" / "worker") is None
