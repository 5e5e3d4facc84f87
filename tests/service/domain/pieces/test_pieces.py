"""The rows of integrations: one process works on each, and who held it before writes nothing more.

What a version adds, and what another one changes of it.
"""

from dataclasses import replace

from tests.service.domain.pieces.conftest import CONTENTS
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import owner_decisions, pieces
from webapp.service.domain.pieces.pieces import LeftOut, Part

NAME = "@activepieces/piece-shop"


def test_one_at_a_time_takes_it_up(service: Service) -> None:
    piece = owner_decisions.begin(service, NAME)
    claimed = pieces.claim(service)
    assert claimed is not None
    assert (claimed.id, claimed.holder, claimed.turn) == (piece.id, service.generation, 1)
    assert pieces.claim(service) is None


def test_what_a_dead_process_held_is_taken_up_by_the_next_and_the_dead_one_writes_nothing(service: Service) -> None:
    owner_decisions.begin(service, NAME)
    before = pieces.claim(service)
    assert before is not None
    with service.store.write() as tx:
        pieces.take_over(tx, service, service.generation)
    after = pieces.claim(service)
    assert after is not None
    with service.store.write() as tx:
        assert not pieces.change(tx, before, error="late")
        assert pieces.change(tx, after, step=2)
    assert (pieces.get(tx, after.id).step, pieces.get(tx, after.id).error) == (2, "")


def test_versions_go_with_their_integration(service: Service, added: object) -> None:
    piece = added()  # type: ignore[operator]
    assert [each.version for each in pieces.versions(service.store, piece.id)] == ["1.0.0"]
    with service.store.write() as tx:
        pieces.delete(tx, piece)
    assert pieces.versions(service.store) == []


def test_nothing_breaks_where_only_something_is_added() -> None:
    after = replace(
        CONTENTS,
        actions=(replace(CONTENTS.actions[0], props={"title": "Title", "note": "Note", "more": "More"}),),
        triggers=(*CONTENTS.triggers, Part("New customer", "shop-new-customer")),
    )
    changes = pieces.changes_between(CONTENTS, after)
    assert ([part.name for part in changes.added], changes.breaks, changes.sentence) == (
        ["New customer"], False, "nothing breaks",
    )  # fmt: skip


def test_what_is_gone_is_reported() -> None:
    after = replace(CONTENTS, actions=(replace(CONTENTS.actions[0], props={}),), triggers=())
    changes = pieces.changes_between(CONTENTS, after)
    assert [part.key for part in changes.gone] == ["shop-new-order"]
    assert [(part.name, told) for part, told in changes.changed] == [
        ("Create order", "No longer asks for Title and Note.")
    ]
    assert (changes.breaks, changes.sentence) == (True, "changes 2 parts")
    fewer_props = pieces.changes_between(CONTENTS, replace(CONTENTS, actions=after.actions))
    assert (fewer_props.gone, fewer_props.breaks) == ((), True)


def test_they_are_kept_as_json() -> None:
    whole = replace(CONTENTS, left_out=(LeftOut("Approve", "action", "It needs flows."),))
    assert pieces.contents_of(None) == pieces.Contents()
    assert whole.to_json()["left_out"][0]["reason"] == "It needs flows."
