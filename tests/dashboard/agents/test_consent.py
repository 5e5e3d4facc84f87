"""What an agent asks for: nobody is sent anywhere for a request that is wrong.

The page on which a person lets an agent in: by a press of a button of ours, and by nothing else.
"""

import json
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.dashboard.embedded import BASE, Embedded
from webapp.dashboard.agents import consent
from webapp.dashboard.agents.consent import AuthorizationRequest
from webapp.errors import Invalid
from webapp.kit.clock import FakeClock
from webapp.people.agents import clients
from webapp.service.domain.agents import sign_ins
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.responses import Response
from webapp.store.contract import Store

PUBLIC = "https://connect.example.com"
GOOD = AuthorizationRequest(
    client_id="agent_1",
    redirect_uri="https://agent.example/cb",
    response_type="code",
    code_challenge="c" * 43,
    code_challenge_method="S256",
    state="a&b=c",
    resource=f"{PUBLIC}/mcp",
)
CHALLENGE, VERIFIER = "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM", "v" * 43
URI = "http://127.0.0.1:5005/cb?x=1"


@pytest.mark.parametrize("resource", ["", PUBLIC, f"{PUBLIC}/", f"{PUBLIC}/mcp/"])
def test_right_requests(resource: str) -> None:
    consent.check(replace(GOOD, resource=resource), PUBLIC)


