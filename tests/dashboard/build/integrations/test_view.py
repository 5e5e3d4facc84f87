"""Integrations in words."""

from typing import Any

import pytest

from webapp.dashboard.build.integrations import view
from webapp.dashboard.client.models.pieces import Piece, Pieces


def piece(**facts: Any) -> Piece:
    return Piece.model_validate({"id": "pc_1", "version": "1.0.0", **facts})


@pytest.mark.parametrize(
    ("count", "words"), [(620_000, "0.6 MB"), (99_000, "99 kB"), (10, "1 kB"), (12_340_000, "12.3 MB")]
)
def test_sizes(count: int, words: str) -> None:
    assert view.size(count) == words


def test_counts() -> None:
    several = piece(actions=[{"name": "A"}, {"name": "B"}], triggers=[{"name": "C"}], accounts=1, deployed=2)
    assert (view.adds(several), view.used_by(several)) == ("2 actions, 1 trigger", "1 account, 2 triggers")
    assert (view.adds(piece()), view.used_by(piece())) == ("No actions", "Nobody yet")
    added = Pieces.model_validate({"data": [several.model_dump(), piece(triggers=[{"name": "D"}]).model_dump()]})
    assert view.parts(added)["totals"] == view.Totals(2, "2 actions, 2 triggers")
    assert view.some(["A", "B", "C", "D"]) == "A, B, C …"
    kinds = [["action"], ["trigger", "trigger"], ["action", "trigger"]]
    assert [view.left_out(piece(left_out=[{"kind": kind} for kind in each])) for each in kinds] == [
        "1 action left out", "2 triggers left out", "2 parts left out",
    ]  # fmt: skip


def test_news_of_a_newer_version() -> None:
    newer = {"newest": "1.1.0", "newer": True}
    ready = {**newer, "state": "ready", "wanted": "1.1.0"}
    assert view.news(piece(newest="1.0.0")) == "Newest"
    assert view.news(piece(source="tarball")) == ""
    assert view.news(piece(**newer)) == "1.1.0 is out"
    assert view.news(piece(**ready, changes={"added": ["A"]})) == "1.1.0 is out; nothing breaks"
    assert view.news(piece(**ready, changes={"gone": ["A"]})) == "1.1.0 changes 1 part"


def test_each_stands_in_its_part_of_the_page() -> None:
    fresh = {"version": "", "wanted": "1.0.0"}
    states: list[dict[str, Any]] = [
        {"state": "added"}, {"state": "adding"}, {"state": "ready", **fresh}, {"state": "adding", **fresh},
    ]  # fmt: skip
    pieces = Pieces(data=tuple(piece(**facts) for facts in states), node="22")
    parts = view.parts(pieces)
    assert [len(parts[name]) for name in ("added", "working", "waiting")] == [2, 2, 1]
    assert view.progress_mark(piece(state="adding", step=2)) == "adding.2"
