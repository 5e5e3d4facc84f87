"""A browser works in one environment: its pages show nothing of the other, and a Connect Link leads back to its own."""

import re
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from tests.dashboard.embedded import Browser, Embedded
from tests.fakes.user_data import plant_account
from webapp.dashboard.dashboard import KEY
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.deliveries import signing_keys
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene


def planted(studio: Embedded, environment: str, name: str, role: str = "owner") -> Account:
    """An account of that person's."""
    scene = Scene(studio.project.id, environment)  # type: ignore[arg-type]
    return plant_account(studio.service, scene, studio.people[role].id, "sandbox_keys", {"key": "k"}, name=name)


def switch(browser: Browser, environment: str) -> None:
    assert browser.send("/scene", {"environment": environment}).status_code == 303


def test_pages_show_nothing_of_the_other_environment(studio: Embedded) -> None:
    trial, real = planted(studio, "development", "Trial"), planted(studio, "production", "Real")
    owner, other_browser = studio.browser(), studio.browser()
    page = owner.get("/accounts")
    assert "Trial" in page and "Real" not in page
    assert 'value="development" aria-pressed="true"' in " ".join(page.split())
    switch(owner, "production")
    page = owner.get("/accounts")
    assert "Real" in page and "Trial" not in page
    assert 'value="production" aria-pressed="true"' in " ".join(page.split())
    assert '<span class="badge ok push">Production</span>' in page  # where the menu is folded away
    owner.get(f"/accounts/{real.id}")
    owner.get(f"/accounts/{trial.id}", code=404)
    assert owner.send(f"/accounts/{trial.id}/disconnection").status_code == 404
    assert "Trial" in other_browser.get("/accounts")
    switch(owner, "development")
    page = owner.get("/accounts")
    assert "Trial" in page and "Real" not in page
    owner.get(f"/accounts/{real.id}", code=404)


def test_code_to_copy_names_the_environment(studio: Embedded) -> None:
    owner, path = studio.browser(), "/apps/sandbox/actions/sandbox-create-task"
    assert "x-pd-environment: development" in owner.get(path)
    switch(owner, "production")
    page = owner.get(path)
    assert "x-pd-environment: production" in page and "x-pd-environment: development" not in page


def test_drafts_stay_in_their_environment(studio: Embedded) -> None:
    owner, path = studio.browser(), "/apps/sandbox/actions/sandbox-create-task"
    owner.send(f"{path}/draft", {"p.title": "only while trying"})
    assert "only while trying" in owner.get(path)
    switch(owner, "production")
    assert "only while trying" not in owner.get(path)
    owner.send(f"{path}/draft", {"p.title": "in earnest"})
    switch(owner, "development")
    assert "only while trying" in owner.get(path)


def test_members_stay_where_the_dashboard_works(studio: Embedded) -> None:
    planted(studio, "production", "Real", "member")
    member = studio.browser("member")
    assert 'name="environment"' not in member.get("/accounts")
    assert member.send("/scene", {"environment": "production"}).status_code == 404
    assert "Real" not in member.get("/accounts")


@pytest.mark.parametrize("environment", ["", "staging", "Production"])
def test_there_is_no_other_environment(studio: Embedded, environment: str) -> None:
    assert studio.browser().send("/scene", {"environment": environment}).status_code == 404


@pytest.mark.parametrize(
    "before, after",
    [
        ("/accounts/apn_1", "/accounts"), ("/triggers/dc_1/events", "/triggers"),
        ("/build/apps/oa_1", "/build/apps"), ("/build/apps/overrides/aov_1", "/build/apps"),
        ("/build/workflows/wf_1", "/build/workflows"), ("/build/people/invitations", "/build/people"),
        ("/apps/github?q=x", "/apps/github?q=x"),
        ("/accounts?status=working", "/accounts?status=working"), ("", "/"),
    ],
)  # fmt: skip
def test_the_page_stays_unless_it_shows_one_thing(studio: Embedded, before: str, after: str) -> None:
    owner = studio.browser()
    owner.get("/settings")
    headers = {"Referer": f"http://localhost:8600{before}"} if before else {}
    token = owner.send("/scene", {"environment": "production"}) and owner._token
    answer = owner.client.post(
        "/scene", base_url="http://localhost:8600", data={"csrf_token": token, "environment": "development"},
        headers=headers,
    )  # fmt: skip
    assert answer.headers["Location"] == after


def back_from_the_link(studio: Embedded, browser: Browser) -> str:
    """Where the Connect Link of an app leads after a success."""
    link = dict(parse_qsl(urlsplit(browser.send("/apps/sandbox_keys/connect").headers["Location"]).query))
    token = connect_tokens.verify(studio.service, link["token"])
    assert token.success_redirect_uri is not None
    return token.success_redirect_uri.removeprefix("http://localhost:8600")


