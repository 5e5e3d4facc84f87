"""Who passes into a portal, what its answers carry, and what attacks on it get."""

import re
from typing import Any

import pytest

from tests.fakes.user_data import plant_account
from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.kit.clock import DAY, HOUR
from webapp.kit.crypto import hash_token
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.agents import approvals, sessions
from webapp.service.domain.agents.sessions import Entry
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.projects.projects import Scene

ORIGIN = "https://app.acme.example"
PAGES = ("/accounts", "/apps", "/apps/sandbox", "/triggers", "/logs", "/apps/schedule/triggers/schedule-cron")


def test_every_page_is_framed_by_the_tokens_origins_only(world: Any) -> None:
    portal = world.portal()
    for path in (*PAGES, "/nothing", "/accounts/apn_0"):
        headers = portal.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert f"frame-ancestors {ORIGIN}" in policy and "unsafe" not in policy
        assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store"
        assert "X-Frame-Options" not in headers and "Set-Cookie" not in headers
        assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"


@pytest.mark.parametrize(
    "scope",
    ["connect:*", "connect:accounts:read", "connect:actions:*", "connect:agents:read",
     "connect:deployed_triggers:read connect:triggers:*",
     "connect:deployed_triggers:read connect:deployed_triggers:write"],
)  # fmt: skip
def test_every_link_leads_to_a_page_of_the_portal(world: Any, scope: str) -> None:
    """Its pages are the dashboard's, but nobody is signed in there, and pages that need a login or another scope are
    absent."""
    service, portal = world.service, world.portal(scope=scope)
    account = plant_account(service, world.scene, "alice", "sandbox", {"api_key": "good"}, identity_name="Ada")
    trigger = world.deploy()
    world.portal().post(f"/triggers/{trigger}/test-event")
    plant_approval(service, world.scene, plant_agent(service, world.scene, "alice"))
    begun = Run("alice", "sc_1", "sandbox-create-task", "0.0.1", "sandbox", service.clock(), agent="Desk Helper")
    runs.begin(service, world.scene, begun, {"configured_props": {}, "masked_props": [], "dynamic_props_id": None})
    runs.end(service, world.scene, begun, outputs={"exports": {}, "os": [], "ret": None})
    entries = re.findall(r'id="log-(\w+)"', portal.get("/logs").text)
    own = (f"/accounts/{account.id}", f"/triggers/{trigger}", *(f"/logs/{entry}" for entry in entries))
    tried = {path: portal.get(path) for path in ("/accounts", "/triggers", "/logs", "/agents", "/apps/sandbox", *own)}
    pages = {path: page for path, page in tried.items() if page.status_code == 200}
    assert entries and {"/logs", "/apps/sandbox"} <= pages.keys()
    if scope == "connect:*":
        assert pages.keys() == tried.keys()
    routes, links = world.app.url_map.bind("localhost"), dict[Any, tuple[str, str]]()
    for path, page in pages.items():
        for link in re.findall(rf'(?:href|hx-get)="{portal.base}(/[^"#?]*)', page.text):
            route, values = routes.match(link) if routes.test(link) else (link, {})
            links.setdefault((route, values.get("kind")), (link, path))  # one of each route, for actions and triggers
    del links["dashboard.logs.export", None]  # a file, which is streamed
    if scope == "connect:*":
        assert {("dashboard.account.name_page", None), ("dashboard.deletion.page", None)} <= links.keys()
    answers = [(portal.get(link).status_code, link, path) for link, path in links.values()]
    assert [f"{path} leads to {link}: {code}" for code, link, path in answers if code >= 400] == []


@pytest.mark.parametrize(
    "path",
    ["/settings", "/build/keys", "/build/people", "/logs/audit", "/sign-in", "/docs", "/v1/connect/apps",
     "/static/css/portal.css", "/portal", "/portal/renewal", "/healthz", "/_static/connect.html", "/nothing"],
)  # fmt: skip
def test_nothing_of_a_login_nor_of_the_service_is_there(world: Any, path: str) -> None:
    answer = world.portal().get(path)
    assert answer.status_code == 404 and "Page not found" in answer.text


def test_a_session_ends_with_its_token(world: Any) -> None:
    portal = world.portal(expires_in=60)
    world.clock.advance(HOUR)
    for path in ("/accounts?status=working", "/apps/sandbox"):
        asleep = portal.get(path)
        assert asleep.status_code == 401 and "This page was open for a while" in asleep.text
        assert f'data-further="{path}"' in asleep.text and "reload Acme" in asleep.text
        assert f"frame-ancestors {ORIGIN}" in asleep.headers["Content-Security-Policy"]
    by_htmx = portal.get("/triggers?status=active", htmx=True)
    assert by_htmx.status_code == 401
    assert by_htmx.headers["HX-Redirect"] == f"{portal.base}/triggers?status=active"
    assert portal.post("/apps/sandbox/connect").status_code == 401


def test_a_revoked_token_ends_it_at_once(world: Any) -> None:
    portal = world.portal()
    with world.service.store.write() as tx:
        connect_tokens.revoke_all(tx, project_id=world.scene.project_id)
    for path in PAGES:
        assert portal.get(path).status_code == 401, path


