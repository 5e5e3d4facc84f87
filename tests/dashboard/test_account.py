"""One account: what its page says, and each action with and without JavaScript."""

import re
from typing import Any

from tests.dashboard import fake_components

WORK, RETRYING, BROKEN, FOREIGN = "apn_000000x", "apn_000001x", "apn_000002x", "apn_000003x"


def test_page_says_how_it_is_and_what_depends_on_it(busy: Any) -> None:
    browser = busy.signed_in()
    page = browser.get(f"/accounts/{WORK}").text
    for text in (
        "<b>Working.</b>", "ada0@example.com", "See and change your repositories", "gist", "New issue in acme",
        "1 trigger", "Access renewed.", "It failed.", "Next refresh",
    ):  # fmt: skip
        assert text in page
    assert "canary-access-token" not in page
    retrying = browser.get(f"/accounts/{RETRYING}").text
    assert "<b>Retrying.</b> GitHub took too long to answer." in retrying
    assert "in 5 minutes" in retrying
    broken = browser.get(f"/accounts/{BROKEN}").text
    assert "<b>Needs you.</b> Stripe refused the key." in broken
    assert "Revoke access" not in broken
    assert broken.count(f'action="/accounts/{BROKEN}/reconnection"') == 2


def test_an_account_whose_app_was_removed_says_so(busy: Any) -> None:
    browser = busy.signed_in()
    busy.connect.accounts[WORK] |= {
        "available": False,
        "healthy": False,
        "error": "GitHub was removed here; it is kept.",
    }
    page = browser.get(f"/accounts/{WORK}").text
    assert "<b>Its app was removed.</b>" in page and "GitHub was removed here; it is kept." in page
    for offered in ("Test now", "Reconnect", "<b>Working.</b>", 'href="/apps/github"'):
        assert offered not in page
    assert "Waits for its app" in page and "Rename" in page and "Disconnect…" in page
    listed = browser.get("/accounts").text
    assert "App removed" in listed and "status=no-app" in listed


def test_absent_and_foreign_accounts_are_alike(busy: Any) -> None:
    browser = busy.signed_in()
    answers = [browser.get(f"/accounts/{account_id}") for account_id in (FOREIGN, "apn_nothing")]
    assert [answer.status_code for answer in answers] == [404, 404]
    parts = (answer.text.split("X-CSRFToken")[1][200:] for answer in answers)
    one, other = (re.sub(r'(name="csrf_token" value=")[^"]+', r"\1", part) for part in parts)  # it holds the second
    assert one == other
    for verb in ("test", "name", "revocation", "disconnection", "reconnection"):
        assert browser.send(f"/accounts/{FOREIGN}/{verb}", {"name": "Mine"}).status_code == 404
    assert busy.connect.accounts[FOREIGN]["name"] == "Not yours"


def test_test_now(busy: Any) -> None:
    browser = busy.signed_in()
    answer = browser.send(f"/accounts/{RETRYING}/test")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/accounts/{RETRYING}")
    assert "works: GitHub accepted it just now." in browser.get(f"/accounts/{RETRYING}").text
    busy.connect.healthy_after_test = False
    part = browser.send(f"/accounts/{RETRYING}/test", htmx=True)
    assert part.status_code == 200
    assert "<html" not in part.text
    assert '<hx-partial hx-target="#status"' in part.text
    assert "<b>Retrying.</b> It said no." in part.text
    status = re.findall(r'hx-target="#status".*?</hx-partial>', part.text, re.DOTALL)[0]
    assert "The test failed." in status and "It said no." not in status, "the page says why, once"
    (menu,) = re.findall(r'hx-target="#nav-accounts".*?</hx-partial>', part.text, re.DOTALL)
    whole = browser.get(f"/accounts/{RETRYING}").text
    (now,) = re.findall(r'id="nav-accounts">(.*?)</span>\s*</a>', whole, re.DOTALL)
    assert re.findall(r'class="n[^<]+<', menu) == re.findall(r'class="n[^<]+<', now) != []


def test_what_the_page_says_of_the_state_is_not_repeated_by_the_history(busy: Any) -> None:
    account = busy.connect.accounts[RETRYING]
    reason = account["error"] = "It said no."
    busy.connect.history[RETRYING] = [
        {"id": f"ev_{n}", "account_id": RETRYING, "app": "github", "at": "2026-01-01T00:00:00Z", "kind": "trouble",
         "good": False, "sentence": reason}
        for n in (2, 1)
    ]  # fmt: skip
    page = busy.signed_in().get(f"/accounts/{RETRYING}").text
    timeline = page.partition('class="timeline"')[2].partition("</ol>")[0]
    assert "Trouble" in timeline and timeline.count(reason) == 1, "the older one keeps its reason"


def test_rename(busy: Any) -> None:
    browser = busy.signed_in()
    assert 'value="Work"' in browser.get(f"/accounts/{WORK}/name").text
    assert browser.send(f"/accounts/{WORK}/name", {"name": "  Home "}).status_code == 303
    assert busy.connect.accounts[WORK]["name"] == "Home"
    page = browser.get(f"/accounts/{WORK}").text
    assert "The account is now called Home." in page
    part = browser.send(f"/accounts/{WORK}/name", {"name": ""}, htmx=True)
    assert "now called ada0@example.com" in part.text
    assert busy.connect.accounts[WORK]["name"] is None


