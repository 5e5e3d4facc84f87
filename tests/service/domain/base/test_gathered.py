"""What is noted and written a moment later: the newest of each key, once, and nothing when the store is busy."""

import time
from collections.abc import Mapping

import pytest

from webapp.errors import Unavailable
from webapp.service.domain.base import gathered
from webapp.service.domain.base.gathered import Gathered
from webapp.service.domain.base.service import Service


def test_the_newest_of_each_key_is_written_once(service: Service) -> None:
    written: list[dict[str, int]] = []
    values = Gathered[int](lambda _, noted: written.append(dict(noted)))
    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        values.note(service, key, value)
    assert written == []
    values.flush(service)
    values.flush(service)
    assert written == [{"a": 3, "b": 2}]


def test_it_is_written_without_being_asked(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "SOON_S", 0.0)
    written: list[Mapping[str, int]] = []
    values = Gathered[int](lambda _, noted: written.append(noted))
    values.note(service, "a", 1)
    for _ in range(100):
        if written:
            break
        time.sleep(0.01)
    assert written == [{"a": 1}]


def test_a_busy_store_does_not_matter(service: Service) -> None:
    def write(_: Service, noted: Mapping[str, int]) -> None:
        raise Unavailable

    values = Gathered[int](write)
    values.note(service, "a", 1)
    values.flush(service)
