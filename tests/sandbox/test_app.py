"""What holds for the whole sandbox: headers, cookie, host, CSRF, refusal to start elsewhere."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
import requests

from tests.sandbox.conftest import ROOT, Served, build
from webapp.kit.clock import FakeClock
from webapp.sandbox.app import create_sandbox


@pytest.mark.parametrize("path", ["/", "/keys", "/api/me", "/nothing", "/receiver/x", "/oauth/authorize"])
def test_security_headers(served: Served, path: str) -> None:
    headers = requests.get(f"{served.url}{path}", timeout=10).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_cookie_has_its_own_name_and_is_guarded(served: Served) -> None:
    cookie = requests.get(f"{served.url}/receiver", timeout=10).headers["Set-Cookie"]
    assert cookie.startswith("sandbox_session=")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil", "[::1", "10.0.0.1"])
def test_foreign_host_is_refused(served: Served, host: str) -> None:
    answer = requests.get(f"{served.url}/keys", headers={"Host": host}, timeout=10)
    assert answer.status_code == 400
    assert "sbx_live_" not in answer.text


def test_other_loopback_names_are_fine(served: Served) -> None:
    port = served.url.rsplit(":", 1)[1]
    assert requests.get(f"{served.url}/", headers={"Host": f"localhost:{port}"}, timeout=10).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/tasks",
        "/tasks/x/done",
        "/accounts/x/revoke",
        "/accounts/x/behaviour",
        "/settings/receiver/answer",
        "/settings/receiver/key",
        "/settings/receiver/clear",
        "/oauth/authorize",
        "/product/token",
        "/product/connect",
    ],
)
def test_every_form_needs_its_token(served: Served, path: str) -> None:
    answer = requests.post(f"{served.url}{path}", data={"csrf_token": "x"}, timeout=10)
    assert answer.status_code == 400
    assert "reload the page" in answer.text


def test_every_posting_route_is_named_above_or_is_for_programs(served: Served) -> None:
    posting = {str(rule) for rule in served.app.url_map.iter_rules() if "POST" in (rule.methods or ())}
    programs = {rule for rule in posting if rule.startswith(("/api/", "/oauth/token", "/oauth/revoke", "/receiver/"))}
    assert posting - programs == {
        "/tasks",
        "/tasks/<task_id>/done",
        "/accounts/<grant_id>/revoke",
        "/accounts/<grant_id>/behaviour",
        "/settings/receiver/answer",
        "/settings/receiver/key",
        "/settings/receiver/clear",
        "/oauth/authorize",
        "/product/token",
        "/product/connect",
    }


@pytest.mark.parametrize("url", ["http://sandbox.example", "http://10.0.0.1:8001", "https://1.2.3.4", "nonsense"])
def test_refuses_to_start_where_others_could_reach_it(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match="loopback"):
        create_sandbox(tmp_path, url, "c", "s", [], ROOT / "templates", ROOT / "static")
    assert list(tmp_path.iterdir()) == []


def test_restart_keeps_keys_and_does_not_seed_twice(tmp_path: Path) -> None:
    first, second = (build(tmp_path, "http://localhost:1", FakeClock()).extensions["sandbox"] for _ in range(2))
    assert [key.secret for key in first.keys.working] == [key.secret for key in second.keys.working]
    assert len(second.projects.all()) == 200
    for path in tmp_path.iterdir():
        if path.suffix in (".db", ".key"):
            assert path.stat().st_mode & 0o077 == 0


ODD = ("\x00", "\ud800", "ü" * 200, "' OR 1=1 --", "../../etc/passwd", "9" * 400, "-1", "1e999", "[", "\r\nA: b")
FORM = ("person", "title", "field.hours", "behaviour", "decision", "answer", "key", "token", "code", "grant_type")
QUERY = ("q", "page", "since", "sort", "project", "path", "state", "scope", "redirect_uri", "client_id", "per_page")


@pytest.mark.parametrize("odd", ODD)
def test_odd_input_never_is_a_server_error(served: Served, odd: str) -> None:
    served.app.config["WTF_CSRF_ENABLED"] = False  # so that forms reach what stands behind their check
    value = odd.encode("utf-8", "surrogatepass")
    query = "&".join(f"{name}={quote(value)}" for name in QUERY)
    with served.app.test_client() as client:
        for rule in served.app.url_map.iter_rules():
            path = re.sub("<[^>]+>", quote(value), str(rule))
            for method in ("GET", "POST"):
                answer = client.open(
                    f"{path}?{query}",
                    method=method,
                    data="&".join(f"{name}={quote(value)}" for name in FORM),
                    headers={"X-Api-Key": served.key(), "Host": "127.0.0.1"},
                    content_type="application/x-www-form-urlencoded",
                )
                assert answer.status_code < 500, (method, path)
