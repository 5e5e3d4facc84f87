"""The link in a reconnect mail: it reconnects what the mail names, once, and lets its holder do nothing else."""

from typing import Any

import pytest

from tests.fakes.user_data import plant_account
from tests.service.link.conftest import Browser, World, form, hidden
from webapp.kit.clock import DAY, HOUR
from webapp.people import preferences, users
from webapp.people.users import User
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import account_state, accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.instance import reconnect_links, reconnect_mails
from webapp.service.domain.instance.people import logins
from webapp.service.link import reconnect_mails as pages

PATH = "/connect/reconnect"
STOP = "/connect/mails/stop"


@pytest.fixture
def ada(world: World) -> User:
    return person(world, "ada@example.com")


def person(world: World, address: str) -> User:
    return users.create(world.service.store, world.clock, email=address, password="a long password", role="member")


def broken(world: World, owner: User, app: str = "sandbox_keys", **facts: Any) -> Account:
    """An account that needs its person; a key of the sandbox's that was switched off."""
    values = {"api_key": world.sandbox.key(3)}
    account = plant_account(world.service, world.scene, owner.id, app, values, **({"identity_id": None} | facts))
    return account_state.mark_dead(world.service, account, "The key was switched off.")


def mailed(world: World, owner: User, *named: Account) -> str:
    """The token of the link that a mail about ``named`` has."""
    token = reconnect_links.new_token()
    with world.service.store.write() as tx:
        reconnect_links.insert(tx, world.clock(), owner.id, token, named)
    return token


def click(browser: Browser, token: str, account: Account) -> Any:
    return browser.post(PATH, {"token": token, "account": account.id})


def reconnect(browser: Browser, world: World, answer: Any) -> Any:
    """Enter a key that works on the Connect Link's page that ``answer`` leads to; the page after it."""
    page = browser.get(answer.headers["Location"])
    return browser.post(
        "/_static/connect/keys", {**form(page.text, "/_static/connect/keys"), "cf_api_key": world.sandbox.key()}
    )


def state(world: World, account: Account) -> Account:
    return accounts.get(world.service.store, account.scene, account.id)


def test_from_the_mail_to_a_working_account_once(world: World, browser: Browser, ada: User) -> None:
    account = broken(world, ada, name="Work")
    token = mailed(world, ada, account)
    for _ in range(2):  # programs open links before people do
        page = browser.get(f"{PATH}?token={token}")
        assert page.status_code == 200
        assert "Work" in page.text
    answer = click(browser, token, account)
    assert answer.status_code == 303
    assert "ctok_" not in answer.headers["Location"]
    connected = reconnect(browser, world, answer)
    assert f"http://localhost:8600{PATH}/rl_" in connected.text
    assert state(world, account).healthy
    assert "Nothing needs you any more" in browser.get(connected.text.split("url=")[1].split('"')[0]).text
    for visitor in (browser, world.browser()):
        again = visitor.get(f"{PATH}?token={token}")
        assert (again.status_code, "This link was already used" in again.text) == (409, True)
        assert click(visitor, token, account).status_code == 409


def test_one_browser_reconnects_all_accounts_of_the_mail(world: World, browser: Browser, ada: User) -> None:
    first, second = broken(world, ada, name="One"), broken(world, ada, name="Two")
    token = mailed(world, ada, first, second)
    reconnect(browser, world, click(browser, token, first))
    visit = browser.get(f"{PATH}?token={token}").headers["Location"]
    page = browser.get(visit)
    assert page.text.count("Working") == 1
    assert click(world.browser(), token, second).status_code == 409
    assert browser.post(visit, {"account": second.id}).status_code == 409  # without the proof of the page
    answer = browser.post(visit, {**hidden(page.text), "account": second.id})
    reconnect(browser, world, answer)
    assert state(world, second).healthy
    world.clock.advance(HOUR)
    assert browser.get(visit).status_code == 409