def test_a_name_that_is_refused_stays_in_the_form(busy: Any) -> None:
    browser = busy.signed_in()
    whole = browser.send(f"/accounts/{WORK}/name", {"name": "taken"})
    part = browser.send(f"/accounts/{WORK}/name", {"name": "taken"}, htmx=True)
    for answer in (whole, part):
        assert answer.status_code == 422
        assert "That name is taken; choose another." in answer.text
        assert 'value="taken"' in answer.text
    assert "<html" in whole.text
    assert "<html" not in part.text
    long = browser.send(f"/accounts/{WORK}/name", {"name": "x" * 201})
    assert long.status_code == 422 and "Use at most 200" in long.text


def test_revoke(busy: Any) -> None:
    browser = busy.signed_in()
    assert "Revoke access at GitHub?" in browser.get(f"/accounts/{WORK}/revocation").text
    browser.send(f"/accounts/{WORK}/revocation")
    page = browser.get(f"/accounts/{WORK}").text
    assert "GitHub withdrew the access." in page
    assert "<b>Needs you.</b>" in page
    browser.send(f"/accounts/{BROKEN}/revocation")
    assert "Keys are revoked where they were made." in browser.get(f"/accounts/{BROKEN}").text


def test_disconnect_asks_and_lists_what_stops(busy: Any) -> None:
    browser = busy.signed_in()
    question = browser.get(f"/accounts/{WORK}/disconnection").text
    assert "Disconnect Work?" in question
    assert "New issue in acme" in question
    assert WORK in busy.connect.accounts
    assert browser.send(f"/accounts/{WORK}/disconnection").headers["Location"] == "/accounts"
    assert WORK not in busy.connect.accounts
    page = browser.get("/accounts").text
    assert "Work is disconnected." in page
    assert "2 accounts" in page


def test_failing_action_goes_to_the_status_region(busy: Any) -> None:
    browser = busy.signed_in()
    browser.get("/settings")
    busy.connect.down = True
    part = browser.send(f"/accounts/{WORK}/test", htmx=True)
    assert part.status_code == 503
    assert part.headers["HX-Retarget"] == "#status"
    assert "The service does not answer." in part.text
    assert "<html" not in part.text
    whole = browser.send(f"/accounts/{WORK}/test")
    assert whole.status_code == 503
    assert "This account can’t be shown right now" in whole.text


def test_without_extensions_an_action_says_so(busy: Any) -> None:
    busy.connect.extensions = False
    browser = busy.signed_in()
    browser.send(f"/accounts/{WORK}/test")
    assert "This service cannot test accounts." in browser.get(f"/accounts/{WORK}").text


def test_the_account_offers_what_can_be_done_with_it(stage: Any) -> None:
    studio = fake_components.install(stage.connect)
    studio.add("tasks-drop-task", [], annotations={"destructiveHint": True})
    account = stage.connect.add_account(stage.alice.id, "tasks")
    browser = stage.signed_in()
    for url in (f"/accounts/{account['id']}", "/apps/tasks"):
        page = browser.get(url).text
        assert 'href="/apps/tasks/actions/tasks-create-task"' in page, url
        assert 'href="/apps/tasks/triggers/tasks-new-task"' in page, url
        assert "drop-task" not in page, url
        assert "Does it." in page, url
    account.update(dead=True, healthy=False)
    assert "tasks-create-task" not in browser.get(f"/accounts/{account['id']}").text  # first things first


def test_the_title_follows_a_new_name(busy: Any) -> None:
    answer = busy.signed_in().send("/accounts/apn_000000x/name", {"name": "Boat"}, htmx=True)
    assert answer.text.startswith("<title>Boat · Patchbay</title>")


def test_an_ending_offers_to_reconnect(busy: Any) -> None:
    page = busy.signed_in().get("/accounts/apn_000000x?error=cancelled").text
    alert = page.split('role="alert"')[1].split("Working.")[0]
    assert 'action="/accounts/apn_000000x/reconnection"' in alert


def test_accounts_that_end_with_it_are_named(busy: Any) -> None:
    other = next(account for account in busy.connect.accounts.values() if account["id"] == RETRYING)
    busy.connect.siblings[WORK] = [other]
    browser = busy.signed_in()
    for verb in ("revocation", "disconnection"):
        assert "GitHub · ada1@example.com" in browser.get(f"/accounts/{WORK}/{verb}").text
    assert "Revoking it there ends these, too" not in browser.get(f"/accounts/{RETRYING}/disconnection").text
    busy.connect.extensions = False
    assert "GitHub · ada1@example.com" not in browser.get(f"/accounts/{WORK}/revocation").text


def test_reasons_are_reported_in_the_language_of_the_page(busy: Any, spoken: None) -> None:
    reason = "Stripe no longer accepts this authorization. Connect the account again."
    busy.connect.accounts[BROKEN]["error"] = reason
    busy.connect.history[BROKEN] = [
        {"id": name, "at": "2026-01-01T00:00:00Z", "kind": "dead", "good": False, "sentence": reason}
        for name in ("newest, which the state repeats", "older")
    ]
    browser = busy.signed_in()
    assert browser.get(f"/accounts/{BROKEN}").text.count(reason) == 2
    browser.send("/settings", {"theme": "auto", "time_zone": "UTC", "language": "fr"})
    french = browser.get(f"/accounts/{BROKEN}").text
    assert french.count("Stripe n’accepte plus cette autorisation. Connectez le compte à nouveau.") == 2
    assert reason not in french
