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
    monkeypatch.setattr("webapp.service.domain.accounts.accounts.listed_page", lambda *_: 1 / 0)
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


def test_parameters_that_nobody_knows_are_named(world: Any) -> None:
    token = world.server()

    def ignored(path: str, **query: Any) -> Any:
        return world.get(path, token, query_string=query).headers.get(dispatch.IGNORED)

    assert ignored("P/accounts", app_id="github", external_user_id="ada", limit=5) is None
    assert ignored("/v1/connect/apps", **{"category_ids[]": "appcat_1"}) is None
    assert ignored("P/accounts", exernal_user_id="ada", limit=5) == "exernal_user_id"
    assert ignored("/v1/connect/projects/proj_x", **{"a b": 1, "ä\r\nx: y": 2}) == "a%20b, %C3%A4%0D%0Ax%3A%20y"
    assert ignored("P/accounts", limit="no", other=1) == "other"  # an error tells it as well
    many = ignored("P/accounts", **{f"p{number}": 1 for number in range(50)}, **{"x" * 500: 1})
    assert many is not None and len(many.split(", ")) == 20
    page = world.get("/v1/connect/accounts?other=1", world.frontend(allowed_origins=["https://a.example"]),
                     headers={"Origin": "https://a.example"})  # fmt: skip
    assert page.headers[dispatch.IGNORED] == "other"
    assert dispatch.IGNORED in page.headers["Access-Control-Expose-Headers"]


def test_a_store_that_fails_while_the_origin_is_checked_leaves_the_answer_closed(
    world: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    origin = {"Origin": "https://a.example"}
    token = world.frontend(allowed_origins=["https://a.example"])
    assert world.get("/v1/nothing", token, headers=origin).headers["Access-Control-Allow-Origin"] == "https://a.example"

    def locked(*_: object) -> bool:
        raise Unavailable

    monkeypatch.setattr(cors, "knows", locked)
    answer = world.get("/v1/nothing", token, headers=origin)
    assert answer.status_code == 404
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert "The origin of a request could not be checked." in caplog.text
