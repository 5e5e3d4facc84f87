"""Who visits the Connect Link, and by what right: a token, a session with its cookie and proof, and nothing else."""

from typing import Any

import pytest
from flask import Flask, request

from webapp.kit.clock import HOUR
from webapp.service.domain.access import connect_tokens, link_sessions
from webapp.service.domain.accounts import app_overrides
from webapp.service.domain.accounts.app_overrides import Draft
from webapp.service.domain.base.failures import LinkExpired
from webapp.service.domain.projects import projects
from webapp.service.link import visit
from webapp.service.link.endings import COOKIE_GONE, NO_SUCH_OVERRIDE, TOKEN_MISSING, TOKEN_UNKNOWN, Ended

APP = Flask("visits")


def arriving(world: Any, query: str) -> dict[str, str]:
    with APP.test_request_context(f"/?{query}"):
        return visit.arriving(world.service, request)[2]


def posted(world: Any, form: dict[str, str]) -> visit.Visit:
    with APP.test_request_context("/", method="POST", data=form):
        return visit.of_form(world.service, request)


def test_only_known_parameters_are_read_and_cut(world: Any) -> None:
    raw = world.token()
    given = arriving(world, f"token={raw}&app=%20sandbox%20&evil=1&oauthAppId=&accountId={'x' * 999}")
    assert given == {"app": "sandbox", "accountId": "x" * visit.MAX_PARAMETER}


def test_an_app_is_named_by_any_of_its_names(world: Any, browser: Any) -> None:
    raw = world.token()
    assert posted(world, {"token": raw, "app": "slack_v2"}).app == "slack"
    assert "Connect Telegram" in browser.open(raw, "&connectLink=true&app=telegram_bot_api").text


@pytest.mark.parametrize(("query", "ending"), [("", TOKEN_MISSING), ("token=ctok_nothing", TOKEN_UNKNOWN)])
def test_without_a_token_that_is_known_it_ends(world: Any, query: str, ending: object) -> None:
    with pytest.raises(Ended) as ended:
        arriving(world, query)
    assert ended.value.ending == ending


def test_an_expired_token_ends_too(world: Any) -> None:
    raw = world.token()
    world.clock.advance(5 * HOUR)
    with pytest.raises(LinkExpired):
        arriving(world, f"token={raw}")
    with pytest.raises(LinkExpired):
        posted(world, {"token": raw})


@pytest.mark.parametrize("proof", ["", "0" * 64, "ü"])
def test_a_form_of_a_session_needs_its_proof(world: Any, proof: str) -> None:
    with pytest.raises(Ended) as ended:
        posted(world, {"session": "ls_1", "proof": proof})
    assert ended.value.ending == COOKIE_GONE


def test_the_proof_alone_is_not_enough(world: Any) -> None:
    proof = visit.session_proof(world.service, "ls_1")
    assert proof != visit.session_proof(world.service, "ls_2")
    with pytest.raises(Ended) as ended:
        posted(world, {"session": "ls_1", "proof": proof})
    assert ended.value.ending == COOKIE_GONE


def test_a_framed_page_carries_its_token_and_parameters(world: Any) -> None:
    raw = world.token()
    current = posted(world, {"token": raw, "app": "sandbox", "hideClose": "TRUE"})
    assert (current.framed, current.app, current.closable, current.url) == (True, "sandbox", False, visit.COOKIE_PATH)
    assert current.hidden == {"token": raw, "app": "sandbox", "hideClose": "TRUE"}
    assert raw not in repr(current)


def test_an_override_that_is_not_there_ends_it(world: Any) -> None:
    token = connect_tokens.recall(world.service.store, raw := world.token())
    assert token is not None
    with APP.test_request_context("/"), pytest.raises(Ended) as ended:
        visit.framed(world.service, raw, token, {"appOverrideId": "aov_none"})
    assert ended.value.ending == NO_SUCH_OVERRIDE


