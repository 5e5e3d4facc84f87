"""Requests to triggers' own URLs: addresses that do not answer look alike, and what is accepted is stored first.

Pushes: each person's trigger polls at once and gets its own events; forged and repeated ones bring nothing.
"""

from typing import Any

import orjson
import pytest

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.asana_webhooks import AsanaStage
from tests.fakes.declared.google_push import GoogleCalendar
from tests.fakes.declared.graph import Graph
from tests.fakes.declared.push import Stage
from tests.fakes.triggers import deploy, row
from webapp.errors import PatchbayError
from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.service.components.declared import definition, webhooks
from webapp.service.components.declared.form import TriggerForm
from webapp.service.components.errors import LoadError
from webapp.service.components.masking import MASK
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, deployments, fire, inbound_requests, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.inbound_requests import InboundRequest, stored_request

ADDED = {
    "action": "added",
    "created_at": "2026-05-01T10:00:00.000Z",
    "resource": {"gid": "t1", "resource_type": "task"},
}


def payload(**given: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "method": "POST", "path": "/", "url": "https://a/h/k", "query": (), "headers": (), "body": b"",
        "client_ip": "192.0.2.1", "at": 1,
    }  # fmt: skip
    found = stored_request(InboundRequest(**{**plain, **given})).payload()
    orjson.dumps({"e": [found]})
    return found


def test_repeated_names() -> None:
    found = payload(
        query=(("a", "1"), ("b", "2"), ("a", "3")),
        headers=(("X-A", "1"), ("x-a", "2"), ("Cookie", "c=1"), ("cookie", "d=2")),
    )
    assert found["query"] == {"a": ["1", "3"], "b": "2"}
    assert found["headers"] == {"x-a": "1, 2", "cookie": MASK}


def test_lone_surrogates_are_replaced() -> None:
    found = payload(query=(("\ud800", "\udfff"),), headers=(("X-A", "\ud800"),))
    assert "\ud800" not in repr(found)


def key_of(service: Service, trigger: DeployedTrigger) -> str:
    key = deployed_triggers.endpoint_key(service, trigger)
    assert key is not None
    return key


def pause(service: Service, trigger: DeployedTrigger) -> None:
    with service.store.write() as tx:
        lifecycle.switch_off(tx, service, trigger, "Paused by the test.")


def test_unknown_paused_and_deleted_addresses_look_alike(service: Service, scene: Scene) -> None:
    live, paused, deleted = (deploy(service, scene, "~/echo") for _ in range(3))
    keys = [key_of(service, trigger) for trigger in (live, paused, deleted)]
    pause(service, paused)
    with service.store.write() as tx:
        lifecycle.remove(tx, deleted.id)
    assert inbound_requests.trigger_at(service, keys[0]).id == live.id
    sentences = set()
    for key in (*keys[1:], "", "unknown", keys[0].upper() + "x", "\ud800"):
        with pytest.raises(PatchbayError) as refusal:
            inbound_requests.trigger_at(service, key)
        sentences.add(refusal.value.message)
    assert sentences == {"There is nothing at this address."}


def test_only_a_source_with_its_own_answer_is_waited_for(service: Service, scene: Scene) -> None:
    assert inbound_requests.answers_synchronously(deploy(service, scene, "~/echo"))
    assert not inbound_requests.answers_synchronously(deploy(service, scene))


def request(service: Service, body: bytes) -> InboundRequest:
    headers = (("content-type", "application/json"),)
    return InboundRequest("POST", "/", "http://localhost/h/key", (), headers, body, "192.0.2.1", service.clock())


