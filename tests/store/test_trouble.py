"""One line when it begins, and one when it is over."""

from pathlib import Path

import pytest

from webapp.errors import Unwritable
from webapp.store.trouble import Trouble


def test_trouble_is_said_once_and_is_over_when_there_is_room(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    room = [False]
    trouble = Trouble(Path("/data"), lambda: room[0])

    for _ in range(3):
        trouble.begin(Unwritable.because("the disk is full"))
    trouble.look()
    assert [record.levelname for record in caplog.records] == ["ERROR"] and trouble.error is not None
    assert "/data: the disk is full." in caplog.text
    room[0] = True
    trouble.look()
    trouble.look()
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"] and trouble.error is None
