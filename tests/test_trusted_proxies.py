"""The Host that is ours, and forwarded headers that count from trusted proxies alone."""

from pathlib import Path
from typing import Any

import pytest

from webapp.kit.networks import UNNAMED_PROXY
from webapp.settings import Settings
from webapp.trusted_proxies import allowed_hosts, trusted


def settings(data: Path, public_url: str, proxies: str = "") -> Settings:
    env = {"PATCHBAY_PUBLIC_URL": public_url, "PATCHBAY_TRUSTED_PROXIES": proxies}
    return Settings.from_env({name: value for name, value in env.items() if value}, data=data)


def ask(made: Settings, peer: str = "192.0.2.7", path: str = "/", **headers: str) -> tuple[str, dict[str, Any]]:
    """The status, and what the application would have seen."""
    seen: dict[str, Any] = {}
    status: list[str] = []

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        seen.update(environ)
        start_response("200 OK", [])
        return [b"ok"]

    environ = {"REMOTE_ADDR": peer, "PATH_INFO": path, "wsgi.url_scheme": "http", **headers}
    list(trusted(application, made)(environ, lambda line, _headers: status.append(line)))  # type: ignore[arg-type]
    return status[0], seen


@pytest.mark.parametrize(
    ("public_url", "hosts"),
    [
        ("https://connect.example.com", {"connect.example.com", "connect.example.com:443"}),
        ("https://connect.example.com:8443", {"connect.example.com:8443"}),
        ("http://connect.example.com", {"connect.example.com", "connect.example.com:80"}),
        ("http://localhost:8600", {"localhost:8600", "127.0.0.1:8600", "[::1]:8600"}),
        ("http://[::1]:8600", {"localhost:8600", "127.0.0.1:8600", "[::1]:8600"}),
    ],
)
def test_the_hosts_that_are_ours(data: Path, public_url: str, hosts: set[str]) -> None:
    assert allowed_hosts(settings(data, public_url)) == hosts


@pytest.mark.parametrize(
    ("host", "passes"),
    [
        ("connect.example.com", True), ("CONNECT.example.com", True), ("connect.example.com:443", True),
        ("connect.example.com:80", False), ("connect.example.com.", False), ("evil.example.com", False),
        ("connect.example.com.evil.com", False), ("connect.example.com@evil.com", False), ("", False),
        ("connect.example.com, evil.com", False), (" connect.example.com", False), ("localhost", False),
    ],
)  # fmt: skip
def test_a_foreign_host_gets_400_and_reaches_nothing(data: Path, host: str, passes: bool) -> None:
    status, seen = ask(settings(data, "https://connect.example.com"), HTTP_HOST=host)
    assert (status == "200 OK", bool(seen)) == (passes, passes)
    assert passes or status == "400 Bad Request"


def test_a_request_without_host_gets_400(data: Path) -> None:
    assert ask(settings(data, "https://connect.example.com"))[0] == "400 Bad Request"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_may_come_by_any_name(data: Path, path: str) -> None:
    assert ask(settings(data, "https://connect.example.com"), path=path, HTTP_HOST="10.0.0.4:8600")[0] == "200 OK"


FORWARDED = {
    "HTTP_X_FORWARDED_FOR": "203.0.113.5", "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_X_FORWARDED_HOST": "connect.example.com", "HTTP_FORWARDED": "for=203.0.113.5",
}  # fmt: skip


@pytest.mark.parametrize("proxies", ["", "10.0.0.0/8", "192.0.2.8", "2001:db8::/32"])
def test_strangers_forward_nothing(data: Path, proxies: str) -> None:
    made = settings(data, "https://connect.example.com", proxies)
    status, seen = ask(made, **FORWARDED, HTTP_HOST="connect.example.com")
    assert status == "200 OK"
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"]) == ("192.0.2.7", "http")
    assert not [name for name in seen if "FORWARDED" in name]
    assert ask(made, **FORWARDED, HTTP_HOST="evil.example.com")[0] == "400 Bad Request"


@pytest.mark.parametrize(("peer", "proxies"), [("192.0.2.7", "192.0.2.0/24"), ("2001:db8::9", "10.0.0.1, 2001:db8::9")])
def test_a_trusted_proxy_is_believed(data: Path, peer: str, proxies: str) -> None:
    made = settings(data, "https://connect.example.com", proxies)
    status, seen = ask(made, peer, **FORWARDED, HTTP_HOST="inside:8600")
    assert status == "200 OK"
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"]) == ("203.0.113.5", "https")
    assert seen["HTTP_HOST"] == "connect.example.com"
    assert not [name for name in seen if "FORWARDED" in name]


def test_of_several_entries_the_nearest_proxys_own_counts(data: Path) -> None:
    """What a client wrote itself stands before it, and proves nothing."""
    made = settings(data, "https://connect.example.com", "192.0.2.7")
    forged = {"HTTP_X_FORWARDED_FOR": "127.0.0.1, 203.0.113.5", "HTTP_X_FORWARDED_PROTO": "gopher"}
    _, seen = ask(made, **forged, HTTP_HOST="connect.example.com")
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"]) == ("203.0.113.5", "http")


def test_a_proxy_cannot_name_a_foreign_host(data: Path) -> None:
    made = settings(data, "https://connect.example.com", "192.0.2.7")
    assert ask(made, HTTP_X_FORWARDED_HOST="evil.example.com")[0] == "400 Bad Request"


@pytest.mark.parametrize("peer", ["", "not an address", "unix:"])
def test_a_peer_without_an_address_is_not_trusted(data: Path, peer: str) -> None:
    made = settings(data, "https://connect.example.com", "0.0.0.0/0")
    assert ask(made, peer, **FORWARDED, HTTP_HOST="connect.example.com")[1]["REMOTE_ADDR"] == peer


@pytest.mark.parametrize(
    ("public_url", "peer", "headers", "proxies", "unnamed"),
    [
        ("https://connect.example.com", "127.0.0.1", {}, "", True),
        ("https://connect.example.com", "::ffff:127.0.0.1", {}, "", True),
        ("https://connect.example.com", "127.0.0.1", {}, "127.0.0.1", False),
        ("https://connect.example.com", "10.0.0.9", {"HTTP_X_FORWARDED_FOR": "8.8.8.8"}, "", True),
        ("https://connect.example.com", "10.0.0.9", {"HTTP_FORWARDED": "for=8.8.8.8"}, "10.0.0.0/8", False),
        ("https://connect.example.com", "10.0.0.9", {}, "", False),
        ("https://connect.example.com", "8.8.8.8", {"HTTP_X_FORWARDED_FOR": "1.1.1.1"}, "", False),
        ("https://connect.example.com", "127.0.0.1", {"PATH_INFO": "/healthz"}, "", False),
        ("http://localhost", "127.0.0.1", {}, "", False),
        ("http://localhost", "", {}, "", False),
    ],
)
def test_a_proxy_that_nobody_named_is_told_apart_and_warned_of_once(
    data: Path, caplog: pytest.LogCaptureFixture, public_url: str, peer: str, headers: Any, proxies: str, unnamed: bool
) -> None:
    made = settings(data, public_url, proxies)
    _, seen = ask(made, peer, HTTP_HOST=public_url.partition("//")[2], **headers)
    assert (UNNAMED_PROXY in seen) is unnamed
    assert [record.levelname for record in caplog.records] == ["WARNING"] * unnamed
    assert not unnamed or f"A proxy at {peer} forwards requests" in caplog.text
