"""What is remembered of an import survives, and a file that cannot be read counts as none.

Everything that a document says becomes an action or is told, and names stay from one import to the next.

What an app says that was imported: its name, a sentence, and where people read about it.

The request that tests an account asks for nothing and does nothing.
"""

from typing import Any

import pytest

from tests.fakes.openapi_documents import ADDRESS, document, planned, query
from webapp.errors import Invalid
from webapp.service.catalog.importing import plans
from webapp.service.catalog.importing.files import remembered
from webapp.service.catalog.importing.plans import choose_docs_url, plan
from webapp.service.catalog.importing.records import Options
from webapp.service.catalog.importing.servers import server

PATHS = {
    "/pets": {"get": {"operationId": "list", "parameters": [query("q", {}), query("page", {})]}, "trace": {}},
    "/old": {"get": {"operationId": "old", "deprecated": True}},
}
TESTABLE_PATHS = {
    "/logout": {"get": {}},
    "/users": {"get": {}},
    "/pets": {"get": {"parameters": [query("q", {}, required=True)]}},
    "/pets/{id}": {"get": {}},
    "/csv": {"get": {"responses": {"200": {"content": {"text/csv": {}}}}}},
    "/open": {"get": {"security": []}},
    "/broken": {"get": {"parameters": [{"$ref": "#/none"}]}},
    "/things": {"post": {}},
}


def test_what_is_deprecated_or_cannot_be_sent_is_reported() -> None:
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
    monkeypatch.setattr(plans, "MOST_ACTIONS", 1)
    with pytest.raises(Invalid, match=r"These are \d operations, and an app has 1 at most\. Choose .* by their tags"):
        planned(PATHS)


def test_a_preview_counts_what_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST_ACTIONS", 1)
    paths = {"/pets": {"get": {"tags": ["Pets"]}}, "/shops": {"get": {}, "post": {}}}
    preview = plan(document(paths), "acme", Options(), preview=True)
    assert (preview.excess, preview.actions, len(preview.operations)) == (4, [], 4)
    assert preview.groups == {"me": 1, "Pets": 1, "shops": 2}
    narrowed = plan(document(paths), "acme", Options(only=("Pets",)), preview=True)
    assert (narrowed.excess, [action.name for action in narrowed.actions]) == (0, ["get-pets"])


def test_a_document_without_a_way_to_sign_in_says_so() -> None:
    unsigned: dict[str, Any] = {"components": {}, "security": []}
    assert plans.UNSIGNED in planned({}, **unsigned).notes
    assert plans.UNSIGNED not in planned({}, Options(auth="none"), **unsigned).notes
    assert plans.UNSIGNED not in planned({}).notes


def test_an_app_has_the_documents_name_and_a_sentence() -> None:
    app = planned({}).app
    assert (app["name"], app["description"], app["categories"]) == ("Acme", "Orders of a shop.", ["developer_tools"])
    assert (app["logo"]["letter"], app["base_url"], app["docs_url"]) == ("A", "https://api.acme.example/v1", ADDRESS)
    bare = planned({}, Options(name="My shop", category="crm"), info={}).app
    assert (bare["name"], bare["description"], bare["categories"]) == ("My shop", "The API of My shop.", ["crm"])


def test_where_people_read_on_is_the_first_that_is_known() -> None:
    described = document({}, externalDocs={"url": "https://read.acme.example"})
    assert (
        choose_docs_url(described, Options(docs_url="https://mine.example"), server(described))
        == "https://mine.example"
    )
    assert choose_docs_url(described, Options(), server(described)) == "https://read.acme.example"
    odd = document({}, externalDocs={"url": "javascript:alert(1)"})
    assert choose_docs_url(odd, Options(), server(odd)) == ADDRESS


def test_the_most_telling_comes_first() -> None:
    plan = planned(TESTABLE_PATHS)
    assert [operation.id for operation in plan.tests] == ["GET /me", "GET /users"]
    assert (plan.app["test"]["url"], plan.options.test) == ("/me", "GET /me")


@pytest.mark.parametrize(("wanted", "url"), [("GET /users", "/users"), ("getMe", "/me"), ("/ping?x=1", "/ping?x=1")])
def test_another_may_be_chosen(wanted: str, url: str) -> None:
    assert planned(TESTABLE_PATHS, Options(test=wanted)).app["test"]["url"] == url


def test_without_one_accounts_are_connected_untested() -> None:
    plan = planned({"/me": {"post": {}}})
    assert (plan.app["test"]["kind"], plan.options.test, plan.tests) == ("none", "", [])
    assert [note for note in plan.notes if "connected untested. Name a path that can, such as /me" in note]
    assert planned({"/me": {"post": {}}}, Options(test="/ping")).app["test"]["url"] == "/ping"


def test_a_note_that_many_actions_share_is_given_once_with_their_number() -> None:
    body = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}
    plan = planned({**TESTABLE_PATHS, **{f"/things/{n}": {"get": body} for n in range(4)}})
    assert "In 4 actions, the body is left out: a GET has none." in plan.notes
    assert [note for action in plan.actions for note in action.notes] == []
    two = planned({**TESTABLE_PATHS, **{f"/things/{n}": {"get": body} for n in range(2)}})
    assert [note for action in two.actions for note in action.notes] == ["the body is left out: a GET has none."] * 2


def test_what_is_no_path_cannot_be_the_test() -> None:
    with pytest.raises(Invalid, match="is no path that can test"):
        planned(TESTABLE_PATHS, Options(test="https://elsewhere.example"))
