"""The webhooks and workflows of a trigger: which it may have, and what is refused."""

from dataclasses import replace

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.errors import Invalid
from webapp.service.domain.deliveries import endpoints, trigger_webhooks
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def by_url(post: DeliveryHarness, trigger: DeployedTrigger) -> dict[str, Endpoint]:
    webhooks = trigger_webhooks.of_trigger(post.service.store, trigger.id)
    return {endpoints.url_of(post.service, webhook): webhook for webhook in webhooks}


def test_a_url_that_stays_keeps_its_id_and_key(post: DeliveryHarness) -> None:
    trigger = post.trigger("https://a.example/1", "https://a.example/2")
    before = by_url(post, trigger)
    with post.service.store.write() as tx:
        trigger_webhooks.set_urls(tx, post.service, trigger, ["https://a.example/2", "https://a.example/3"])
    after = by_url(post, trigger)
    assert list(after) == ["https://a.example/2", "https://a.example/3"]
    assert after["https://a.example/2"] == replace(before["https://a.example/2"], position=0)
    assert len({endpoints.key_of(post.service, one) for one in after.values()}) == 2


def test_the_first_webhook_is_the_first_in_the_list(post: DeliveryHarness) -> None:
    triggers = [post.trigger("https://a.example/1", "https://a.example/2"), post.trigger("https://a.example/1")]
    none = post.trigger()
    with post.service.store.write() as tx:
        trigger_webhooks.set_urls(tx, post.service, triggers[0], ["https://a.example/2", "https://a.example/1"])
    keys = trigger_webhooks.first_signing_keys(post.service, [none.id, *(trigger.id for trigger in triggers)])
    firsts = [trigger_webhooks.of_trigger(post.service.store, trigger.id)[0] for trigger in triggers]
    assert keys == {first.trigger_id: endpoints.key_of(post.service, first) for first in firsts}
    assert endpoints.url_of(post.service, firsts[0]) == "https://a.example/2"


@pytest.mark.parametrize("url", ["a.example", "http://10.0.0.5/hook"])
def test_bad_urls_are_refused_and_nothing_changes(post: DeliveryHarness, url: str) -> None:
    trigger = post.trigger("https://a.example/1")
    with pytest.raises(Invalid) as caught:
        trigger_webhooks.change_urls(post.service, trigger, ["https://a.example/2", url])
    assert caught.value.details[0].field == "webhook_urls"
    assert endpoints.url_of(post.service, post.endpoint(trigger)) == "https://a.example/1"


def test_what_is_there_already_is_not_looked_at_again(post: DeliveryHarness) -> None:
    trigger = post.trigger("http://10.0.0.5/old")
    trigger_webhooks.change_urls(post.service, trigger, ["http://10.0.0.5/old", post.receiver.url()])
    assert len(trigger_webhooks.of_trigger(post.service.store, trigger.id)) == 2


def test_one_whose_name_is_not_found_says_so_until_something_arrived(post: DeliveryHarness) -> None:
    trigger, url = post.trigger(), post.receiver.url()
    with post.service.store.write() as tx:
        trigger_webhooks.set_urls(tx, post.service, trigger, [url], {url: "There is no server named so."})
    assert (post.endpoint(trigger).state, post.endpoint(trigger).last_error) == (
        "happy",
        "There is no server named so.",
    )
    post.emit(trigger)
    post.turn()
    assert post.endpoint(trigger).last_error is None


def test_a_trigger_has_at_most_twenty(post: DeliveryHarness) -> None:
    with pytest.raises(Invalid, match="at most 20"):
        trigger_webhooks.change_urls(post.service, post.trigger(), [f"https://a.example/{n}" for n in range(21)])


def test_workflows_are_those_of_the_same_scene(post: DeliveryHarness) -> None:
    other = Scene(post.scene.project_id, "production")
    with post.service.store.write() as tx:
        mine = endpoints.add(tx, post.service, "workflow", post.receiver.url("/flow"), scene=post.scene, name="Flow")
        foreign = endpoints.add(tx, post.service, "workflow", post.receiver.url(), scene=other, name="Flow")
    assert mine.id.startswith("p_")
    trigger = post.trigger(workflows=[mine.id])
    post.emit(trigger)
    post.turn()
    assert [one.path for one in post.receiver.got] == ["/flow"]
    for unknown in (foreign.id, "p_nothing", post.endpoint(post.trigger("https://a.example/")).id):
        with pytest.raises(Invalid, match="no workflow"):
            post.trigger(workflows=[unknown])
