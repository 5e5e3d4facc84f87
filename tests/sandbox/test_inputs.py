"""What a request to the API holds is checked: its page, its times, its body, and the ids that its path names."""

import pytest

from tests.sandbox.conftest import Served


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
