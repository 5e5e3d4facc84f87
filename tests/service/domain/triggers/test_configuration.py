"""Names and values of a trigger: checked as a whole, merged key by key, slugs unique for their user."""

import pytest

from tests.fakes.triggers import deploy
from webapp.errors import Invalid
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import configuration, native

PROPS = [{"name": "text", "type": "string"}, {"name": "note", "type": "alert"}]


def test_null_removes_a_value() -> None:
    assert configuration.merged_values({"a": 1, "b": 2}, {"b": None, "c": 3}) == {"a": 1, "c": 3}


def test_unknown_names_and_alerts_are_left_out(service: Service, scene: Scene) -> None:
    given = {"text": "x", "note": "n", "other": 1}
    values = configuration.checked_values(service, scene, "alice", native.SOURCE, PROPS, given)
    assert (values.configured, values.accounts, values.schedule) == ({"text": "x"}, {}, None)
    for wrong in ({}, {"text": 5}, {"text": "x" * configuration.MAX_VALUES}):
        with pytest.raises(Invalid):
            configuration.checked_values(service, scene, "alice", native.SOURCE, PROPS, wrong)


def test_names_are_trimmed_and_their_slugs_numbered(service: Service, scene: Scene) -> None:
    assert configuration.checked_name("  Tägliche Liste ") == "Tägliche Liste"
    for wrong in ("", " ", "a\nb", "x" * 201):
        with pytest.raises(Invalid):
            configuration.checked_name(wrong)
    trigger = deploy(service, scene, name="Tägliche Liste")
    assert trigger.name_slug == "tagliche-liste"
    owner = trigger.external_user_id
    assert configuration.free_slug(service.store, owner, "Tägliche Liste") == "tagliche-liste-2"
    assert configuration.free_slug(service.store, owner, "Tägliche Liste", but=trigger.id) == "tagliche-liste"
    assert configuration.free_slug(service.store, owner, "…") == "trigger"
