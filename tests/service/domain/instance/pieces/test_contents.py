"""What a version adds, and what another one changes of it."""

from dataclasses import replace

from tests.service.domain.instance.pieces.conftest import CONTENTS
from webapp.service.domain.instance.pieces import contents
from webapp.service.domain.instance.pieces.contents import LeftOut, Part


def test_nothing_breaks_where_only_something_is_added() -> None:
    after = replace(
        CONTENTS,
        actions=(replace(CONTENTS.actions[0], props={"title": "Title", "note": "Note", "more": "More"}),),
        triggers=(*CONTENTS.triggers, Part("New customer", "shop-new-customer")),
    )
    changes = contents.changes(CONTENTS, after)
    assert ([part.name for part in changes.added], changes.breaks, changes.sentence) == (
        ["New customer"], False, "nothing breaks",
    )  # fmt: skip


def test_what_is_gone_is_told() -> None:
    after = replace(CONTENTS, actions=(replace(CONTENTS.actions[0], props={}),), triggers=())
    changes = contents.changes(CONTENTS, after)
    assert [part.key for part in changes.gone] == ["shop-new-order"]
    assert [(part.name, told) for part, told in changes.changed] == [
        ("Create order", "No longer asks for Title and Note.")
    ]
    assert changes.sentence == "changes 2 parts"


def test_they_are_kept_as_json() -> None:
    whole = replace(CONTENTS, left_out=(LeftOut("Approve", "action", "It needs flows."),))
    assert contents.of(None) == contents.Contents()
    assert whole.to_json()["left_out"][0]["reason"] == "It needs flows."
