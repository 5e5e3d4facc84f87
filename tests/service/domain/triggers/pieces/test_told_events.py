"""Events at the one address of a client whose app a piece brings: genuine ones reach who listens, others nobody."""

import pytest

from tests.fakes.pieces.triggers import SECRET, PieceStage, request
from tests.fakes.triggers import summaries
from webapp.errors import Unavailable
from webapp.service.components.calls import HttpAnswer
from webapp.service.domain.triggers import app_events, app_hooks


def send(stage: PieceStage, text: str, team: str = "acme", kind: str = "message", secret: str = SECRET) -> HttpAnswer:
    body, headers = {"type": kind, "team": team, "text": text}, {"x-signature": secret}
    event = request(body, headers=headers, at=stage.service.clock())
    return app_events.receive(stage.service, "bench", stage.client.id, event)


def test_each_gets_what_its_piece_listens_to_once(stage: PieceStage) -> None:
    triggers = {name: stage.deploy(name) for name in ("alice", "bob", "eve")}
    for text, team, kind in (("one", "acme", "message"), ("two", "evil", "message"), ("no", "acme", "message.edited")):
        assert send(stage, text, team, kind).status == 200
    assert send(stage, "one").status == 200  # the provider sends it again
    stage.work()
    emitted = {name: summaries(stage.service, trigger) for name, trigger in triggers.items()}
    assert emitted == {"alice": ["one"], "bob": ["one"], "eve": ["two"]}
    assert all(SECRET not in str(call.event) for call in stage.played.calls if call.method != "run")


@pytest.mark.parametrize(("secret", "gullible"), [("guessed", False), ("guessed", True)])
def test_what_is_forged_nobody_gets(stage: PieceStage, secret: str, gullible: bool) -> None:
    """A piece that says yes to any secret has looked at nothing."""
    alice = stage.deploy("alice")
    stage.played.gullible = gullible
    assert send(stage, "forged", secret=secret).status == 401
    stage.work()
    assert summaries(stage.service, alice) == []


def test_a_handshake_is_answered_though_nobody_signed_it(stage: PieceStage) -> None:
    answer = app_events.receive(stage.service, "bench", stage.client.id, request({}, query={"challenge": "3eZ"}))
    assert (answer.status, answer.body) == (200, "3eZ")
    unsigned = request({"type": "message", "team": "acme", "text": "x"})
    assert app_events.receive(stage.service, "bench", stage.client.id, unsigned).status == 401


def test_while_the_piece_cannot_be_asked_the_provider_sends_it_again(stage: PieceStage) -> None:
    alice = stage.deploy("alice")
    stage.played.broken = True
    with pytest.raises(Unavailable):
        send(stage, "later")
    stage.played.broken = False
    assert send(stage, "later").status == 200
    stage.work()
    assert summaries(stage.service, alice) == ["later"]


def test_whoever_is_deleted_or_off_hears_nothing(stage: PieceStage) -> None:
    alice = stage.deploy("alice")
    assert app_hooks.of_trigger(stage.service.store, alice.id) is not None
    with stage.service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET active = 0 WHERE id = :id", {"id": alice.id})
    assert send(stage, "nobody").status == 200
    stage.work()
    assert summaries(stage.service, alice) == []
