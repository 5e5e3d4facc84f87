"""The OAuth flow against the real sandbox: what ends well, what ends badly, and what must not work at all. OAuth 1.0a
is bound to the browser in the same way.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.service.link.conftest import CALLBACK, query
from webapp.kit.clock import MINUTE
from webapp.service.domain.accounts import attempts, oauth_apps, provider
from webapp.service.domain.accounts.provider import CheckResult
from webapp.service.outbound import oauth, oauth1
from webapp.service.outbound.oauth import TokenResult
from webapp.service.outbound.oauth1 import Temporary
from webapp.service.outbound.oauth_failures import OAuthFailure, failure_for

CALLBACK_SIGNED_FLOW = f"{CALLBACK}/discogs"
GRANT = TokenResult("nnch", None, None, None, "oauth1", {"oauth_token": "nnch", "oauth_token_secret": "pfkk"})


def exchanges(world: Any) -> int:
    return int(world.sandbox.requests.count("POST /oauth/token"))


def test_connecting_in_one_tab(world: Any, browser: Any) -> None:
    page = browser.open(world.token())
    begun = browser.start(page)
    asked = query(begun.headers["Location"])
    assert asked["code_challenge_method"] == "S256" and len(asked["code_challenge"]) == 43
    assert asked["redirect_uri"] == "http://localhost:8600/connect/oauth/callback"
    assert "SameSite=Lax" in begun.headers["Set-Cookie"] and "HttpOnly" in begun.headers["Set-Cookie"]
    back = browser.get(world.sandbox.decide(begun.headers["Location"]))
    (account,) = world.accounts()  # committed before anything is shown
    assert account.healthy and account.identity_name == "Ada Lovelace" and account.external_id == "alice"
    assert account.name == "ada@sandbox.example"
    assert back.status_code == 303 and back.headers["Location"].startswith("/connect/oauth/ended/")
    shown = browser.get(back.headers["Location"])
    assert "Connected" in shown.text and "Ada Lovelace" in shown.text
    assert "code=" not in back.headers["Location"]


@pytest.mark.parametrize(
    ("added_before", "callback", "exchanges"),
    [(False, "/github", 1), (False, "", 0), (False, "/evil", 0), (True, "", 1), (True, "/github", 0)],
)
def test_an_answer_at_the_address_of_another_provider_is_not_exchanged(
    world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch, added_before: bool, callback: str, exchanges: int
) -> None:
    client = oauth_apps.add(world.service, app="github", client_id="c", client_secret="s")
    if added_before:
        with world.service.store.write() as tx:
            tx.run("UPDATE provider_clients SET callback = '' WHERE id = :id", {"id": client.id})
    exchanged = []

    def exchange(client: Any, provider: Any, **sent: str) -> OAuthFailure:
        exchanged.append(sent["redirect_uri"])
        return OAuthFailure("grant_dead", "No.")

    monkeypatch.setattr(oauth, "exchange_code", exchange)
    begun = browser.start(browser.open(world.token(), "&connectLink=true&app=github"), profile="")
    asked = query(begun.headers["Location"])
    assert asked["redirect_uri"] == CALLBACK + ("" if added_before else "/github")
    back = browser.get(f"{CALLBACK}{callback}?code=c&state={asked['state']}")
    assert exchanged == [asked["redirect_uri"]] * exchanges
    refused = browser.get(back.headers["Location"]).text
    assert ("The response did not come from" in refused) is (exchanges == 0)


def test_the_success_address_keeps_its_query_and_fragment(world: Any, browser: Any) -> None:
    token = world.token(success_redirect_uri="https://acme.example/done?a=1&b=x%20y#step-2")
    back = browser.callback(browser.open(token))
    (account,) = world.accounts()
    assert back.status_code == 303
    assert back.headers["Location"] == f"https://acme.example/done?a=1&b=x%20y&account_id={account.id}#step-2"


def test_denying_is_named_and_can_be_tried_again(world: Any, browser: Any) -> None:
    back = browser.callback(browser.open(world.token()), decision="deny")
    shown = browser.get(back.headers["Location"])
    assert "You cancelled" in shown.text and "Start again" in shown.text and "help@acme.example" in shown.text
    assert world.accounts() == []
    again = re.search(r'action="(/_static/connect/ls_\w+)"', shown.text)[1]  # type: ignore[index]
    page = browser.get(f"{again}?again=1&app=sandbox")
    assert browser.callback(page).status_code == 303 and len(world.accounts()) == 1


def test_denying_goes_to_the_error_address(world: Any, browser: Any) -> None:
    token = world.token(error_redirect_uri="https://acme.example/failed?from=link")
    back = browser.callback(browser.open(token), decision="deny")
    assert back.headers["Location"] == "https://acme.example/failed?from=link&error=access_denied"


def test_a_callback_needs_its_state_and_its_browser(world: Any, browser: Any) -> None:
    before = exchanges(world)
    begun = browser.start(browser.open(world.token()))
    url = world.sandbox.decide(begun.headers["Location"])
    state = query(url)["state"]
    for broken in (
        url.replace(f"state={state}", ""),
        url.replace(state, "x" * 43),
        f"{url}&state={state}",
        "/connect/oauth/callback",
    ):
        refused = browser.get(broken)
        assert refused.status_code == 400 and "can no longer be used" in refused.text
    assert world.browser().get(url).status_code == 400  # a foreign browser
    assert exchanges(world) == before and world.accounts() == []
    assert browser.get(url).status_code == 303 and len(world.accounts()) == 1
    replayed = browser.get(url)
    assert replayed.status_code == 400 and "can no longer be used" in replayed.text
    assert exchanges(world) == before + 1 and len(world.accounts()) == 1


def test_a_sign_in_has_15_minutes(world: Any, browser: Any) -> None:
    begun = browser.start(browser.open(world.token()))
    url = world.sandbox.decide(begun.headers["Location"])
    world.clock.advance(16 * MINUTE)
    late = browser.get(browser.get(url).headers["Location"])
    assert "That took too long" in late.text and world.accounts() == []


def test_a_sign_in_that_began_in_time_may_end_after_the_link(world: Any, browser: Any) -> None:
    token = world.token(expires_in=600)
    begun = browser.start(browser.open(token))
    world.clock.advance(11 * MINUTE)
    assert browser.get(world.sandbox.decide(begun.headers["Location"])).status_code == 303
    assert len(world.accounts()) == 1


@pytest.mark.parametrize("iss", ["https://evil.example", None])
def test_an_answer_of_another_issuer_is_not_exchanged(world: Any, browser: Any, iss: str | None) -> None:
    before = exchanges(world)
    begun = browser.start(browser.open(world.token()))
    url = re.sub(r"&?iss=[^&]*", f"&iss={iss}" if iss else "", world.sandbox.decide(begun.headers["Location"]))
    shown = browser.get(browser.get(url).headers["Location"])
    assert "Nothing was connected" in shown.text and "The response did not come from" in shown.text
    assert exchanges(world) == before and world.accounts() == []


def test_the_providers_words_are_quoted_shortened_and_escaped(world: Any, browser: Any) -> None:
    begun = browser.start(browser.open(world.token()))
    state = query(begun.headers["Location"])["state"]
    words = "<script>alert(1)</script>%0A" + "no " * 300
    answer = browser.get(
        f"/connect/oauth/callback?state={state}&error=server_error&error_description={words}&iss={world.sandbox.url}"
    )
    shown = browser.get(answer.headers["Location"]).text
    assert "<script>alert" not in shown and "&lt;script&gt;" in shown and "…”" in shown and len(shown) < 12_000


def test_a_code_that_the_provider_does_not_know_is_refused(world: Any, browser: Any) -> None:
    begun = browser.start(browser.open(world.token()))
    url = re.sub(r"code=[^&]*", "code=guessed", world.sandbox.decide(begun.headers["Location"]))
    shown = browser.get(browser.get(url).headers["Location"])
    assert "Nothing was connected" in shown.text and world.accounts() == []
    assert "The provider" not in shown.text


def test_a_provider_in_trouble_is_named(world: Any, browser: Any) -> None:
    back = browser.callback(browser.open(world.token()), mood="trouble")
    assert "Sandbox Tasks does not answer" in browser.get(back.headers["Location"]).text


def test_reconnecting_keeps_the_account_and_refuses_another_person(world: Any, browser: Any) -> None:
    browser.callback(browser.open(world.token()))
    (account,) = world.accounts()
    link = f"&connectLink=true&accountId={account.id}"
    page = browser.open(world.token(), link)
    assert "Reconnect your Sandbox Tasks account" in page.text and "Ada Lovelace" in page.text
    wrong = browser.callback(page, person="per_grace")
    shown = browser.get(wrong.headers["Location"]).text
    assert "That was another account" in shown and "Ada Lovelace" in shown and "Grace Hopper" in shown
    browser.callback(browser.open(world.token(), link))
    assert [one.id for one in world.accounts()] == [account.id]
    assert "is no longer connected" in browser.open(world.token("bob"), link).text  # somebody else's


def test_a_restart_between_any_two_steps_loses_nothing(world: Any, browser: Any) -> None:
    opened = browser.get(
        f"/_static/connect.html?token={world.token()}&app=sandbox&connectLink=true", sec_fetch_dest="document"
    )
    world.restart()
    page = browser.get(opened.headers["Location"])
    world.restart()
    begun = browser.start(page)
    world.restart()
    url = world.sandbox.decide(begun.headers["Location"])
    world.restart()
    back = browser.get(url)
    world.restart()
    assert "Connected" in browser.get(back.headers["Location"]).text
    assert len(world.accounts()) == 1
    world.restart()
    assert "Connected" in browser.get(opened.headers["Location"]).text  # the page remembers, too


def test_a_crash_in_the_exchange_ends_in_start_again(world: Any, browser: Any) -> None:
    begun = browser.start(browser.open(world.token()))
    url = world.sandbox.decide(begun.headers["Location"])
    attempt = attempts.by_state(world.service, query(url)["state"])
    assert attempt is not None
    binding = begun.headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    attempts.claim_sign_in(world.service, attempt, binding)  # what the process had done when it died
    world.restart()
    shown = browser.get(browser.get(url).headers["Location"])
    assert "was interrupted" in shown.text and "Start again" in shown.text


def test_secrets_stay_out_of_pages_and_the_database(
    world: Any, browser: Any, caplog: pytest.LogCaptureFixture, hidden_fields: Any
) -> None:
    token = world.token(allowed_origins=["https://app.acme.example"])
    page = browser.frame(token)
    begun = browser.start(page, window=True)
    url = world.sandbox.decide(begun.headers["Location"])
    done = browser.get(url)
    shown = browser.get(done.headers["Location"])
    binding = begun.headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    told = browser.post("/_static/connect/status", hidden_fields(page.text, "/_static/connect/status"))
    asked = query(url)
    logged = "".join(record.getMessage() for record in caplog.records if record.name != "werkzeug")  # the sandbox's own
    for secret in (asked["code"], asked["state"], binding, "sbx_at_", "sbx_rt_"):
        assert secret not in shown.text + told.text + logged
    database = b"".join(file.read_bytes() for file in world.service.settings.data.glob("patchbay.db*"))
    attempt = hidden_fields(page.text, "/_static/connect/status")["attempt"]
    for secret in (token, asked["state"], asked["code"], binding, attempt, "sbx_at_"):
        assert secret.encode() not in database


def test_an_answer_that_arrives_eight_times_at_once_is_exchanged_once(world: Any, browser: Any) -> None:
    before = exchanges(world)
    begun = browser.start(browser.open(world.token()))
    url = world.sandbox.decide(begun.headers["Location"], mood="slow")
    name, _, binding = begun.headers["Set-Cookie"].partition(";")[0].partition("=")
    start = Barrier(8)

    def send(_: int) -> int:
        twin = world.browser()
        twin.client.set_cookie(name, binding, domain="localhost", path="/connect/oauth")
        start.wait()
        return int(twin.get(url).status_code)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert exchanges(world) == before + 1 and len(world.accounts()) == 1
    assert set(answers) <= {303, 400} and 303 in answers


def test_names_from_outside_are_text(world: Any, browser: Any) -> None:
    with world.service.store.write() as tx:
        tx.run("UPDATE projects SET app_name = :name", {"name": "<script>alert(1)</script>"})
    page = browser.open(world.token('"><img src=x onerror=alert(1)>'))
    back = browser.callback(page)
    for shown in (page.text, browser.get(back.headers["Location"]).text):
        assert "<script>alert" not in shown and "<img src=x" not in shown


@pytest.fixture
def asked(world: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the provider is asked: addresses to come back to, then verifiers."""
    oauth_apps.add(world.service, app="discogs", client_id="ck", client_secret="cs")
    seen: list[Any] = []

    def begin(_client: Any, _provider: Any, callback: str) -> Temporary:
        seen.append(callback)
        return Temporary("hh5s", "hdhd")

    def exchange(_client: Any, _provider: Any, temporary: Temporary, verifier: str) -> TokenResult | OAuthFailure:
        seen.append((temporary, verifier))
        return GRANT if verifier == "good" else failure_for("invalid_grant")

    monkeypatch.setattr(oauth1, "begin", begin)
    monkeypatch.setattr(oauth1, "exchange", exchange)
    monkeypatch.setattr(provider, "identify", lambda *_: CheckResult("ok", "", "7", "ada", "ada"))
    return seen


