"""Deployed triggers over the API: deploying, the shape of each, what a person is told, and whose they are. What is not
the caller's is as if it were not there.
"""

from typing import Any

import pytest

from tests.service.api.deploying import FIELDS, at, deploy
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers

KEY = "webhook_signing_key"
EXTENSIONS = {
    "version", "app", "external_user_id", "emitter_type", "switched_off", "last_event_at", "last_run_at", "next_run_at",
    "schedule", "instant", "notified", "notification_error", "accounts", "waits", "last_error",
    "available", "newest_version",
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "rest", "body"),
    [
        ("GET", "", None), ("PUT", "", {"active": False}), ("DELETE", "", None), ("GET", "/logs", None),
        ("POST", "/test_event", {}), ("GET", "/webhooks", None), ("GET", "/events", None),
    ],
)  # fmt: skip
def test_absent_and_not_yours_are_byte_for_byte_the_same(
    shared: Any, method: str, rest: str, body: dict[str, Any] | None
) -> None:
    token = shared.server()
    mine, theirs = (deploy(shared, token, user=user).json["data"] for user in ("alice", "bob"))
    other = Scene(projects.create(shared.service, name="Other").id, "development")
    production = Scene(shared.scene.project_id, "production")

    def ask(trigger_id: str, caller: str, path: str = "P", **more: Any) -> Any:
        address = f"{path}/deployed-triggers/{trigger_id}{rest}?external_user_id=alice"
        more |= {"json": body} if body is not None else {}
        return shared.call(method, address, caller, **more)

    elsewhere = f"/v1/connect/{other.project_id}"
    answers = [
        ask("dc_none", token),
        ask(theirs["id"], token),
        ask(theirs["id"], shared.frontend("alice")),
        ask(mine["id"], shared.frontend("alice", production)),
        ask(mine["id"], token, env="production"),
        ask(mine["id"], token, elsewhere, headers={"x-pd-environment": "development"}),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.data for answer in answers}) == 1
    stands = deployed_triggers.find(shared.service.store, mine["id"])
    assert stands is not None and stands.active and stands.last_event_at == mine["created_at"]


def test_a_server_names_the_owner_and_a_frontend_is_the_owner(shared: Any) -> None:
    trigger = deploy(shared, shared.server()).json["data"]
    address = f"P/deployed-triggers/{trigger['id']}"
    answer = shared.get(address, shared.server())
    assert answer.status_code == 400
    assert answer.json == {
        "error": "external_user_id is missing: Name the trigger's owner.",
        "details": [{"field": "external_user_id", "message": "Name the trigger's owner."}],
    }
    assert shared.get(f"{address}?external_user_id=nobody", shared.server()).status_code == 404
    assert shared.get(address, shared.frontend("alice")).json["data"]["id"] == trigger["id"]
    assert shared.get(f"{address}?external_user_id=alice", shared.frontend("bob")).status_code == 403


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


def listed(world: Any, token: str, query: str) -> list[str]:
    answer = world.get(f"P/deployed-triggers?{query}", token)
    assert answer.status_code == 200
    return [one["name"] for one in answer.json["data"]]


def test_extensions(world: Any) -> None:
    account, token = world.plant(), world.server()
    trigger = deploy(world, token, configured_props={"account": {"authProvisionId": account.id}}).json["data"]
    shown = world.get(at(trigger, "?extensions=true"), token).json["data"]
    assert set(shown) == FIELDS | EXTENSIONS
    assert shown["accounts"] == [{"prop": "account", "id": account.id}]
    assert (shown["schedule"], shown["waits"]) == ({"intervalSeconds": 60}, None)
    assert (shown["instant"], shown["notified"]) == (False, False)
    with world.service.store.write() as tx:
        tx.run("UPDATE accounts SET dead = 1")
    (waits,) = world.get("P/deployed-triggers?extensions=true", token).json["data"]
    assert "reconnect" in waits["waits"]
    uses = world.get(f"P/accounts/{account.id}/uses", token).json
    assert uses["data"] == [{"id": trigger["id"], "kind": "trigger", "name": "Poll", "app": "tinykeys", "active": True}]
    assert uses["page_info"]["total_count"] == 1


@pytest.mark.parametrize(
    ("component", "given", "own", "emitter", "type_"),
    [
        ("http-new-requests", {}, {"endpoint_url", "custom_response", "key"}, "http", "HttpInterface"),
        (
            "schedule-custom-interval",
            {"cron": {"intervalSeconds": 5}},
            {"interval_seconds", "cron", "timezone", "schedule_changed_at"},
            "timer",
            "TimerInterface",
        ),
        (
            "schedule-cron",
            {"cron": {"cron": "0 * * * *", "timezone": "America/Los_Angeles"}},
            {"interval_seconds", "cron", "timezone", "schedule_changed_at"},
            "timer",
            "TimerInterface",
        ),
        ("email-new-email", {}, {"email_address"}, "email", "DeployedComponent"),
    ],
)
def test_native_ones_show_their_own_fields(
    world: Any, component: str, given: dict[str, Any], own: set[str], emitter: str, type_: str
) -> None:
    token = world.server()
    trigger = deploy(world, token, component, configured_props=given).json["data"]
    assert set(trigger) == FIELDS | own and trigger["type"] == type_
    if "endpoint_url" in own:
        assert trigger["endpoint_url"] == f"http://localhost:8600/h/{trigger['key']}"
        assert trigger["custom_response"] is True
    if "cron" in own:
        schedule = given["cron"]
        assert trigger["interval_seconds"] == schedule.get("intervalSeconds")
        assert (trigger["cron"], trigger["timezone"]) == (schedule.get("cron"), schedule.get("timezone", "UTC"))
    if "email_address" in own:
        assert trigger["email_address"].endswith("@localhost")
    assert listed(world, token, "external_user_id=alice") == []  # the default is `source`
    assert listed(world, token, f"emitter_type={emitter}") == [trigger["name"]]


