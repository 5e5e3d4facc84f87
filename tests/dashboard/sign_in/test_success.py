"""What a new session begins with, and what somebody is told who has to wait."""

from typing import Any

from flask import request

from webapp.dashboard.sign_in import success
from webapp.kit.networks import UNNAMED_PROXY
from webapp.people import sessions


def test_a_session_begins_and_the_browser_is_known(stage: Any) -> None:
    with stage.request(headers={"User-Agent": "Firefox"}):
        answer = success.sign_in(stage.alice, "/apps")
    cookies = [value.partition("=")[0] for value in answer.headers.getlist("Set-Cookie")]
    assert answer.headers["Location"] == "/apps" and cookies[:2] == ["patchbay_session", "patchbay_device"]
    (session,) = sessions.of_user(stage.store, stage.clock, stage.alice.id)
    assert session.user_agent == "Firefox"


def test_who_has_to_wait_is_told_how_long_and_whose_fault_it_is(stage: Any) -> None:
    with stage.request():
        assert success.too_many(60) == "Too many tries. Wait 1 minute, then try again."
        request.environ[UNNAMED_PROXY] = "127.0.0.1"
        assert success.too_many(60).endswith("name its proxy in PATCHBAY_TRUSTED_PROXIES.")
