"""The JSON API over real HTTP: both kinds of key, scopes, pages, search, tasks and their fields, and what a
request must hold.
"""

from typing import Any

import pytest

from tests.sandbox.conftest import Served
from webapp.kit.clock import MINUTE, SECOND, iso

PLAIN = "prj_001"  # has no custom fields
RICH = "prj_005"  # has four


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
    answer = served.api("POST", "projects/prj_001/tasks", data=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid")


def test_absent_things_and_methods_are_json(served: Served) -> None:
    for path in ("projects/nope", "projects/nope/fields", "projects/nope/tasks", "tasks/nope", "nothing"):
        answer = served.api("GET", path)
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    answer = served.api("PUT", "me")
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"page": "0"}, "Give a whole number from 1 to 1,000,000."),
        ({"per_page": "101"}, "Give a whole number from 1 to 100."),
        ({"since": "yesterday"}, "Give an ISO 8601 time with a time zone, or epoch milliseconds."),
    ],
)
def test_a_bad_query_is_answered_with_its_sentence(served: Served, params: dict[str, str], sentence: str) -> None:
    answer = served.api("GET", "tasks", params=params).json()
    name = next(iter(params))
    assert answer == {"error": "invalid", "message": sentence, "details": [{"field": name, "message": sentence}]}


def test_a_bad_body_is_answered_with_all_its_mistakes(served: Served) -> None:
    answer = served.api("POST", "projects/prj_001/tasks", json={"title": "", "done": 1}).json()
    assert answer["message"] == "The body is not valid; see details."
    assert answer["details"] == [
        {"field": "title", "message": "String should have at least 1 character"},
        {"field": "done", "message": "Input should be a valid boolean"},
    ]
