"""Every address of the application, read from its own table: protecting headers, form tokens, and its Host alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from tests.fakes.installation import Installation, copied
from tests.fakes.thirdparty import ThirdParty
from tests.security.conftest import own_client
from webapp.kit.clock import FakeClock, now
from webapp.people import users

PASSWORD = "a password of the tests"
ORIGIN = "https://app.example.com"
NOBODY = {
    "filename": "css/patchbay.css", "slug": "acme", "project_id": "proj_none", "ctok": "ctok_none", "app": "acme",
    "category_id": "appcat_none", "account_id": "apn_none", "external_user_id": "nobody", "rest": "nothing",
    "session_id": "ls_none", "secret": "nothing", "attempt_id": "nothing", "component_id": "acme-nothing",
    "kind": "actions", "key": "acme-nothing", "name": "nothing", "run_id": "run_none",
}  # fmt: skip
PUBLIC_FILES = (
    "static", "logo", "healthz", "readyz", "api_reference.description", "api_reference.reference",
    "manual.index", "manual.find", "manual.page", "manual.file",
    "embed.embed_js", "embed.embed_mjs", "embed.embed_d_ts", "client_document.show",
)  # fmt: skip
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@dataclass
class Visitor:
    """Somebody with cookies; everything is asked of the public address."""

    installation: Installation
    client: FlaskClient

    def ask(self, method: str, path: str, **more: object) -> TestResponse:
        return self.client.open(path, method=method, base_url=self.installation.url, buffered=True, **more)  # type: ignore[arg-type]

    def form_token(self) -> str:
        found = re.search(r'name="csrf_token" value="([^"]+)"', self.ask("GET", "/settings").text)
        assert found
        return found[1]


@pytest.fixture(scope="module")
def installation(
    tmp_path_factory: pytest.TempPathFactory, running_party: ThirdParty, prepared_folder: Path
) -> Iterator[Installation]:
    """One for all these tests, none of which leaves anything: they read, or are refused, with cookies of their own."""
    data = tmp_path_factory.mktemp("headers")
    made = Installation(
        copied(prepared_folder, data), clock=FakeClock(now()), PATCHBAY_ALLOW_HOSTS=running_party.netloc
    )
    own_client(made)
    yield made
    made.stop()


@pytest.fixture
def visitor(installation: Installation) -> Visitor:
    return Visitor(installation, installation.app.test_client())


@pytest.fixture(scope="module")
def owner(installation: Installation) -> str:
    """The address of somebody who may sign in."""
    email = "a@example.com"
    users.create(installation.service.store, installation.clock, email=email, password=PASSWORD, role="owner")
    return email


@pytest.fixture
def person(installation: Installation, owner: str) -> Visitor:
    """Somebody who is signed in, in a browser of their own."""
    made = Visitor(installation, installation.app.test_client())
    page = made.ask("GET", "/sign-in").text
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert found
    form = {"csrf_token": found[1], "email": owner, "password": PASSWORD}
    assert made.ask("POST", "/sign-in", data=form).status_code == 303
    return made


def rules(installation: Installation) -> list[Rule]:
    return list(installation.app.url_map.iter_rules())


def path_of(rule: Rule) -> str:
    path = re.sub(r"<(?:[^:<>]+:)?(\w+)>", lambda found: NOBODY.get(found[1], "none"), rule.rule)
    assert "<" not in path
    return path


def addresses(installation: Installation) -> Iterator[tuple[str, str, str]]:
    """Each endpoint with each method that it answers, and one address."""
    for rule in rules(installation):
        for method in sorted((rule.methods or set(METHODS)) - {"HEAD"}):
            yield rule.endpoint, method, path_of(rule)
    for path in ("/nothing", "/accounts/", "/v1/nothing", "/_static/nothing", "/static/nothing.css", "/logos/no.svg"):
        yield "nobody's", "GET", path
        yield "nobody's", "POST", path


def check(answer: TestResponse, label: str) -> None:
    policy = answer.headers.get("Content-Security-Policy", "")
    assert policy.startswith("default-src 'none'"), label
    assert "unsafe" not in policy and "*" not in policy and "http:" not in policy.split(), label
    assert answer.headers.get("X-Content-Type-Options") == "nosniff", label
    assert answer.headers.get("Referrer-Policy") in ("no-referrer", "same-origin"), label
    if answer.mimetype == "text/html":
        assert "base-uri 'none'" in policy and "frame-ancestors 'none'" in policy, label
    assert "Server" not in answer.headers and "X-Powered-By" not in answer.headers


def test_every_address_answers_with_protecting_headers(
    installation: Installation, visitor: Visitor, person: Visitor
) -> None:
    for who, asking in (("a visitor", visitor), ("a person", person)):
        seen = set()
        for endpoint, method, path in addresses(installation):
            if endpoint == "dashboard.session.end":
                continue
            answer = asking.ask(method, path)
            label = f"{who}: {method} {path} ({answer.status_code})"
            assert answer.status_code < 500, label
            check(answer, label)
            if endpoint not in PUBLIC_FILES and endpoint != "nobody's":
                assert answer.headers.get("Cache-Control") == "no-store", label
            seen.add(endpoint)
        assert len(seen) > 45
    assert person.ask("GET", "/settings").status_code == 200, (
        "the person was signed out, and was a visitor from then on"
    )


def test_pages_with_accounts_are_never_kept(installation: Installation, person: Visitor) -> None:
    for path in ("/", "/apps", "/apps/acme", "/accounts", "/logs", "/settings"):
        answer = person.ask("GET", path)
        check(answer, path)
        assert answer.headers["Cache-Control"] == "no-store", path
        assert answer.headers["Referrer-Policy"] == "same-origin", path


def test_every_page_has_a_nonce_of_its_own(person: Visitor) -> None:
    found = [re.search(r"'nonce-([^']+)'", person.ask("GET", "/apps").headers["Content-Security-Policy"]) for _ in "ab"]
    assert found[0] and found[1] and found[0][1] != found[1][1]


def test_the_link_is_framed_by_the_tokens_origins_only(installation: Installation, visitor: Visitor) -> None:
    token = installation.token(allowed_origins=[ORIGIN, "https://other.example.com"])
    link = installation.link(token, "acme").removeprefix(installation.url)
    framed = visitor.ask("GET", link, headers={"Sec-Fetch-Dest": "iframe"})
    policy = framed.headers["Content-Security-Policy"]
    assert policy.endswith(f"frame-ancestors {ORIGIN} https://other.example.com")
    assert "unsafe" not in policy and "X-Frame-Options" not in framed.headers
    assert framed.headers["Referrer-Policy"] == "no-referrer" and framed.headers["Cache-Control"] == "no-store"
    top = visitor.ask("GET", link, headers={"Sec-Fetch-Dest": "document"})
    page = visitor.ask("GET", top.headers["Location"])
    check(page, "the link as a page of its own")
    assert page.headers["X-Frame-Options"] == "DENY"
    none = visitor.ask(
        "GET", installation.link(installation.token(), "acme").removeprefix(installation.url),
        headers={"Sec-Fetch-Dest": "iframe"},
    )  # fmt: skip
    assert none.status_code == 403 and "<form" not in none.text and "ctok_" not in none.text  # anybody may frame that


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(installation: Installation, person: Visitor) -> None:
    link = installation.link(installation.token(), "acme").removeprefix(installation.url)
    opened = person.ask("GET", link, headers={"Sec-Fetch-Dest": "document"})
    page = person.ask("GET", opened.headers["Location"])
    start = re.search(r'data-start href="([^"]*)"', page.text)
    assert start
    begun = person.ask("GET", start[1].replace("&amp;", "&"))
    fresh = Visitor(installation, installation.app.test_client()).ask("GET", "/sign-in")
    cookies = [cookie for answer in (opened, begun, fresh) for cookie in answer.headers.getlist("Set-Cookie")]
    assert len(cookies) == 3
    for cookie in cookies:
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Domain" not in cookie, cookie


def test_every_form_of_the_dashboard_needs_its_token(installation: Installation, person: Visitor) -> None:
    """From a browser that is signed in, as another site could make it send them."""
    tried, broken = 0, person.form_token()[:-1]
    for endpoint, method, path in addresses(installation):
        if not endpoint.startswith("dashboard.") or method in ("GET", "OPTIONS"):
            continue
        if endpoint == "dashboard.portal.renew":  # the handle of a portal is its proof
            continue
        for form in ({}, {"csrf_token": ""}, {"csrf_token": "forged"}, {"csrf_token": broken}):
            answer = person.ask(method, path, data=form)
            assert answer.status_code == 400 and "no longer valid" in answer.text, f"{method} {path} with {form}"
        answer = person.ask(method, path, json={"csrf_token": "x"}, headers={"Origin": "https://evil.example.com"})
        assert answer.status_code == 400, path
        tried += 1
    assert tried >= 11
    assert person.ask("GET", "/settings").status_code == 200, "somebody was signed out by a forged form"


def test_another_browsers_form_token_is_worth_nothing(installation: Installation, person: Visitor) -> None:
    stranger = Visitor(installation, installation.app.test_client())
    page = stranger.ask("GET", "/sign-in").text
    token = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert token
    assert person.ask("POST", "/sign-out", data={"csrf_token": token[1]}).status_code == 400


def test_the_links_forms_prove_themselves(installation: Installation, visitor: Visitor) -> None:
    """They are exempt from the dashboard's form tokens: the Connect token, or the session and its proof, stand in."""
    link = installation.link(installation.token(), "acme_keys").removeprefix(installation.url)
    opened = visitor.ask("GET", link, headers={"Sec-Fetch-Dest": "document"})
    page = visitor.ask("GET", opened.headers["Location"])
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page.text))
    assert set(hidden) == {"session", "proof", "attempt", "authType"}
    for path in ("/_static/connect", "/_static/connect/keys", "/_static/connect/status"):
        forgeries: tuple[dict[str, str], ...] = (
            {}, {**hidden, "proof": ""}, {**hidden, "proof": "0" * 64}, {**hidden, "session": "ls_other"},
        )  # fmt: skip
        for form in forgeries:
            answer = visitor.ask("POST", path, data={**form, "cf_api_key": "x"})
            assert answer.status_code in (400, 401, 403), f"{path} with {sorted(form)}"
        stranger = Visitor(installation, installation.app.test_client())
        assert stranger.ask("POST", path, data=hidden).status_code == 403, f"{path} without the cookie"
    assert installation.accounts() == []


