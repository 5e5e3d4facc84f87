"""Where events go, over the API: who may see what, what is refused, and the absent beside the foreign."""

from typing import Any

import pytest

from tests.fakes.deployed import plant_trigger
from tests.service.api.conftest import World
from webapp.kit.clock import SECOND
from webapp.service.domain.deliveries import endpoints, trigger_webhooks
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

A, B = "https://a.example/1", "https://b.example/2"


@pytest.fixture
def trigger(world: World) -> DeployedTrigger:
    return plant_trigger(world.service, world.scene, [A])


def at(trigger: DeployedTrigger, rest: str, user: str | None = "alice") -> str:
    query = f"{'&' if '?' in rest else '?'}external_user_id={user}" if user else ""
    return f"P/deployed-triggers/{trigger.id}/{rest}{query}"


def test_the_list_with_keys_for_servers_and_without_for_frontends(world: World, trigger: DeployedTrigger) -> None:
    found = world.get(at(trigger, "webhooks"), world.server()).get_json()
    (entry,) = found["webhooks"]
    keys = trigger_webhooks.first_signing_keys(world.service, [trigger.id])
    assert found["webhook_urls"] == [A] and entry["id"].startswith("wh_")
    assert entry == {
        "id": entry["id"], "url": A, "signing_key_set": True, "active": True,
        "signing_key": keys[trigger.id],
        "delivery_state": {
            "state": "happy", "since": world.clock() // SECOND, "last_error": None, "consecutive_failures": 0,
            "sheds": 0,
        },
    }  # fmt: skip
    (entry,) = world.get(at(trigger, "webhooks", None), world.frontend()).get_json()["webhooks"]
    assert "signing_key" not in entry


def test_putting_a_list(world: World, trigger: DeployedTrigger) -> None:
    token = world.frontend()
    before = world.get(at(trigger, "webhooks", None), token).get_json()["webhooks"][0]["id"]
    found = world.call("PUT", at(trigger, "webhooks", None), token, json={"webhook_urls": [B, A, A]}).get_json()
    assert found["webhook_urls"] == [one["url"] for one in found["webhooks"]] == [B, A]  # as they were given
    assert {one["url"]: one["id"] for one in found["webhooks"]}[A] == before
    bad = world.call("PUT", at(trigger, "webhooks", None), token, json={"webhook_urls": ["ftp://x"]})
    assert (bad.status_code, bad.get_json()["details"][0]["field"]) == (400, "webhook_urls")
    inside = world.call("PUT", at(trigger, "webhooks", None), token, json={"webhook_urls": ["http://127.0.0.1/x"]})
    assert inside.status_code == 400 and "not on the public internet" in inside.get_json()["error"]
    assert world.call("PUT", at(trigger, "webhooks", None), token, json={}).status_code == 400
    server = world.server()
    answer = world.call("PUT", at(trigger, "webhooks"), server, json={"webhook_urls": [B]}).get_json()
    assert answer == world.get(at(trigger, "webhooks"), server).get_json()
    (entry,) = answer["webhooks"]
    assert set(entry) == {"id", "url", "signing_key_set", "signing_key", "active", "delivery_state"}
    assert entry["id"].startswith("wh_") and entry["signing_key"].startswith("whsec_")
    assert (entry["url"], entry["signing_key_set"]) == (B, True)


def test_lists_stay_in_the_order_in_which_they_are_given(world: World, trigger: DeployedTrigger) -> None:
    server, urls = world.server(), [f"https://{name}.example/" for name in "gbfaced"]
    with world.service.store.write() as tx:
        flows = [endpoints.add(tx, world.service, "workflow", url, scene=world.scene, name=url).id for url in urls]
    for rest, field, given in (("webhooks", "webhook_urls", urls), ("pipelines", "workflow_ids", flows)):
        for wanted in (given, given[::-1], [given[3], given[0]]):
            assert world.call("PUT", at(trigger, rest), server, json={field: wanted}).get_json()[field] == wanted
            assert world.get(at(trigger, rest), server).get_json()[field] == wanted


