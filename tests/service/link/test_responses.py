"""How the Connect Link responds: nothing is used up by looking, whatever fails has an ending, and every response has
its headers.
"""

from typing import Any

import pytest

from tests.service.link.test_pages import policy
from webapp.service.domain.projects import projects


def test_a_look_ahead_uses_nothing_up(world: Any, browser: Any) -> None:
    answer = browser.client.head(f"/_static/connect.html?token={world.token()}", base_url="http://localhost:8600")
    assert answer.status_code == 200 and "Set-Cookie" not in answer.headers


def test_a_crash_is_an_ending(world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "get", lambda *_: 1 / 0)
    page = browser.get(f"/_static/connect.html?token={world.token()}")
    assert page.status_code == 500 and "Something went wrong here" in page.text and "division" not in page.text


def test_every_answer_keeps_to_itself(world: Any, browser: Any) -> None:
    page = browser.open(world.token())
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["X-Frame-Options"] == "DENY"
    rules = policy(page)
    assert rules["default-src"] == "'none'" and rules["form-action"] == "'self'"
    assert rules["frame-ancestors"] == "'none'" and "unsafe" not in page.headers["Content-Security-Policy"]