def test_one_that_is_forgotten_says_nothing_of_anybody(world: Any) -> None:
    portal = world.portal()
    world.clock.advance(12 * DAY)
    world.portal("bob")  # those long over go when another begins
    page = portal.get("/accounts")
    assert page.status_code == 401 and "Acme" not in page.text and "Carry on" not in page.text
    assert "frame-ancestors" not in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_a_form_of_another_site_changes_nothing(world: Any, site: str) -> None:
    trigger_id, portal = world.deploy(), world.portal()
    path = f"/triggers/{trigger_id}/deletion"
    assert portal.post(path, **{"Sec-Fetch-Site": site}).status_code == 404
    assert portal.get(f"/triggers/{trigger_id}").status_code == 200
    assert portal.post(path, **{"Sec-Fetch-Site": "same-origin"}).status_code == 303
    assert portal.get(f"/triggers/{trigger_id}").status_code == 404


def test_a_login_in_the_same_browser_counts_for_nothing(world: Any) -> None:
    portal = world.portal()
    page = portal.get("/accounts", Cookie="patchbay_session=anything; patchbay_form=anything")
    assert page.status_code == 200 and "Set-Cookie" not in page.headers and "Sign out" not in page.text


def test_what_is_somebody_elses_is_not_there(world: Any) -> None:
    foreign = [world.deploy("bob")]
    portal = world.portal("alice")
    absent = portal.get("/triggers/dc_absent")
    for trigger_id in foreign:
        for path in ("", "/logs", "/configuration", "/deliveries", "/deletion"):
            assert portal.get(f"/triggers/{trigger_id}{path}").status_code == 404
        shown = portal.get(f"/triggers/{trigger_id}")
        assert _plain(shown.text) == _plain(absent.text)
    other = world.portal("alice", scene=Scene(world.scene.project_id, "production"))
    own = world.deploy("alice")
    assert portal.get(f"/triggers/{own}").status_code == 200
    assert other.get(f"/triggers/{own}").status_code == 404


def test_what_a_page_leaves_to_say_is_said_once_and_without_a_cookie(world: Any) -> None:
    trigger_id, portal = world.deploy(), world.portal()
    assert portal.post(f"/triggers/{trigger_id}/deletion").status_code == 303
    assert "is deleted" in portal.get("/triggers").text
    assert "is deleted" not in portal.get("/triggers").text


def test_the_user_themselves_did_it(world: Any) -> None:
    trigger_id, portal = world.deploy(), world.portal()
    portal.post(f"/triggers/{trigger_id}/deletion")
    rows = world.service.store.all("SELECT actor_kind, actor FROM audit WHERE subject_id = :id", {"id": trigger_id})
    assert [(row["actor_kind"], row["actor"]) for row in rows] == [("user", "alice")] * 2


def test_the_token_is_in_no_page_row_or_log(world: Any, caplog: pytest.LogCaptureFixture) -> None:
    token = world.token()
    base = world.open(token).headers["Location"].rpartition("/")[0]
    pages = [world.client().get(base + path, base_url=world.public) for path in (*PAGES, "/nothing")]
    link = world.client().post(f"{base}/apps/sandbox/connect", base_url=world.public)
    pages += [link, world.client().get(link.headers["Location"].removeprefix(world.public), base_url=world.public)]
    assert all(token not in page.text and token not in str(page.headers) for page in pages)
    rows = world.service.store.all("SELECT * FROM portal_sessions")
    assert token not in repr(rows) and base.rpartition("/")[2] not in repr(rows)
    assert token not in caplog.text and base not in caplog.text


def _plain(page: str) -> str:
    """A page without what is made anew for each."""
    return re.sub(r'nonce="[^"]*"|data-left="\d+"', "", page)


def test_a_call_of_an_agent_is_answered_in_the_portal_of_its_person_only(world: Any) -> None:
    agent = plant_agent(world.service, world.scene, "alice")
    approval = plant_approval(world.service, world.scene, agent)
    page = world.portal(query="&page=agents").get("/agents").text
    assert approval.id in page and "Add Patchbay to your assistant" not in page

    def answer(portal: Any) -> int:
        return int(portal.post(f"/agents/approvals/{approval.id}", {"answer": "yes"}).status_code)

    assert answer(world.portal("bob")) == 404
    assert answer(world.portal(scope="connect:accounts:write connect:accounts:read")) == 404  # as a Connect Link's is
    assert approvals.current(world.service, world.service.store, approval).state == "waiting"
    assert answer(world.portal()) == 303
    assert approvals.current(world.service, world.service.store, approval).state == "approved"


def test_a_portal_opened_with_an_agents_own_token_answers_nothing(world: Any) -> None:
    token = world.token()
    entry = Entry("token", "oa_1", hash_token(token))
    agent = sessions.enter(world.service, world.scene, "alice", entry, "Desk Helper")
    approval = plant_approval(world.service, world.scene, agent)
    base = world.open(token).headers["Location"].split("?")[0].rstrip("/")
    path = f"{base}/agents/approvals/{approval.id}"
    assert world.client().post(path, base_url=world.public, data={"answer": "yes"}).status_code == 404
    assert approvals.current(world.service, world.service.store, approval).state == "waiting"


def test_a_consent_is_no_page_of_a_portal(world: Any) -> None:
    assert world.portal().get("/mcp/oauth/authorize").status_code == 404
