"""What comes in for a trigger: nobody learns which addresses there were, and what is accepted is kept first."""

import pytest

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.asana_webhooks import AsanaStage
from tests.fakes.triggers import deploy
from webapp.errors import PatchbayError
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import changing, deployed_triggers, inbox, lifecycle, receiving
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.requests import InboundRequest


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
    assert receiving.listener(service, keys[0]).id == live.id
    sentences = set()
    for key in (*keys[1:], "", "unknown", keys[0].upper() + "x", "\ud800"):
        with pytest.raises(PatchbayError) as refusal:
            receiving.listener(service, key)
        sentences.add(refusal.value.message)
    assert sentences == {"There is nothing at this address."}


def test_only_a_source_with_its_own_answer_is_waited_for(service: Service, scene: Scene) -> None:
    assert receiving.answers_synchronously(deploy(service, scene, "~/echo"))
    assert not receiving.answers_synchronously(deploy(service, scene))


def request(service: Service, body: bytes) -> InboundRequest:
    headers = (("content-type", "application/json"),)
    return InboundRequest("POST", "/", "http://localhost/h/key", (), headers, body, "192.0.2.1", service.clock())


def test_a_source_answers_by_itself(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    answer = receiving.receive_request(service, trigger, request(service, b'{"id": "1"}'))
    assert answer.status == 202
    assert key_of(service, trigger) in answer.body  # its own address, which it told by itself


def test_a_source_that_fails_says_nothing_of_why(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    answer = receiving.receive_request(service, trigger, request(service, b'{"id": "1", "fail": true}'))
    assert (answer.status, answer.body) == (500, '{"error": "The trigger could not handle this request."}')


def test_without_a_request_nothing_waits(service: Service, scene: Scene) -> None:
    deploy(service, scene, "~/echo")
    assert inbox.claim(service) is None


ADDED = {
    "action": "added",
    "created_at": "2026-05-01T10:00:00.000Z",
    "resource": {"gid": "t1", "resource_type": "task"},
}


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
    alice = changing.update(asana.service, alice, changing.Change(active=False))
    assert asana.hooks == {}
    with pytest.raises(PatchbayError, match="There is nothing at this address"):
        asana.post(address, b"{}", {"X-Hook-Secret": "forged"})
    alice = changing.update(asana.service, alice, changing.Change(active=True))
    assert asana.tell(alice, [ADDED], secret=first) == 401
    assert asana.tell(alice, [ADDED]) == 200
    assert asana.texts(alice) == ["Milk"]