def test_lists_filter_and_page(world: Any) -> None:
    token = world.server()
    for name, user in (("One", "alice"), ("Two", "alice"), ("Three", "bob")):
        deploy(world, token, user=user, name=name)
        world.clock.advance(1)
    deploy(world, token, "schedule-cron", name="Hourly")
    assert listed(world, token, "") == ["One", "Two", "Three"]
    assert listed(world, token, "external_user_id=alice") == ["One", "Two"]
    assert listed(world, token, "external_user_id=nobody") == []
    assert world.get("P/deployed-triggers?emitter_type=all", token, env="production").json["data"] == []
    assert listed(world, token, "emitter_type=all&app=tinykeys") == ["One", "Two", "Three"]
    assert listed(world, token, "emitter_type=all") == ["One", "Two", "Three", "Hourly"]
    assert listed(world, world.frontend("bob"), "") == ["Three"]
    assert world.get("P/deployed-triggers?external_user_id=alice", world.frontend("bob")).status_code == 403
    assert world.get("P/deployed-triggers?emitter_type=other", token).status_code == 400
    first = world.get("P/deployed-triggers?limit=2", token).json
    assert first["page_info"]["total_count"] == 3
    rest = world.get(f"P/deployed-triggers?limit=2&after={first['page_info']['end_cursor']}", token).json
    assert ([one["name"] for one in rest["data"]], rest["page_info"]["end_cursor"]) == (["Three"], "")


def test_update(world: Any) -> None:
    token = world.server()
    trigger = deploy(world, token, configured_props={"ids": ["a"], "token": "canary-token"}).json["data"]
    world.clock.advance(5)
    change = {"active": False, "configured_props": {"ids": ["b"]}, "name": "Mine", "emit_on_deploy": False}
    changed = world.call("PUT", at(trigger), token, json=change).json["data"]
    assert changed == {
        **trigger, "active": False, "configured_props": {"ids": ["b"], "token": None}, "name": "Mine",
        "name_slug": "mine", "emit_on_deploy": False, "updated_at": world.clock.at,
    }  # fmt: skip
    for wrong, field in (
        ({"configured_props": {"ids": "x"}}, "configured_props.ids"),
        ({"name": ""}, "name"),
        ({"active": "yes"}, "active"),
    ):
        answer = world.call("PUT", at(trigger), token, json=wrong)
        assert answer.status_code == 400 and answer.json["details"][0]["field"] == field
    assert world.call("PUT", f"P/deployed-triggers/{trigger['id']}", token, json={}).status_code == 400
    assert world.call("PUT", f"P/deployed-triggers/{trigger['id']}", world.frontend(), json={}).status_code == 200


def test_what_a_hook_says_is_the_answer(world: Any) -> None:
    token = world.server()
    answer = deploy(world, token, configured_props={"fail": "subscribe"})
    assert (answer.status_code, answer.json) == (400, {"error": "The app refused to subscribe."})
    trigger = deploy(world, token, configured_props={"fail": "leave"}).json["data"]
    refused = world.call("DELETE", at(trigger), token)
    assert refused.status_code == 409 and "The app refused to leave." in refused.json["error"]
    gone = world.call("DELETE", at(trigger, "?ignore_hook_errors=true"), token)
    assert (gone.status_code, gone.data) == (204, b"")
    assert world.get(at(trigger), token).status_code == 404


def test_logs_and_a_test_event(world: Any) -> None:
    token = world.server()
    trigger = deploy(world, token, "schedule-cron").json["data"]
    plain = world.post(at(trigger, "/test_event"), token, json={}).json["data"]
    assert plain["e"] == {"test": True, "trigger": trigger["id"], "timestamp": world.clock.at}
    assert (plain["sum"], plain["k"]) == ("Test event", "emit")
    own = world.post(at(trigger, "/test_event"), token, json={"event": {"n": 1}}).json["data"]
    again = world.post(at(trigger, "/test_event"), token, json={}).json["data"]
    assert own["e"] == again["e"] == {"n": 1} and own["id"] != again["id"]
    assert world.get(at(trigger, "/events"), token).json["data"][0] == again
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    assert world.post(at(trigger, "/test_event"), token, json={"event": deep}).status_code == 400
    poll = deploy(world, token).json["data"]
    logs = world.get(at(poll, "/logs"), token).json
    assert [one["cause"] for one in logs["data"]] == ["activate", "deploy"]
    assert set(logs["data"][0]) == {"id", "at", "cause", "ok", "took_ms", "emitted", "error", "os"}
    assert logs["data"][1]["emitted"] == 1
