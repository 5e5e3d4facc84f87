"""Hosts of triggers: each path there is the trigger's, and nothing else answers.

What a trigger answers does nothing on our origin: harmless headers alone, no script, no frame, no cookie.

Requests to triggers' own URLs, through the whole web application.
"""

import json
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from flask import Request
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, TestResponse

from tests.fakes.deployed import bodies, plant_trigger_of, switch
from webapp.app import create_app
from webapp.cli.serving.httpd import serve
from webapp.cli.serving.listeners import listen
from webapp.cli.serving.process import Stop
from webapp.kit.clock import HOUR, MINUTE, SECOND, FakeClock
from webapp.kit.cursors import Window
from webapp.service.components.calls import HttpAnswer
from webapp.service.components.masking import MASK
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import (
    calls,
    deployed_triggers,
    deployments,
    fire,
    inbox,
    runs,
    trigger_json,
    trigger_memory,
)
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.inbound import hooks
from webapp.service.inbound.hooks import OWN_HOST, TriggerHosts
from webapp.settings import Settings

DOMAIN = "hooks.example.com"
BASE = "http://localhost:8600"
HTTP = "http-new-requests"


def settings(data: Path, public_url: str, domain: str = DOMAIN) -> Settings:
    return Settings.from_env({"PATCHBAY_PUBLIC_URL": public_url, "PATCHBAY_WORKFLOW_DOMAIN": domain}, data=data)


@pytest.mark.parametrize(
    ("public_url", "host", "leads"),
    [
        ("https://connect.example.com", "abc1.hooks.example.com", True),
        ("https://connect.example.com", "abc1.hooks.example.com:443", True),
        ("https://connect.example.com", "abc1.hooks.example.com:80", False),
        ("https://connect.example.com:8443", "abc1.hooks.example.com:8443", True),
        ("https://connect.example.com:8443", "abc1.hooks.example.com", False),
        ("https://connect.example.com", "hooks.example.com", False),
        ("https://connect.example.com", ".hooks.example.com", False),
        ("https://connect.example.com", "a.b.hooks.example.com", False),
        ("https://connect.example.com", "a/b.hooks.example.com", False),
        ("https://connect.example.com", "abc1.hooks.example.com.evil.com", False),
    ],
)
def test_the_hosts_of_triggers(data: Path, public_url: str, host: str, leads: bool) -> None:
    environ: dict[str, Any] = {"PATH_INFO": "/in/box"}
    assert TriggerHosts(settings(data, public_url)).route(environ, host) == leads
    assert environ == ({"PATH_INFO": "/h/abc1/in/box", OWN_HOST: True} if leads else {"PATH_INFO": "/in/box"})


def test_without_a_domain_there_are_none(data: Path) -> None:
    plain = Settings.from_env({"PATCHBAY_PUBLIC_URL": "https://connect.example.com"}, data=data)
    assert not TriggerHosts(plain).route({}, "abc1.None")
    assert plain.trigger_url("abc1") == "https://connect.example.com/h/abc1"


def test_a_key_with_capitals_stays_at_its_path(data: Path) -> None:
    with_domain = settings(data, "https://connect.example.com:8443")
    assert with_domain.trigger_url("abc1") == "https://abc1.hooks.example.com:8443"
    assert with_domain.trigger_url("Abc1") == "https://connect.example.com:8443/h/Abc1"


