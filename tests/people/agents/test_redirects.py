"""Where agents may be told: never an address that a browser would run or read."""

import pytest

from webapp.people.agents import redirects


@pytest.mark.parametrize(
    "uri",
    [
        "https://agent.example/callback", "http://localhost:33418/", "http://127.0.0.1/callback", "http://[::1]:1/x",
        "cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/callback", "https://agent.example/cb?x=1",
    ],
)  # fmt: skip
def test_usable(uri: str) -> None:
    assert redirects.usable(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "", "javascript:/alert(1)", "JavaScript:/alert(1)", "data:/text/html,x", "http://agent.example/", "https://",
        "https://a@agent.example/", "https://agent.example/#x", "https://agent.example/ x", "//agent.example",
        "http://localhost.evil.example/", "http://localhost@evil.example/", "file:///etc/passwd", "cursor:callback",
        "https://agent.example\\@evil.example/", "https://agent.example:0/", "https://[", "https://ex\u00e4mple.com/",
        "https://agent.example/" + "x" * 1_000, "https://a.example;sandbox/", "https://a.example,x/",
        "https://a.example%2f.b.example/", "https://a.example:/", "blob:/x", "view-source:/x", "intent:/x", "urn:/x",
    ],
)  # fmt: skip
def test_not_usable(uri: str) -> None:
    assert not redirects.usable(uri)


def test_only_the_port_of_this_machine_is_free() -> None:
    registered = ("http://127.0.0.1/callback", "https://agent.example/cb")
    assert redirects.matches("http://127.0.0.1:5005/callback", registered)
    assert redirects.matches("https://agent.example/cb", registered)
    for uri in (
        "http://127.0.0.1:5005/other", "http://localhost:5005/callback", "http://127.0.0.1:5005/callback?x",
        "https://agent.example/cb/", "https://agent.example:8443/cb", "https://agent.example/cb?x",
        "https://AGENT.example/cb",
    ):  # fmt: skip
        assert not redirects.matches(uri, registered), uri


def test_where_it_leads() -> None:
    assert redirects.place("https://agent.example:8443/cb") == "agent.example:8443"
    assert redirects.place("cursor://x/y") == "cursor:"
    assert redirects.place("http://localhost:1/x") == ""
