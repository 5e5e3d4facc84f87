"""The key form: drawn from the app's fields, tested before it is saved, sent twice without harm. Where an account of
that person is connected already, they say whether it replaces that one.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from tests.service.link.conftest import FORM, opened
from webapp.kit.clock import MINUTE
from webapp.service.domain.accounts import accounts, attempts, credentials, oauth_apps
from webapp.service.domain.accounts.accounts import Account

ANSWER = "/_static/connect/answer"


def test_right_keys_connect(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = opened(world, browser, success_redirect_uri="https://acme.example/done")
    sent = {**hidden_fields(page.text, FORM), "cf_account_id": " acct_ada ", "cf_api_key": world.sandbox.key()}
    done = browser.post(FORM, sent)
    (account,) = world.accounts()
    assert done.status_code == 200 and "Ada Lovelace" in done.text
    # A form may not be redirected to another origin, so the page leads there by itself, and says where.
    assert f'content="3;url=https://acme.example/done?account_id={account.id}"' in done.text
    assert "Back to acme.example" in done.text and world.sandbox.key() not in done.text


def test_a_form_that_is_sent_twice_makes_one_account(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = opened(world, browser)
    sent = {**hidden_fields(page.text, FORM), "cf_account_id": "acct_ada", "cf_api_key": world.sandbox.key()}
    first, second = browser.post(FORM, sent), browser.post(FORM, sent)
    assert "Connected" in first.text and "Connected" in second.text and len(world.accounts()) == 1


def test_a_form_needs_its_proof(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = opened(world, browser)
    sent = {**hidden_fields(page.text, FORM), "cf_account_id": "acct_ada", "cf_api_key": world.sandbox.key()}
    assert browser.post(FORM, {**sent, "proof": "0" * 64}).status_code == 403
    assert world.browser().post(FORM, sent).status_code == 403  # without the cookie
    assert browser.post(FORM, {**sent, "attempt": "guessed"}).status_code == 400
    assert world.accounts() == []


def test_an_attempt_of_another_user_cannot_be_used(world: Any, browser: Any, hidden_fields: Any) -> None:
    hers = hidden_fields(opened(world, browser).text, FORM)
    mallory = world.browser()
    his = hidden_fields(mallory.open(world.token("mallory"), "&connectLink=true&app=sandbox_basic").text, FORM)
    sent = {**his, "attempt": hers["attempt"], "cf_account_id": "acct_ada", "cf_api_key": world.sandbox.key()}
    assert mallory.post(FORM, sent).status_code == 400 and world.accounts() == []


def test_keys_connect_in_a_frame_without_any_cookie(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]), "&app=sandbox_keys")
    done = world.browser().post(FORM, {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key(1)})
    assert 'data-outcome="success"' in done.text and "Grace Hopper" in done.text
    assert "https://app.acme.example" in done.headers["Content-Security-Policy"]


def test_reconnecting_with_another_persons_key_is_refused(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = opened(world, browser, "sandbox_keys")
    browser.post(FORM, {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key()})
    (account,) = world.accounts()
    page = browser.open(world.token(), f"&connectLink=true&accountId={account.id}")
    wrong = browser.post(FORM, {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key(1)})
    assert wrong.status_code == 422 and "Ada Lovelace" in wrong.text and "Grace Hopper" in wrong.text
    page = browser.open(world.token(), f"&connectLink=true&accountId={account.id}")
    right = browser.post(FORM, {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key()})
    assert "Connected" in right.text and [one.id for one in world.accounts()] == [account.id]


def test_a_form_that_is_sent_by_eight_at_once_makes_one_account(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]), "&app=sandbox_keys")
    sent = {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key()}
    start = Barrier(8)

    def send(_: int) -> str:
        start.wait()
        return str(world.browser().post(FORM, sent).text)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert len(world.accounts()) == 1
    assert any("Connected" in text for text in answers)


def test_fields_that_the_sign_in_needs_are_asked_first(world: Any, browser: Any, hidden_fields: Any) -> None:
    folder = world.service.settings.data / "apps" / "helpdesk"
    folder.mkdir(parents=True)
    (folder / "app.toml").write_text(HELPDESK)
    world.restart()
    oauth_apps.add(world.service, app="helpdesk", client_id="c1", client_secret="s1")
    page = opened(world, browser, "helpdesk")
    assert "Begins your address." in page.text and "data-start" not in page.text
    refused = browser.post(FORM, {**hidden_fields(page.text, FORM), "cf_subdomain": ""})
    assert refused.status_code == 422 and "Enter the subdomain." in refused.text
    ready = browser.post(FORM, {**hidden_fields(refused.text, FORM), "cf_subdomain": "acme"})
    assert "A window opens at acme.helpdesk.example." in ready.text
    begun = browser.start(ready, profile="")
    assert begun.headers["Location"].startswith("https://acme.helpdesk.example/oauth/authorize?")
    wild = browser.post(FORM, {**hidden_fields(refused.text, FORM), "cf_subdomain": "evil.example/?x="})
    assert wild.status_code == 422 and "data-start" not in wild.text and 'role="alert"' in wild.text


HELPDESK = """
slug = "helpdesk"
name = "Helpdesk"
description = "Tickets."
categories = ["productivity"]
auth_type = "oauth"
docs_url = "https://docs.helpdesk.example/"
sources = ["https://docs.helpdesk.example/"]
base_url = "https://{subdomain}.helpdesk.example"
allowed_hosts = ["{subdomain}.helpdesk.example"]

[logo]
letter = "H"
color = "#123456"

[[fields]]
name = "subdomain"
label = "subdomain"
description = "Begins your address."

[[credentials]]
place = "bearer"
source = "https://docs.helpdesk.example/"

[oauth]
authorize_url = "https://{subdomain}.helpdesk.example/oauth/authorize"
token_url = "https://{subdomain}.helpdesk.example/oauth/token"
sources = ["https://docs.helpdesk.example/"]

[oauth.client]
console_url = "https://docs.helpdesk.example/"
steps = ["Make a client."]
source = "https://docs.helpdesk.example/"

[[oauth.scopes]]
scope = "read"
words = "See tickets"
functional = true

[test]
url = "/me"
source = "https://docs.helpdesk.example/"

[refusals]
statuses = [401]
source = "https://docs.helpdesk.example/"
"""


def test_a_refused_key_is_reported_in_the_language_of_the_page(
    world: Any, browser: Any, hidden_fields: Any, spoken: None
) -> None:
    page = browser.open(world.token(), "&connectLink=true&app=sandbox_keys&language=de")
    missing = browser.post(FORM, hidden_fields(page.text, FORM))
    assert "Geben Sie das ein: API-Schlüssel." in missing.text
    refused = browser.post(FORM, {**hidden_fields(missing.text, FORM), "cf_api_key": "wrong"})
    assert refused.status_code == 422 and "nimmt diese Zugangsdaten nicht an. Prüfen Sie sie" in refused.text


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
    assert attempts.fail_overdue(world.service) == 1
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