def test_a_trigger_listens_at_both_of_its_addresses_and_nothing_else_answers_there(
    service: Service, scene: Scene, data: Path
) -> None:
    chosen = settings(data, "https://connect.example.com")
    own = Service(**{**{name: getattr(service, name) for name in service.__slots__}, "settings": chosen})
    web: FlaskClient = create_app(chosen, service=own).test_client()
    component = own.catalog.component("http-new-requests")
    assert component is not None
    trigger = deployments.deploy(own, Deployment(scene, "alice", component, {}))
    url, key = deployed_triggers.endpoint_url(own, trigger), deployed_triggers.endpoint_key(own, trigger)
    assert url == f"https://{key}.{DOMAIN}" and key == str(key).lower()
    for address in (f"{url}/healthz?a=1", f"https://connect.example.com/h/{key}/healthz?a=1"):
        assert web.post(address, data="x").get_json() == {"success": True}, address
    urls = {event.split(b'"url":"')[1].split(b'"')[0].decode() for event in bodies(own, trigger)}
    assert urls == {f"{url}/healthz?a=1", f"https://connect.example.com/h/{key}/healthz?a=1"}
    for path in ("/", "/v1/connect/apps", "/healthz", "/h/" + str(key)):
        answer = web.get(f"https://nobody.{DOMAIN}{path}")
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (404, False)
        assert b"nothing at this address" in answer.data


def test_harmless_headers_pass_and_ours_stand() -> None:
    headers = {"X-Hook-Secret": "s", "Set-Cookie": "a=b", "X-Frame-Options": "ALLOW", "Content-Type": "text/html"}
    response = hooks.answer(HttpAnswer(201, "<script>", headers))
    assert (response.status_code, response.get_data(as_text=True)) == (201, "<script>")
    assert response.headers["X-Hook-Secret"] == "s" and response.headers["Content-Type"] == "text/html"
    assert "Set-Cookie" not in response.headers and "X-Frame-Options" not in response.headers
    assert "sandbox" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize("media_type", ["", "nonsense", "text/plain\r\nX: y"])
def test_a_bad_media_type_is_plain_text(media_type: str) -> None:
    response = hooks.answer(HttpAnswer(200, "x", {"content-type": media_type}))
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_refusal_says_when_to_come_again() -> None:
    refusal = hooks.refusal(503, "Later.", 5)
    assert (refusal.status_code, refusal.headers["Retry-After"], refusal.get_json()) == (503, "5", {"error": "Later."})


def send(web: FlaskClient, path: str, method: str = "POST", **given: Any) -> TestResponse:
    return web.open(path, method=method, base_url=BASE, **given)


def events(service: Service, trigger: Any) -> list[Any]:
    return [orjson.loads(one) for one in bodies(service, trigger)]


def test_a_request_becomes_an_event_with_the_documented_payload(
    web: FlaskClient, service: Service, scene: Scene
) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    answer = send(
        web,
        f"/h/{key}/in/box?a=1&b=2&b=%C3%A9",
        data='{"n": [1, "é"]}'.encode(),
        headers={
            "Content-Type": "application/json",
            "Authorization": "Bearer canary-authorization",
            "Proxy-Authorization": "Basic canary-proxy",
            "Cookie": "session=canary-cookie",
            "X-Twice": "one",
        },
    )
    assert (answer.status_code, answer.get_json()) == (200, {"success": True})
    (event,) = events(service, trigger)
    headers = event.pop("headers")
    assert event == {
        "method": "POST",
        "path": "/in/box",
        "query": {"a": "1", "b": ["2", "é"]},
        "body": {"n": [1, "é"]},
        "bodyRaw": '{"n": [1, "é"]}',
        "client_ip": "127.0.0.1",
        "url": f"{BASE}/h/{key}/in/box?a=1&b=2&b=%C3%A9",
    }
    assert headers["authorization"] == headers["proxy-authorization"] == headers["cookie"] == MASK
    assert (headers["x-twice"], headers["host"]) == ("one", "localhost:8600")
    assert b"canary" not in b"".join(bodies(service, trigger))
    row = service.store.one("SELECT summary FROM events WHERE trigger_id = :id", {"id": trigger.id})
    assert row == {"summary": "POST /in/box"}


