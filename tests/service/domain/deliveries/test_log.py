"""Deliveries as the owner of a trigger sees them: filtered, in detail, and none of another trigger."""

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.errors import Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import HOUR
from webapp.service.domain.deliveries import log
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def statuses(post: DeliveryHarness, trigger: DeployedTrigger, filters: Filter) -> list[str]:
    page = log.page(post.service.store, trigger.id, filters, cursors.Window(50))
    assert page.total_count == len(page.items)
    return [row["status"] for row in page.items]


@pytest.fixture
def trigger(post: DeliveryHarness) -> DeployedTrigger:
    """A trigger with a delivery that arrived, and an hour later one that did not."""
    made = post.trigger(post.receiver.url())
    post.emit(made, "first")
    post.turn()
    post.clock.advance(HOUR)
    post.receiver.moods["/"] = Mood(500)
    post.emit(made, "second")
    post.turn()
    return made


def test_filters(post: DeliveryHarness, trigger: DeployedTrigger) -> None:
    assert statuses(post, trigger, Filter()) == ["waiting", "delivered"]
    assert statuses(post, trigger, Filter(status="delivered")) == ["delivered"]
    assert statuses(post, trigger, Filter(since=post.clock.at)) == ["waiting"]
    assert statuses(post, trigger, Filter(until=post.clock.at - 1)) == ["delivered"]
    assert statuses(post, trigger, Filter(event_id="evt_none")) == []
    with pytest.raises(Invalid):
        statuses(post, trigger, Filter(status="lost"))


def test_one_in_detail_and_none_of_another_trigger(post: DeliveryHarness, trigger: DeployedTrigger) -> None:
    delivery_id = post.rows()[0]["id"]
    shown = log.details(post.service, trigger.id, delivery_id)
    assert (shown["status"], shown["request"]["body"], len(shown["attempts"])) == ("delivered", '"first"', 1)
    for trigger_id, other_id in (("dc_other", delivery_id), (trigger.id, "del_none")):
        with pytest.raises(NotFound):
            log.details(post.service, trigger_id, other_id)
