import json
from typing import Any

import pytest

from tests.fakes.mcp_server import serving
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.placements import Placement
from webapp.service.outbound.probe import BodyRule, Identity, RefusalRules, RequestSpec, identity, probe, probe_mcp
from webapp.service.outbound.responses import Response

SLACK = RefusalRules(body=BodyRule("ok", False, "error", ("invalid_auth",)))


def answer(body: Any, status: str = "200 OK", *headers: str) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", *headers]).encode() + b"\r\n\r\n" + data


@pytest.mark.parametrize(
    ("raw", "rules", "kind"),
    [
        (answer({"id": 1}), None, "ok"),
        (answer(b"", "204 No Content"), None, "ok"),
        (answer({}, "401 Unauthorized"), None, "refused"),
        (answer({}, "403 Forbidden"), None, "refused"),
        (answer({}, "403 Forbidden", "X-RateLimit-Remaining: 0"), None, "trouble"),
        (answer({}, "403 Forbidden", "Retry-After: 60"), None, "trouble"),
        (answer({}, "401 Unauthorized", "Retry-After: 60"), None, "refused"),
        (answer({}, "400 Bad Request"), RefusalRules((400, 401)), "refused"),
        (answer({}, "400 Bad Request"), None, "trouble"),
        (answer({}, "404 Not Found"), None, "trouble"),
        (answer({}, "429 Slow down", "Retry-After: 9"), None, "trouble"),
        (answer({}, "500 Oops"), None, "trouble"),
        (answer({}, "302 Found", "Location: /login"), None, "trouble"),
        (answer(b"<html>"), None, "trouble"),
        (b"", None, "trouble"),
        (answer({"ok": True, "user": "U"}), SLACK, "ok"),
        (answer({"ok": False, "error": "invalid_auth"}), SLACK, "refused"),
        (answer({"ok": False, "error": "ratelimited"}), SLACK, "trouble"),
        (answer({"ok": False, "error": "any"}), RefusalRules(body=BodyRule("ok")), "refused"),
    ],
)
def test_answers(peer: Any, reach: Any, raw: bytes, rules: RefusalRules | None, kind: str) -> None:
    target = peer(raw)
    outcome = probe(reach(target), RequestSpec(target.url), {}, rules)
    assert outcome.kind == kind
    assert (outcome.sentence == "") is (kind == "ok")
    if b"Retry-After: 9" in raw:
        assert outcome.retry_after_s == 9


@pytest.mark.parametrize(
    ("raw", "rules", "known"),
    [
        (answer({}, "401 Unauthorized"), None, False),
        (answer({}, "403 Forbidden"), None, True),
        (answer({"ok": False, "error": "invalid_auth"}), SLACK, False),
        (answer({"ok": False, "error": "account_inactive"}), RefusalRules(body=BodyRule("ok", False, "error")), True),
    ],
)
def test_a_wrong_credential_is_told_from_one_that_is_switched_off(
    peer: Any, reach: Any, raw: bytes, rules: RefusalRules | None, known: bool
) -> None:
    target = peer(raw)
    outcome = probe(reach(target), RequestSpec(target.url), {}, rules)
    assert ("switched off" in outcome.sentence) is known
    assert ("does not accept these credentials" in outcome.sentence) is not known


def test_the_request_carries_the_credential_only_to_declared_hosts(peer: Any, reach: Any) -> None:
    target = peer(answer({"data": [{"id": 7, "name": " Ada "}]}))
    spec = RequestSpec(
        "http://{host}:{port}/v1/{account}",
        "POST",
        params={"v": "{account}"},
        headers={"X-Version": "2"},
        json={"q": 1},
        placements=(Placement("header", name="X-Key", value="{api_key}"), Placement("query", "k", "{api_key}")),
        allowed_hosts=(f"127.0.0.1:{target.port}",),
    )
    fields = {"host": "127.0.0.1", "port": str(target.port), "account": "a b", "api_key": "secret"}
    outcome = probe(reach(target), spec, fields)
    assert outcome.kind == "ok"
    assert target.requests[0].startswith(b"POST /v1/a%20b?v=a+b&k=secret HTTP/1.1\r\n")
    assert b"X-Key: secret" in target.requests[0]
    assert b"X-Version: 2" in target.requests[0]
    assert target.requests[0].endswith(b'{"q":1}')
    who = identity(outcome.body, "data.0.id", "data.0.name")
    assert who is not None
    assert (who.id, who.name) == ("7", "Ada")
    away = probe(reach(target), spec, {**fields, "host": "localhost"})
    assert away.kind == "trouble"
    assert target.connections == 1