def test_another_host_is_refused_everywhere(installation: Installation) -> None:
    client = installation.app.test_client()
    for host in ("evil.example.com", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil.com", "a b"):
        for endpoint, method, path in addresses(installation):
            if endpoint in ("healthz", "readyz"):
                continue
            answer = client.open(path, method=method, environ_overrides={"HTTP_HOST": host}, buffered=True)
            assert answer.status_code == 400, f"{method} {path} at {host!r}"
            check(answer, path)
            assert "evil" not in answer.text


def test_forwarded_headers_of_strangers_change_nothing(installation: Installation) -> None:
    forged = {
        "X-Forwarded-Host": "evil.example.com", "X-Forwarded-Proto": "https", "X-Forwarded-For": "10.9.8.7",
        "Forwarded": "host=evil.example.com;proto=https", "X-Forwarded-Port": "1", "X-Forwarded-Prefix": "/evil",
        "X-Real-IP": "10.9.8.7", "X-Original-URL": "/settings", "X-Host": "evil.example.com",
    }  # fmt: skip
    plain, moved = installation.app.test_client(), installation.app.test_client()
    for path in ("/", "/sign-in", "/apps", "/v1/connect/apps", "/_static/connect.html", "/nothing"):
        one = plain.get(path, base_url=installation.url)
        other = moved.get(path, base_url=installation.url, headers=forged)
        assert (one.status_code, one.headers.get("Location")) == (other.status_code, other.headers.get("Location"))
        assert "evil" not in other.text and "evil" not in str(other.headers)
