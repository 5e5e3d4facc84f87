"""Leaving for the Connect Link of an app or an account, and coming back."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

WORK, RETRYING, BROKEN, FOREIGN = "apn_000000x", "apn_000001x", "apn_000002x", "apn_000003x"


def test_connecting_leads_to_the_link_and_back(stage: Any) -> None:
    answer = stage.signed_in().send("/apps/github/connect")
    assert answer.status_code == 303
    parts = urlsplit(answer.headers["Location"])
    assert parts.path == "/_static/connect.html"
    query = parse_qs(parts.query)
    assert query["app"] == ["github"]
    (token,) = query["token"]
    made = stage.connect.tokens[token]
    assert made["external_user_id"] == stage.alice.id
    assert made["success_redirect_uri"] == "http://localhost/accounts/connected?project=&in=development"
    assert made["error_redirect_uri"] == "http://localhost/apps/github"
    assert stage.signed_in().send("/apps/nothing/connect").status_code == 404


def test_the_token_of_a_link_is_not_the_one_the_dashboard_uses(busy: Any) -> None:
    browser = busy.signed_in()
    token = parse_qs(urlsplit(browser.send("/apps/github/connect").headers["Location"]).query)["token"][0]
    browser.get("/accounts")
    assert token not in {used for _, _, used, _ in busy.connect.seen}


def test_reconnect_names_the_account(busy: Any) -> None:
    answer = busy.signed_in().send(f"/accounts/{BROKEN}/reconnection")
    assert answer.status_code == 303
    assert answer.headers["Location"].endswith(f"&app=stripe&accountId={BROKEN}")


def test_coming_back_connected(busy: Any) -> None:
    browser = busy.signed_in()
    answer = browser.get(f"/accounts/connected?account_id={WORK}")
    assert answer.headers["Location"] == f"/accounts/{WORK}"
    page = browser.get(f"/accounts/{WORK}").text
    assert "Work is connected as ada0@example.com." in page
    assert page.count('class="note ok') == 1 and "<b>Working.</b>" not in page, "it is said once that it works"
    later = browser.get(f"/accounts/{WORK}").text
    assert "is connected" not in later and "<b>Working.</b>" in later
    assert browser.get("/accounts/connected").headers["Location"] == "/accounts"
    assert browser.get("/accounts/connected?account_id=../x").headers["Location"] == "/accounts"
    assert browser.get(f"/accounts/connected?account_id={FOREIGN}").status_code == 404
