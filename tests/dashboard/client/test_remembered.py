from typing import Any

import pytest

from webapp.dashboard.client.remembered import PATIENCE_S, REST, Remembered
from webapp.dashboard.client.transport import ServiceDown
from webapp.errors import NotFound, Throttled
from webapp.kit.clock import MINUTE, FakeClock


class Service:
    """Answers with what it is told to say, or raises it."""

    def __init__(self) -> None:
        self.says: Any = {"n": 1}
        self.patience: list[float | None] = []

    def ask(self, timeout: float | None) -> Any:
        self.patience.append(timeout)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@pytest.mark.parametrize("failure", [ServiceDown(), Throttled(10, 0, 60)])
def test_the_last_answer_is_given_again_with_its_time(failure: Exception) -> None:
    clock, service, stale = FakeClock(), Service(), list[int]()
    remembered = Remembered(clock, stale.append)
    assert remembered.read("who?", service.ask) == {"n": 1}
    at = clock()
    service.says = failure
    clock.advance(MINUTE)
    assert remembered.read("who?", service.ask) == {"n": 1}
    assert stale == [at] and service.patience == [None, PATIENCE_S]
    with pytest.raises(type(failure)):
        remembered.read("who else?", service.ask)
    service.says = {"n": 2}
    assert remembered.read("who?", service.ask) == {"n": 1} and len(service.patience) == 3
    clock.advance(REST)
    assert remembered.read("who?", service.ask) == {"n": 2} and len(stale) == 2


def test_what_is_too_old_or_was_refused_is_not_given_again() -> None:
    clock, service, stale = FakeClock(), Service(), list[int]()
    remembered = Remembered(clock, stale.append)
    remembered.read("who?", service.ask)
    service.says = NotFound()
    with pytest.raises(NotFound):
        remembered.read("who?", service.ask)
    clock.advance(10 * MINUTE)
    service.says = ServiceDown()
    with pytest.raises(ServiceDown):
        remembered.read("who?", service.ask)
    assert stale == []
