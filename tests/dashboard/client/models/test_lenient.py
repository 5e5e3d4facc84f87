"""Reading never fails: a wrong field is its default, a wrong entry is left out, the rest is read."""

import gc
import weakref
from typing import Any

import pytest

from webapp.dashboard.client.models.accounts import Account, App, AppPage, Category
from webapp.dashboard.client.models.lenient import Lenient, PageOf


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


def test_the_model_of_a_page_is_built_once() -> None:
    class Entry(Lenient):
        """What nothing else refers to a page of."""

    built = weakref.ref(PageOf[Entry])
    gc.collect()
    assert built() is PageOf[Entry]


def test_entries_that_cannot_be_read_are_left_out() -> None:
    answer = {"data": [{"id": "a"}, None, 7, {"id": "b", "count": "many"}], "page_info": {"end_cursor": None}}
    page = PageOf[Category].model_validate(answer)
    assert [(category.id, category.count) for category in page.items] == [("a", None), ("b", None)]
    assert (page.total, page.end_cursor) == (2, "")


def test_a_part_without_what_it_cannot_do_without_is_its_default() -> None:
    page = AppPage.model_validate({"data": [{"id": "github"}], "counts": {"states": 5}})
    assert ([app.slug for app in page.items], page.counts) == (["github"], None)


@pytest.mark.parametrize("answer", [{}, {"data": "none", "page_info": 5}, {"data": {"a": 1}}])
def test_a_list_that_is_none_is_empty(answer: Any) -> None:
    page = PageOf[App].model_validate(answer)
    assert (page.items, page.total, page.end_cursor) == ((), 0, "")