def test_the_url_that_a_deployment_answers_takes_requests(web: FlaskClient, service: Service, scene: Scene) -> None:
    component = service.catalog.component(HTTP)
    assert component is not None
    trigger = deployments.deploy(service, Deployment(scene, "alice", component, {"response_body": "thanks"}))
    shown = trigger_json.to_json(service, trigger)
    answer = send(web, shown["endpoint_url"].removeprefix(BASE))
    assert (answer.status_code, answer.text) == (200, "thanks")
    assert [event["url"] for event in events(service, trigger)] == [shown["endpoint_url"]]


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "PROPFIND", "BREW"])
def test_any_method_is_taken_and_nothing_is_said_to_other_origins(
    web: FlaskClient, service: Service, scene: Scene, method: str
) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    answer = send(web, f"/h/{key}", method, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 200
    assert events(service, trigger)[0]["method"] == method
    assert events(service, trigger)[0]["path"] == "/"
    names = {name.lower() for name, _ in answer.headers}
    assert not names & {"set-cookie", "access-control-allow-origin", "access-control-allow-methods"}
    assert answer.headers["Cache-Control"] == "no-store"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_the_person_chooses_the_answer(web: FlaskClient, service: Service, scene: Scene) -> None:
    chosen = {
        "response_status": 202,
        "response_content_type": "text/html",
        "response_body": "<script>alert(1)</script>é",
    }
    _, key = plant_trigger_of(service, scene, HTTP, chosen)
    answer = send(web, f"/h/{key}")
    assert (answer.status_code, answer.text) == (202, chosen["response_body"])
    assert answer.headers["Content-Type"] == "text/html"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("chosen", "status", "body", "content_type"),
    [
        ({"response_status": 204, "response_body": "x"}, 204, "", "application/json"),
        ({"response_body": ""}, 200, "", "application/json"),
        (
            {"response_content_type": "text/plain\r\nSet-Cookie: a=b"},
            200,
            '{"success": true}',
            "text/plain; charset=utf-8",
        ),
        (
            {"response_content_type": {"__lv": {"label": "x", "value": "text/csv"}}},
            200,
            '{"success": true}',
            "text/csv",
        ),
    ],
)
def test_an_answer_is_made_sound(
    web: FlaskClient, service: Service, scene: Scene, chosen: dict[str, Any], status: int, body: str, content_type: str
) -> None:
    _, key = plant_trigger_of(service, scene, HTTP, chosen)
    answer = send(web, f"/h/{key}")
    assert (answer.status_code, answer.text, answer.headers["Content-Type"]) == (status, body, content_type)
    assert "Set-Cookie" not in answer.headers


def test_unknown_paused_and_deleted_cannot_be_told_apart(web: FlaskClient, service: Service, scene: Scene) -> None:
    paused, paused_key = plant_trigger_of(service, scene, HTTP)
    switch(service, paused, active=False)
    gone, gone_key = plant_trigger_of(service, scene, HTTP)
    with service.store.write() as tx:
        tx.run("DELETE FROM deployed_triggers WHERE id = :id", {"id": gone.id})
    answers = [send(web, f"/h/{key}", data=b"x") for key in (paused_key, gone_key, "nobody", "%00", "%ED%A0%80", "é")]
    for one in answers:
        one.headers.pop("X-Request-Id", None)
    shown = {(one.status_code, one.data, tuple(sorted(one.headers.items()))) for one in answers}
    assert len(shown) == 1
    assert answers[0].status_code == 404
    assert bodies(service, paused) == []


@pytest.mark.parametrize(
    ("raw", "content_type", "body"),
    [
        (b"", "application/json", ""),
        (b"123", "text/plain", "123"),
        (b"123", "application/json", 123),
        (b'{"a": 1}', "application/x-www-form-urlencoded", {"a": 1}),
        (b"a=1&b=2", "application/x-www-form-urlencoded", "a=1&b=2"),
        (b'{"a": 1, "a": 2}', "application/json", {"a": 2}),
        (b"\x00", "application/octet-stream", "\x00"),
        (b'"\\u0000"', "application/json", "\x00"),
        (b'"\\ud800"', "application/json", '"\\ud800"'),
        (b"caf\xe9\xff", "text/plain", "caf��"),
        (b"NaN", "application/json", "NaN"),
    ],
)
def test_bodies_of_every_kind(
    web: FlaskClient, service: Service, scene: Scene, raw: bytes, content_type: str, body: Any
) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    assert send(web, f"/h/{key}", data=raw, content_type=content_type).status_code == 200
    (event,) = events(service, trigger)
    assert event["body"] == body
    assert event["bodyRaw"] == raw.decode("utf-8", "replace")