def test_an_override_that_is_gone_or_of_another_app_ends_the_link(world: Any, browser: Any) -> None:
    other = projects.create(world.service, name="Other")
    app = world.service.catalog.app("sandbox_basic")
    override = app_overrides.create(world.service, world.project.id, app, Draft("Ada's", None, {}))
    theirs = app_overrides.create(world.service, other.id, app, Draft("Theirs", None, {}))
    for query in (f"{override.id}&app=sandbox_keys", theirs.id, "aov_none"):
        page = browser.open(world.token(), f"&connectLink=true&appOverrideId={query}")
        assert page.status_code == 404 and "This link cannot be used" in page.text


class TestOfAPortal:
    """A page inside a portal, which has no cookie to rely on and connects one account after another."""

    BACK = "http://localhost:8600/portal/x"

    @pytest.fixture
    def opened(self, world: Any) -> Any:
        """What makes a page for the same token; its address."""
        raw = world.token(allowed_origins=["https://app.acme.example"])

        def make(**parameters: str) -> str:
            parameters = {"app": "sandbox_keys", **parameters}
            token = connect_tokens.verify(world.service, raw)
            ways = {link_sessions.SUCCESS: f"{self.BACK}/done", link_sessions.FAILURE: f"{self.BACK}/back"}
            session, secret = link_sessions.create(world.service, token, {**parameters, **ways})
            return f"/_static/connect/{session.id}.{secret}"

        make.token = raw  # type: ignore[attr-defined]
        return make

    def test_its_address_is_enough(self, opened: Any, browser: Any) -> None:
        page = browser.get(opened(), sec_fetch_dest="iframe")
        assert page.status_code == 200 and "Set-Cookie" not in page.headers and opened.token not in page.text
        assert "frame-ancestors https://app.acme.example" in page.headers["Content-Security-Policy"]
        assert "X-Frame-Options" not in page.headers
        assert f'href="{self.BACK}/back?error=access_denied"' in page.text

    def test_half_of_its_address_is_nothing(self, opened: Any, browser: Any) -> None:
        address = opened()
        session_id = address.rpartition(".")[0]
        for wrong in (session_id, f"{session_id}.", f"{address}x"):
            assert browser.get(wrong).status_code == 403

    def test_a_sign_in_needs_a_window_in_a_frame_only(self, opened: Any, browser: Any) -> None:
        address = opened(app="sandbox")
        assert "window=1" in browser.get(address, sec_fetch_dest="iframe").text
        alone = browser.get(address, sec_fetch_dest="document").text
        assert "Stay in this tab instead" in alone

    def test_one_token_connects_any_number(
        self, world: Any, opened: Any, browser: Any, sandbox: Any, hidden_fields: Any
    ) -> None:
        for index in range(2):
            page = browser.get(opened(), sec_fetch_dest="iframe")
            sent = {**hidden_fields(page.text, "/_static/connect/keys"), "cf_api_key": sandbox.key(index)}
            done = browser.post("/_static/connect/keys", sent)
            assert done.status_code == 200 and f'data-next="{self.BACK}/done?account_id=apn_' in done.text
        assert len(world.accounts()) == 2
        assert connect_tokens.verify(world.service, opened.token).linked_by is None

    def test_a_link_that_is_used_up_stops_no_portal(self, world: Any, opened: Any, browser: Any) -> None:
        token = connect_tokens.verify(world.service, opened.token)
        with world.service.store.write() as tx:
            connect_tokens.use_link(tx, token, "an attempt")
        assert "This link was already used" not in browser.get(opened()).text

    def test_it_ends_with_its_token(self, world: Any, opened: Any, browser: Any) -> None:
        address = opened()
        world.clock.advance(5 * HOUR)
        assert browser.get(address).status_code == 401
        with world.service.store.write() as tx:
            connect_tokens.revoke_all(tx, project_id=world.project.id)
        assert browser.get(address).status_code == 403

    def test_a_sign_in_in_its_own_tab_leads_back(self, opened: Any, browser: Any) -> None:
        page = browser.get(opened(app="sandbox"), sec_fetch_dest="document")
        back = browser.callback(page)
        assert back.headers["Location"].startswith(f"{self.BACK}/done?account_id=apn_")
        refused = browser.callback(browser.get(opened(app="sandbox")), decision="deny")
        assert refused.headers["Location"] == f"{self.BACK}/back?error=access_denied"
