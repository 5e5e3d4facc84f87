"""What one process tells another about a request that it still answers."""

from webapp.kit.clock import MINUTE, FakeClock
from webapp.service.domain.agents import request_signals
from webapp.service.domain.base.service import Service


def test_the_first_word_stands_for_ten_minutes(service: Service, clock: FakeClock) -> None:
    name = request_signals.name_of(service, ["session", "cancelled", 1])
    assert request_signals.look(service, name) is None
    request_signals.send(service, name, "yes")
    request_signals.send(service, name, "no")
    assert request_signals.look(service, name) == "yes"
    assert request_signals.look(service, request_signals.name_of(service, ["session", "cancelled", "1"])) is None
    clock.advance(10 * MINUTE)
    assert request_signals.look(service, name) is None and request_signals.purge(service) == 1
