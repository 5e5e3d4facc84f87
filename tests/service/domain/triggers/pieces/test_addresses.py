"""Which triggers of pieces show their own address: those whose words tell a person to enter it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.pieces.triggers import PieceStage
from webapp.service.components.pieces import texts
from webapp.service.domain.triggers import deployed_triggers, serialization

ANSWERS = {"type": "$.interface.http", "name": "http", "customResponse": True}


@pytest.mark.parametrize("key", ["bench-hook", "bench-hook-header"])
def test_an_address_that_the_piece_tells_its_app_by_itself_is_not_shown(stage: PieceStage, key: str) -> None:
    trigger = stage.deploy("alice", key)
    answering = replace(trigger, props=[trigger.props[0], ANSWERS])
    for each in (trigger, answering):
        assert "endpoint_url" not in serialization.to_json(stage.service, each, extensions=True)


@pytest.mark.parametrize("words", ["Paste `{{webhookUrl}}` there.", "**URL**: {{ webhook_url }}/sync"])
def test_an_address_that_a_person_enters_is_shown(stage: PieceStage, words: str) -> None:
    trigger = stage.deploy("alice", "bench-hook")
    note: dict[str, Any] = {"type": "alert", "name": "note", "content": texts.plain(words)}
    shown = serialization.to_json(stage.service, replace(trigger, props=[*trigger.props, note]), extensions=True)
    assert shown["endpoint_url"] == deployed_triggers.endpoint_url(stage.service, trigger)
