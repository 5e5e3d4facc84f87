"""Requests by which a provider tries the address of a piece's trigger."""

from typing import Any

import pytest

from tests.fakes.pieces.triggers import PieceStage, request
from tests.fakes.triggers import summaries
from webapp.service.domain.triggers import inbox, runs

HANDSHAKES: list[tuple[str, dict[str, Any], dict[str, str], dict[str, str]]] = [
    ("hook-header", {}, {}, {"x-hook-secret": "s"}),
    ("hook-query", {}, {"challenge": "c"}, {}),
    ("hook-body", {"challenge": "c"}, {}, {}),
]


@pytest.mark.parametrize(("key", "body", "query", "headers"), HANDSHAKES)
def test_a_handshake_is_answered_by_the_piece_and_anything_else_runs(
    stage: PieceStage, key: str, body: dict[str, Any], query: dict[str, str], headers: dict[str, str]
) -> None:
    trigger = stage.deploy("alice", f"bench-{key}")
    assert inbox.caller_waits(stage.service, trigger)
    answer = inbox.receive_request(stage.service, trigger, request(body, query=query, headers=headers))
    assert (answer.status, answer.body, answer.headers) == (201, "shaken", {"x-hook-secret": "s"})
    assert runs.remembered(stage.service, trigger) == {"shaken": 1}
    answer = inbox.receive_request(stage.service, trigger, request({"text": "news"}))
    stage.work()
    assert (answer.body, summaries(stage.service, trigger)) == (inbox.SUCCESS, ["news"])
    assert [call.method for call in stage.played.calls] == ["activate", "handshake", "run"]


def test_a_trigger_without_one_takes_everything_in(stage: PieceStage) -> None:
    trigger = stage.deploy("alice", "bench-hook")
    assert not inbox.caller_waits(stage.service, trigger)
    assert inbox.receive_request(stage.service, trigger, request({"challenge": "c", "text": "t"})).status == 200
    stage.work()
    assert summaries(stage.service, trigger) == ["t"]
