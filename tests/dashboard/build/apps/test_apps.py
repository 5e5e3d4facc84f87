"""Build → App setup: the project's clients, who waits for an app, and presets."""

from typing import Any

from tests.dashboard.build.fake_oauth_apps import Registry
from tests.dashboard.conftest import PASSWORD
from webapp.dashboard.build.apps import apps
from webapp.people import users


def test_what_stands_on_the_page(stage: Any, registry: Registry) -> None:
    users.create(stage.store, stage.clock, email="marc@example.com", password=PASSWORD, role="member")
    stage.signed_in("marc@example.com").send("/apps/slack/setup-requests")
    browser = stage.signed_in()
    page = browser.get("/build/apps").text
    assert "Requested apps" in page and "1 person" in page and 'href="/apps/slack/setup"' in page
    assert "With your own OAuth client" in page
    registry.add("github", "gh-id", accounts=3, shared_with=["slack"])
    registry.add("github", "old-id", used_for_new=False)
    page = browser.get("/build/apps").text
    for text in ("gh-id", "old-id", "Shared with 1 other app", "Not used for new accounts", ">3</td>"):
        assert text in page
    registry.add("slack")
    assert "Requested apps" in browser.get("/build/apps").text, "what is known of an app is a moment old"
    stage.app.extensions["patchbay_dashboard"].forget_apps()
    assert "Requested apps" not in browser.get("/build/apps").text


def test_owners_alone_see_it(stage: Any, registry: Registry) -> None:
    oauth_app_id = registry.add("github", "canary-id")["id"]
    for role in ("developer", "member"):
        users.create(stage.store, stage.clock, email=f"{role}@example.com", password=PASSWORD, role=role)
        browser = stage.signed_in(f"{role}@example.com")
        assert "/build/apps" not in browser.get("/apps").text
        for path in ("", "/overrides/new", f"/{oauth_app_id}", f"/{oauth_app_id}/removal"):
            answer = browser.get(f"/build/apps{path}")
            assert answer.status_code == 404 and "canary" not in answer.text
        for path in (f"/{oauth_app_id}", f"/{oauth_app_id}/check", f"/{oauth_app_id}/removal", "/overrides"):
            assert browser.send(f"/build/apps{path}", {"client_id": "x"}).status_code == 404
    assert 'href="/build/apps"' in stage.signed_in().get("/apps").text
    assert list(registry.clients) == [oauth_app_id]


def test_a_service_without_them_says_so(stage: Any) -> None:
    page = stage.signed_in().get("/build/apps").text
    assert "does not let the dashboard manage them" in page and "Preset fields" not in page


def test_a_question_has_a_way_back(stage: Any) -> None:
    with stage.request("/build/apps/oa_1/removal"):
        page = apps.question(
            heading="Delete <it>?", text="It goes.", stops=["A thing"], blocked="", button="Delete", confirm_url="/x"
        )
        assert "Delete &lt;it&gt;?" in page and 'href="/build/apps"' in page and 'action="/x"' in page
        assert apps.back("clients").headers["Location"] == "/build/apps#clients"
