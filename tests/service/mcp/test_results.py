"""What a tool answers: no longer than a model reads well, with the whole kept as a file."""

from typing import Any

import orjson
import pytest

from webapp.service.api.base.call import ANYONE
from webapp.service.domain.components import file_stash
from webapp.service.mcp import results
from webapp.service.mcp.authentication import Visitor

OUTCOME: dict[str, Any] = {"exports": {}, "os": [], "ret": None}


def texts(world: Any, **outcome: Any) -> list[str]:
    visitor = Visitor(ANYONE, world.scene, "alice")
    result = results.of_run(world.service, visitor, "make_task", {**OUTCOME, **outcome})
    return [part["text"] for part in result["content"]]


def test_it_begins_with_the_summary(world: Any) -> None:
    assert texts(world) == ["Done. There is nothing to show."]
    assert texts(world, exports={"$summary": "Made it."}, ret={"id": 1}) == ["Made it.", '{"id":1}']
    assert texts(world, exports={"$summary": "Made it.", "more": [1]}, ret="x") == [
        "Made it.",
        '{"result":"x","exports":{"more":[1]}}',
    ]
    assert texts(world, ret="as it is", warnings=[{"message": "Left out."}]) == ["as it is", "Note: Left out."]


def test_of_a_long_answer_the_beginning_is_reported_and_the_whole_is_kept(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = [{"number": number} for number in range(5_000)]
    beginning, told = texts(world, ret=value)
    assert len(beginning) == results.MAX_TEXT and "30,000 of" in told
    _, content = file_stash.follow(world.service, told.rsplit("/", 1)[1])
    assert orjson.loads(content) == value
    monkeypatch.setattr(file_stash, "MAX_BYTES", 10)
    assert texts(world, ret=value)[1].endswith("too large to be kept; ask for less.")
