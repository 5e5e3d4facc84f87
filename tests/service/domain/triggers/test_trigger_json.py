"""A deployed trigger as the API shows it: no value of a secret prop, and a key only for those who may see it."""

from dataclasses import replace

from tests.fakes.triggers import deploy
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import trigger_webhooks
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import trigger_json


def test_secrets_are_shown_as_null(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, given={"ids": ["x"], "token": "canary-token"})
    shown = trigger_json.to_json(service, trigger)
    assert shown["configured_props"] == {"ids": ["x"], "token": None}
    assert "canary" not in str(trigger_json.to_json(service, trigger, extensions=True))


def test_a_signing_key_is_shown_only_where_it_is_given(service: Service, scene: Scene) -> None:
    trigger, other = deploy(service, scene, webhook_url="https://hooks.example/a"), deploy(service, scene)
    keys = trigger_webhooks.first_signing_keys(service, [trigger.id, other.id])
    assert set(keys) == {trigger.id}
    assert "webhook_signing_key" not in trigger_json.to_json(service, trigger)
    shown, without = trigger_json.list_to_json(service, [trigger, other], keys=keys)
    assert shown["webhook_signing_key"] == keys[trigger.id]
    assert "webhook_signing_key" not in without


def test_extensions_come_only_when_asked_for(service: Service, scene: Scene) -> None:
    trigger, other = deploy(service, scene), deploy(service, scene)
    plain = trigger_json.list_to_json(service, [trigger, other])
    assert [shown["id"] for shown in plain] == [trigger.id, other.id]
    assert "version" not in plain[0]
    (shown,) = trigger_json.list_to_json(service, [trigger], extensions=True)
    assert (shown["external_user_id"], shown["waits"], shown["accounts"]) == ("alice", None, [])
    assert trigger_json.list_to_json(service, [], extensions=True) == []


def test_a_missing_version_is_named_with_the_one_to_change_to(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    facts = trigger_json.to_json(service, trigger, extensions=True)
    assert (facts["available"], facts["newest_version"]) == (True, None)
    older = trigger_json.to_json(service, replace(trigger, component_version="0.9.0"), extensions=True)
    assert (older["available"], older["newest_version"]) == (False, "1.0.0")
    assert "Change it to version 1.0.0" in older["waits"]
    removed = replace(trigger, component_key="gone-new", app="gone", active=False)
    facts = trigger_json.to_json(service, removed, extensions=True)
    assert (facts["available"], facts["newest_version"], facts["waits"]) == (False, None, None)


def test_an_address_to_enter_by_hand_is_an_extension(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    assert "endpoint_url" not in trigger_json.to_json(service, trigger)
    address = trigger_json.to_json(service, trigger, extensions=True)["endpoint_url"]
    assert address.startswith(service.settings.public_url)
    assert "/h/" in address
