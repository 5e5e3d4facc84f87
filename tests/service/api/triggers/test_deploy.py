"""Deploying a trigger over the API."""

from typing import Any

import pytest

from tests.service.api.triggers.deploying import FIELDS, at, deploy

KEY = "webhook_signing_key"


def test_deploy_gives_the_trigger_and_the_key_to_whoever_named_a_webhook(world: Any) -> None:
    account = world.plant()
    values = {"account": {"authProvisionId": account.id}, "token": "canary-token", "ids": ["a"]}
    frontend = world.frontend()
    answer = deploy(world, frontend, configured_props=values, webhook_url="https://hooks.example/x")
    assert answer.status_code == 200 and set(answer.json) == {"data"}
    trigger = answer.json["data"]
    assert set(trigger) == FIELDS | {KEY}
    assert trigger["webhook_signing_key"].startswith("whsec_")
    assert trigger["configured_props"] == {**values, "token": None}
    assert (trigger["owner_id"], trigger["type"]) == (account.external_user_id, "DeployedComponent")
    assert trigger["created_at"] == world.clock.at
    declared = world.get(f"P/triggers/{trigger['component_id']}", frontend).json["data"]
    assert trigger["component_id"].startswith("sc_")
    assert trigger["component_key"] == declared["key"] == "~/poll"
    assert trigger["configurable_props"] == declared["configurable_props"] != []
    seen = world.get(at(trigger), frontend).json["data"]
    assert seen == {name: value for name, value in trigger.items() if name != KEY}
    assert world.get(at(trigger), world.server()).json["data"] == trigger
    assert b"canary-token" not in world.get(at(trigger, "?extensions=true"), world.server()).data
    assert deploy(world, world.frontend("bob")).status_code == 403


def test_the_key_is_in_every_answer_to_a_server_and_in_none_to_others(world: Any) -> None:
    frontend, server = world.frontend(), world.server()
    key = deploy(world, frontend, webhook_url="https://hooks.example/x", name="Heard").json["data"][KEY]
    world.clock.advance(1)
    unheard = deploy(world, server, name="Unheard").json["data"]
    assert KEY not in unheard

    def answers(token: str) -> list[Any]:
        listed = world.get("P/deployed-triggers?external_user_id=alice", token).json["data"]
        heard, other = listed
        assert [trigger["name"] for trigger in listed] == ["Heard", "Unheard"] and KEY not in other
        put = world.call("PUT", at(heard), token, json={"name": "Heard"})
        return [heard, world.get(at(heard), token).json["data"], put.json["data"]]

    assert [trigger.get(KEY) for trigger in answers(server)] == [key, key, key]
    assert not any(KEY in trigger for trigger in answers(frontend))
    assert KEY not in world.get(at(unheard), server).json["data"]


def test_what_is_empty_is_as_good_as_absent(shared: Any) -> None:
    empty = dict.fromkeys(("version", "dynamic_props_id", "workflow_id", "webhook_url", "name"), "")
    trigger = deploy(shared, shared.server(), **empty).json["data"]
    assert shared.get(at(trigger, "/pipelines"), shared.server()).json == {"workflow_ids": []}


def test_values_for_props_that_do_not_exist_are_named(world: Any) -> None:
    token = world.server()
    answer = deploy(world, token, configured_props={"idz": ["a"], "ids": ["b"]})
    message = "There is no prop idz here, so its value was left out. Did you mean ids?"
    assert answer.json["warnings"] == [{"field": "configured_props.idz", "message": message}]
    trigger = answer.json["data"]
    assert trigger["configured_props"] == {"ids": ["b"]}
    changed = world.call("PUT", at(trigger), token, json={"configured_props": {"idz": ["a"], "zz": None}}).json
    assert [warning["field"] for warning in changed["warnings"]] == ["configured_props.idz"]
    assert set(world.call("PUT", at(trigger), token, json={"configured_props": {"ids": []}}).json) == {"data"}


def test_values_are_accepted_under_other_names_and_kept_under_their_own(world: Any) -> None:
    account, token = {"authProvisionId": world.plant().id}, world.server()
    answer = deploy(world, token, configured_props={"tinykeys": account, "ids": ["a"]}).json
    assert answer["data"]["configured_props"] == {"account": account, "ids": ["a"]} and "warnings" not in answer
    changed = world.call("PUT", at(answer["data"]), token, json={"configured_props": {"app": None, "ids": ["b"]}}).json
    assert changed["data"]["configured_props"] == {"ids": ["b"]} and "warnings" not in changed


@pytest.mark.parametrize(("given", "emits"), [({}, True), (None, True), (True, True), (False, False)])
def test_what_is_there_already_is_emitted_unless_that_is_declined(world: Any, given: Any, emits: bool) -> None:
    token, body = world.server(), {} if given == {} else {"emit_on_deploy": given}
    trigger = deploy(world, token, **body).json["data"]
    assert trigger["emit_on_deploy"] is emits
    assert len(world.get(at(trigger, "/events"), token).json["data"]) == (1 if emits else 0)


@pytest.mark.parametrize(
    ("given", "emits"),
    [
        ({}, True),
        ({"emit_on_deploy": None}, True),
        ({"emit_on_deploy": True}, True),
        ({"emit_on_deploy": False}, False),
    ],
)
def test_it_emits_what_is_there_already_unless_told_otherwise(world: Any, given: dict[str, Any], emits: bool) -> None:
    server = world.server()
    trigger = deploy(world, server, configured_props={"ids": ["a"]}, **given).json["data"]
    events = world.get(at(trigger, "/events"), server).json["data"]
    assert (trigger["emit_on_deploy"], [event["sum"] for event in events]) == (emits, ["Was there before"] * emits)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"id": "~/none"}, 404, None),
        ({"id": "~/make-task"}, 404, None),  # an action
        ({"version": "9.9.9"}, 404, None),
        ({"external_user_id": ""}, 400, "external_user_id"),
        ({"webhook_url": "javascript:alert(1)"}, 400, "webhook_url"),
        ({"webhook_url": "http://10.0.0.5/hook"}, 400, "webhook_url"),
        ({"workflow_id": "x"}, 400, "workflow_id"),
        ({"workflow_id": "p_none"}, 400, "workflow_id"),
        ({"configured_props": {"timer": {"cron": "* *"}}}, 400, "configured_props.timer"),
        ({"configured_props": {"timer": {"cron": "0 * * * *", "intervalSeconds": 60}}}, 400, "configured_props.timer"),
    ],
)
def test_what_cannot_be_deployed(shared: Any, body: dict[str, Any], status: int, field: str | None) -> None:
    asked = {"id": "~/poll", "external_user_id": "alice", **body}
    answer = shared.post("P/triggers/deploy", shared.server(), json=asked)
    assert answer.status_code == status
    assert field is None or answer.json["details"][0]["field"] == field
