"""The checklist: each step is done by what happens, also after a restart, and people hide it for themselves."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from tests.dashboard.embedded import Browser, Embedded
from tests.once.catalog import linked
from webapp.dashboard.build.checklist import STEPS
from webapp.dashboard.client.build import projects
from webapp.dashboard.client.build.projects import ProjectProgress
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.dashboard import KEY
from webapp.kit.clock import SECOND, FakeClock
from webapp.people import invitations, users
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import activity, external_users, usage
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

URL = "/checklist"


@pytest.fixture
def fresh(tmp_path: Path, built_catalog: Path, migrated: Path) -> Iterator[Embedded]:
    """A new installation, in which only people were created."""
    shutil.copy(migrated, tmp_path)
    linked(built_catalog, tmp_path)
    clock = FakeClock()
    settings = Settings.from_env({}, data=tmp_path)
    service = open_service(settings, clock)
    embedded = Embedded(service, settings, clock)
    with service.store.write() as tx:
        users.remove(tx, clock(), embedded.people["member"])
        users.remove(tx, clock(), embedded.people["developer"])
    yield embedded
    close_service(service)


def done(browser: Browser) -> list[str]:
    """The labels of the steps that the page shows as done."""
    rows = re.findall(r'<li class="done">.*?</li>', browser.get(URL), re.DOTALL)
    return [re.findall(r'<a class="link"[^>]*>([^<]+)</a>', row)[0] for row in rows]


def label(name: str) -> str:
    return str(STEPS[name].label)


def test_steps_are_done_by_what_happens_and_stay_so_after_a_restart(fresh: Embedded) -> None:
    service, browser, expected = fresh.service, fresh.browser(), list[str]()
    assert done(browser) == []

    def happened(name: str) -> None:
        expected.append(label(name))
        assert sorted(done(browser)) == sorted(expected)

    with service.store.write() as tx:
        user = external_users.ensure(tx, Scene(fresh.project.id, "production"), "alice", service.clock())
        subject = activity.Subject("apn_1", Scene(fresh.project.id, "production"), user.id, "sandbox")
        activity.write(tx, subject, service.clock(), "connected", "Connected.", good=True)
    happened("account")
    with service.store.write() as tx:
        usage.add(tx, fresh.scene, "run", service.clock())
    happened("action")
    with service.store.write() as tx:
        subject = activity.Subject("", fresh.scene, user.id, "sandbox", "dc_1")
        activity.write(tx, subject, service.clock(), "deployed", "Deployed.", good=True)
    happened("trigger")
    client, _ = oauth_clients.create(service, name="Web app")
    happened("client")
    access_tokens.verify(service, access_tokens.issue(service, client, None).token)
    oauth_clients.flush_uses(service)
    happened("embed")
    oauth_apps.add(service, app="github", client_id="id", client_secret="secret", project_id=fresh.project.id)
    happened("oauth_app")
    invitations.invite(service.store, service.clock, email="bob@example.com", role="member")
    happened("people")
    assert 'aria-labelledby="checklist-title"' in browser.get("/apps")
    assert f'aria-label="Mark as done: {label("key")}">Mark as done<' in browser.get(URL), "its name begins as it reads"
    browser.send(f"{URL}/steps/key", {"done": "1"})
    happened("key")
    assert len(expected) == len(STEPS) and 'id="checklist-title"' not in browser.get("/apps")

    oauth_clients.delete(service, client.id)
    fresh.app.extensions[KEY].done_steps.clear()
    assert set(done(browser)) >= set(expected) - {label("embed")}, "what was deleted since then counts"
    browser.send(f"{URL}/steps/key")
    assert label("key") not in done(browser)


def test_it_asks_the_api_once_for_all_steps_and_never_again_for_what_is_done(
    fresh: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, progress, browser = list[object](), projects.progress, fresh.browser()
    clock = cast(FakeClock, fresh.service.clock)

    def counted(client: ConnectClient) -> ProjectProgress:
        asked.append(client)
        return progress(client)

    monkeypatch.setattr(projects, "progress", counted)
    browser.get(URL)
    browser.get("/apps")
    assert len(asked) == 1, "Apps shows what was read a moment ago"
    browser.get(URL)
    assert len(asked) == 2
    for change in (lambda: clock.advance(5 * SECOND), lambda: browser.send("/settings/theme", {"theme": "dark"})):
        before = len(asked)
        change()
        for _ in range(2):
            browser.get("/apps")
        assert len(asked) == before + 1
    asked.clear()
    for name in STEPS:
        fresh.app.extensions[KEY].done_steps.put(name, True)
    assert len(done(browser)) == len(STEPS) and not asked


def test_a_person_hides_it_from_apps_and_shows_it_again(fresh: Embedded) -> None:
    first, second = fresh.browser(), fresh.browser()
    page = first.get("/apps")
    assert 'id="checklist-title"' in page and "0 of 8 done" in page and page.count('class="row-link"') >= 3
    assert 'id="checklist-title"' not in first.get("/apps?q=git"), "somebody searches"
    assert "Settings lead to it." in first.follow(f"{URL}/hidden")
    assert 'id="checklist-title"' not in second.get("/apps")
    assert 'href="/checklist"' in first.get("/settings") and "Show on Apps" in first.get(URL)
    first.follow(f"{URL}/shown")
    assert 'id="checklist-title"' in second.get("/apps")


def test_it_is_for_owners_and_developers(office: Embedded) -> None:
    member, developer = office.browser("member"), office.browser("developer")
    for path in (URL, f"{URL}/hidden", f"{URL}/shown"):
        assert member.send(path).status_code in (404, 405)
    member.get(URL, code=404)
    assert 'id="checklist-title"' not in member.get("/apps") and URL not in member.get("/settings")
    page = developer.get(URL)
    assert label("client") in page and label("people") not in page and label("key") not in page
    assert developer.send(f"{URL}/steps/key", {"done": "1"}).status_code == 404
    for name in ("account", "absent"):
        assert office.browser().send(f"{URL}/steps/{name}", {"done": "1"}).status_code == 404, (
            "it is known, or not there"
        )


def test_a_key_that_the_operator_holds_needs_no_mark(fresh: Embedded) -> None:
    object.__setattr__(fresh.app.extensions[KEY].settings, "secret_key", "a" * 40)
    browser = fresh.browser()
    assert done(browser) == [label("key")] and "Mark as" not in browser.get(URL)