def test_what_is_nested_beyond_reason_stays_text(web: FlaskClient, service: Service, scene: Scene) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    deep = "[" * 10_000 + "]" * 10_000
    assert send(web, f"/h/{key}", data=deep, content_type="application/json").status_code == 200
    assert events(service, trigger)[0]["body"] == deep


def test_ten_mebibytes_are_taken_and_not_a_byte_more(web: FlaskClient, service: Service, scene: Scene) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    assert send(web, f"/h/{key}", data=b"x" * 10 * 2**20).status_code == 200
    answer = send(web, f"/h/{key}", data=b"x" * (10 * 2**20 + 1))
    assert (answer.status_code, answer.get_json()["error"]) == (413, "The body is larger than 10 MiB; send less.")
    assert [len(event["bodyRaw"]) for event in events(service, trigger)] == [10 * 2**20]


def test_a_body_that_is_no_text_is_refused_rather_than_written_at_six_times_its_length(
    web: FlaskClient, service: Service, scene: Scene
) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    answer = send(web, f"/h/{key}", data=b"\x01" * (5 * 2**20))
    assert answer.status_code == 413 and "send less, or no binary data" in answer.get_json()["error"]
    assert send(web, f"/h/{key}", data=b"\x01" * 2**20).status_code == 200
    _, waiting = plant_trigger_of(service, scene, "~/hook")
    assert send(web, f"/h/{waiting}", data=b"x" * (8 * 2**20)).status_code == 413
    kept = "SELECT SUM(LENGTH(body_sealed)) + (SELECT SUM(LENGTH(part_sealed)) FROM body_parts) FROM events"
    assert service.store.tuples(kept)[0][0] < 1.01 * 2**20
    assert [len(event["bodyRaw"]) for event in events(service, trigger)] == [2**20]


def test_requests_are_bounded_for_each_address_trigger_and_user(
    web: FlaskClient, service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, key), (_, second) = plant_trigger_of(service, scene, HTTP), plant_trigger_of(service, scene, "~/hook")
    _, other = plant_trigger_of(service, scene, HTTP, user="bob")

    def sent(key: str, address: str = "192.0.2.1", size: int = 1) -> tuple[int, str | None]:
        answer = send(web, f"/h/{key}", data=b"x" * size, environ_overrides={"REMOTE_ADDR": address})
        return answer.status_code, answer.headers.get("Retry-After")

    for name, number in {"ADDRESS_REQUESTS": 6, "TRIGGER_REQUESTS": 2, "USER_REQUESTS": 3, "ADDRESS_MB": 1}.items():
        monkeypatch.setitem(cast(dict[str, int], service.settings.quotas), name, number)
    assert [sent(key)[0] for _ in range(3)] == [200, 200, 429]  # the trigger
    assert [sent(second)[0] for _ in range(2)] == [200, 429]  # its user
    assert [sent("nobody"), sent(other)] == [(404, None), (429, "60")]  # the address
    assert sent(other, "192.0.2.2", 2**20) == (200, None)
    assert sent(other, "192.0.2.2") == (429, "3600")  # its bytes
    assert "keeps" not in send(web, f"/h/{key}").get_json()["error"]
    clock.advance(MINUTE)
    assert sent(key) == (200, None)
    assert len(events(service, first)) == 3


