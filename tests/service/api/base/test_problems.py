"""The mapping from errors to answers."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from werkzeug.exceptions import HTTPException

from webapp import errors
from webapp.kit.cursors import BadCursor
from webapp.service.api.base import problems
from webapp.service.domain.base import failures
from webapp.store.contract import Store, Tx


@pytest.mark.parametrize(
    ("error", "status", "headers"),
    [
        (errors.Invalid("No."), 400, {}),
        (errors.Unauthorized(), 401, {"WWW-Authenticate": "Bearer"}),
        (errors.Forbidden(), 403, {}),
        (errors.NotFound(), 404, {}),
        (problems.NoSuchMethod("GET, HEAD"), 405, {"Allow": "GET, HEAD"}),
        (errors.Conflict(), 409, {}),
        (errors.TooLarge(), 413, {}),
        (errors.UnsupportedMedia(), 415, {}),
        (errors.UpstreamFailed(), 502, {}),
        (errors.Unavailable(), 503, {"Retry-After": "1"}),
        (errors.UpstreamTimedOut(), 504, {}),
        (failures.CredentialsRefused(), 400, {}),
        (failures.ProviderDown(), 502, {}),
        (BadCursor("Broken."), 400, {}),
    ],
)
def test_statuses_and_headers(error: Exception, status: int, headers: dict[str, str]) -> None:
    answer = problems.answer_error(error, "r1")
    assert answer.status_code == status and answer.get_json()["error"].endswith((".", "HEAD."))
    assert {name: answer.headers[name] for name in headers} == headers
    assert ("WWW-Authenticate" in answer.headers) is (status == 401)


def test_throttled_is_section_7_to_the_letter() -> None:
    answer = problems.answer_error(errors.Throttled(limit=100, reset_at=1_800_000_060, retry_after=60), "r1")
    assert (answer.status_code, answer.get_json()) == (429, {"error": "Throttled"})
    assert answer.headers["Retry-After"] == "60"
    assert answer.headers["X-RateLimit-Limit"] == "100"
    assert answer.headers["X-RateLimit-Remaining"] == "0"
    assert answer.headers["X-RateLimit-Reset"] == "1800000060"


def test_details_stand_beside_the_sentence() -> None:
    error = errors.Invalid("No.", [errors.Detail("a", "b.")])
    assert problems.answer_error(error, "r1").get_json() == {
        "error": "No.",
        "details": [{"field": "a", "message": "b."}],
    }


def test_a_bug_is_logged_and_reported_without_detail(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "patchbay.api"):
        answer = problems.answer_error(ValueError("canary-secret"), "r1")
    assert answer.status_code == 500
    assert set(answer.get_json()) == {"error", "request_id"} and answer.get_json()["request_id"] == "r1"
    assert b"canary-secret" not in answer.data and "r1" in caplog.text


def test_an_http_exception_of_the_framework_is_json_too() -> None:
    class Teapot(HTTPException):
        code, description = 418, "No coffee."

    assert problems.answer_error(Teapot(), "r1").get_json() == {"error": "No coffee."}


def test_a_busy_store_is_503_with_a_time_to_come_back(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store's own tests lock and fill a real database; this is what the API makes of it."""
    token = world.server()

    @contextmanager
    def locked(_: Store) -> Iterator[Tx]:
        raise errors.Unavailable
        yield

    monkeypatch.setattr(type(world.service.store), "write", locked)
    answer = world.post("P/tokens", token, json={"external_user_id": "alice"})
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "1"
