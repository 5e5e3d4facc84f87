"""Warnings about values for props that a component has not."""

from webapp.service.domain.components import prop_warnings

PROPS = [{"name": "title", "type": "string"}, {"name": "note", "type": "alert"}]


def test_what_has_no_value_is_not_missed() -> None:
    noted = prop_warnings.warnings(PROPS, {"title": "x", "note": "y", "tite": "z", "other": None})
    assert [warning["field"] for warning in noted] == ["configured_props.tite"]


def test_a_prop_of_a_similar_name_is_proposed() -> None:
    near, far = prop_warnings.warnings(PROPS, {"tite": "x", "zzz": 1, "title": "y"})
    assert near == {
        "field": "configured_props.tite",
        "message": "There is no prop tite here, so its value was left out. Did you mean title?",
    }
    assert far["message"] == "There is no prop zzz here, so its value was left out."


def test_an_answer_does_not_grow_with_what_was_sent() -> None:
    noted = prop_warnings.warnings(PROPS, {f"{'x' * 500}{number}": 1 for number in range(100)})
    assert len(noted) == prop_warnings.MAX_WARNINGS
    assert max(len(warning["message"]) for warning in noted) < 200