def test_one_webhook_has_its_times_besides(world: World, trigger: DeployedTrigger) -> None:
    server = world.server()
    (entry,) = world.get(at(trigger, "webhooks"), server).get_json()["webhooks"]
    world.clock.advance(2 * SECOND)
    times = {"created_at": world.clock() // SECOND - 2, "updated_at": world.clock() // SECOND - 2}
    path = at(trigger, f"webhooks/{entry['id']}")
    assert world.get(path, server).json == {"data": entry | times}
    new_key = world.post(at(trigger, f"webhooks/{entry['id']}/regenerate_signing_key"), server).get_json()["data"]
    assert new_key == entry | {"created_at": times["created_at"], "updated_at": world.clock() // SECOND} | {
        "signing_key": new_key["signing_key"]
    }


def test_regenerating_a_key(world: World, trigger: DeployedTrigger) -> None:
    server = world.server()
    (entry,) = world.get(at(trigger, "webhooks"), server).get_json()["webhooks"]
    again = world.post(at(trigger, f"webhooks/{entry['id']}/regenerate_signing_key"), server).get_json()["data"]
    assert again["id"] == entry["id"]
    assert again["signing_key"] not in (None, entry["signing_key"])
    hidden = world.post(at(trigger, f"webhooks/{entry['id']}/regenerate_signing_key", None), world.frontend())
    assert "signing_key" not in hidden.get_json()["data"]


def test_resetting_the_state(world: World, trigger: DeployedTrigger) -> None:
    (entry,) = world.get(at(trigger, "webhooks"), world.server()).get_json()["webhooks"]
    with world.service.store.write() as tx:
        tx.run("UPDATE endpoints SET active = 0, state = 'deactivated', consecutive_failures = 9, last_error = 'x'")
    found = world.post(at(trigger, f"webhooks/{entry['id']}/reset_delivery_state"), world.server()).get_json()["data"]
    assert found["active"] is True
    assert (found["delivery_state"]["state"], found["delivery_state"]["consecutive_failures"]) == ("happy", 0)


def test_pipelines(world: World, trigger: DeployedTrigger) -> None:
    with world.service.store.write() as tx:
        made = endpoints.add(tx, world.service, "workflow", B, scene=world.scene, name="Flow")
    path, server = at(trigger, "pipelines"), world.server()
    assert world.get(path, server).get_json() == {"workflow_ids": []}
    assert world.call("PUT", path, server, json={"workflow_ids": [made.id]}).get_json() == {"workflow_ids": [made.id]}
    assert world.get(path, server).get_json() == {"workflow_ids": [made.id]}
    (told,) = world.get(f"{path}&extensions=true", server).get_json()["workflows"]
    assert (told["id"], told["name"], told["active"], told["delivery_state"]["state"]) == (
        made.id,
        "Flow",
        True,
        "happy",
    )
    refused = world.call("PUT", path, server, json={"workflow_ids": ["p_none"]})
    assert (refused.status_code, refused.get_json()["details"][0]["field"]) == (400, "workflow_ids")


def test_an_oauth_client_has_to_name_the_owner(world: World, trigger: DeployedTrigger) -> None:
    refused = world.get(at(trigger, "webhooks", None), world.server())
    assert (refused.status_code, refused.get_json()["details"][0]["field"]) == (400, "external_user_id")


def _others(world: World, trigger: DeployedTrigger) -> list[tuple[str, str, dict[str, Any]]]:
    """Every operation below a trigger, as method, rest of the path and options."""
    (webhook,) = trigger_webhooks.of_trigger(world.service.store, trigger.id)
    return [
        ("GET", "webhooks", {}),
        ("PUT", "webhooks", {"json": {"webhook_urls": []}}),
        ("GET", f"webhooks/{webhook.id}", {}),
        ("POST", f"webhooks/{webhook.id}/regenerate_signing_key", {}),
        ("POST", f"webhooks/{webhook.id}/reset_delivery_state", {}),
        ("GET", "pipelines", {}),
        ("PUT", "pipelines", {"json": {"workflow_ids": []}}),
        ("GET", "events", {}),
        ("GET", "deliveries", {}),
        ("GET", "deliveries/dlv_1", {}),
        ("POST", "deliveries/dlv_1/resend", {}),
        ("POST", "deliveries/resend", {"json": {}}),
        ("GET", "stats", {}),
    ]


def test_somebody_elses_is_absent_to_the_byte(world: World, trigger: DeployedTrigger) -> None:
    other = projects.create(world.service, name="Other")
    foreign = plant_trigger(world.service, Scene(other.id, "development"), [A])
    live = plant_trigger(world.service, Scene(world.scene.project_id, "production"), [A])
    bobs = plant_trigger(world.service, world.scene, [A], user="bob")

    def bare(method: str, rest: str, options: dict[str, Any], of: str, token: str) -> tuple[int, bytes]:
        user = "" if token.startswith("ctok_") else "?external_user_id=alice"
        found = world.call(method, f"P/deployed-triggers/{of}/{rest}{user}", token, **options)
        return found.status_code, found.data

    server, frontend = world.server(), world.frontend()
    for token in (server, frontend):
        for method, rest, options in _others(world, trigger):
            absent = bare(method, rest, options, "dc_nothing", token)
            assert absent[0] == 404
            for one in (foreign, live, bobs):
                assert bare(method, rest, options, one.id, token) == absent, (method, rest)
    assert [
        endpoints.url_of(world.service, one) for one in trigger_webhooks.of_trigger(world.service.store, bobs.id)
    ] == [A]


def test_another_triggers_webhook_is_absent(world: World, trigger: DeployedTrigger) -> None:
    other = plant_trigger(world.service, world.scene, [B])
    (webhook,) = trigger_webhooks.of_trigger(world.service.store, other.id)
    for rest in (f"webhooks/{webhook.id}", "webhooks/wh_nothing"):
        assert world.get(at(trigger, rest), world.server()).status_code == 404


def test_reading_scopes_do_not_write(world: World, trigger: DeployedTrigger) -> None:
    token = world.server("connect:deployed_triggers:read")
    for method, rest, options in _others(world, trigger):
        status = world.call(method, at(trigger, rest), token, **options).status_code
        assert status == (403 if method != "GET" else 404 if "dlv_1" in rest else 200), (method, rest)
