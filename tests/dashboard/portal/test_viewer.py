"""What a narrower token leaves out of a portal, and that nothing is shared between users and environments."""

import re
from typing import Any

import pytest

from webapp.dashboard.portal import sessions
from webapp.dashboard.portal.viewer import ROLE, PortalViewer
from webapp.service.domain.base.rate_limits import LIMITS, Limit, key_of
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

FORM = "/apps/schedule/triggers/schedule-custom-interval"


@pytest.mark.parametrize(
    ("scope", "there", "absent"),
    [
        (
            "connect:accounts:read",
            ["/accounts", "/logs", "/apps/sandbox"],
            ["/triggers", "/triggers/dc_1", "/apps/sandbox/actions", "/apps/sandbox/triggers", FORM],
        ),
        ("connect:triggers:*", ["/apps/schedule/triggers", FORM], ["/logs", "/apps/sandbox/actions"]),
        ("connect:deployed_triggers:read", ["/triggers", "/logs"], [FORM]),
        ("connect:*", ["/accounts", "/logs", "/triggers", FORM], ["/settings"]),
    ],
)
def test_what_the_scope_does_not_admit_is_not_there(
    world: Any, scope: str, there: list[str], absent: list[str]
) -> None:
    portal = world.portal(scope=scope)
    assert {path: portal.get(path).status_code for path in there} == dict.fromkeys(there, 200)
    assert {path: portal.get(path).status_code for path in absent} == dict.fromkeys(absent, 404)


def test_who_may_only_look_sees_no_button(world: Any) -> None:
    trigger_id = world.deploy()
    portal = world.portal(scope="connect:accounts:read connect:deployed_triggers:read")
    page = portal.get(f"/triggers/{trigger_id}").text
    assert "Delete…" not in page and "Add an address" not in page and 'role="switch"' not in page
    assert "Connect an app" not in portal.get("/accounts").text
    assert "/connect" not in portal.get("/apps/sandbox").text
    assert portal.get("/").headers["Location"] == f"{portal.base}/accounts"
    for path in (f"/triggers/{trigger_id}/deletion", f"/triggers/{trigger_id}/pause", "/apps/sandbox/connect"):
        assert portal.post(path).status_code == 404, path
    assert portal.get(f"/triggers/{trigger_id}").status_code == 200


def test_a_trigger_s_lists_are_views_of_the_logs_without_code(world: Any) -> None:
    trigger_id, portal = world.deploy(), world.portal()
    assert portal.post(f"/triggers/{trigger_id}/test-event").status_code == 303
    for path in ("", "/deliveries", "/logs", "/configuration"):
        assert portal.get(f"/triggers/{trigger_id}{path}").status_code == 200, path
    (event,) = set(re.findall(r'id="log-(evt_\w+)"', portal.get(f"/triggers/{trigger_id}").text))
    opened = portal.get(f"/triggers/{trigger_id}/events/{event}").text
    assert "Save payload" in opened and "curl" not in opened
    assert portal.get(f"/triggers/{trigger_id}/events/{event}/payload.json").status_code == 200
    foreign = world.portal("bob")
    for path in (f"/events/{event}", f"/events/{event}/payload.json", "/logs/news"):
        answer = foreign.get(f"/triggers/{trigger_id}{path}")
        assert answer.status_code == (204 if path.endswith("news") else 404) and event not in answer.text, path


def test_the_link_looks_like_the_portal(world: Any) -> None:
    portal = world.portal(query="&theme=dark&language=de")
    link = portal.post("/apps/sandbox/connect").headers["Location"].removeprefix(world.public)
    page = world.client().get(link, base_url=world.public).text
    assert 'data-theme="dark"' in page and 'lang="de"' in page


def test_no_signing_key_is_shown(world: Any) -> None:
    portal = world.portal()
    trigger_id = world.deploy()
    added = portal.post(f"/triggers/{trigger_id}/webhooks", {"url": "https://example.com/hooks/secret"})
    assert added.status_code == 303
    portal.get(f"/triggers/{trigger_id}")  # says what was added
    page = portal.get(f"/triggers/{trigger_id}").text
    assert "example.com" in page and "secret" not in page and "Reveal" not in page and "whsec_" not in page
    (endpoint_id,) = set(re.findall(r"/webhooks/(\w+)/removal", page))
    assert portal.post(f"/triggers/{trigger_id}/webhooks/{endpoint_id}/key").status_code == 404


def test_a_draft_is_its_users_in_one_environment_and_outlives_the_token(world: Any) -> None:
    draft = {"d": "cron", "number.cron": "7", "unit.cron": "days", "mode.cron": "every", "p.cron": "canary-draft"}
    portal = world.portal(scope="connect:triggers:* connect:accounts:read")
    assert portal.post(f"{FORM}/draft", draft).status_code == 303
    assert "Saved as draft" in world.portal().get(FORM).text
    for stranger in (
        world.portal("bob"),
        world.portal(scene=Scene(world.scene.project_id, "production")),
    ):
        assert "Saved as draft" not in stranger.get(FORM).text
    with world.service.store.write() as tx:
        tx.run("DELETE FROM external_users WHERE external_id = 'alice'", {})
    assert world.service.store.all("SELECT viewer FROM viewer_drafts") == []


def test_a_user_of_a_portal_uses_up_no_limit_of_the_product(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "accounts", Limit(2, 300))
    key, limits = key_of("accounts", world.scene.project_id, world.scene.environment), world.service.limits
    alice = world.portal()
    statuses = {alice.get("/accounts").status_code for _ in range(4)}
    assert limits.state(LIMITS["accounts"], key).remaining == 2
    assert 503 in statuses and world.portal("bob").get("/accounts").status_code == 200
    headers = {"Authorization": f"Bearer {world.token()}"}
    own = world.client().get("/v1/connect/accounts", base_url=world.public, headers=headers)
    assert own.headers["X-RateLimit-Remaining"] == "1"  # the product's page, with a token of the same user


def test_what_is_known_of_an_app_is_one_projects_and_environments(world: Any) -> None:
    shop, store = projects.create(world.service, name="Shop", support_email="help@shop.example"), world.service.store
    scenes = world.scene, Scene(world.scene.project_id, "production"), Scene(shop.id, "development")
    portals: list[Any] = [sessions.find(store, world.portal(scene=scene).handle) for scene in scenes]
    client: Any = None
    names = {PortalViewer("alice", ROLE, client, session=session).here("sandbox") for session in portals}
    assert len(names) == 3 and "sandbox" not in names
