"""The JSON API over real HTTP: both kinds of key, scopes, pages, search, tasks and their fields."""

from typing import Any

import pytest
import requests

from tests.sandbox.conftest import Served
from webapp.kit.clock import MINUTE, SECOND, iso

PLAIN = "prj_001"  # has no custom fields
RICH = "prj_005"  # has four


def test_key_in_the_header(served: Served) -> None:
    answer = served.api("GET", "me")
    assert answer.status_code == 200
    assert answer.json() == {
        "id": "per_ada",
        "name": "Ada Lovelace",
        "email": "ada@sandbox.example",
        "account_id": "acct_ada",
    }


def test_key_by_basic(served: Served) -> None:
    url = f"{served.url}/api/me"
    assert requests.get(url, auth=("acct_grace", served.key(1)), timeout=10).json()["name"] == "Grace Hopper"
    foreign = requests.get(url, auth=("acct_ada", served.key(1)), timeout=10)
    assert foreign.status_code == 401
    assert foreign.headers["WWW-Authenticate"].startswith("Basic ")
    assert requests.get(url, auth=("", ""), timeout=10).status_code == 401


def test_wrong_key_is_401_and_disabled_key_403(served: Served) -> None:
    disabled = served.sandbox.keys.disabled
    for key in ("", "x", "sbx_live_", served.key()[:-1] + "x", served.key() + "0", "ü"):
        answer = served.api("GET", "me", headers={"X-Api-Key": key.encode()})
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_key")
    answer = served.api("GET", "me", headers={"X-Api-Key": disabled.secret})
    assert (answer.status_code, answer.json()["error"]) == (403, "key_disabled")
    basic = requests.get(f"{served.url}/api/me", auth=(disabled.person.account_id, disabled.secret), timeout=10)
    assert basic.status_code == 403


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer x", "Digest x", "Basic %%%", "bearer sbx_at_x"])
def test_no_or_unknown_token_is_401(served: Served, header: str | None) -> None:
    answer = served.api("GET", "me", headers={"Authorization": header} if header else {})
    assert answer.status_code == 401
    assert answer.json()["message"]
    assert "WWW-Authenticate" in answer.headers


def test_refresh_token_is_no_access_token(served: Served) -> None:
    assert served.api("GET", "me", served.connect()["refresh_token"]).status_code == 401


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        ("tasks:read", "GET", "me"),
        ("profile", "GET", "projects"),
        ("profile", "GET", f"projects/{RICH}/fields"),
        ("profile", "GET", "tasks"),
        ("tasks:read", "POST", f"projects/{PLAIN}/tasks"),
        ("tasks:read", "PATCH", "tasks/tsk_1"),
        ("tasks:read", "DELETE", "tasks/tsk_1"),
        ("tasks:write", "GET", "webhooks"),
        ("tasks:write", "POST", "webhooks"),
    ],
)
def test_scopes_are_enforced(served: Served, scope: str, method: str, path: str) -> None:
    answer = served.api(method, path, served.connect(scope)["access_token"])
    assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")
    assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]


def test_200_projects_in_pages_without_gap_or_overlap(served: Served) -> None:
    seen = []
    for page in range(1, 4):
        answer = served.api("GET", "projects", params={"page": page, "per_page": 100}).json()
        assert (answer["page"], answer["per_page"], answer["total"]) == (page, 100, 200)
        seen += [one["id"] for one in answer["data"]]
    assert len(seen) == len(set(seen)) == 200
    assert len(served.api("GET", "projects").json()["data"]) == 20


def test_project_search(served: Served) -> None:
    found = served.api("GET", "projects", params={"q": "LIGHTHOUSE b"}).json()
    assert [one["name"] for one in found["data"]] == ["Lighthouse Budget", "Lighthouse Budget II"]
    assert found["total"] == 2
    assert served.api("GET", "projects", params={"q": "%"}).json()["total"] == 0


@pytest.mark.parametrize(
    "params",
    [
        {"page": "0"},
        {"page": "x"},
        {"page": "²"},
        {"per_page": "101"},
        {"page": "9" * 5000},
        {"since": "yesterday"},
        {"since": "2026-01-01T00:00:00"},
        {"since": "9" * 30},
        {"sort": "title"},
    ],
)
def test_bad_query_is_400_and_names_the_field(served: Served, params: dict[str, str]) -> None:
    answer = served.api("GET", "tasks", params=params)
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == next(iter(params))


def test_fields_differ_by_project_and_cover_every_type(served: Served) -> None:
    kinds, shapes = set(), set()
    for number in range(1, 21):
        fields = served.api("GET", f"projects/prj_{number:03d}/fields").json()["data"]
        kinds |= {field["type"] for field in fields}
        shapes.add(tuple(field["key"] for field in fields))
    assert kinds == {"text", "number", "choice", "boolean"}
    assert len(shapes) > 10


