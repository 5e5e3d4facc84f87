"""Each way in which a trigger of a piece hears of news, from its deployment until it is deleted."""

import hashlib
import hmac
import json
from typing import Any

import pytest
import requests

from tests.fakes.triggers import emitted
from tests.peers.pieces.conftest import Ours
from webapp.kit.clock import HOUR, MINUTE
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

pytestmark = pytest.mark.peer
SECRET = "canary-secret-of-the-workbench"
HANDSHAKES = {
    "hook-header": ({"x-hook-secret": "s3"}, {}, {}, (200, "")),
    "hook-query": ({}, {"challenge": "q7"}, {}, (200, "q7")),
    "hook-body": ({}, {}, {"challenge": "abc"}, (201, '{"challenge":"abc"}')),
}


def events(ours: Ours, trigger: DeployedTrigger) -> list[Any]:
    return [json.loads(event["e"]) for event in emitted(ours.bench.installation.service, trigger)]


def account(ours: Ours, user: str, client: str | None = None) -> dict[str, str]:
    values = {"oauth_access_token": f"token-{user}", "tenant": "acme"}
    return ours.bench.account(user, "workbench", values, client)


def test_polling_tells_what_is_new_once_and_the_oldest_first(ours: Ours) -> None:
    bench = ours.bench
    ours.provider.rows = [{"id": 2}, {"id": 1}]
    values = {"workbench": account(ours, "alice"), "table": "t0"}
    trigger = bench.deploy("workbench-new-row", "alice", values)
    bench.work()
    assert events(ours, trigger) == []
    ours.provider.rows = [{"id": 4}, {"id": 3}, *ours.provider.rows]
    for _ in range(2):
        bench.clock.advance(16 * MINUTE)
        bench.work()
        assert events(ours, trigger) == [{"id": 3}, {"id": 4}]
    assert bench.delete(trigger, "alice") == 204


@pytest.mark.parametrize("key", ["hook-plain", *HANDSHAKES])
def test_a_webhook_is_made_tried_told_and_taken_back(ours: Ours, key: str) -> None:
    bench, provider = ours.bench, ours.provider
    trigger = bench.deploy(f"workbench-{key}", "alice", {"workbench": account(ours, "alice"), "only": "made"})
    (address,) = provider.hooks.values()
    if key in HANDSHAKES:
        headers, params, body, expected = HANDSHAKES[key]
        answer = bench.hit(address, headers=headers, params=params, json=body)
        assert (answer.status_code, answer.text) == expected
        assert answer.headers.get("x-hook-secret") == headers.get("x-hook-secret")
    for kind in ("made", "changed"):
        assert bench.hit(address, json={"kind": kind}).json() == {"success": True}
    bench.work()
    assert events(ours, trigger) == [{"kind": "made"}]
    assert bench.delete(trigger, "alice") == 204
    assert provider.hooks == {}
    assert bench.hit(address, json={"kind": "made"}).status_code == 404


def test_a_webhook_is_renewed_when_its_piece_says(ours: Ours) -> None:
    bench = ours.bench
    trigger = bench.deploy("workbench-hook-renewed", "alice", {"workbench": account(ours, "alice")})
    ours.provider.renewed.clear()
    for renewals in (1, 2):
        bench.clock.advance(12 * HOUR + MINUTE)
        bench.work()
        assert len(ours.provider.renewed) == renewals
    assert bench.delete(trigger, "alice") == 204


def test_events_at_the_address_of_a_client_reach_whose_they_are(ours: Ours) -> None:
    bench = ours.bench
    client = bench.client("workbench", SECRET)
    triggers = {
        user: bench.deploy("workbench-new-message", user, {"workbench": account(ours, user, client)})
        for user in ("alice", "bob", "eve")
    }
    address = f"{bench.installation.url}/h/app/workbench/{client}"

    def send(kind: str, team: str, text: str, secret: str = SECRET) -> requests.Response:
        body = json.dumps({"type": kind, "team": team, "message": {"text": text}, "challenge": "c"})
        digest = hmac.new(secret.encode(), f"{address}{body}".encode(), hashlib.sha256).hexdigest()
        headers = {"content-type": "application/json", "x-workbench-signature": digest}
        return bench.hit(address, data=body, headers=headers)

    assert send("handshake", "", "", "not yet").json() == {"challenge": "c"}
    assert [send("message", team, text).status_code for team, text in (("acme", "one"), ("evil", "two"))] == [200, 200]
    assert send("message", "acme", "one").status_code == 200  # it comes again
    assert send("message.deleted", "acme", "three").status_code == 200
    assert send("message", "acme", "forged", "guessed").status_code == 401
    bench.work()
    told = {user: [event["text"] for event in events(ours, trigger)] for user, trigger in triggers.items()}
    assert told == {"alice": ["one"], "bob": ["one"], "eve": ["two"]}
