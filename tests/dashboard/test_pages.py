"""What holds for every page: nothing inline, its theme; and the address of a list, read and written."""

import gc
from typing import Annotated, Any

import pytest
from flask import session
from jinja2.runtime import Context

from webapp.dashboard.pages import ListQuery, address, among, at_most, form_token, within


def test_pages_hold_nothing_inline(busy: Any) -> None:
    browser = busy.signed_in()
    for url in (
        "/apps",
        "/apps/github",
        "/accounts",
        "/accounts/apn_000000x",
        "/logs",
        "/logs/audit",
        "/settings",
    ):
        page = browser.get(url).text
        for forbidden in (" style=", " onclick=", " onload=", "hx-on", "javascript:", "<script>", "js:"):
            assert forbidden not in page, (url, forbidden)


def test_theme_comes_from_its_cookie(stage: Any) -> None:
    browser = stage.browser()
    browser.client.set_cookie("theme", "dark")
    assert 'data-theme="dark"' in browser.get("/sign-in").text
    browser.client.set_cookie("theme", '"><script>')
    assert 'data-theme="auto"' in browser.get("/sign-in").text


class ThingsQuery(ListQuery):
    """A query with every kind of field."""

    q: Annotated[str, at_most(5)] = ""
    status: Annotated[str, among({"good": 1, "bad": 2})] = ""
    ticked: bool = False
    after: str = ""
    page: Annotated[int, within(1, 9)] = 1


@pytest.mark.parametrize(
    ("address", "query"),
    [
        ("", ""),
        ("?q=abcdefg&status=good&ticked=1&page=3", "?q=abcde&status=good&ticked=1&page=3"),
        ("?status=else&ticked=what&page=x", ""),
        ("?page=99&after=c%3D", "?after=c%3D&page=9"),
        ("?page=-5&unknown=1", ""),
    ],
)
def test_what_makes_no_sense_in_an_address_falls_back(stage: Any, address: str, query: str) -> None:
    with stage.app.test_request_context(f"/things{address}"):
        read = ThingsQuery.of_request()
        assert read.url() == "/things" + query
        assert read.filtered == any(word in query for word in ("q=", "status=", "ticked="))


def test_the_address_of_a_page_is_below_where_the_dashboard_is_mounted(stage: Any) -> None:
    for prefix in ("", "/portal/ps_one", "/portal/ps_two", ""):
        with stage.request("/apps", base_url=f"http://localhost{prefix}"):
            assert address("dashboard.apps.index") == f"{prefix}/apps"
            assert address("dashboard.apps.show", slug="github") == f"{prefix}/apps/github"
            assert address("dashboard.apps.index", q="x", sort=None) == f"{prefix}/apps?q=x"
            assert address("dashboard.apps.index", shown=1) == f"{prefix}/apps?shown=1"
            assert address("dashboard.apps.index", shown=True) == f"{prefix}/apps?shown=True"


def test_an_address_with_changes(stage: Any) -> None:
    with stage.app.test_request_context("/things?status=good&page=4"):
        query = ThingsQuery.of_request()
        assert query.url(page=5, q="ü") == "/things?q=%C3%BC&status=good&page=5"
        assert query.url(status="", page="") == "/things"


def test_all_forms_of_a_page_carry_one_token(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with stage.request():
        token = form_token()
        monkeypatch.setattr("webapp.dashboard.pages.generate_csrf", lambda: "another")
        assert token == form_token() != ""


def test_a_browsers_form_token_is_signed_once(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with stage.request():
        form_token()
        kept = dict(session)
    tokens = []
    for secret in (kept["csrf_token"], kept["csrf_token"], "another"):
        with stage.request():
            session["csrf_token"] = secret
            tokens.append(form_token())
        monkeypatch.setattr("webapp.dashboard.pages.generate_csrf", lambda: "signed again")
    assert tokens[0] == tokens[1] != tokens[2] == "signed again"


@pytest.mark.parametrize("address", ["/apps", "/apps/github", "/accounts"])
def test_what_a_page_is_drawn_from_goes_with_it(busy: Any, address: str) -> None:
    browser = busy.signed_in()
    browser.get(address)
    gc.collect()
    gc.freeze()  # only what is new from here on is looked at
    gc.disable()
    try:
        browser.get(address)
        assert [each.name for each in gc.get_objects() if isinstance(each, Context)] == []
    finally:
        gc.enable()
