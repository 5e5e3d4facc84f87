"""What one process tells another about a request that it still answers."""

from webapp.kit.clock import MINUTE, FakeClock
from webapp.service.domain.agents import signals
from webapp.service.domain.base.service import Service


def test_the_first_word_stands_for_ten_minutes(service: Service, clock: FakeClock) -> None:
    name = signals.name_of(service, ["session", "cancelled", 1])
    assert signals.look(service, name) is None
    signals.send(service, name, "yes")
    signals.send(service, name, "no")
    assert signals.look(service, name) == "yes"
    assert signals.look(service, signals.name_of(service, ["session", "cancelled", "1"])) is None
    clock.advance(10 * MINUTE)
    assert signals.look(service, name) is None and signals.purge(service) == 1
