"""Within seconds of a death, what was held is free and interrupted changes are recovered; trouble ends nothing."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.triggers import deploy, request_of
from tests.service.domain.instance.test_takeover import kill
from webapp.errors import Unavailable
from webapp.service.domain.base import generations
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import takeover
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployments, inbox
from webapp.service.worker import caretaker
from webapp.service.worker.caretaker import Caretaker


@pytest.fixture
def quick(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Caretaker]:
    monkeypatch.setattr(caretaker, "EVERY_S", 0.02)
    made = Caretaker(service)
    yield made
    made.stop(5)


def until(condition: Any) -> None:
    ends = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.01)


def test_it_takes_over_and_recovers(
    service: Service, scene: Scene, quick: Caretaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    recovered: list[Service] = []
    monkeypatch.setattr(deployments, "recover", recovered.append)
    monkeypatch.setattr(generations.Heartbeat, "can_judge", lambda *_: True)
    other = replace(service, life=generations.begin(service.store, service.clock))
    inbox.add(service, deploy(service, scene, "~/echo"), request_of({}))
    assert inbox.claim(other) is not None
    quick.start()
    until(lambda: recovered == [service])  # at the start, whatever stands
    assert inbox.claim(service) is None
    kill(other)
    until(lambda: recovered == [service, service])
    assert inbox.claim(service) is not None


def test_trouble_does_not_end_it(service: Service, quick: Caretaker, monkeypatch: pytest.MonkeyPatch) -> None:
    troubles: list[Exception] = [RuntimeError("a bug"), Unavailable(), RuntimeError("another")]
    recovered: list[Service] = []

    def trouble(_: Service) -> int:
        if troubles:
            raise troubles.pop()
        return 1

    def recover(given: Service) -> None:
        recovered.append(given)
        raise RuntimeError("a bug")

    monkeypatch.setattr(takeover, "take_over", trouble)
    monkeypatch.setattr(deployments, "recover", recover)
    quick.start()
    until(lambda: len(recovered) > 2)


def test_it_looks_at_least_every_second() -> None:
    assert caretaker.EVERY_S <= 1.0
