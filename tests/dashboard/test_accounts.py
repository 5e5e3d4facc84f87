"""The list of accounts: broken first, true counts, filters and pages in the address."""

import re
from typing import Any

import pytest


def titles(html: str) -> list[str]:
    return re.findall(r'<a class="row-link"[^>]*>([^<]*)</a>', html)


def test_broken_first_in_words(busy: Any) -> None:
    page = busy.signed_in().get("/accounts").text
    assert titles(page) == ["Billing", "ada1@example.com", "Work"]
    assert "Not yours" not in page
    assert page.index("Needs you") < page.index("Retrying") < page.index("Working")
    assert "3 accounts" in page
    assert 'action="/accounts/apn_000002x/reconnection"' in page
    assert "canary" not in page


def test_filters_are_in_the_address(busy: Any) -> None:
    browser = busy.signed_in()
    assert titles(browser.get("/accounts?status=working").text) == ["Work"]
    assert titles(browser.get("/accounts?app=stripe").text) == ["Billing"]
    assert titles(browser.get("/accounts?app=github&status=retrying").text) == ["ada1@example.com"]
    nothing = browser.get("/accounts?app=stripe&status=working").text
    assert "No account matches" in nothing
    part = browser.get("/accounts?app=stripe&status=", htmx=True)
    assert titles(part.text) == ["Billing"]
    assert "<html" not in part.text
    assert part.headers["HX-Push-Url"] == "/accounts?app=stripe"


def test_empty_and_down_are_different(stage: Any) -> None:
    browser = stage.signed_in()
    assert "No accounts yet" in browser.get("/accounts").text
    stage.connect.throttled = True
    answer = browser.get("/accounts")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "17")
    assert "too many requests. Try again in 17\xa0seconds" in answer.text
    assert "No accounts yet" not in answer.text


@pytest.mark.faults
def test_ten_thousand_accounts_are_paged_truthfully(stage: Any) -> None:
    for number in range(10_000):
        stage.connect.add_account(stage.alice.id, "github", dead=number == 999, name=f"Account {number}")
    browser = stage.signed_in()
    first = browser.get("/accounts").text
    assert len(stage.connect.calls("/accounts")) == 10
    assert titles(first)[0] == "Account 999"
    assert len(titles(first)) == 25
    assert "1–25 of 1,000 accounts" in first
    assert "You have 10,000 accounts. This list covers 1,000 of them" in first
    second = browser.get("/accounts?page=2").text
    assert not set(titles(first)) & set(titles(second))
    onward = re.search(r'href="(/accounts\?after=[^"]+)">show the next ones', first)
    assert onward
    further = browser.get(onward[1].replace("&amp;", "&")).text
    assert titles(further)[0] == "Account 1000"
    assert "further down" in further
    assert "10,000" in browser.get("/accounts?page=40").text
    assert "No account matches" in browser.get("/accounts?page=41").text


def test_hostile_text_is_only_text(stage: Any) -> None:
    evil = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    stage.connect.add_app("evil", evil, description=evil, img_src="javascript:alert(1)", categories=[evil],
                          patchbay={"docs_url": "javascript:alert(1)", "why_not": evil,
                                    "scopes": [{"scope": evil, "words": evil}]})  # fmt: skip
    made = stage.connect.add_account(stage.alice.id, "evil", name=evil, error=evil, dead=True,
                                     identity={"id": evil, "name": evil}, authorized_scopes=[evil],
                                     scope_profile=evil, oauth_app_id=evil, created_at=evil)  # fmt: skip
    stage.connect.uses[made["id"]] = [{"id": evil, "name": evil, "kind": evil, "state": evil}]
    stage.connect.history[made["id"]] = [{"id": evil, "at": evil, "good": False, "sentence": evil}]
    browser = stage.signed_in()
    for url in (
        "/apps", "/apps/evil", "/accounts", f"/accounts/{made['id']}", f"/accounts/{made['id']}/name",
        f"/accounts/{made['id']}/disconnection", f"/accounts/{made['id']}/revocation",
    ):  # fmt: skip
        page = browser.get(url)
        assert page.status_code == 200, url
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert "javascript:" not in page.text
        assert "&lt;script&gt;" in page.text


def test_an_identity_that_the_name_says_already_is_not_repeated(busy: Any) -> None:
    browser = busy.signed_in()
    page = browser.get("/accounts").text
    assert page.count("ada1@example.com") == 1  # the account is called by it
    assert re.search(r'data-label="Signed in as">\s*ada0@example.com', page)
    for account in busy.connect.accounts.values():
        account["name"] = f"{account['identity']['name']} (2)"
    assert "Signed in as" not in browser.get("/accounts").text
    assert "Signed in as" not in browser.get("/accounts/apn_000000x").text


def test_what_uses_an_account_is_told_of_each(busy: Any, tower: Any) -> None:
    page = busy.signed_in().get("/accounts").text
    assert page.count("Nothing yet") == 3


def test_the_results_of_a_filter_are_announced(busy: Any) -> None:
    browser = busy.signed_in()
    assert 'data-announce="1 account"' in browser.get("/accounts?status=working", htmx=True).text
    assert 'data-announce="No account matches"' in browser.get("/accounts?app=none", htmx=True).text
    assert 'hx-get="/accounts?status=working"' in browser.get("/accounts").text
