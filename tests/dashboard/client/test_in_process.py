"""The embedded service is called without a socket, and nothing of the browser crosses over."""

from collections.abc import Callable, Iterator
from typing import Any

from webapp.dashboard.client.in_process import InProcess


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


def test_the_app_gets_the_request_and_is_closed() -> None:
    seen: list[dict[str, Any]] = []
    closed: list[bool] = []

    class Pieces:
        def __iter__(self) -> Iterator[bytes]:
            return iter((b"two ", b"pieces"))

        def close(self) -> None:
            closed.append(True)

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Pieces:
        seen.append(environ)
        start_response("418 I'm a teapot", [("Retry-After", "5")])
        return Pieces()

    sender = InProcess(app)
    answer = sender.send("POST", "https://x.example/a%2Fb?c=1", {"Content-Type": "text/x", "X-A": "1"}, b"body", 1.0)
    assert answer == (418, {"retry-after": "5"}, b"two pieces") and closed == [True]
    (environ,) = seen
    assert (environ["PATH_INFO"], environ["REQUEST_URI"], environ["QUERY_STRING"]) == ("/a/b", "/a%2Fb?c=1", "c=1")
    assert (environ["CONTENT_TYPE"], environ["HTTP_X_A"], environ["wsgi.input"].read()) == ("text/x", "1", b"body")
    assert (environ["SERVER_PORT"], environ["CONTENT_LENGTH"]) == ("443", "4")
