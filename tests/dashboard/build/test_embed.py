"""The state of the Embed page stands in its address.

What the Embed page shows of the apps, and of a service that lacks something.

Build → Embed over the real service: tokens for trying, origins, the code, and what stands in a page's way.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from flask import session
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.dashboard.conftest import PUBLIC, Stage
from webapp.app import create_app
from webapp.dashboard.build import embed
from webapp.dashboard.build.embed import EmbedQuery
from webapp.people import users
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

A, B = "https://a.example", "https://b.example"
BASE, PASSWORD, EMBED = "http://localhost:8600", "correct horse battery", "/build/embed"


def test_what_makes_no_sense_falls_back() -> None:
    query = EmbedQuery.model_validate(
        {"user": " ann ", "app": "../x", "way": "up", "size": "huge", "origins": f" {A}  {A} {B}"}
    )
    assert (query.user, query.app, query.way, query.size, query.listed) == ("ann", "", "link", "desktop", [A, B])


def test_the_address_holds_what_differs_from_the_beginning(stage: Stage) -> None:
    with stage.request():
        assert EmbedQuery().address() == "/build/embed"
        query = EmbedQuery(user="ann").with_origins([A, A])
        assert (
            query.address("ways", way="server")
            == "/build/embed?user=ann&origins=https%3A%2F%2Fa.example&way=server#ways"
        )
        assert query.address(endpoint="make_token").startswith("/build/embed/token?user=ann")


def test_a_form_changes_what_it_names_only() -> None:
    query = EmbedQuery.of_form({"user": "bob", "csrf_token": "x", "way": "link"}, EmbedQuery(user="ann", way="server"))
    assert (query.user, query.way) == ("bob", "server")


def test_the_dashboard_may_show_the_token_as_well(stage: Stage) -> None:
    with stage.request():
        body = EmbedQuery(user="ann", app="github").with_origins([A]).token_body()
    assert body == {"external_user_id": "ann", "app_id": "github", "allowed_origins": [A, PUBLIC]}


def test_a_token_is_kept_for_whoever_made_it(stage: Stage) -> None:
    with stage.request():
        assert embed.saved_token() is None
        embed.save_token("ctok_1", f"{PUBLIC}/link?token=ctok_1")
        token = embed.saved_token()
        assert token and token.preview(EmbedQuery(app="github")) == f"{PUBLIC}/link?token=ctok_1&app=github"
        assert token.preview(EmbedQuery(app="github", shown="portal")) == f"{PUBLIC}/portal?token=ctok_1"
        session[embed._KEY][0] = "u_somebody"
        assert embed.saved_token() is None


def test_apps_that_are_ready_come_first_and_those_without_accounts_not_at_all(stage: Stage) -> None:
    with stage.request():
        names = [name for _, name in embed._app_choices("")]
        unknown = embed._app_choices("gone")[-1]
    assert names == ["Let the user choose", "GitHub", "Stripe", "Slack (needs setup)"] and unknown == ("gone", "gone")


def test_every_app_can_be_chosen_however_many_there_are(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "_AT_ONCE", 2)
    for number in range(7):
        stage.connect.add_app(f"app{number}", f"App {number}", "keys")
    with stage.request():
        assert len(embed._app_choices("")) == 11


def test_a_service_that_is_down_leaves_the_form(stage: Stage) -> None:
    stage.connect.down = True
    page = stage.signed_in().get("/build/embed")
    assert page.status_code == 200 and "Create a token" in page.text


def test_another_service_that_checks_no_pages_has_no_checklist(elsewhere: Stage) -> None:
    page = elsewhere.signed_in().get("/build/embed")
    assert page.status_code == 200 and "Will it work in your product?" not in page.text
    assert "http://127.0.0.1:9/v1/oauth/token" in page.text


@dataclass
class Site:
    """The whole application."""

    service: Service
    browser: FlaskClient

    def get(self, path: str) -> TestResponse:
        return self.browser.get(path, base_url=BASE)

    def post(self, path: str, **form: str) -> TestResponse:
        proof = re.search(r'name="csrf_token" value="([^"]+)"', self.get("/settings").text)
        assert proof
        return self.browser.post(path, base_url=BASE, data={"csrf_token": proof[1], **form})

    def token(self) -> str:
        match = re.search(r"<code>(ctok_\w+)</code>", self.get(EMBED).text)
        return match[1] if match else ""

    def sign_in(self, role: str) -> "Site":
        users.create(self.service.store, self.service.clock, email=f"{role}@a.example", password=PASSWORD, role=role)
        proof = re.search(r'name="csrf_token" value="([^"]+)"', self.get("/sign-in").text)
        assert proof
        form = {"csrf_token": proof[1], "email": f"{role}@a.example", "password": PASSWORD}
        assert self.browser.post("/sign-in", base_url=BASE, data=form).status_code == 303
        return self


@pytest.fixture
def visitor(settings: Settings) -> Iterator[Site]:
    service = open_service(settings)
    yield Site(service, create_app(settings, service=service).test_client())
    close_service(service)


@pytest.fixture
def site(visitor: Site) -> Site:
    return visitor.sign_in("developer")


def test_members_meet_nothing(visitor: Site) -> None:
    visitor.sign_in("member")
    absent = visitor.get("/build/nothing")
    for path in ("", "/token", "/origins", "/check"):
        answers = [visitor.post(EMBED + path), visitor.get(EMBED + path)]
        assert [answer.status_code for answer in answers if answer.status_code != 405] in ([404], [404, 404])
    assert (
        visitor.get(EMBED).status_code == 404 == absent.status_code and 'href="/build' not in visitor.get("/apps").text
    )


def test_a_form_of_another_site_makes_no_token(site: Site) -> None:
    for path in ("/token", "/origins", "/check"):
        assert site.browser.post(EMBED + path, base_url=BASE, data={"user": "ann"}).status_code == 400
    assert not site.token()


def test_a_token_is_made_and_shown_until_another(site: Site) -> None:
    first = site.get(EMBED)
    assert 'href="http://localhost:8601/product"' in first.text
    assert "frame-src" not in first.headers["Content-Security-Policy"] and "<iframe" not in first.text
    answer = site.post(
        f"{EMBED}/token?way=server",
        user="ann",
        app="sandbox",
        another="https://A.example/",
        success="https://a.example/ok",
    )
    where = answer.headers["Location"]
    assert answer.status_code == 303 and "ctok_" not in where and where.endswith("#preview") and "way=server" in where
    token = connect_tokens.verify(site.service, site.token())
    assert (token.external_id, token.app, token.success_redirect_uri) == ("ann", "sandbox", "https://a.example/ok")
    assert token.allowed_origins == ("https://a.example", BASE)
    shown = site.get(where.partition("#")[0])
    assert f"frame-src {BASE}" in shown.headers["Content-Security-Policy"]
    assert (
        f'<iframe src="{BASE}/_static/connect.html?token={site.token()}&amp;connectLink=true&amp;app=sandbox"'
        in shown.text
    )
    assert "Not used yet" in shown.text and 'hx-trigger="every 5s"' in shown.text
    portal = site.get(f"{EMBED}?shown=portal").text
    assert f'<iframe src="{BASE}/portal?token={site.token()}"' in portal
    framed = site.get(f"/_static/connect.html?token={site.token()}&app=sandbox")
    assert framed.status_code in (200, 303)
    with site.service.store.write() as tx:
        connect_tokens.use_link(tx, token, "attempt")
    state = site.get(f"{EMBED}/token").text
    assert "Used" in state and "hx-trigger" not in state


def test_a_token_is_shown_to_nobody_else(site: Site) -> None:
    site.post(f"{EMBED}/token", user="ann")
    assert site.token()
    site.post("/sign-out")
    site.sign_in("owner")
    assert not site.token() and site.get(f"{EMBED}/token").status_code == 404


def test_a_token_that_has_ended_says_so(site: Site) -> None:
    site.post(f"{EMBED}/token", user="ann")
    with site.service.store.write() as tx:
        tx.run("DELETE FROM connect_tokens")
    page = site.get(EMBED).text
    assert "This token has expired" in page and "<iframe" not in page


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"user": ""}, "user"),
        ({"user": "ann", "another": "a.example"}, "is not an origin such as"),
        ({"user": "ann", "success": "javascript:1"}, "It must be an http or https address"),
        ({"user": "ann", "app": "nothing"}, "There is no such app"),
    ],
)
def test_what_the_api_refuses_stands_at_its_field(site: Site, form: dict[str, str], sentence: str) -> None:
    answer = site.post(f"{EMBED}/token", **form)
    assert answer.status_code == 422 and sentence in html.unescape(answer.text) and 'aria-invalid="true"' in answer.text
    assert not site.token()


def test_origins_are_added_and_removed(site: Site) -> None:
    listed = "https://a.example https://b.example"
    added = site.post(f"{EMBED}/origins", user="ann", origins="https://a.example", another="https://b.example", add="1")
    assert added.status_code == 303 and "https%3A%2F%2Fb.example" in added.headers["Location"]
    removed = site.post(f"{EMBED}/origins", user="ann", origins=listed, remove="https://a.example")
    assert "a.example" not in removed.headers["Location"] and "b.example" in removed.headers["Location"]
    refused = site.post(f"{EMBED}/origins", user="ann", origins=listed, another="https://c.example/path", add="1")
    assert refused.status_code == 422 and 'value="https://c.example/path"' in refused.text


def test_a_page_that_was_refused_is_named_until_it_is_allowed(site: Site) -> None:
    site.post(f"{EMBED}/token", user="ann", another="https://a.example")
    headers = {"Authorization": f"Bearer {site.token()}", "Origin": "http://localhost:5173"}
    assert site.browser.get("/v1/connect/accounts", base_url=BASE, headers=headers).status_code == 403
    page = site.get(f"{EMBED}?user=ann").text
    assert "http://localhost:5173 tried to show the Connect Link and was refused" in page and "just now" in page
    allowed = site.post(f"{EMBED}/origins?user=ann", another="http://localhost:5173")
    where = allowed.headers["Location"].partition("#")[0]
    assert "user=ann" in where and "was refused" not in site.get(where).text


def test_a_page_is_checked_against_the_origins_in_the_form(site: Site) -> None:
    policy = "HTTP/1.1 200 OK\nContent-Security-Policy: frame-src 'none'\n\n"
    where = f"{EMBED}/check?origins=https%3A%2F%2Fa.example"
    answer = site.post(where, url="https://a.example/mail", printed=policy)
    assert "The page is on the list" in answer.text and f"frame-src {BASE}" in answer.text
    assert "curl -si" in html.unescape(site.post(where, url="http://127.0.0.1:5173/").text)
    refused = site.post(where, url="a.example")
    assert refused.status_code == 422 and "must begin with https://" in refused.text


def test_an_address_that_makes_no_sense_shows_the_page(site: Site) -> None:
    page = site.get(f"{EMBED}?way=up&size=huge&app=%3Cb%3E&origins=%22%3E%3Cscript%3E&user=%3Ci%3E")
    assert page.status_code == 200 and "<b>" not in page.text.partition("<main")[2].partition("snippet")[0]
    assert "<script>" not in page.text and "<i>" not in page.text
