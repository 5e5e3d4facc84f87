"""The worker's thread for the public directory."""

import threading
from dataclasses import replace

import pytest

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import directory_download
from webapp.service.worker import directory_engine
from webapp.service.worker.directory_engine import DirectoryEngine


def test_what_could_not_be_brought_is_a_line_of_the_log(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failed = replace(directory_download.begin(service), state="failed", error="The registry is away.")
    for ended in (failed, None):
        monkeypatch.setattr(directory_download, "work", lambda *_, ended=ended: ended)
        with caplog.at_level("INFO"):
            DirectoryEngine(service).turn()
    assert caplog.messages.count("The public directory could not be brought: The registry is away.") == 1


def test_it_works_until_it_is_stopped(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    turns, third = list[object](), threading.Event()

    def work(*_: object) -> None:
        turns.append(None)
        if len(turns) == 1:
            raise Unavailable
        if len(turns) == 2:
            raise RuntimeError("oops")
        third.set()

    monkeypatch.setattr(directory_download, "work", work)
    monkeypatch.setattr(directory_engine, "AT_MOST_EVERY_S", 0.01)
    monkeypatch.setattr(directory_engine, "EVERY_S", 0.02)
    engine = DirectoryEngine(service)
    engine.start()
    engine.wake()
    assert third.wait(20)
    engine.stop(5)
    assert not engine._thread.is_alive()
