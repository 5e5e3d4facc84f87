"""The embedded service is called without a socket, and nothing of the browser crosses over."""

from typing import Any


def test_nothing_of_the_browser_crosses_to_the_service(busy: Any) -> None:
    browser = busy.signed_in()
    browser.client.set_cookie("secret", "canary-cookie")
    busy.connect.seen.clear()
    browser.get("/accounts", **{"X-Forwarded-For": "203.0.113.9", "X-Canary": "canary-header", "Origin": "https://x"})
    assert busy.connect.seen
    for _, _, _, environ in busy.connect.seen:
        text = str(environ)
        assert "canary" not in text
        assert environ["REMOTE_ADDR"] == ""
        assert environ["HTTP_HOST"] == "localhost"
        assert "HTTP_COOKIE" not in environ
        assert "HTTP_ORIGIN" not in environ
        assert "HTTP_X_FORWARDED_FOR" not in environ
