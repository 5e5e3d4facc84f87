"""Opening a portal by a Connect token, and giving an open one the next token."""

import re
from typing import Any

import pytest

from tests.dashboard.plain_service import without_extensions
from webapp.kit.clock import HOUR
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

ORIGIN = "https://app.acme.example"
FRAMED = {"Sec-Fetch-Dest": "iframe", "Referer": f"{ORIGIN}/"}


def test_the_token_leaves_the_address_at_once(world: Any) -> None:
    token = world.token()
    answer = world.open(token)
    assert answer.status_code == 303 and "Set-Cookie" not in answer.headers
    assert answer.headers["Cache-Control"] == "no-store"
    assert token not in answer.headers["Location"]
    page = world.client().get(answer.headers["Location"], base_url=world.public, follow_redirects=True)
    assert page.status_code == 200 and "Set-Cookie" not in page.headers
    assert "What Acme may use for you." in page.text and token not in page.text
    assert "help@acme.example" in page.text


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("&page=apps", "/apps"), ("&page=triggers", "/triggers"), ("&page=activity", "/logs"), ("&page=logs", "/logs"),
        ("&page=settings", "/"), ("&page=//evil.example", "/"), ("&app=sandbox", "/apps/sandbox"),
        ("&app=../settings", "/apps/..%2Fsettings"),
    ],
)  # fmt: skip
def test_it_opens_where_the_product_asks(world: Any, query: str, path: str) -> None:
    assert world.open(world.token(), query).headers["Location"].endswith(path)


def test_a_page_may_stand_alone_and_in_a_theme(world: Any) -> None:
    page = world.portal(query="&nav=off&theme=dark").get("/accounts").text
    assert 'data-theme="dark"' in page and "Triggers" not in page and "help@acme.example" not in page
    assert 'lang="de"' in world.portal(query="&language=de").get("/accounts").text
    page = world.portal(query="&theme=red").get("/accounts").text
    assert 'data-theme="auto"' in page and "Triggers" in page


@pytest.mark.parametrize(
    "headers",
    [
        {"Referer": "https://evil.example/"}, {"Referer": "https://app.acme.example.evil.example/"},
        {"Referer": "http://app.acme.example/"},
    ],
)  # fmt: skip
def test_a_strangers_frame_meets_what_the_link_says(world: Any, headers: dict[str, str]) -> None:
    answer = world.open(world.token(), **headers)
    assert answer.headers["Location"].startswith("/_static/connect.html?")
    assert answer.headers["Referrer-Policy"] == "strict-origin-when-cross-origin"  # so that its page can be told why
    assert world.service.store.all("SELECT id FROM portal_sessions") == []


def test_what_does_not_work_meets_what_the_link_says(world: Any) -> None:
    expired = world.token(expires_in=1)
    world.clock.advance(HOUR)
    for token in ("", "ctok_" + "0" * 32, "%00", expired):
        assert world.open(token).headers["Location"].startswith("/_static/connect.html")


def test_a_preview_of_the_address_opens_nothing(world: Any) -> None:
    token = world.token()
    assert world.client().head(f"/portal?token={token}", base_url=world.public).status_code == 200
    assert world.service.store.all("SELECT id FROM portal_sessions") == []


class TestRenewal:
    def test_another_token_of_the_same_user_continues(self, world: Any) -> None:
        portal = world.portal(expires_in=60)
        answer = portal.renew(world.token())
        assert answer.status_code == 200 and answer.json["left"] == 4 * HOUR
        world.clock.advance(HOUR)
        assert portal.get("/accounts").status_code == 401  # the old address ends with its own token
        assert world.client().get(answer.json["base"] + "/accounts", base_url=world.public).status_code == 200

    def test_one_that_sleeps_wakes(self, world: Any) -> None:
        portal = world.portal(query="&nav=off", expires_in=60)
        world.clock.advance(HOUR)
        base = portal.renew(world.token()).json["base"]
        assert "Triggers" not in world.client().get(base + "/accounts", base_url=world.public).text

    def test_nobody_elses_token_is_taken(self, world: Any) -> None:
        portal, other = world.portal(), projects.create(world.service, name="Other")
        expired = world.token(expires_in=1)
        world.clock.advance(2_000)
        strangers = [
            world.token("bob"), world.token(scene=Scene(world.scene.project_id, "production")),
            world.token(scene=Scene(other.id, "development")), expired, "", "ctok_x",
        ]  # fmt: skip
        for token in strangers:
            answer = portal.renew(token)
            assert answer.status_code == 403 and answer.json["error"]

    def test_an_unknown_handle_and_another_site_get_nothing(self, world: Any) -> None:
        portal, token = world.portal(), world.token()
        assert portal.renew(token, **{"Sec-Fetch-Site": "cross-site"}).status_code == 404
        portal.base += "x"
        assert portal.renew(token).status_code == 404


def test_a_service_that_cannot_tell_whose_a_token_is_has_its_link_instead(world: Any) -> None:
    """A Connect service without a single extension."""
    without_extensions(world.app)
    token = world.token()
    answer = world.open(token, "&app=sandbox&language=de")
    assert answer.headers["Location"].endswith(f"?token={token}&connectLink=true&app=sandbox&language=de")
    assert world.service.store.all("SELECT id FROM portal_sessions") == []
    link = world.client().get(answer.headers["Location"], base_url=world.public, headers=FRAMED)
    assert link.status_code == 200 and "Sandbox" in link.text and ORIGIN in link.headers["Content-Security-Policy"]


def test_a_service_that_can_tell_no_more_than_that_has_the_pages_it_can_fill(world: Any) -> None:
    """Such as connecting: by the token's own link, which works once, where there are no link sessions."""
    trigger_id = world.deploy()
    without_extensions(world.app, but="/validate")
    token = world.token()
    base = re.match(r"/portal/ps_[\w-]+", world.open(token).headers["Location"])
    assert base
    pages = {
        path: world.client().get(base[0] + path, base_url=world.public)
        for path in ("/accounts", "/triggers", f"/triggers/{trigger_id}", "/apps", "/apps/sandbox", "/logs")
    }
    absent = {path for path, page in pages.items() if page.status_code == 404}
    assert {
        path: page.status_code for path, page in pages.items() if path not in absent and page.status_code != 200
    } == {}
    assert absent == {"/logs"}
    assert "Deliveries" not in pages[f"/triggers/{trigger_id}"].text
    answer = world.client().post(f"{base[0]}/apps/sandbox/connect", base_url=world.public)
    link = answer.headers["Location"]
    assert link.startswith(f"{world.public}/_static/connect.html?token={token}&connectLink=true&app=sandbox")
    page = world.client().get(link, base_url=world.public, headers=FRAMED)
    assert page.status_code == 200 and "Sandbox" in page.text