def test_a_source_answers_by_itself(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    answer = inbound_requests.receive_request(service, trigger, request(service, b'{"id": "1"}'))
    assert answer.status == 202
    assert key_of(service, trigger) in answer.body  # its own address, which it told by itself


def test_a_source_that_fails_says_nothing_of_why(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    answer = inbound_requests.receive_request(service, trigger, request(service, b'{"id": "1", "fail": true}'))
    assert (answer.status, answer.body) == (500, '{"error": "The trigger could not handle this request."}')


def test_a_provider_that_tries_the_address_first_is_answered_and_its_secret_kept(slack_bench: Bench) -> None:
    asana = AsanaStage(slack_bench)
    alice, bob = asana.deploy("alice"), asana.deploy("bob")
    (of_alice, of_bob) = (secret for _, secret in asana.hooks.values())
    assert of_alice != of_bob
    assert asana.tell(alice, []) == 200  # the heartbeat
    assert asana.tell(alice, [ADDED], secret=of_bob) == 401
    assert (asana.tell(alice, [ADDED, ADDED]), asana.tell(alice, [ADDED]), asana.tell(bob, [ADDED])) == (200, 200, 200)
    assert (asana.texts(alice), asana.texts(bob)) == (["Milk"], [])


def test_a_trigger_that_is_switched_on_again_is_tried_again(slack_bench: Bench) -> None:
    asana = AsanaStage(slack_bench)
    alice = asana.deploy("alice")
    ((address, first),) = asana.hooks.values()
    alice = deployments.update(asana.service, alice, deployments.Change(active=False))
    assert asana.hooks == {}
    with pytest.raises(PatchbayError, match="There is nothing at this address"):
        asana.post(address, b"{}", {"X-Hook-Secret": "forged"})
    alice = deployments.update(asana.service, alice, deployments.Change(active=True))
    assert asana.tell(alice, [ADDED], secret=first) == 401
    assert asana.tell(alice, [ADDED]) == 200
    assert asana.texts(alice) == ["Milk"]


def test_two_users_on_one_client_each_get_their_own_at_once(push_stage: Stage, graph: Graph) -> None:
    alice, bob = push_stage.deploy("alice"), push_stage.deploy("bob")
    push_stage.work()
    assert len({each["clientState"] for each in graph.subscribed.values()}) == 2
    graph.get_mail("alice", "a1")
    push_stage.after(lifecycle.POLLS_APART)
    graph.get_mail("bob", "b1")
    graph.get_mail("bob", "b2")
    push_stage.after(lifecycle.POLLS_APART)
    assert (push_stage.told(alice), push_stage.told(bob)) == (["Mail a1"], ["Mail b1", "Mail b2"])


def test_what_is_forged_or_comes_again_brings_nothing(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    push_stage.after(SECOND)
    subscription, looks_at = graph.subscription(push_stage, alice), row(push_stage.service, alice)["next_run_at"]
    for forged in ("", "guessed", None, 7, ["x"], "\ud800"):
        assert graph.tell(subscription, clientState=forged) == 401
    assert push_stage.receive(subscription["notificationUrl"]).status == 401
    assert push_stage.receive(subscription["notificationUrl"], {"value": {}}).status == 401
    assert row(push_stage.service, alice)["next_run_at"] == looks_at
    graph.get_mail("alice", "a1")
    push_stage.after(lifecycle.POLLS_APART)
    for _ in range(3):
        assert graph.tell(subscription) == 202
        push_stage.after(lifecycle.POLLS_APART)
    assert push_stage.told(alice) == ["Mail a1"]


def test_a_push_whose_secret_is_in_the_authorization_header_counts(slack_bench: Bench) -> None:
    component = slack_bench.service.catalog.component("zendesk-new-ticket")
    assert component is not None
    form = definition.component(component.path).form
    assert isinstance(form, TriggerForm)
    assert form.push is not None
    headers = (("Authorization", "Bearer its-secret"),)
    request = InboundRequest("POST", "/", "https://a/h/k", (), headers, b"{}", "192.0.2.1", 1)
    event = inbound_requests.verified_event(request)
    assert webhooks.read(form.push, "its-secret", event) == webhooks.Notification(look=True, renew=False)
    assert webhooks.read(form.push, "another", event) is None
    assert stored_request(request).payload()["headers"] == {"authorization": MASK}


def test_many_calls_bring_about_few_looks(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    looked_at = push_stage.clock()
    for _ in range(10):
        assert graph.tell(graph.subscription(push_stage, alice)) == 202
    assert row(push_stage.service, alice)["next_run_at"] == looked_at + lifecycle.POLLS_APART


def test_where_nothing_was_new_it_looks_once_more(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    push_stage.after(HOUR)
    push_stage.clock.advance(5 * MINUTE)  # type: ignore[attr-defined]
    assert graph.tell(graph.subscription(push_stage, alice)) == 202
    push_stage.work()
    assert row(push_stage.service, alice)["next_run_at"] == push_stage.clock() + fire.SECOND_POLL_AFTER
    graph.get_mail("alice", "a1", told=False)  # the list knows of it a little later
    push_stage.after(fire.SECOND_POLL_AFTER)
    assert push_stage.told(alice) == ["Mail a1"]
    assert graph.tell(graph.subscription(push_stage, alice)) == 202
    for _ in range(3):
        push_stage.after(fire.SECOND_POLL_AFTER)
    assert row(push_stage.service, alice)["next_run_at"] > push_stage.clock() + 20 * MINUTE


def test_a_call_during_a_look_brings_about_another(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.after(HOUR)
    push_stage.after(HOUR)
    push_stage.clock.advance(HOUR)  # type: ignore[attr-defined]
    (claimed,) = [each for each in lifecycle.claim_polls(push_stage.service, 100) if each.id == alice.id]
    graph.get_mail("alice", "a1")
    at = push_stage.clock() + lifecycle.POLLS_APART
    fire.poll(push_stage.service, claimed)
    assert row(push_stage.service, alice)["next_run_at"] == at


def test_one_that_is_paused_or_not_in_the_catalog_receives_nothing(
    push_stage: Stage, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    subscription = graph.subscription(push_stage, alice)
    with monkeypatch.context() as patch:

        def fail(_: object) -> None:
            raise LoadError("It is gone.")

        patch.setattr(definition, "component", fail)
        assert graph.tell(subscription) == 200  # as a request like any other
    with push_stage.service.store.write() as tx:
        lifecycle.switch_off(
            tx, push_stage.service, deployed_triggers.get(push_stage.service.store, alice.scene, alice.id), "x"
        )
    with pytest.raises(Exception, match="nothing at this address"):
        graph.tell(subscription)


def test_google_tells_two_users_on_one_client_of_their_own(calendars: Stage, google: GoogleCalendar) -> None:
    alice, bob = (calendars.deploy(name, calendar_id="primary") for name in ("alice", "bob"))
    calendars.work()
    assert len({channel["token"] for channel in google.channels.values()}) == 2
    google.change("alice", "a1")
    google.change("bob", "b1")
    calendars.after(lifecycle.POLLS_APART)
    assert (calendars.told(alice), calendars.told(bob)) == (["Event a1"], ["Event b1"])


def test_messages_of_google_that_are_forged_or_come_again_or_say_nothing(
    calendars: Stage, google: GoogleCalendar
) -> None:
    alice = calendars.deploy("alice", calendar_id="primary")
    calendars.work()
    (channel,) = google.channels.values()
    looks_at = row(calendars.service, alice)["next_run_at"]
    assert google.tell(channel, **{"X-Goog-Channel-Token": "guessed"}) == 401
    assert calendars.receive(channel["address"]).status == 401
    assert google.tell(channel, state="sync") == 202
    assert row(calendars.service, alice)["next_run_at"] == looks_at
    google.change("alice", "a1")
    calendars.after(lifecycle.POLLS_APART)
    assert google.tell(channel) == 202
    calendars.after(lifecycle.POLLS_APART)
    assert calendars.told(alice) == ["Event a1"]
