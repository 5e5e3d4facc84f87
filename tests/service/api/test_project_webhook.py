"""The project webhook and general webhooks over the API."""

from urllib.parse import urlencode

import pytest

from tests.service.api.conftest import World
from webapp.service.domain.deliveries import signing_keys
from webapp.service.domain.projects import projects

URL = "https://a.example/hook"


def test_the_project_webhook_from_nothing_to_nothing(world: World) -> None:
    server = world.server()
    assert world.get("P/webhook", server).get_json() == {"data": None}
    made = world.call("PUT", "P/webhook", server, json={"url": URL}).get_json()["data"]
    key = made.pop("signing_key")
    assert key == signing_keys.key_of(world.service, world.scene)
    at = world.clock() // 1000
    assert made == {"id": made["id"], "url": URL, "signing_key_set": True, "created_at": at, "updated_at": at}
    assert made["id"].startswith("wh_")
    assert world.get("P/webhook", server).get_json() == {"data": made}
    world.clock.advance(2_000)
    moved = world.call("PUT", "P/webhook", server, json={"url": f"{URL}/2"}).get_json()["data"]
    assert (moved["id"], moved["url"]) == (made["id"], f"{URL}/2")
    assert "signing_key" not in moved
    assert (moved["created_at"], moved["updated_at"]) == (at, at + 2)
    fresh = world.post("P/webhook/regenerate_signing_key", server).get_json()["data"]
    assert fresh["signing_key"] not in ("", key)
    assert world.call("DELETE", "P/webhook", server).status_code == 204
    assert world.call("DELETE", "P/webhook", server).status_code == 204
    assert world.get("P/webhook", server).get_json() == {"data": None}


def test_each_environment_has_its_own(world: World) -> None:
    server = world.server()
    world.call("PUT", "P/webhook", server, json={"url": URL})
    assert world.get("P/webhook", server, env="production").get_json() == {"data": None}
    other = projects.create(world.service, name="Other")
    headers = {"x-pd-environment": "development"}
    assert world.get(f"/v1/connect/{other.id}/webhook", server, headers=headers).get_json() == {"data": None}


def test_frontends_may_not(world: World) -> None:
    for method, path in (("GET", "P/webhook"), ("PUT", "P/webhook"), ("DELETE", "P/webhook")):
        assert world.call(method, path, world.frontend(), json={"url": URL}).status_code == 403
    assert world.call("PUT", "P/webhook", world.server("connect:projects:read"), json={"url": URL}).status_code == 403


@pytest.mark.parametrize(
    "url",
    ["a.example/x", "ftp://a.example/x", "https://", "", "javascript:alert(1)", "mailto:x@a.example", "http://[::1]/x"],
)
def test_a_bad_url_is_refused(world: World, url: str) -> None:
    query = urlencode({"url": url, "name": "Ops", "description": "x"})
    refused = world.post(f"/v1/webhooks?{query}", world.server("*"))
    assert (refused.status_code, refused.get_json()["details"][0]["field"]) == (400, "url")


def test_the_key_is_shown_to_whoever_may_change_it(world: World) -> None:
    shown = world.get("P/webhook/signing_key", world.server("connect:projects:write"))
    assert shown.get_json() == {"data": {"signing_key": signing_keys.key_of(world.service, world.scene)}}
    for token in (world.server("connect:projects:read"), world.frontend()):
        assert world.get("P/webhook/signing_key", token).status_code == 403


def test_how_it_does_is_an_extension(world: World) -> None:
    server = world.server()
    assert world.get("P/webhook?extensions=true", server).get_json() == {"data": None}
    world.call("PUT", "P/webhook", server, json={"url": URL})
    plain = world.get("P/webhook", server).get_json()["data"]
    shown = world.get("P/webhook?extensions=true", server).get_json()["data"]
    assert shown.keys() - plain.keys() == {"active", "delivery_state"}
    assert (shown["active"], shown["delivery_state"]["state"]) == (True, "happy")
