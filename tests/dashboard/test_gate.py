"""Every route: who may pass, that nothing changes without a form token, and the headers of every answer."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.every import of_every
from webapp.dashboard.gate import OPEN
from webapp.kit import assets

FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)
TOKEN = re.compile(r"\bcsrf(_token)?\(\)")
INCLUDED = re.compile(r'{% include "([^"]+)"')
TEMPLATES = sorted(
    path for name in ("dashboard", "layouts", "shared") for path in (assets.templates_dir() / name).rglob("*.html")
)

VALUES = {
    "account_id": "apn_000000x", "slug": "github", "session_id": "0123456789abcdef",
    "kind": "actions", "key": "github-create-issue", "name": "title", "run_id": "run_1",
    "trigger_id": "dc_000000x", "event_id": "evt_0", "delivery_id": "dlv_0", "endpoint_id": "wh_000x",
    "tab": "deliveries", "entry_id": "evt_0", "source": "pages",
}  # fmt: skip


def routes(app: Any) -> Iterator[tuple[str, str, str]]:
    """Endpoint, method and an address of everything that the dashboard answers."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("dashboard."):
            for method in sorted(rule.methods - {"HEAD", "OPTIONS"}):
                _, url = rule.build({name: VALUES.get(name, "id_000000x") for name in rule.arguments})
                yield rule.endpoint, method, url


def test_there_are_routes_to_check(stage: Any) -> None:
    assert len(list(routes(stage.app))) >= 24
    assert {endpoint for endpoint, _, _ in routes(stage.app)} > OPEN


def test_visitors_are_led_to_the_sign_in_page(busy: Any) -> None:
    client = busy.app.test_client()
    for endpoint, method, url in routes(busy.app):
        if endpoint in OPEN:
            continue
        answer = client.open(url, method=method)
        assert answer.status_code == 303, (method, url)
        assert answer.headers["Location"].startswith("/sign-in"), (method, url)
        by_htmx = client.open(url, method=method, headers={"HX-Request": "true"})
        assert by_htmx.status_code == 401, (method, url)
        assert by_htmx.headers["HX-Redirect"].startswith("/sign-in")
        assert by_htmx.data == b""
    assert busy.connect.seen == []


@pytest.mark.parametrize("token", [None, "", "guess", "IjEyMyI.aaaa.bbbb"])
def test_nothing_changes_without_a_form_token(busy: Any, token: str | None) -> None:
    client = busy.signed_in().client
    busy.connect.seen.clear()
    checked = 0
    for endpoint, method, url in routes(busy.app):
        if method == "GET" or endpoint == "dashboard.portal.renew":  # the handle of a portal proves who asks
            continue
        data = {} if token is None else {"csrf_token": token}
        answer = client.open(url, method=method, data=data)
        assert answer.status_code == 400, (method, url)
        assert "Go back, reload the page and send it again." in answer.text
        checked += 1
    assert checked >= 12
    assert busy.connect.seen == []
    assert client.get("/settings").status_code == 200


@of_every("path", TEMPLATES)
def test_every_form_sends_the_token(path: Path) -> None:
    """Tests send forms of their own making; a browser without JavaScript sends what stands in the template."""
    forms = [form for form in FORM.findall(path.read_text("utf-8")) if 'method="post"' in form]
    assert [form for form in forms if not sends_token(form)] == [], "put csrf() of shared/forms.html into each form"


def sends_token(part: str) -> bool:
    """Whether this part of a template has the token, or includes a template that has it."""
    included = ((assets.templates_dir() / name).read_text("utf-8") for name in INCLUDED.findall(part))
    return TOKEN.search(part) is not None or any(map(sends_token, included))


def test_a_form_without_a_token_is_found() -> None:
    sent, other = FORM.findall('<form method="post">{{ csrf() }}</form> <form method="post"><input></form>')
    assert sends_token(sent) and not sends_token(other)
    assert sends_token('{% include "dashboard/account/_name_form.html" %}')


def test_a_token_of_another_browser_does_not_count(busy: Any) -> None:
    other = busy.browser()
    page = other.get("/sign-in").text
    token = page.split('name="csrf_token" value="')[1].split('"')[0]
    answer = busy.signed_in().client.post("/accounts/apn_000000x/disconnection", data={"csrf_token": token})
    assert answer.status_code == 400
    assert "apn_000000x" in busy.connect.accounts


def test_form_token_may_come_as_a_header(busy: Any) -> None:
    browser = busy.signed_in()
    page = browser.get("/settings").text
    token = page.split('name="csrf_token" value="')[1].split('"')[0]
    answer = browser.client.post("/accounts/apn_000000x/test", headers={"X-CSRFToken": token, "HX-Request": "true"})
    assert answer.status_code == 200


def test_other_names_of_this_machine_lead_to_the_public_address(stage: Any) -> None:
    answer = stage.app.test_client().get("/apps?q=a", base_url="http://127.0.0.1:8600")
    assert (answer.status_code, answer.headers["Location"]) == (302, "http://localhost/apps?q=a")


def test_headers_of_every_page(busy: Any) -> None:
    browser = busy.signed_in()
    for url in ("/apps", "/accounts", "/accounts/apn_000000x", "/logs", "/settings", "/nowhere", "/sign-in"):
        headers = browser.get(url).headers
        policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "camera=()" in headers["Permissions-Policy"]
        assert "HX-Request" in headers["Vary"]


def test_nonces_are_not_repeated(stage: Any) -> None:
    browser = stage.browser()
    policies = {browser.get("/sign-in").headers["Content-Security-Policy"] for _ in range(3)}
    assert len(policies) == 3


def test_pages_travel_small(stage: Any) -> None:
    for number in range(100):
        stage.connect.add_app(f"more-{number:03}", f"More {number:03}", description="A sentence about it. " * 3)
        stage.connect.add_account(stage.alice.id, "github")
    browser = stage.signed_in()
    for url in ("/apps", "/apps/github", "/accounts", "/accounts/apn_000000x", "/logs", "/settings"):
        answer = browser.get(url, **{"Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-origin"})
        assert answer.headers["Content-Encoding"] == "gzip"
        assert len(answer.data) < 12_000, url
        assert b"</html>" in gzip.decompress(answer.data)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_asks_for_is_not_compressed(stage: Any, site: str) -> None:
    answer = stage.signed_in().get("/apps", **{"Accept-Encoding": "gzip", "Sec-Fetch-Site": site})
    assert "Content-Encoding" not in answer.headers
    assert "Sec-Fetch-Site" in answer.headers["Vary"]