def test_an_account_whose_app_was_removed_is_said_so(
    world: World, browser: Browser, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = broken(world, ada)
    token = mailed(world, ada, account)
    monkeypatch.setattr(accounts, "find_app", lambda *_: None)
    answer = click(browser, token, account)
    assert (answer.status_code, "There is no such app" in answer.text) == (404, True)
    assert not state(world, account).healthy


def test_cancelling_leads_back_and_says_so(world: World, browser: Browser, ada: User) -> None:
    account = broken(world, ada)
    page = browser.get(click(browser, mailed(world, ada, account), account).headers["Location"])
    back = page.text.split('href="http://localhost:8600/connect/reconnect/')[1].split('"')[0]
    assert "You cancelled" in browser.get(f"{PATH}/{back}").text


def test_only_what_the_mail_names(world: World, browser: Browser, ada: User) -> None:
    """Neither others' accounts, nor other accounts of the person, nor another app; and no token is shown."""
    mine, later, others = broken(world, ada), broken(world, ada), broken(world, person(world, "eve@example.com"))
    token = mailed(world, ada, mine)
    for account in (later, others):
        assert account.id not in browser.get(f"{PATH}?token={token}").text
        assert click(browser, token, account).status_code == 404
    forged = mailed(world, ada, others)  # even where a row named another person's account
    assert click(browser, forged, others).status_code == 404
    session = click(browser, token, mine).headers["Location"]
    for query in ("?app=sandbox", "?choose=1&app=sandbox", "?app=sandbox&picked=1", f"?accountId={later.id}"):
        page = browser.get(session + query)
        assert "ctok_" not in page.text
        assert "sandbox_keys" in page.text or "Choose" in page.text or "connect/keys" in page.text
    sent = form(browser.get(session).text, "/_static/connect/keys")
    browser.post(
        "/_static/connect/keys", {**sent, "accountId": later.id, "app": "sandbox", "cf_api_key": world.sandbox.key()}
    )
    assert [state(world, account).healthy for account in (mine, later)] == [True, False]
    assert len(world.accounts()) == 3


def test_another_identity_is_refused(world: World, browser: Browser, ada: User) -> None:
    account = broken(world, ada, identity_id="somebody else")
    answer = reconnect(browser, world, click(browser, mailed(world, ada, account), account))
    assert answer.status_code == 422
    assert not state(world, account).healthy


def test_the_token_of_a_visit_may_do_little(world: World, browser: Browser, ada: User) -> None:
    account = broken(world, ada)
    click(browser, mailed(world, ada, account), account)
    row = world.service.store.one("SELECT token_hash FROM connect_tokens ORDER BY created_at DESC LIMIT 1")
    token = connect_tokens.by_hash(world.service.store, row["token_hash"] if row else "")
    assert token is not None
    assert token.scopes == {"connect:accounts:write"}
    assert (token.app, token.allowed_origins) == ("sandbox_keys", ())


def test_links_that_do_not_work(world: World, browser: Browser, ada: User) -> None:
    account = broken(world, ada)
    token = mailed(world, ada, account)
    for forged in ("", token[:-1], "x" * 32):
        assert browser.get(f"{PATH}?token={forged}").status_code == 404
        assert click(browser, forged, account).status_code == 404
    for link_id in ("rl_none", "x"):
        assert browser.get(f"{PATH}/{link_id}").status_code == 409
    world.clock.advance(7 * DAY)
    late = browser.get(f"{PATH}?token={token}")
    assert (late.status_code, "expired" in late.text) == (410, True)
    assert click(browser, token, account).status_code == 410
    world.clock.advance(8 * DAY)
    assert reconnect_links.purge(world.service) == 1
    assert reconnect_links.purge(world.service) == 0
    assert browser.get(f"{PATH}?token={token}").status_code == 404


def test_a_link_outlives_neither_account_nor_login(world: World, browser: Browser, ada: User) -> None:
    account, kept = broken(world, ada), broken(world, ada)
    tokens_of = [mailed(world, ada, account), mailed(world, ada, kept)]
    with world.service.store.write() as tx:
        account_state.remove(tx, [account], world.clock())
    assert "Nothing needs you any more" in browser.get(f"{PATH}?token={tokens_of[0]}").text
    assert click(browser, tokens_of[0], account).status_code == 404
    eve = person(world, "eve@example.com")
    with world.service.store.write() as tx:
        tx.run("UPDATE users SET role = 'owner' WHERE id = :id", {"id": eve.id})
    logins(world.service).change(ada.id, enabled=False)
    assert click(browser, tokens_of[1], kept).status_code == 404
    logins(world.service).change(ada.id, enabled=True)
    visit = click(browser, tokens_of[1], kept)
    assert visit.status_code == 303
    logins(world.service).change(ada.id, enabled=False)
    assert browser.get(visit.headers["Location"]).status_code in (401, 403)  # its token went, too
    logins(world.service).remove(ada.id)
    assert browser.get(f"{PATH}?token={tokens_of[1]}").status_code == 404


def test_of_two_browsers_at_once_one_uses_the_link(
    world: World, browser: Browser, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = broken(world, ada)
    token, real, others = mailed(world, ada, account), pages._reconnect, []

    def beside(*args: Any) -> Any:
        monkeypatch.setattr(pages, "_reconnect", real)
        others.append(click(world.browser(), token, account))
        return real(*args)

    monkeypatch.setattr(pages, "_reconnect", beside)
    late = click(browser, token, account)
    assert ([other.status_code for other in others], late.status_code) == ([303], 409)
    assert "Set-Cookie" not in late.headers


def test_the_page_is_not_kept_and_its_address_goes_nowhere(
    world: World, browser: Browser, ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    token = mailed(world, ada, broken(world, ada))
    with caplog.at_level("DEBUG"):
        answer = browser.get(f"{PATH}?token={token}")
    assert token not in caplog.text
    assert (
        world.service.store.one("SELECT 1 AS n FROM reconnect_links WHERE token_hash = :token", {"token": token})
        is None
    )
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Frame-Options"] == "DENY"


def test_stopping_mails_by_one_click_and_by_hand(world: World, browser: Browser, ada: User) -> None:
    url = f"{STOP}?token={reconnect_mails.stop_token(world.service, ada.id)}"

    def wanted() -> bool:
        return preferences.of_user(world.service.store, ada.id).reconnect_mails

    assert "Stop these mails?" in browser.get(url).text
    assert wanted()  # a GET changes nothing
    assert browser.post(url, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert not wanted()
    assert "These mails are stopped" in browser.get(url).text
    for forged in ("", ada.id, url.rpartition("=")[2][:-2]):
        assert browser.post(f"{STOP}?token={forged}", {}).status_code == 404


def test_the_pages_speak_the_language_of_their_person(world: World, browser: Browser, ada: User) -> None:
    preferences.save(world.service.store, world.clock, ada.id, preferences.Preferences(language="ja"))
    page = browser.get(f"{PATH}?token={mailed(world, ada, broken(world, ada))}")
    assert '<html lang="ja"' in page.text
