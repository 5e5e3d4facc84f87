"""An account of somebody who is connected already: the person says whether it replaces that one or stands beside it."""

from typing import Any

from tests.service.link.conftest import FORM, opened
from webapp.kit.clock import MINUTE
from webapp.service.domain.accounts import accounts, attempts, credentials
from webapp.service.domain.accounts.accounts import Account

ANSWER = "/_static/connect/answer"


def ask(world: Any, browser: Any) -> tuple[Account, str]:
    """Sign in twice as the same person: the account of the first time, and where the second is asked."""
    browser.callback(browser.open(world.token()))
    (first,) = world.accounts()
    where = browser.callback(browser.open(world.token(success_redirect_uri="https://acme.example/done")))
    page = browser.get(where.headers["Location"])
    assert "This account is connected already" in page.text and "<b>ada@sandbox.example</b>" in page.text
    assert f'value="{first.id}"' in page.text and "Keep both" in page.text and len(world.accounts()) == 1
    return first, where.headers["Location"].replace("/ended/", "/answer/")


def token_of(world: Any, account: Account) -> str:
    whole = accounts.get(world.service.store, world.scene, account.id)
    return credentials.read(world.service, whole)["oauth_access_token"]


def test_the_new_sign_in_takes_the_place_of_the_old_one(world: Any, browser: Any) -> None:
    first, action = ask(world, browser)
    exchanges = world.sandbox.requests.count("POST /oauth/token")
    before = token_of(world, first)
    world.restart()  # nothing of it is lost by a crash
    done = browser.get(browser.post(action, {"answer": first.id}).headers["Location"])
    (account,) = world.accounts()
    assert "https://acme.example/done?account_id=" in done.text and (account.id, account.name) == (first.id, first.name)
    assert token_of(world, account) != before and world.sandbox.requests.count("POST /oauth/token") == exchanges


def test_both_are_kept_and_told_apart(world: Any, browser: Any) -> None:
    _, action = ask(world, browser)
    browser.post(action, {"answer": "both"})
    browser.post(action, {"answer": "both"})  # sent twice
    assert {account.name for account in world.accounts()} == {"ada@sandbox.example", "ada@sandbox.example (2)"}


def test_only_the_browser_that_was_asked_answers_and_only_what_was_offered(world: Any, browser: Any) -> None:
    first, action = ask(world, browser)
    assert world.browser().post(action, {"answer": first.id}).status_code == 400
    assert browser.post(action, {"answer": "apn_other"}).status_code == 400
    assert browser.post(action, {}).status_code == 400
    assert browser.get(action.replace("/answer/", "/ended/")).status_code == 200  # still asked
    assert len(world.accounts()) == 1


def test_an_answer_has_15_minutes(world: Any, browser: Any) -> None:
    first, action = ask(world, browser)
    world.clock.advance(16 * MINUTE)
    assert attempts.settle(world.service) == 1
    shown = browser.get(browser.post(action, {"answer": first.id}).headers["Location"])
    assert "That took too long" in shown.text and len(world.accounts()) == 1


def test_a_key_of_the_same_account_asks_on_its_page(world: Any, browser: Any, hidden_fields: Any) -> None:
    def send(page: Any) -> Any:
        return browser.post(FORM, {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key()})

    send(opened(world, browser, "sandbox_keys"))
    (first,) = world.accounts()
    page = send(opened(world, browser, "sandbox_keys"))
    assert "This account is connected already" in page.text and world.sandbox.key() not in page.text
    answer = hidden_fields(page.text, ANSWER)
    assert browser.post(ANSWER, {**answer, "proof": "guessed", "answer": "both"}).status_code == 403
    assert browser.post(ANSWER, {**answer, "answer": "apn_other"}).status_code == 400
    done = browser.post(ANSWER, {**answer, "answer": first.id})
    assert "Connected" in done.text and [account.id for account in world.accounts()] == [first.id]
    assert browser.post(ANSWER, {**answer, "answer": "both"}).status_code != 500 and len(world.accounts()) == 1


def test_another_person_and_a_reconnection_are_not_asked(world: Any, browser: Any) -> None:
    browser.callback(browser.open(world.token()))
    browser.callback(browser.open(world.token()), person="per_grace")
    browser.callback(browser.open(world.token(user="bob")))
    assert len(world.accounts()) == 3
