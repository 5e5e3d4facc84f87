"""The request that tests an account asks for nothing and does nothing."""

import pytest

from tests.fakes.openapi_documents import planned, query
from webapp.errors import Invalid
from webapp.service.catalog.importing.standing import Options

PATHS = {
    "/logout": {"get": {}},
    "/users": {"get": {}},
    "/pets": {"get": {"parameters": [query("q", {}, required=True)]}},
    "/pets/{id}": {"get": {}},
    "/csv": {"get": {"responses": {"200": {"content": {"text/csv": {}}}}}},
    "/open": {"get": {"security": []}},
    "/broken": {"get": {"parameters": [{"$ref": "#/none"}]}},
    "/things": {"post": {}},
}


def test_the_most_telling_comes_first() -> None:
    plan = planned(PATHS)
    assert [operation.id for operation in plan.tests] == ["GET /me", "GET /users"]
    assert (plan.app["test"]["url"], plan.options.test) == ("/me", "GET /me")


@pytest.mark.parametrize(("wanted", "url"), [("GET /users", "/users"), ("getMe", "/me"), ("/ping?x=1", "/ping?x=1")])
def test_another_may_be_chosen(wanted: str, url: str) -> None:
    assert planned(PATHS, Options(test=wanted)).app["test"]["url"] == url


def test_without_one_a_path_is_asked_for() -> None:
    with pytest.raises(Invalid, match="Name a path of the API that can"):
        planned({"/me": {"post": {}}})
    with pytest.raises(Invalid, match="is no path that can test"):
        planned(PATHS, Options(test="https://elsewhere.example"))