def leave(world: Any, browser: Any) -> Any:
    return browser.start(browser.open(world.token(), "&connectLink=true&app=discogs"), profile="")


def test_a_person_connects_and_the_window_knows(world: Any, browser: Any, asked: list[Any]) -> None:
    left = leave(world, browser)
    assert left.headers["Location"] == "https://www.discogs.com/oauth/authorize?oauth_token=hh5s"
    back = asked[0]
    assert back.startswith(f"{CALLBACK_SIGNED_FLOW}?state=") and len(parse_qs(urlsplit(back).query)["state"][0]) == 43
    shown = browser.get(f"{back}&oauth_token=hh5s&oauth_verifier=good")
    (account,) = world.accounts()
    assert (account.app, account.identity_name, account.healthy) == ("discogs", "ada", True)
    assert "oauth_verifier" not in shown.headers["Location"]
    assert "Connected" in browser.get(shown.headers["Location"]).text
    assert asked[1:] == [(Temporary("hh5s", "hdhd"), "good")]
    assert browser.get(f"{back}&oauth_token=hh5s&oauth_verifier=good").status_code >= 300  # the same answer once more
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("denied=hh5s", "You cancelled"),
        ("oauth_token=hh5s", "sent you back without an answer"),
        ("oauth_token=hh5s&oauth_verifier=", "sent you back without an answer"),
        ("oauth_token=hh5s&oauth_token=x&oauth_verifier=good", "sent you back without an answer"),
        ("oauth_token=other&oauth_verifier=good", "The response did not come from"),
        ("oauth_token=hh5s&oauth_verifier=bad", "no longer accepts"),
    ],
)
def test_each_other_answer_has_a_named_ending(
    world: Any, browser: Any, asked: list[Any], answer: str, sentence: str
) -> None:
    leave(world, browser)
    back = browser.get(f"{asked[0]}&{answer}")
    assert sentence in browser.get(back.headers["Location"]).text
    assert world.accounts() == []


def test_another_browser_and_another_address_get_nothing(world: Any, browser: Any, asked: list[Any]) -> None:
    leave(world, browser)
    good = "oauth_token=hh5s&oauth_verifier=good"
    assert world.browser().get(f"{asked[0]}&{good}").status_code == 400
    assert browser.get(f"{CALLBACK_SIGNED_FLOW}?{good}").status_code == 400
    back = browser.get(f"{asked[0]}&{good}".replace("/discogs", "/github"))
    assert "The response did not come from" in browser.get(back.headers["Location"]).text
    assert (world.accounts(), len(asked)) == ([], 1)


def test_a_provider_that_does_not_begin_ends_the_attempt(
    world: Any, browser: Any, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth1, "begin", lambda *_: failure_for("temporarily_unavailable"))
    refused = leave(world, browser)
    assert refused.status_code >= 400 and "cannot answer right now" in refused.text
    assert world.service.store.all("SELECT status FROM connect_attempts") == [{"status": "failed"}]
