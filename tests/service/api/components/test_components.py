"""Components, actions and triggers: lists with their filters, one by key or id, in any version."""

from typing import Any

import pytest

from tests.fakes.own_components import FILES


def keys(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.json
    return [item["key"] for item in answer.json["data"]]


def test_lists_narrow_by_every_filter(shared: Any) -> None:
    token = shared.frontend()
    own = keys(shared.get("P/components?registry=private&limit=100", token))
    assert sorted(own) == sorted({f"~/{place.split('/')[0]}" for place in FILES})
    triggers = sorted({f"~/{place.split('/')[0]}" for place, text in FILES.items() if "(Trigger)" in text})
    assert keys(shared.get("P/actions?registry=private", token)) == [key for key in own if key not in triggers]
    assert keys(shared.get("P/triggers?registry=private", token)) == triggers
    assert keys(shared.get("P/components?registry=private&component_type=trigger", token)) == triggers
    assert keys(shared.get("P/components?q=make+tas", token)) == ["~/make-task"]
    app_id = shared.get("/v1/connect/apps/tinykeys", token).json["data"]["id"]
    for app in ("tinykeys", app_id):
        assert "~/make-task" in keys(shared.get(f"P/components?app={app}", token))
    assert keys(shared.get("P/components?app=tinyoauth", token)) == ["~/who-am-i"]
    assert not any(key.startswith("~/") for key in keys(shared.get("P/components?registry=public&limit=100", token)))


def test_lists_page_without_gaps(shared: Any) -> None:
    token = shared.frontend()
    whole = shared.get("P/components?registry=private", token).json
    first = shared.get("P/components?registry=private&limit=5", token).json
    after = first["page_info"]["end_cursor"]
    rest = shared.get("P/components", token, query_string={"registry": "private", "limit": 5, "after": after}).json
    assert first["data"] + rest["data"] == whole["data"]
    assert (first["page_info"]["count"], first["page_info"]["total_count"]) == (5, len(whole["data"]))
    assert rest["page_info"]["end_cursor"] == ""
    foreign = shared.get("P/components", token, query_string={"after": after})
    assert (foreign.status_code, foreign.json["details"][0]["field"]) == (400, "after or before")


def test_one_component_in_its_highest_release_or_the_one_asked_for(shared: Any) -> None:
    token = shared.frontend()
    for path in ("P/components/~/make-task", "P/actions/~/make-task", "P/actions/~%2Fmake-task"):
        found = shared.get(path, token).json["data"]
        assert (found["key"], found["version"], found["component_type"]) == ("~/make-task", "1.1.0", "action")
    assert shared.get("P/actions/~/make-task?version=1.0.0", token).json["data"]["version"] == "1.0.0"
    assert shared.get("P/triggers/~/make-task", token).status_code == 404
    assert shared.get("P/components/~/make-tas", token).status_code == 404
    for wrong in ("1.0", "2.0.0", "latest"):
        answer = shared.get(f"P/actions/~/make-task?version={wrong}", token)
        assert (answer.status_code, wrong in answer.json["error"]) == (404, True)


def test_an_id_names_one_version(shared: Any) -> None:
    older = shared.service.catalog.component("~/make-task", "1.0.0")
    found = shared.get(f"P/components/{older.id}", shared.frontend()).json["data"]
    assert (found["key"], found["version"]) == ("~/make-task", "1.0.0")
    assert shared.get(f"P/components/{older.id}?version=1.1.0", shared.frontend()).status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("P/actions/~/watch", 404), ("P/triggers/~/make-task", 404), ("P/triggers/~/watch", 200),
        ("P/components/~/watch", 200), ("P/components/nothing-here", 404), ("P/components/configure", 405),
        ("P/components?component_type=source", 400), ("P/components?registry=mine", 400),
    ],
)  # fmt: skip
def test_a_noun_admits_its_own_kind(shared: Any, path: str, status: int) -> None:
    answer = shared.get(path, shared.frontend())
    assert answer.status_code == status, answer.json


def test_a_component_is_whole_for_strict_clients(shared: Any) -> None:
    found = shared.get("P/components/~/every-type", shared.frontend()).json["data"]
    assert set(found) == {
        "key", "name", "version", "configurable_props", "description", "component_type", "annotations",
    }  # fmt: skip
    required = {
        "app": {"app"}, "alert": {"content"}, "$.interface.apphook": {"appProp"}, "$.airtable.baseId": {"appProp"},
        "$.airtable.tableId": {"baseIdProp"}, "$.airtable.viewId": {"tableIdProp"},
        "$.airtable.fieldId": {"tableIdProp"}, "$.discord.channel": {"appProp"}, "$.discord.channel[]": {"appProp"},
    }  # fmt: skip
    for prop in found["configurable_props"]:
        assert {"name", "type", *required.get(prop["type"], ())} <= set(prop), prop
    assert len({prop["type"] for prop in found["configurable_props"]}) == len(found["configurable_props"])
    assert shared.get("P/components/~/writes", shared.frontend()).json["data"]["stash"] == "optional"
    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert set(found["annotations"]) == {"title", *hints} and found["annotations"]["title"] == found["name"]
