"""A poll is claimed once and by one, and not while its trigger is being changed."""

from tests.fakes.triggers import deploy, emitted, row
from webapp.kit.clock import FakeClock
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import fire, lifecycle


def test_one_of_two_claims(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene)
    (first,) = lifecycle.claim_polls(service, 9)
    assert lifecycle.claim_polls(service, 9) == []
    due = lifecycle.next_poll_at(service)
    assert due == clock.at + leases.RUN
    clock.advance(leases.RUN)
    (second,) = lifecycle.claim_polls(service, 9)
    assert fire.poll(service, first).ok  # too slow: its lease has passed, so nothing of it is kept
    assert emitted(service, trigger)[1:] == []
    assert fire.poll(service, second).events
    assert len(emitted(service, trigger)) == 2
    assert row(service, trigger)["lease_until"] == 0


def test_what_is_being_changed_is_not_claimed_and_what_is_given_up_is(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    with lifecycle.locked(service, trigger):
        assert lifecycle.claim_polls(service, 9) == []
    (claimed,) = lifecycle.claim_polls(service, 9)
    lifecycle.release(service, claimed)
    assert len(lifecycle.claim_polls(service, 9)) == 1
