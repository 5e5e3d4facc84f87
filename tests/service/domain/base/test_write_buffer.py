"""What is noted is written a moment later, once: the newest of each key, or their sum; a busy store gets it later."""

import operator
import time
from collections.abc import Callable, Mapping

import pytest

from webapp.errors import Unavailable
from webapp.service.domain.base import write_buffer
from webapp.service.domain.base.service import Service
from webapp.service.domain.base.write_buffer import WriteBuffer


def test_the_newest_of_each_key_is_written_once(service: Service) -> None:
    written: list[dict[str, int]] = []
    values = WriteBuffer[str, int](lambda _, noted: written.append(dict(noted)))
    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        values.note(service, key, value)
    assert written == []
    values.flush(service)
    values.flush(service)
    assert written == [{"a": 3, "b": 2}]


def test_it_is_written_without_being_asked(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_buffer, "SOON_S", 0.0)
    written: list[Mapping[str, int]] = []
    values = WriteBuffer[str, int](lambda _, noted: written.append(noted))
    values.note(service, "a", 1)
    for _ in range(100):
        if written:
            break
        time.sleep(0.01)
    assert written == [{"a": 1}]


@pytest.mark.parametrize(("combined", "total"), [(operator.add, 6), (max, 3)])
def test_what_a_busy_store_did_not_take_is_written_later(
    service: Service, combined: Callable[[int, int], int], total: int
) -> None:
    written: list[dict[str, int]] = []
    busy = True

    def write(_: Service, noted: Mapping[str, int]) -> None:
        if busy:
            values.note(service, "a", 3)  # while it is being written
            raise Unavailable
        written.append(dict(noted))

    values = WriteBuffer[str, int](write, combined)
    values.note(service, "a", 1)
    values.note(service, "a", 2)
    values.flush(service)
    busy = False
    values.flush(service)
    assert written == [{"a": total}]