def test_a_path_may_hold_anything(web: FlaskClient, service: Service, scene: Scene) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    for path in ("/a%0Ab", "/%00", "/%F0%28", "//x", "/"):
        assert send(web, f"/h/{key}{path}", "GET").status_code == 200
    assert [event["path"] for event in events(service, trigger)] == ["/a\nb", "/\x00", "/\ufffd(", "/x", "/"]


def test_a_source_gets_its_requests_from_the_worker_in_order(
    web: FlaskClient, service: Service, scene: Scene, clock: FakeClock
) -> None:
    trigger, key = plant_trigger_of(service, scene, "~/hook")
    for number in (1, 2):
        assert send(web, f"/h/{key}", json={"n": number}, headers={"X-Id": str(number)}).get_json() == {"success": True}
    sealed = service.store.all("SELECT request_sealed FROM trigger_inbox")
    assert b"bodyRaw" not in b"".join(row["request_sealed"] for row in sealed)
    assert bodies(service, trigger) == []
    received = clock()
    clock.advance(SECOND)
    while (waiting := inbox.claim(service)) is not None:
        inbox.run_queued(service, waiting)
    emitted = events(service, trigger)
    assert [(one["run"], one["event"]["body"]["n"], one["event"]["timestamp"]) for one in emitted] == [
        (1, 1, received),
        (2, 2, received),
    ]
    assert service.store.all("SELECT id FROM trigger_inbox") == []


