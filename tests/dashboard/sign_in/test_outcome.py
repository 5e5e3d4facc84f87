"""What a new session begins with, and what somebody is told who has to wait."""

from typing import Any

from flask import request

from webapp.dashboard.sign_in import outcome
from webapp.dashboard.sign_in.outcome import refused
from webapp.kit.networks import UNNAMED_PROXY
from webapp.people import sessions


def test_it_says_why_and_leads_to_the_sign_in_page(stage: Any) -> None:
    with stage.app.test_request_context("/"):
        answers = [refused("No <way>", "It is gone.", code=429), refused("No", "Gone.", way_on="Back")]
    texts = [answer.get_data(as_text=True) for answer in answers]
    assert [answer.status_code for answer in answers] == [429, 403]
    assert "No &lt;way&gt;" in texts[0] and "It is gone." in texts[0]
    assert 'href="/sign-in"' in texts[0] and "Sign in instead" in texts[0]
    assert "Back" in texts[1] and "Sign in instead" not in texts[1]


def test_a_session_begins_and_the_browser_is_known(stage: Any) -> None:
    with stage.request(headers={"User-Agent": "Firefox"}):
        answer = outcome.sign_in(stage.alice, "/apps")
    cookies = [value.partition("=")[0] for value in answer.headers.getlist("Set-Cookie")]
    assert answer.headers["Location"] == "/apps" and cookies[:2] == ["patchbay_session", "patchbay_device"]
    (session,) = sessions.of_user(stage.store, stage.clock, stage.alice.id)
    assert session.user_agent == "Firefox"


def test_who_has_to_wait_is_told_how_long_and_whose_fault_it_is(stage: Any) -> None:
    with stage.request():
        assert outcome.too_many(60) == "Too many tries. Wait 1\xa0minute, then try again."
        request.environ[UNNAMED_PROXY] = "127.0.0.1"
        assert outcome.too_many(60).endswith("name its proxy in PATCHBAY_TRUSTED_PROXIES.")