def test_a_bad_field_is_refused_with_its_sentence(reach: Any) -> None:
    outcome = probe(reach(), RequestSpec("https://{sub}.example.com/"), {"sub": "evil.com/"})
    assert outcome.kind == "refused"
    assert "only the first part" in outcome.sentence


@pytest.mark.parametrize(
    ("body", "expected"),
    [({"id": "x"}, ("x", "x")), ({"id": 5, "n": None}, ("5", "5")), ({"id": True}, None), ({}, None), (None, None)],
)
def test_identity(body: Any, expected: tuple[str, str] | None) -> None:
    found = identity(body, "id", "n")
    assert (found and (found.id, found.name)) == expected


@pytest.mark.parametrize(
    ("status", "body", "rules", "refused"),
    [
        (401, {}, RefusalRules(), True),
        (403, {}, RefusalRules(), False),
        (200, {"ok": False, "error": "invalid_auth"}, SLACK, True),
        (200, {"ok": False, "error": "channel_not_found"}, SLACK, False),
        (200, {"ok": True, "error": "invalid_auth"}, SLACK, False),
        (200, {"ok": False}, RefusalRules(body=BodyRule("ok")), False),
    ],
)
def test_which_answers_refuse_the_credential_in_use(status: int, body: Any, rules: RefusalRules, refused: bool) -> None:
    assert rules.refuse_use(Response(status, {}, json.dumps(body).encode(), "https://a.example/")) is refused


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"id": 7, "n": "Ada", "m": "ada@acme.example"}, "ada@acme.example"),
        ({"id": 7, "n": "Ada", "m": " "}, "Ada"),
        ({"id": 7, "m": None}, "7"),
    ],
)
def test_an_address_says_best_whose_it_is(body: Any, text: str) -> None:
    found = identity(body, "id", "n", "m")
    assert found is not None
    assert (found.id, found.text) == ("7", text)


@pytest.mark.parametrize(
    ("body", "shown", "text"),
    [
        ({"id": 7, "n": "Ada", "m": "ada@acme.example", "w": "Acme"}, "Ada · Acme", "ada@acme.example · Acme"),
        ({"id": 7, "n": "Ada", "w": None}, "Ada", "Ada"),
        ({"id": 7, "w": "Acme"}, "Acme", "Acme"),
        ({"id": 7}, "7", "7"),
    ],
)
def test_the_workspace_stands_beside_the_name(body: Any, shown: str, text: str) -> None:
    assert identity(body, "id", "n", "m", "w") == Identity("7", shown, text)


@pytest.mark.parametrize(
    ("fields", "manner", "kind"),
    [
        ({"token": "right"}, {}, "ok"),
        ({"token": "right"}, {"old": True}, "ok"),
        ({"token": "right"}, {"results": {"ping": {"code": -32601, "message": "No ping"}}}, "ok"),
        ({"token": "wrong"}, {}, "refused"),
        ({}, {}, "refused"),
        ({"token": "right"}, {"results": {"ping": {"code": -32000, "message": "Busy"}}}, "trouble"),
        ({"token": "right"}, {"body": b"<html>"}, "trouble"),
    ],
)
def test_an_mcp_server_is_asked_whether_it_answers(fields: dict[str, str], manner: dict[str, Any], kind: str) -> None:
    with serving(key="right", **manner) as server:
        client = OutboundClient(Guard([server.host]), user_agent="Patchbay-Test")
        placements = (Placement("bearer", value="{token}"),)
        spec = RequestSpec(server.url, placements=placements, allowed_hosts=(server.host,))
        outcome = probe_mcp(client, spec, fields)
        assert outcome.kind == kind
        assert (outcome.sentence == "") is (kind == "ok")
        assert server.sessions == set()