def test_a_connect_link_leads_back_to_its_own_environment(studio: Embedded) -> None:
    owner = studio.browser()
    switch(owner, "production")
    back = back_from_the_link(studio, owner)
    account = planted(studio, "production", "Just now")
    switch(owner, "development")
    answer = owner.client.get(f"{back}&account_id={account.id}", base_url="http://localhost:8600")
    assert answer.headers["Location"] == f"/accounts/{account.id}"
    assert "Just now" in owner.get(f"/accounts/{account.id}")


def test_nobody_is_led_elsewhere_by_a_mere_address(studio: Embedded) -> None:
    theirs = planted(studio, "production", "Theirs", "developer")
    owner = studio.browser()
    for query in ("project=&in=production&account_id=apn_none", f"project=proj_x&in=production&account_id={theirs.id}",
                  f"project=&in=production&account_id={theirs.id}", f"in=staging&account_id={theirs.id}"):  # fmt: skip
        owner.get(f"/accounts/connected?{query}", code=404)
        assert 'value="development" aria-pressed="true"' in " ".join(owner.get("/settings").split())


def test_pages_show_nothing_of_another_project(studio: Embedded) -> None:
    shop = projects.create(studio.service, name="Shop", support_email="help@shop.example")
    scene = Scene(shop.id, "development")
    theirs = plant_account(studio.service, scene, studio.people["owner"].id, "sandbox_keys", {"key": "k"}, name="Till")
    ours = planted(studio, "development", "Desk")
    owner = studio.browser()
    owner.get(f"/accounts/{theirs.id}", code=404)
    assert owner.send("/scene", {"project": shop.id}).status_code == 303
    page = owner.get("/accounts")
    assert "Till" in page and "Desk" not in page
    owner.get(f"/accounts/{ours.id}", code=404)
    assert f'value="{shop.id}" aria-pressed="true"' in " ".join(page.split())
    answer = owner.client.get(
        f"/accounts/connected?project={studio.project.id}&in=development&account_id={ours.id}",
        base_url="http://localhost:8600",
    )
    assert answer.headers["Location"] == f"/accounts/{ours.id}"
    assert "Desk" in owner.get("/accounts")


def test_a_browser_knows_its_project_after_a_restart(studio: Embedded) -> None:
    shop = projects.create(studio.service, name="Kiosk", support_email="help@shop.example")
    owner = studio.browser()
    owner.send("/scene", {"project": shop.id})
    studio.app.extensions[KEY].projects.clear()
    assert f'value="{shop.id}" aria-pressed="true"' in " ".join(owner.get("/settings").split())


def test_a_project_that_is_not_there_is_not_worked_in(studio: Embedded) -> None:
    owner, member = studio.browser(), studio.browser("member")
    for project_id in ("", "proj_none", "../x"):
        assert owner.send("/scene", {"project": project_id}).status_code == 404
    assert member.send("/scene", {"project": studio.project.id}).status_code == 404


def test_a_way_back_that_names_no_project_asks_for_nothing(studio: Embedded) -> None:
    scene = Scene(studio.project.id, "development")
    key = signing_keys.key_of(studio.service, scene)
    name = quote(f"{studio.project.id}/webhook/regenerate_signing_key?", safe="")
    studio.browser().get(f"/accounts/connected?account_id=apn_0&in=development&project={name}", code=404)
    assert signing_keys.key_of(studio.service, scene) == key


def test_a_page_of_before_the_switch_sends_nothing_into_another_environment(studio: Embedded) -> None:
    owner, schedule = studio.browser(), "/apps/schedule/triggers/schedule-custom-interval"
    drawn = 'name="drawn_in" value="{}"'
    assert drawn.format("") in owner.get(schedule)
    switch(owner, "production")
    here = re.search(r'name="drawn_in" value="([^"]+)"', owner.get(schedule))
    assert here
    fields = {"d": "cron", "mode.cron": "interval", "n.cron": "15", "u.cron": "minutes", "t.deploy:emit": "false"}
    refused = owner.send(f"{schedule}/deployment", {**fields, "drawn_in": ""})
    assert refused.status_code == 409 and "You have switched to another project or environment" in refused.text
    assert studio.service.store.all("SELECT 1 FROM deployed_triggers") == []
    assert owner.send(f"{schedule}/deployment", {**fields, "drawn_in": here[1]}).status_code == 303
    assert studio.service.store.one("SELECT environment FROM deployed_triggers") == {"environment": "production"}
