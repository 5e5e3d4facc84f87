"""What is over of people's agents, forgotten."""

from collections.abc import Callable

from webapp.kit.clock import DAY
from webapp.service.domain.agents import ended
from webapp.service.domain.base.service import Service


def test_what_is_over_is_forgotten(service: Service, sign_in: Callable[..., str]) -> None:
    sign_in()
    service.clock.advance(31 * DAY)  # type: ignore[attr-defined]  # the tests' own
    assert ended.purge(service) == 3