@pytest.mark.parametrize(
    "changes",
    [
        {"response_type": "token"},
        {"code_challenge": ""},
        {"code_challenge": "c" * 44},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": ""},
        {"state": "x" * 3_000},
        {"resource": "https://elsewhere.example/mcp"},
    ],
)
def test_wrong_requests(changes: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        consent.check(replace(GOOD, **changes), PUBLIC)


def test_only_a_registered_address_is_reported(store: Store, clock: FakeClock) -> None:
    known = clients.register(store, clock, name="x", redirect_uris=("https://agent.example/cb",))
    find = partial(clients.find, store)
    assert consent.client_of(find, replace(GOOD, client_id=known.id)) == (known, GOOD.redirect_uri)
    assert consent.client_of(find, replace(GOOD, client_id=known.id, redirect_uri=""))[1] == GOOD.redirect_uri
    for changes in ({"client_id": "agent_x"}, {"redirect_uri": "https://evil.example/cb", "client_id": known.id}):
        with pytest.raises(Invalid):
            consent.client_of(find, replace(GOOD, **changes))


def test_the_agent_is_reported_with_its_state_and_by_whom() -> None:
    assert consent.redirect_uri_with("https://a.example/cb?x=1", GOOD, PUBLIC, code="c d") == (
        "https://a.example/cb?x=1&code=c+d&state=a%26b%3Dc&iss=https%3A%2F%2Fconnect.example.com%2Fmcp%2Foauth"
    )
    assert "state" not in consent.redirect_uri_with(
        "cursor://x/cb", replace(GOOD, state=""), PUBLIC, error="access_denied"
    )
    assert "cb?code=c" in consent.redirect_uri_with("https://a.example/cb?", GOOD, PUBLIC, code="c")


@pytest.fixture
def wanted(studio: Embedded) -> dict[str, str]:
    """What an agent asks for that registered itself."""
    body = {"client_name": "<b>Desk Helper", "redirect_uris": ["http://127.0.0.1/cb?x=1", "cursor://helper/cb"]}
    client = studio.app.test_client().post("/mcp/oauth/register", base_url=BASE, json=body).get_json()
    return {
        "client_id": client["client_id"],
        "redirect_uri": URI,
        "response_type": "code",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "state": "its state",
    }


def address(wanted: dict[str, str]) -> str:
    return f"/mcp/oauth/authorize?{urlencode(wanted)}"


def tokens(studio: Embedded, wanted: dict[str, str], code: str) -> Any:
    form = {"grant_type": "authorization_code", "client_id": wanted["client_id"], "code": code}
    form |= {"redirect_uri": URI, "code_verifier": VERIFIER}
    return studio.app.test_client().post("/mcp/oauth/token", base_url=BASE, data=form)


def test_from_the_page_to_tokens_of_the_person(studio: Embedded, wanted: dict[str, str]) -> None:
    browser = studio.browser("member")
    page = browser.get(address(wanted))
    assert "&lt;b&gt;Desk Helper" in page and "a program on this computer" in page and "member@example.com" in page
    answer = browser.send("/mcp/oauth/authorize", {**wanted, "answer": "allow"})
    assert answer.status_code == 303
    there = urlsplit(answer.headers["Location"])
    facts = parse_qs(there.query)
    assert (there.scheme, there.netloc, there.path, facts["x"]) == ("http", "127.0.0.1:5005", "/cb", ["1"])
    assert (facts["state"], facts["iss"]) == (["its state"], [f"{BASE}/mcp/oauth"])
    pair = tokens(studio, wanted, facts["code"][0])
    assert pair.status_code == 200
    agent = sign_ins.recognise(studio.service, pair.get_json()["access_token"])
    assert (agent.scene, agent.external_id) == (studio.scene, studio.people["member"].id)
    assert tokens(studio, wanted, facts["code"][0]).get_json()["error"] == "invalid_grant"


def test_a_no_is_reported(studio: Embedded, wanted: dict[str, str]) -> None:
    answer = studio.browser().send("/mcp/oauth/authorize", {**wanted, "answer": "refuse"})
    assert parse_qs(urlsplit(answer.headers["Location"]).query)["error"] == ["access_denied"]


def test_a_visitor_signs_in_first_and_comes_back(studio: Embedded, wanted: dict[str, str]) -> None:
    answer = studio.app.test_client().get(address(wanted), base_url=BASE)
    assert answer.status_code == 303
    where = urlsplit(answer.headers["Location"])
    assert where.path == "/sign-in" and parse_qs(where.query)["next"] == [address(wanted)]


@pytest.mark.parametrize(
    "changes", [{"client_id": "agent_x"}, {"redirect_uri": "https://evil.example/"}, {"state": "x" * 2001}]
)
def test_whatever_is_wrong_leads_nowhere(studio: Embedded, wanted: dict[str, str], changes: dict[str, str]) -> None:
    browser = studio.browser()
    assert "Nothing was changed." in browser.get(address(wanted | changes), code=400)
    assert browser.send("/mcp/oauth/authorize", {**wanted, **changes, "answer": "allow"}).status_code == 400


def test_nothing_is_allowed_without_the_form_token(studio: Embedded, wanted: dict[str, str]) -> None:
    form = {**wanted, "answer": "allow"}
    assert studio.browser().client.post("/mcp/oauth/authorize", base_url=BASE, data=form).status_code == 400


@pytest.mark.parametrize("uri", [URI, "cursor://helper/cb"])
def test_no_policy_stops_the_answer_on_its_way(studio: Embedded, wanted: dict[str, str], uri: str) -> None:
    answer = studio.browser().client.get(address(wanted | {"redirect_uri": uri}), base_url=BASE)
    policy = answer.headers["Content-Security-Policy"]
    assert "form-action" not in policy and "frame-ancestors 'none'" in policy and "default-src 'none'" in policy
    assert "form-action" in studio.browser().client.get("/agents", base_url=BASE).headers["Content-Security-Policy"]


def test_an_agent_that_is_known_by_an_address_is_shown_with_its_host(
    studio: Embedded, wanted: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address_of = "https://agent.example/client.json"
    facts = {"client_id": address_of, "client_name": "Far Helper", "redirect_uris": [URI]}
    answer = Response(200, {}, json.dumps(facts).encode(), address_of)
    monkeypatch.setattr(OutboundClient, "request", lambda *_, **__: answer)
    page = studio.browser("member").get(address(wanted | {"client_id": address_of}))
    assert "Far Helper" in page and "<b>agent.example</b>" in page
    form = {**wanted, "client_id": address_of, "answer": "allow"}
    there = studio.browser("member").send("/mcp/oauth/authorize", form).headers["Location"]
    code = parse_qs(urlsplit(there).query)["code"][0]
    assert tokens(studio, wanted | {"client_id": address_of}, code).status_code == 200
    other = {**wanted, "client_id": address_of, "redirect_uri": "https://evil.example/"}
    assert "Nothing was changed." in studio.browser("member").get(address(other), code=400)