def test_a_failing_request_is_tried_again_and_given_up_and_holds_up_those_behind_it(
    web: FlaskClient, service: Service, scene: Scene, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    trigger, key = plant_trigger_of(service, scene, "~/hook")
    send(web, f"/h/{key}", json={"fail": True})
    send(web, f"/h/{key}", json={"n": 2})
    waits = []
    while True:
        waiting = inbox.claim(service)
        assert waiting is not None and waiting.request["body"] == {"fail": True}
        assert inbox.claim(service) is None
        inbox.run_queued(service, waiting)
        due = inbox.next_due_at(service.store, clock())
        assert due is not None
        if due <= clock():
            break
        waits.append((due - clock()) // SECOND)
        clock.at = due
    assert tuple(waits) == inbox.RETRIES_S
    assert [one.getMessage() for one in caplog.records if "given up" in one.getMessage()] == [
        f"A request to {trigger.id} was given up after 6 runs: It was told to fail."
    ]
    last = inbox.claim(service)
    assert last is not None
    inbox.run_queued(service, last)
    assert [one["event"]["body"] for one in events(service, trigger)] == [{"n": 2}]
    assert runs.page(service.store, trigger.id, Window()).total_count == 7


def test_a_paused_source_keeps_what_it_accepted(
    web: FlaskClient, service: Service, scene: Scene, clock: FakeClock
) -> None:
    trigger, key = plant_trigger_of(service, scene, "~/hook")
    send(web, f"/h/{key}", json={"n": 1})
    switch(service, trigger, active=False)
    waiting = inbox.claim(service)
    assert waiting is not None
    inbox.run_queued(service, waiting)
    assert inbox.claim(service) is None
    assert events(service, trigger) == []
    switch(service, trigger, active=True)
    clock.advance(MINUTE)
    again = inbox.claim(service)
    assert again is not None and again.tries == 0
    inbox.run_queued(service, again)
    assert len(events(service, trigger)) == 1


def test_a_source_that_answers_is_run_at_once(web: FlaskClient, service: Service, scene: Scene) -> None:
    trigger, key = plant_trigger_of(service, scene, "~/answering")
    told = {"status": 201, "text": "hello é", "headers": {
        "X-Hook-Secret": "abc", "Content-Type": "text/plain", "Set-Cookie": "a=b", "Location": "https://evil.example",
        "Content-Security-Policy": "default-src *", "Access-Control-Allow-Origin": "*", "X-Accel-Redirect": "/etc",
        "Cache-Control": "public",
    }}  # fmt: skip
    answer = send(web, f"/h/{key}", json=told)
    assert (answer.status_code, answer.text, answer.headers["X-Hook-Secret"]) == (201, "hello é", "abc")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    names = {name.lower() for name, _ in answer.headers}
    assert not names & {"set-cookie", "location", "access-control-allow-origin", "x-accel-redirect"}
    assert events(service, trigger) == [told]
    assert send(web, f"/h/{key}", json={"quiet": True}).get_json() == {"success": True}


def test_a_source_that_fails_says_so_without_its_reasons(web: FlaskClient, service: Service, scene: Scene) -> None:
    trigger, key = plant_trigger_of(service, scene, "~/answering")
    answer = send(web, f"/h/{key}", json={"fail": True})
    assert answer.status_code == 500
    assert "canary" not in answer.text
    (run,) = runs.page(service.store, trigger.id, Window()).items
    assert run["error"] == "canary-inner-reason"


def test_a_full_inbox_asks_to_come_back(
    web: FlaskClient, service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, key = plant_trigger_of(service, scene, "~/hook")
    monkeypatch.setattr(inbox, "MAX_WAITING", 2)
    assert [send(web, f"/h/{key}").status_code for _ in range(3)] == [200, 200, 429]
    assert send(web, f"/h/{key}").headers["Retry-After"] == "60"


@pytest.mark.parametrize(("threads", "places"), [(2, 1), (8, 2), (40, 10)])
def test_callers_that_wait_for_a_run_hold_a_quarter_of_the_threads_at_most(
    service: Service, threads: int, places: int
) -> None:
    receiver = hooks.Receiver(replace(service, settings=replace(service.settings, threads=threads)))
    statuses = list[int]()

    def waiting() -> HttpAnswer:
        """One that waits, while another comes."""
        if len(statuses) < 50:
            statuses.append(0)
            response = receiver._run(waiting, waits=True)
            if response.status_code == 503:
                raise Full
        return HttpAnswer(200, "", {})

    with pytest.raises(Full):
        receiver._run(waiting, waits=True)
    assert len(statuses) == places
    assert receiver._run(lambda: HttpAnswer(200, "", {}), waits=False).status_code == 200


class Full(Exception):
    """No place was left."""


def test_what_no_run_could_take_is_refused(web: FlaskClient, service: Service, scene: Scene) -> None:
    _, key = plant_trigger_of(service, scene, "~/hook")
    assert send(web, f"/h/{key}", data=b'["' + b"\x01" * 9 * 2**20).status_code == 413


def test_trouble_names_no_key(
    web: FlaskClient, service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    _, key = plant_trigger_of(service, scene, HTTP)
    monkeypatch.setattr(fire, "record_request", lambda *_, **__: 1 / 0)
    answer = send(web, f"/h/{key}")
    assert answer.status_code == 500
    assert any(one.exc_info for one in caplog.records)
    assert key not in caplog.text and key not in answer.text


@pytest.fixture
def port(service: Service) -> Iterator[int]:
    """The application on a real port, which its public address does not name."""
    stop = Stop()
    sockets = listen("127.0.0.1", 0)
    app = create_app(service.settings, service=service)
    thread = threading.Thread(target=serve, args=(app, sockets), kwargs={"threads": 2, "stop": stop})
    thread.start()
    yield sockets[0].getsockname()[1]
    stop._handle(signal.SIGTERM, None)
    thread.join()


def test_over_a_socket(port: int, service: Service, scene: Scene) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    head = (
        f"BREW /h/{key}/pot?x=%00 HTTP/1.1\r\nHost: localhost:8600\r\nX-Two: a\r\nX-Two: b\r\nX-Name: J\xc3\xbcrgen\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall((head + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n").encode("latin-1"))
        line.sendall(b'3\r\n{"a\r\n5\r\n": 1}\r\n0\r\n\r\n')
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK") and answer.endswith(b'{"success": true}')
    (event,) = events(service, trigger)
    assert (event["method"], event["path"], event["query"], event["body"]) == ("BREW", "/pot", {"x": "\x00"}, {"a": 1})
    assert (event["headers"]["x-two"], event["headers"]["x-name"]) == ("a, b", "Jürgen")
    assert json.loads(event["bodyRaw"]) == {"a": 1}


def test_a_flood_of_headers_is_refused_by_the_server(port: int, service: Service, scene: Scene) -> None:
    trigger, key = plant_trigger_of(service, scene, HTTP)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(f"GET /h/{key} HTTP/1.1\r\nHost: localhost:8600\r\n".encode())
        line.sendall(b"".join(b"X-%d: %s\r\n" % (number, b"x" * 100) for number in range(800)) + b"\r\n")
        assert line.recv(65536).split()[1] == b"431"
    assert bodies(service, trigger) == []


def test_a_request_is_read_as_it_came() -> None:
    builder = EnvironBuilder("/h/key/a b", method="PUT", query_string="x=1&x=2", data=b"\xff{}")
    builder.headers.add("X-Name", "é".encode().decode("latin-1"))
    request = hooks.read(Request(builder.get_environ()), "https://p.example/h/key", "a b", 5)
    assert (request.method, request.path, request.body, request.at) == ("PUT", "/a b", b"\xff{}", 5)
    assert request.url == "https://p.example/h/key/a%20b?x=1&x=2"
    assert request.query == (("x", "1"), ("x", "2"))
    assert ("X-Name", "é") in request.headers


def test_the_one_address_of_a_client_refuses_what_is_not_signed_and_is_nobody_elses(
    web: FlaskClient, service: Service
) -> None:
    client = oauth_apps.add(
        service, app="slack", client_id="c", client_secret="s", events_secret="canary-events-secret"
    )
    answer = send(web, f"/h/app/slack/{client.id}", json={"type": "event_callback"})
    assert (answer.status_code, answer.get_json()) == (401, {"error": "The signature does not fit."})
    assert answer.headers["Cache-Control"] == "no-store"
    tried = send(web, f"/h/app/slack/{client.id}", "HEAD")
    assert (tried.status_code, tried.data, send(web, "/h/app/slack/oa_none", "HEAD").status_code) == (200, b"", 404)
    absent = send(web, "/h/app/slack/oa_none", json={})
    for path in (f"/h/app/github/{client.id}", "/h/app/none/oa_none"):
        other = send(web, path, json={})
        assert (other.status_code, other.data) == (absent.status_code, absent.data) == (404, absent.data)


def test_a_trigger_that_is_told_to_look(
    web: FlaskClient, service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "run_hooks", lambda *_: [])
    component = service.catalog.component("~/told")
    assert component is not None
    trigger = deployments.deploy(service, Deployment(scene, "alice", component, {}))
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET next_run_at = :at", {"at": clock.at + HOUR})
    key = deployed_triggers.endpoint_key(service, trigger)
    tried = send(web, f"/h/{key}?try=%3Cb%3E+%C3%A9")
    assert (tried.status_code, tried.mimetype, tried.text) == (200, "text/plain", "<b> é")
    assert "sandbox" in tried.headers["Content-Security-Policy"]
    assert send(web, f"/h/{key}", json={"key": None}).status_code == 401
    with service.store.write() as tx:
        trigger_memory.update(tx, service, trigger, {"secret": "s3cret"})
    assert send(web, f"/h/{key}", json={"key": "other"}).status_code == 401
    assert next_run(service, trigger) == clock.at + HOUR
    assert send(web, f"/h/{key}", json={"key": "s3cret"}).status_code == 202
    assert next_run(service, trigger) == clock.at
    assert events(service, trigger) == []


def next_run(service: Service, trigger: Any) -> Any:
    return deployed_triggers.get(service.store, trigger.scene, trigger.id).next_run_at


def test_the_address_of_a_client_takes_get_for_integrations_only(web: FlaskClient) -> None:
    answer = send(web, "/h/app/tinyoauth/oa_none", "GET")
    assert (answer.status_code, answer.mimetype) == (405, "application/json")
