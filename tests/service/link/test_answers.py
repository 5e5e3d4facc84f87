"""How the Connect Link answers: nothing is used up by looking, and whatever fails has an ending."""

from typing import Any

import pytest

from webapp.service.domain.projects import projects


def test_a_look_ahead_uses_nothing_up(world: Any, browser: Any) -> None:
    answer = browser.client.head(f"/_static/connect.html?token={world.token()}", base_url="http://localhost:8600")
    assert answer.status_code == 200 and "Set-Cookie" not in answer.headers


def test_a_crash_is_an_ending(world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "get", lambda *_: 1 / 0)
    page = browser.get(f"/_static/connect.html?token={world.token()}")
    assert page.status_code == 500 and "Something went wrong here" in page.text and "division" not in page.text
