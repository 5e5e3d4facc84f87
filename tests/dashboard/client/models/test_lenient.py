"""Reading never fails: a wrong field is its default, a wrong entry is left out, the rest is read."""

from typing import Any

import pytest

from webapp.dashboard.client.models.accounts import Account, App, Category
from webapp.dashboard.client.models.lenient import PageOf


@pytest.mark.parametrize("wrong", [None, 5, [], {}, "text", True, 1.5, [None, 5], {"name": []}])
@pytest.mark.parametrize(
    "field", ["id", "name", "healthy", "app", "authorized_scopes", "created_at", "identity", "error", "dead"]
)
def test_one_wrong_field_leaves_the_others(field: str, wrong: Any) -> None:
    data = {"id": "apn_1", "name": "Work", "error": "It said no.", "app": {"name_slug": "github", "name": "GitHub"}}
    account = Account.model_validate(data | {field: wrong})
    assert field == "name" or account.name == "Work"
    assert field == "error" or account.error == "It said no."
    assert field == "app" or account.app.name == "GitHub"


def test_what_is_missing_is_a_plain_default() -> None:
    account = Account.model_validate({})
    assert (account.id, account.name, account.state, account.scopes, account.identity) == (
        "",
        None,
        "working",
        (),
        None,
    )
    assert (account.app.slug, account.app.auth_type, account.app.extras) == ("", "keys", None)


def test_entries_that_cannot_be_read_are_left_out() -> None:
    answer = {"data": [{"id": "a"}, None, 7, {"id": "b", "count": "many"}], "page_info": {"end_cursor": None}}
    page = PageOf[Category].model_validate(answer)
    assert [(category.id, category.count) for category in page.items] == [("a", None), ("b", None)]
    assert (page.total, page.end_cursor) == (2, "")


@pytest.mark.parametrize("answer", [{}, {"data": "none", "page_info": 5}, {"data": {"a": 1}}])
def test_a_list_that_is_none_is_empty(answer: Any) -> None:
    page = PageOf[App].model_validate(answer)
    assert (page.items, page.total, page.end_cursor) == ((), 0, "")


def test_names_fall_back_to_what_is_there() -> None:
    assert App.model_validate({"id": "app_1"}).name == "app_1"
    assert App.model_validate({"id": "app_1", "name_slug": "", "name": ""}).slug == "app_1"
    assert Account.model_validate({"identity": {"id": "7", "name": None}, "app": {"name": "X"}}).title == "7"


def test_links_lead_to_the_web_alone() -> None:
    for url, read in (("https://docs.example.com/", "https://docs.example.com/"), ("javascript:alert(1)", None)):
        extras = App.model_validate({"patchbay": {"docs_url": url, "actions": 3}}).extras
        assert extras is not None
        assert (extras.docs_url, extras.actions) == (read, 3)
