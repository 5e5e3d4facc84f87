"""Deployed triggers on the wire: the shape of each, whose they are, what a person is told."""

from typing import Any

import pytest

from tests.service.api.triggers.deploying import FIELDS, at, deploy

EXTENSIONS = {
    "version", "app", "external_user_id", "emitter_type", "switched_off", "last_event_at", "last_run_at", "next_run_at",
    "schedule", "instant", "told", "told_error", "accounts", "waits", "last_error",
    "available", "newest_version",
}  # fmt: skip


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
    assert (shown["instant"], shown["told"]) == (False, False)
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
