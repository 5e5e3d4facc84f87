"""Requests by which a provider tries the address of a piece's trigger.

Events at the one address of a client whose app a piece brings: genuine ones reach who listens, others nobody.

Which triggers of pieces show their own address: those whose words tell a person to enter it.
"""

from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.pieces.triggers import SECRET, PieceStage, request
from tests.fakes.triggers import summaries
from webapp.errors import Unavailable
from webapp.service.components.calls import HttpAnswer
from webapp.service.components.pieces import texts
from webapp.service.domain.triggers import (
    app_events,
    deployed_triggers,
    event_listeners,
    inbound_requests,
    trigger_json,
    trigger_memory,
)

HANDSHAKES: list[tuple[str, dict[str, Any], dict[str, str], dict[str, str]]] = [
    ("hook-header", {}, {}, {"x-hook-secret": "s"}),
    ("hook-query", {}, {"challenge": "c"}, {}),
    ("hook-body", {"challenge": "c"}, {}, {}),
]
ANSWERS = {"type": "$.interface.http", "name": "http", "customResponse": True}


@pytest.mark.parametrize(("key", "body", "query", "headers"), HANDSHAKES)
def test_a_handshake_is_answered_by_the_piece_and_anything_else_runs(
    piece_stage: PieceStage, key: str, body: dict[str, Any], query: dict[str, str], headers: dict[str, str]
) -> None:
    trigger = piece_stage.deploy("alice", f"bench-{key}")
    assert inbound_requests.caller_waits(piece_stage.service, trigger)
    answer = inbound_requests.receive_request(piece_stage.service, trigger, request(body, query=query, headers=headers))
    assert (answer.status, answer.body, answer.headers) == (201, "shaken", {"x-hook-secret": "s"})
    assert trigger_memory.read(piece_stage.service, trigger) == {"shaken": 1}
    answer = inbound_requests.receive_request(piece_stage.service, trigger, request({"text": "news"}))
    piece_stage.work()
    assert (answer.body, summaries(piece_stage.service, trigger)) == (inbound_requests.SUCCESS, ["news"])
    assert [call.method for call in piece_stage.played.calls] == ["activate", "handshake", "run"]


def test_a_trigger_without_one_takes_everything_in(piece_stage: PieceStage) -> None:
    trigger = piece_stage.deploy("alice", "bench-hook")
    assert not inbound_requests.caller_waits(piece_stage.service, trigger)
    assert (
        inbound_requests.receive_request(piece_stage.service, trigger, request({"challenge": "c", "text": "t"})).status
        == 200
    )
    piece_stage.work()
    assert summaries(piece_stage.service, trigger) == ["t"]


def send(
    piece_stage: PieceStage, text: str, team: str = "acme", kind: str = "message", secret: str = SECRET
) -> HttpAnswer:
    body, headers = {"type": kind, "team": team, "text": text}, {"x-signature": secret}
    event = request(body, headers=headers, at=piece_stage.service.clock())
    return app_events.receive(piece_stage.service, "bench", piece_stage.client.id, event)


def test_each_gets_what_its_piece_listens_to_once(piece_stage: PieceStage) -> None:
    triggers = {name: piece_stage.deploy(name) for name in ("alice", "bob", "eve")}
    for text, team, kind in (("one", "acme", "message"), ("two", "evil", "message"), ("no", "acme", "message.edited")):
        assert send(piece_stage, text, team, kind).status == 200
    assert send(piece_stage, "one").status == 200  # the provider sends it again
    piece_stage.work()
    emitted = {name: summaries(piece_stage.service, trigger) for name, trigger in triggers.items()}
    assert emitted == {"alice": ["one"], "bob": ["one"], "eve": ["two"]}
    assert all(SECRET not in str(call.event) for call in piece_stage.played.calls if call.method != "run")


@pytest.mark.parametrize(("secret", "gullible"), [("guessed", False), ("guessed", True)])
def test_what_is_forged_nobody_gets(piece_stage: PieceStage, secret: str, gullible: bool) -> None:
    """A piece that says yes to any secret has looked at nothing."""
    alice = piece_stage.deploy("alice")
    piece_stage.played.gullible = gullible
    assert send(piece_stage, "forged", secret=secret).status == 401
    piece_stage.work()
    assert summaries(piece_stage.service, alice) == []


def test_a_handshake_is_answered_though_nobody_signed_it(piece_stage: PieceStage) -> None:
    answer = app_events.receive(
        piece_stage.service, "bench", piece_stage.client.id, request({}, query={"challenge": "3eZ"})
    )
    assert (answer.status, answer.body) == (200, "3eZ")
    unsigned = request({"type": "message", "team": "acme", "text": "x"})
    assert app_events.receive(piece_stage.service, "bench", piece_stage.client.id, unsigned).status == 401


def test_while_the_piece_cannot_be_asked_the_provider_sends_it_again(piece_stage: PieceStage) -> None:
    alice = piece_stage.deploy("alice")
    piece_stage.played.broken = True
    with pytest.raises(Unavailable):
        send(piece_stage, "later")
    piece_stage.played.broken = False
    assert send(piece_stage, "later").status == 200
    piece_stage.work()
    assert summaries(piece_stage.service, alice) == ["later"]


def test_whoever_is_deleted_or_off_hears_nothing(piece_stage: PieceStage) -> None:
    alice = piece_stage.deploy("alice")
    assert event_listeners.of_trigger(piece_stage.service.store, alice.id) is not None
    with piece_stage.service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET active = 0 WHERE id = :id", {"id": alice.id})
    assert send(piece_stage, "nobody").status == 200
    piece_stage.work()
    assert summaries(piece_stage.service, alice) == []


@pytest.mark.parametrize("key", ["bench-hook", "bench-hook-header"])
def test_an_address_that_the_piece_registers_itself_is_not_shown(piece_stage: PieceStage, key: str) -> None:
    trigger = piece_stage.deploy("alice", key)
    answering = replace(trigger, props=[trigger.props[0], ANSWERS])
    for each in (trigger, answering):
        assert "endpoint_url" not in trigger_json.to_json(piece_stage.service, each, extensions=True)


@pytest.mark.parametrize("words", ["Paste `{{webhookUrl}}` there.", "**URL**: {{ webhook_url }}/sync"])
def test_an_address_that_a_person_enters_is_shown(piece_stage: PieceStage, words: str) -> None:
    trigger = piece_stage.deploy("alice", "bench-hook")
    note: dict[str, Any] = {"type": "alert", "name": "note", "content": texts.plain(words)}
    shown = trigger_json.to_json(piece_stage.service, replace(trigger, props=[*trigger.props, note]), extensions=True)
    assert shown["endpoint_url"] == deployed_triggers.endpoint_url(piece_stage.service, trigger)
