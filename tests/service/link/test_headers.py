"""What every answer of the Connect Link carries."""

from typing import Any

from tests.service.link.test_pages import policy


def test_every_answer_keeps_to_itself(world: Any, browser: Any) -> None:
    page = browser.open(world.token())
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["X-Frame-Options"] == "DENY"
    rules = policy(page)
    assert rules["default-src"] == "'none'" and rules["form-action"] == "'self'"
    assert rules["frame-ancestors"] == "'none'" and "unsafe" not in page.headers["Content-Security-Policy"]
