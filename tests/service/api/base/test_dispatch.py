"""What every call goes through on its way to a handler, and what every answer carries."""

from typing import Any

import pytest
from flask import Flask

from webapp.errors import Unavailable
from webapp.service.api.base import cors, dispatch


def test_every_answer_carries_a_fresh_request_id_and_is_not_stored(world: Any) -> None:
    answers = [world.get("P/accounts", world.server()), world.get("P/accounts"), world.get("/v1/nothing")]
    answers.append(world.get("P/accounts", world.server(), headers={"X-Request-Id": "mine"}))
    ids = [answer.headers["X-Request-Id"] for answer in answers]
    assert len(set(ids)) == len(ids) and all(len(one) == 16 for one in ids)
    assert all(answer.headers["Cache-Control"] == "no-store" for answer in answers)


def test_a_bug_in_a_handler_answers_500_with_the_id_of_the_header(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    token = world.frontend(allowed_origins=["https://a.example"])
    monkeypatch.setattr("webapp.service.domain.accounts.accounts.page", lambda *_: 1 / 0)
    answer = world.get("/v1/connect/accounts", token, headers={"Origin": "https://a.example"})
    assert answer.status_code == 500 and answer.json["request_id"] == answer.headers["X-Request-Id"]
    assert answer.headers["Access-Control-Allow-Origin"] == "https://a.example"


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Bearer", ""),
        ("Basic abc", ""),
        ("abc", ""),
        ("", ""),
    ],
)
def test_the_token_is_what_stands_after_bearer(header: str, token: str) -> None:
    with Flask(__name__).test_request_context(headers={"Authorization": header}):
        assert dispatch.bearer() == token


def test_what_no_handler_could_read_is_refused_before_anything_is_looked_up(world: Any) -> None:
    nul = world.get("P/accounts?q=%00", "garbage")
    assert (nul.status_code, nul.json) == (400, {"error": "The address holds a NUL character; leave it out."})
    large = world.post("P/tokens", "garbage", environ_overrides={"CONTENT_LENGTH": str(10 * 1024 * 1024 + 1)})
    assert (large.status_code, large.json) == (413, {"error": "The body is larger than 10 MiB."})


def test_a_custom_limit_is_looked_at_in_the_paths_of_connect_alone(world: Any) -> None:
    token, header = world.server(), {"x-pd-rate-limit": "rl_unknown"}
    refused = world.get("P/runs", token, headers=header)
    sentence = "x-pd-rate-limit names no rate limit; create one with POST /v1/connect/rate_limits."
    assert (refused.status_code, refused.json) == (400, {"error": sentence})
    elsewhere = world.get("/v1/users/me", token, headers=header)
    assert (elsewhere.status_code, elsewhere.json["data"]["email"]) == (200, "support@localhost")


def test_a_store_that_fails_while_the_origin_is_checked_leaves_the_answer_closed(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    origin = {"Origin": "https://a.example"}
    token = world.frontend(allowed_origins=["https://a.example"])
    assert world.get("/v1/nothing", token, headers=origin).headers["Access-Control-Allow-Origin"] == "https://a.example"

    def locked(*_: object) -> bool:
        raise Unavailable

    monkeypatch.setattr(cors, "admits", locked)
    answer = world.get("/v1/nothing", token, headers=origin)
    assert answer.status_code == 404
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert "The origin of a request could not be checked." in caplog.text
