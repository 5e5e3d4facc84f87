"""Everything that a document says becomes an action or is told, and names stay from one import to the next."""

import pytest

from tests.fakes.openapi_documents import document, planned, query
from webapp.errors import Invalid
from webapp.service.catalog.importing import planning
from webapp.service.catalog.importing.planning import plan
from webapp.service.catalog.importing.standing import Options
from webapp.service.catalog.importing.writing import remembered

PATHS = {
    "/pets": {"get": {"operationId": "list", "parameters": [query("q", {}), query("page", {})]}, "trace": {}},
    "/old": {"get": {"operationId": "old", "deprecated": True}},
}


def test_what_is_deprecated_or_cannot_be_sent_is_told() -> None:
    assert [(left.operation, left.reason) for left in planned(PATHS).left] == [
        ("GET /old", "it is deprecated; name it to import it all the same"),
        ("TRACE /pets", "actions send no such request"),
    ]
    assert [action.name for action in planned(PATHS, Options(only=("old",))).actions] == ["old"]


def test_names_stay_where_operations_and_parameters_move() -> None:
    before = remembered(planned(PATHS), "x", 1, {})
    moved = {
        "/first": {"get": {"operationId": "list"}},
        "/v2/pets": {"get": {"operationId": "list", "parameters": [{"name": "q", "in": "header"}, query("q", {})]}},
        "/pets": {"get": {"operationId": "renamed", "parameters": [query("q", {})]}},
    }
    names = {
        action.operation.id: (action.name, list(action.toml["props"])[1:])
        for action in plan(document(moved), "acme", Options(), before).actions
    }
    assert names["GET /pets"] == ("list", ["q"])
    assert names["GET /first"] == ("list-get", [])
    assert names["GET /v2/pets"] == ("list-2", ["q", "q_query"])


def test_an_operation_that_moved_keeps_its_name_by_its_id() -> None:
    before = remembered(planned(PATHS), "x", 1, {})
    moved = {"/v2/pets": {"get": {"operationId": "list", "parameters": [query("q", {})]}}}
    (action,) = [each for each in plan(document(moved), "acme", Options(), before).actions if each.name != "get-me"]
    assert (action.name, action.props["query:q"]) == ("list", "q")


def test_names_of_actions_beside_it_are_not_taken() -> None:
    made = plan(document(PATHS), "acme", Options(), None, ["list"])
    assert [action.name for action in made.actions] == ["get-me", "list-get"]


def test_choices_stay_for_the_next_time() -> None:
    before = remembered(planned(PATHS, Options(only=("list",), test="/me")), "x", 1, {})
    again = plan(document(PATHS), "acme", Options(), before)
    assert ([action.name for action in again.actions], again.options.only) == (["list"], ("list",))


def test_what_was_chosen_and_is_gone_is_no_mistake() -> None:
    before = remembered(planned(PATHS, Options(only=("list", "old"))), "x", 1, {})
    without = {path: item for path, item in PATHS.items() if path != "/old"}
    assert [action.name for action in plan(document(without), "acme", Options(), before).actions] == ["list"]


def test_nothing_and_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Invalid, match="names no operation"):
        plan(document({"/me": {}}), "acme", Options())
    monkeypatch.setattr(planning, "MOST_ACTIONS", 1)
    with pytest.raises(Invalid, match="Choose 1 at most"):
        planned(PATHS)
