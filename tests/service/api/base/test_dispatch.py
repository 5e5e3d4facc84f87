"""What every call goes through on its way to a handler, and what every answer carries."""

from typing import Any

import pytest


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