def valid(served: Served, project: str) -> dict[str, Any]:
    samples = {"text": "Miller", "number": 2.5, "boolean": True}
    fields = served.api("GET", f"projects/{project}/fields").json()["data"]
    return {field["key"]: samples.get(field["type"]) or field["choices"][0] for field in fields}


def test_task_from_creation_to_deletion(served: Served) -> None:
    token = served.connect("tasks:read tasks:write", person="per_linus")["access_token"]
    body = {"title": "Täst ☂", "notes": "n", "due": "2026-12-24", "fields": valid(served, RICH)}
    made = served.api("POST", f"projects/{RICH}/tasks", token, json=body)
    assert made.status_code == 201
    task = made.json()
    assert task["created_by"] == "per_linus"
    assert task.items() >= body.items()
    assert task["created_at"] == iso(served.clock.at)
    assert served.api("GET", f"tasks/{task['id']}", token).json() == task
    served.clock.advance(SECOND)
    changed = served.api("PATCH", f"tasks/{task['id']}", token, json={"done": True, "due": None}).json()
    assert (changed["done"], changed["due"], changed["title"]) == (True, None, "Täst ☂")
    assert changed["updated_at"] > changed["created_at"]
    assert served.api("DELETE", f"tasks/{task['id']}", token).status_code == 204
    for method in ("GET", "PATCH", "DELETE"):
        assert served.api(method, f"tasks/{task['id']}", token, json={}).status_code == 404


def test_custom_fields_are_checked(served: Served) -> None:
    fields = {one["key"]: one for one in served.api("GET", f"projects/{RICH}/fields").json()["data"]}
    good = valid(served, RICH)
    wrong = {"text": 1, "number": "1", "boolean": "yes", "choice": "none of them"}
    for key, field in fields.items():
        answer = served.api(
            "POST", f"projects/{RICH}/tasks", json={"title": "t", "fields": good | {key: wrong[field["type"]]}}
        )
        assert answer.status_code == 400
        assert answer.json()["details"][0]["field"] == f"fields.{key}"
    required = [key for key, field in fields.items() if field["required"]]
    missing = {key: value for key, value in good.items() if key not in required}
    assert required
    for extra in (missing, good | {"unknown": 1}):
        answer = served.api("POST", f"projects/{RICH}/tasks", json={"title": "t", "fields": extra})
        assert answer.status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"title": ""}',
        b'{"title": "\\ud800"}',
        b'{"title": 1}',
        b'{"title": "t", "due": "soon"}',
        b'{"title": "t", "fields": {"a": [1]}}',
        b'{"title": "t", "done": "yes"}',
        b"[" * 10_000,
        b"\xff",
    ],
)
def test_bad_body_is_400(served: Served, body: bytes) -> None:
    answer = served.api("POST", f"projects/{PLAIN}/tasks", data=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid")


def test_body_that_is_too_large_is_413(served: Served) -> None:
    with served.app.test_client() as client:
        answer = client.post(
            f"/api/projects/{PLAIN}/tasks", data=b"x" * (3 * 1024 * 1024), headers={"X-Api-Key": served.key()}
        )
    assert answer.json is not None
    assert (answer.status_code, answer.json["error"]) == (413, "request_entity_too_large")


def test_tasks_come_newest_first_and_since_is_kept(served: Served) -> None:
    def make(title: str) -> dict[str, Any]:
        served.clock.advance(MINUTE)
        made: dict[str, Any] = served.api("POST", f"projects/{PLAIN}/tasks", json={"title": title}).json()
        return made

    first, second, third = (make(title) for title in ("one", "two", "three"))

    def titles(**params: str) -> list[str]:
        return [one["title"] for one in served.api("GET", "tasks", params=params).json()["data"]]

    assert titles() == ["three", "two", "one"]
    assert titles(since=second["created_at"]) == ["three", "two"]
    assert titles(since=str(served.clock.at)) == ["three"]
    assert titles(since=third["created_at"].replace("Z", "+00:00"), q="THR") == ["three"]
    served.clock.advance(MINUTE)
    served.api("PATCH", f"tasks/{first['id']}", json={"done": True})
    assert titles(sort="updated") == ["one", "three", "two"]
    assert titles(sort="updated", since=str(served.clock.at)) == ["one"]
    assert titles() == ["three", "two", "one"]
    assert served.api("GET", "projects/prj_002/tasks").json()["total"] == 0
    assert served.api("GET", f"projects/{PLAIN}/tasks", params={"per_page": 2}).json()["total"] == 3


def test_absent_things_and_methods_are_json(served: Served) -> None:
    for path in ("projects/nope", "projects/nope/fields", "projects/nope/tasks", "tasks/nope", "nothing"):
        answer = served.api("GET", path)
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    answer = served.api("PUT", "me")
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]
