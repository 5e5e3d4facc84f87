"""Names and values of a trigger: checked as a whole, merged key by key, slugs unique for their user. Its
schedule: the component's, the person's or the default."""

from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import configuration

POLLED: list[dict[str, Any]] = [{"name": "timer", "type": "$.interface.timer", "default": {"intervalSeconds": 900}}]
PROPS = [{"name": "text", "type": "string"}, {"name": "note", "type": "alert"}]


def test_null_removes_a_value() -> None:
    assert configuration.merged_values({"a": 1, "b": 2}, {"b": None, "c": 3}) == {"a": 1, "c": 3}


def test_unknown_names_and_alerts_are_left_out(service: Service, scene: Scene) -> None:
    given = {"text": "x", "note": "n", "other": 1}
    values = configuration.checked_values(service, scene, "alice", configuration.SOURCE, PROPS, given)
    assert (values.configured, values.accounts, values.schedule) == ({"text": "x"}, {}, None)
    for wrong in ({}, {"text": 5}, {"text": "x" * configuration.MAX_VALUES}):
        with pytest.raises(Invalid):
            configuration.checked_values(service, scene, "alice", configuration.SOURCE, PROPS, wrong)


def test_names_are_trimmed() -> None:
    assert configuration.checked_name("  Tägliche Liste ") == "Tägliche Liste"
    for wrong in ("", " ", "a\nb", "x" * 201):
        with pytest.raises(Invalid):
            configuration.checked_name(wrong)


def test_a_schedule_that_may_not_be_kept_is_refused_by_its_prop() -> None:
    assert configuration.chosen_schedule(POLLED, {}, floor_s=15) == {"intervalSeconds": 900}
    with pytest.raises(Invalid, match="every 15 seconds") as refused:
        configuration.chosen_schedule(POLLED, {"timer": {"intervalSeconds": 14}}, floor_s=15)
    assert refused.value.details[0].field == "configured_props.timer"


def test_what_the_component_fixed_cannot_be_overridden_and_without_a_timer_there_is_no_schedule() -> None:
    fixed = [{"name": "timer", "type": "$.interface.timer", "static": {"intervalSeconds": 60}}]
    assert configuration.chosen_schedule(fixed, {"timer": {"intervalSeconds": 900}}, floor_s=15) == {
        "intervalSeconds": 60
    }
    assert configuration.chosen_schedule([{"name": "a", "type": "string"}], {}, floor_s=15) is None
    with pytest.raises(Invalid, match="missing"):
        configuration.chosen_schedule([{"name": "timer", "type": "$.interface.timer"}], {}, floor_s=15)
