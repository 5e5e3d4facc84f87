"""The consent page in a real browser without JavaScript, and what its policy lets through."""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from werkzeug.serving import make_server

from tests.browser.conftest import chromium
from tests.sandbox.conftest import CLIENT, ROOT, VERIFIER, Served
from webapp.sandbox.app import create_sandbox
from webapp.sandbox.state import EXTENSION

__all__ = ["chromium"]
pytestmark = pytest.mark.browser


@pytest.fixture
def landing() -> Iterator[str]:
    """An application on an origin of its own that sends whoever returns on to yet another origin."""

    def app(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        onward = f"http://localhost:{server.server_port}/end?{environ['QUERY_STRING']}"
        if environ["PATH_INFO"] == "/callback":
            start("303 See Other", [("Location", onward)])
            return [b""]
        start("200 OK", [("Content-Type", "text/plain")])
        return [b"arrived"]

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page without JavaScript."""
    page = chromium.new_page(java_script_enabled=False)
    yield page
    page.close()


def test_allow_by_keyboard_survives_redirects_to_other_origins(served: Served, landing: str, page: Any) -> None:
    fresh = create_sandbox(
        served.data, served.url, *CLIENT, [f"{landing}/callback"], ROOT / "templates", ROOT / "static"
    )
    served.app.extensions[EXTENSION] = fresh.extensions[EXTENSION]
    with served.client(scope="profile") as client:
        client.redirect_uri = f"{landing}/callback"
        address, _ = client.create_authorization_url(f"{served.url}/oauth/authorize", code_verifier=VERIFIER)
    reports: list[str] = []
    page.on("console", lambda message: reports.append(message.text))
    page.goto(address)
    page.focus("input[name=person]:checked")
    page.keyboard.press("ArrowDown")
    page.focus("summary")
    page.keyboard.press("Enter")
    page.get_by_label("Short-lived").check()
    page.focus("button[value=allow]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/end?**")
    assert page.inner_text("body") == "arrived"
    code = page.url.split("code=")[1].split("&")[0]
    token = served.token(code, redirect_uri=f"{landing}/callback").json()
    assert token["expires_in"] == 60
    assert served.api("GET", "me", token["access_token"]).json()["name"] == "Grace Hopper"
    assert reports == []
