"""What a piece says that it listens to."""

from typing import Any

import pytest

from tests.fakes.pieces.triggers import PieceStage
from webapp.errors import Invalid
from webapp.service.domain.triggers.pieces import listeners
from webapp.service.domain.triggers.pieces.listeners import Listener


@pytest.mark.parametrize(
    "value", [None, [], {"listeners": None}, {"listeners": [{"events": ["a"], "identifier": None}]}]
)
def test_whoever_says_nothing_listens_to_nobody(value: Any) -> None:
    told = listeners.of_activation(value)
    with pytest.raises(Invalid, match="whose events"):
        listeners.names_by_identifier(told)


def test_names_are_those_of_each(stage: PieceStage) -> None:
    told = [Listener(("a", "b"), "1"), Listener(("b",), "2"), Listener(("c",), "1")]
    assert listeners.names(told) == ("a", "b", "c")
    assert listeners.names_by_identifier(told) == {"1": ("a", "b", "c"), "2": ("b",)}


def test_a_trigger_that_hears_nobody_is_not_deployed(stage: PieceStage) -> None:
    with pytest.raises(Invalid, match="whose events"):
        stage.deploy("mallory")
    assert [call.method for call in stage.played.calls] == ["activate", "deactivate"]
