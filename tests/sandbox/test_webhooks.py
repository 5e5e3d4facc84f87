"""Webhooks: registering, deleting, and posts that really arrive at a server on loopback."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.certificates import Authority
from tests.fakes.receiver import receiving
from tests.sandbox.conftest import Served
from webapp.sandbox.receiver import Received
from webapp.sandbox.webhooks import allowed_url, post_signed


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


def received(served: Served, count: int, path: str = "hook") -> list[Received]:
    until(lambda: len(served.sandbox.receiver.requests(path)) >= count)
    return served.sandbox.receiver.requests(path)


def register(served: Served, event: str, token: str | None = None, **more: str) -> dict[str, str]:
    body = {"url": f"{served.url}/receiver/hook", "event": event} | more
    answer = served.api("POST", "webhooks", token, json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, str] = answer.json()
    return found


def create(served: Served, project: str = "prj_001") -> str:
    answer = served.api("POST", f"projects/{project}/tasks", json={"title": "Ring"})
    assert answer.status_code == 201
    return str(answer.json()["id"])


def test_signed_posts_for_both_events(served: Served) -> None:
    secrets = {event: register(served, event)["secret"] for event in ("task.created", "task.updated")}
    task = create(served)
    received(served, 1)
    served.api("PATCH", f"tasks/{task}", json={"done": True})
    updated, created = received(served, 2)
    for one, event in ((created, "task.created"), (updated, "task.updated")):
        body, headers = json.loads(one.body), dict(one.headers)
        assert (body["event"], headers["x-sandbox-event"]) == (event, event)
        assert body["task"]["id"] == task
        digest = hmac.new(secrets[event].encode(), one.body, hashlib.sha256).hexdigest()
        assert headers["x-sandbox-signature"] == f"sha256={digest}"
    listed = served.api("GET", "webhooks").json()["data"]
    until(lambda: all(hook["last_status"] for hook in served.api("GET", "webhooks").json()["data"]))
    assert all("secret" not in hook for hook in listed)


def test_only_the_project_asked_for(served: Served) -> None:
    register(served, "task.created", project_id="prj_006")
    create(served, "prj_001")
    wanted = create(served, "prj_006")
    assert [json.loads(one.body)["task"]["id"] for one in received(served, 1)] == [wanted]


def test_deleted_and_revoked_hear_nothing(served: Served) -> None:
    gone = register(served, "task.created")
    assert served.api("DELETE", f"webhooks/{gone['id']}").status_code == 204
    assert served.api("DELETE", f"webhooks/{gone['id']}").status_code == 404
    token = served.connect("webhooks")["access_token"]
    register(served, "task.created", token)
    grant = served.sandbox.grants.live("sandbox-client")[0]
    served.sandbox.grants.revoke(grant.id, "test")
    register(served, "task.created", url=f"{served.url}/receiver/living")
    create(served)
    received(served, 1, "living")
    assert served.sandbox.receiver.requests("hook") == []


def test_another_person_cannot_delete_it(served: Served) -> None:
    mine = register(served, "task.created")
    other = {"X-Api-Key": served.key(1)}
    assert served.api("DELETE", f"webhooks/{mine['id']}", headers=other).status_code == 404
    assert served.api("GET", "webhooks", headers=other).json()["data"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"url": "http://127.0.0.1/", "event": "task.exploded"},
        {"url": "http://example.com/", "event": "task.created"},
        {"url": "file:///etc/passwd", "event": "task.created"},
        {"event": "task.created"},
    ],
)
def test_bad_webhooks_are_refused(served: Served, body: dict[str, str]) -> None:
    assert served.api("POST", "webhooks", json=body).status_code == 400


def test_unknown_project_is_404_and_the_hundred_and_first_409(served: Served) -> None:
    url = f"{served.url}/receiver/hook"
    body = {"url": url, "event": "task.created", "project_id": "prj_999"}
    assert served.api("POST", "webhooks", json=body).status_code == 404
    ada = served.sandbox.keys.working[0].person
    for _ in range(100):
        served.sandbox.webhooks.register(ada, None, url, "task.created", None)
    body.pop("project_id")
    assert served.api("POST", "webhooks", json=body).status_code == 409


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:8000/x", True),
        ("http://127.9.9.9/", True),
        ("https://localhost/", True),
        ("https://app.localhost:8443/h/key", True),
        ("http://[::1]:80/", True),
        ("http://169.254.169.254/", False),
        ("http://10.0.0.1/", False),
        ("http://localhost.evil.example/", False),
        ("http://user:pass@127.0.0.1/", False),
        ("ftp://127.0.0.1/", False),
        ("http://127.0.0.1:99999/", False),
        ("http://2130706433/", False),
        ("", False),
        ("http://127.0.0.1\x00.evil.example/", False),
    ],
)
def test_only_loopback_is_posted_to(url: str, allowed: bool) -> None:
    assert allowed_url(url) is allowed


def test_a_redirect_is_not_followed_and_a_dead_address_is_no_crash(served: Served) -> None:
    served.sandbox.receiver.choose("hook", "302")
    event = {"event": "task.created"}
    assert post_signed(f"{served.url}/receiver/hook", "s", event) == "302"
    assert served.sandbox.receiver.requests("redirect-target") == []
    assert post_signed("http://127.0.0.1:9/", "s", event) == "no answer"


def test_a_certificate_of_this_machines_own_is_taken(tmp_path: Path) -> None:
    with receiving(Authority(tmp_path).context("localhost")) as receiver:
        url = receiver.url("/h/key").replace("http://127.0.0.1", "https://localhost")
        assert post_signed(url, "s", {"event": "task.created"}) == "200"
