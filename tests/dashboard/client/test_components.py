"""Components over the API: what each question carries, and what its answer becomes."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client import components
from webapp.dashboard.client.components import ComponentClient, OptionsQuery
from webapp.dashboard.client.models.components import Component
from webapp.errors import NotFound

CREATE = Component.model_validate({"key": "tasks-create-task", "component_type": "action"})
NEWS = Component.model_validate({"key": "tasks-new-task", "component_type": "source"})
BODY = {"id": "tasks-create-task", "external_user_id": "alice", "configured_props": {"title": "x"}}


def test_a_body_names_the_user_and_what_fields_followed() -> None:
    client = ComponentClient(Recorder(), "alice")
    assert client.body(CREATE, {"title": "x"}) == BODY
    assert client.body(CREATE, {"title": "x"}, "dyp_1") == {**BODY, "dynamic_props_id": "dyp_1"}
    assert client.run_path() == "P/actions/run"


@pytest.mark.parametrize(
    ("query", "more"),
    [
        (OptionsQuery("list"), {"prop_name": "list", "page": 0}),
        (
            OptionsQuery("list", "ho", 2, {"next": "c"}),
            {"prop_name": "list", "page": 2, "query": "ho", "prev_context": {"next": "c"}},
        ),
    ],
)
def test_options_are_asked_for_page_by_page(query: OptionsQuery, more: dict[str, Any]) -> None:
    api = Recorder({"stringOptions": ["home", "shop"]})
    choices = ComponentClient(api, "alice").options(CREATE, query, {"title": "x"})
    assert [choice.value for choice in choices.options] == ["home", "shop"]
    assert api.calls == [("alice", "POST", "P/components/configure", {"body": BODY | more, "timeout": 35.0})]


def test_fields_follow_where_the_component_is_of_its_kind() -> None:
    answer = {"dynamicProps": {"id": "dyp_2", "configurableProps": [{"name": "due", "type": "string"}]}}
    api = Recorder(answer, {"errors": ["Tasks is asleep."]})
    client = ComponentClient(api, "alice")
    reloaded = client.reload(CREATE, {"title": "x"}, "dyp_1")
    assert (reloaded.id, reloaded.props) == ("dyp_2", ({"name": "due", "type": "string"},))
    assert client.reload(NEWS, {}).problem == "Tasks is asleep."
    assert [(path, call["timeout"]) for _, _, path, call in api.calls] == [
        ("P/actions/props", 35.0),
        ("P/triggers/props", 35.0),
    ]


def test_a_run_is_timed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "time", SimpleNamespace(monotonic=iter([10.0, 12.3456]).__next__))
    api = Recorder({"ret": {"id": 5}, "exports": {"$summary": "Done"}})
    outcome = ComponentClient(api, "alice").run(CREATE, {"title": "x"})
    assert (outcome.ok, outcome.summary, outcome.result, outcome.took_ms) == (True, "Done", {"id": 5}, 2346)
    assert api.calls == [("alice", "POST", "P/actions/run", {"body": BODY, "timeout": 60.0})]


def test_a_list_and_a_run_are_read_as_the_user() -> None:
    api = Recorder({"data": [{"key": "a"}]}, {"data": {"id": "run_1", "ok": False}})
    client = ComponentClient(api, "alice")
    listed = client.listed("triggers", app="tasks", q="new", limit=20, after="c")
    assert [component.key for component in listed.items] == ["a"]
    assert client.past("run_1").ok is False
    assert api.calls == [
        (
            "alice",
            "GET",
            "P/triggers",
            {"params": {"app": "tasks", "limit": 20, "q": "new", "after": "c", "extensions": True}},
        ),
        ("alice", "GET", "P/runs/run_1", {}),
    ]


def test_a_missing_component_has_a_sentence() -> None:
    client = ComponentClient(Recorder(NotFound("There is no such component.")), "alice")
    with pytest.raises(NotFound, match=r"^There is no such component\.$"):
        client.find("actions", "tasks-absent")
