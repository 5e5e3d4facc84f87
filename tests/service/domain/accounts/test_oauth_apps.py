"""OAuth clients at providers: the project's own before the installation's, and none removed that accounts live by.

Which OAuth clients a project has, and what each serves.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from webapp.errors import Conflict, NotFound
from webapp.kit.clock import DAY, FakeClock
from webapp.kit.cursors import Window
from webapp.service.domain.accounts import oauth_apps, redirect_uris
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.oauth_apps import OAuthAppFilter, OAuthAppUse
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Project, Scene

Plant = Callable[..., Account]


def test_the_own_client_is_chosen_before_the_installations(service: Service, project: Project) -> None:
    shared = oauth_apps.add(service, app="tinyoauth", client_id="shared", client_secret="s")
    assert oauth_apps.choose(service.store, project.id, "tinyoauth") == shared
    own = oauth_apps.add(service, app="tinyoauth", client_id="own", client_secret=None, project_id=project.id)
    assert oauth_apps.choose(service.store, project.id, "tinyoauth") == own
    assert oauth_apps.choose(service.store, "proj_other", "tinyoauth") == shared
    assert oauth_apps.own_clients(service.store, project.id) == {"tinyoauth": own.id}
    for project_id, app in (("proj_other", "tinyoauth"), (project.id, "tinykeys")):
        with pytest.raises(NotFound):
            oauth_apps.choose(service.store, project_id, app, own.id)


def test_the_secret_is_sealed_and_changed_only_when_one_is_given(service: Service, project: Project) -> None:
    client = oauth_apps.add(
        service, app="tinyoauth", client_id="c", client_secret="first", project_id=project.id, scopes=["read"]
    )
    assert b"first" not in (client.secret_sealed or b"")
    renamed = oauth_apps.update(service, replace(client, name="Ours"))
    assert (renamed.name, renamed.scopes, oauth_apps.secret(service, renamed)) == ("Ours", ("read",), "first")
    changed = oauth_apps.update(service, renamed, client_secret="second")
    assert oauth_apps.secret(service, changed) == "second"


def test_a_client_in_use_keeps_its_id_and_stays(service: Service, project: Project, plant: Plant) -> None:
    client = oauth_apps.add(service, app="tinyoauth", client_id="c", client_secret="s", project_id=project.id)
    plant(app="tinyoauth", oauth_app_id=client.id)
    with pytest.raises(Conflict, match="One account was connected"):
        oauth_apps.update(service, replace(client, client_id="other"))
    with pytest.raises(Conflict, match="One account was connected"):
        oauth_apps.remove(service, client)


def test_the_sandboxs_client_is_made_once(service: Service) -> None:
    assert oauth_apps.ensure_sandbox(service) == oauth_apps.ensure_sandbox(service)
    assert oauth_apps.get(service.store, oauth_apps.SANDBOX_ID).name == "Sandbox"


def test_what_a_person_brought_serves_that_person_only_and_goes_unused(
    service: Service, project: Project, clock: FakeClock
) -> None:
    with service.store.write() as tx:
        user = external_users.ensure(tx, Scene(project.id, "development"), "alice", clock()).id
    texts = {"app": "tinyoauth", "client_id": "theirs", "client_secret": "s"}
    theirs = oauth_apps.add(service, **texts, project_id=project.id, external_user_id=user)
    reader = service.store
    assert oauth_apps.choose(reader, project.id, "tinyoauth") is None
    assert oauth_apps.choose(reader, project.id, "tinyoauth", theirs.id, user_id=user) == theirs
    for other in (None, "exu_other"):
        with pytest.raises(NotFound):
            oauth_apps.choose(reader, project.id, "tinyoauth", theirs.id, user_id=other)
    with pytest.raises(NotFound):
        oauth_apps.own(reader, project.id, theirs.id)
    assert oauth_apps.own_clients(reader, project.id) == {}
    assert "tinyoauth" not in oauth_apps.apps_with_client(reader, project.id)
    assert theirs not in oauth_apps.list_all(reader)
    assert oauth_apps.purge(service) == 0
    clock.advance(DAY + 1)
    assert oauth_apps.purge(service) == 1


def test_apps_that_share_a_client_have_one_secret(service: Service, project: Project, plant: Plant) -> None:
    gmail = oauth_apps.add(service, app="gmail", client_id="c", client_secret="canary-first", project_id=project.id)
    drive = oauth_apps.share(service, gmail, "google_drive")
    sheets = oauth_apps.share(service, drive, "google_sheets")
    assert (drive.shares, sheets.shares, sheets.client_id) == (gmail.id, gmail.id, "c")
    assert redirect_uris.of(service, sheets.callback) == redirect_uris.of(service, gmail.callback)
    sealed = service.store.all("SELECT id FROM provider_clients WHERE secret_sealed IS NOT NULL AND app <> 'sandbox'")
    assert [row["id"] for row in sealed] == [gmail.id]
    with pytest.raises(Conflict, match="uses this OAuth client already"):
        oauth_apps.share(service, sheets, "google_drive")

    oauth_apps.update(service, drive, client_secret="canary-second")
    again = [oauth_apps.get(service.store, each.id) for each in (gmail, drive, sheets)]
    assert {oauth_apps.secret(service, each) for each in again} == {"canary-second"}
    plant(app="google_drive", oauth_app_id=drive.id)
    with pytest.raises(Conflict, match="One account was connected"):
        oauth_apps.update(service, replace(again[2], client_id="other"))


def test_who_holds_the_secret_hands_it_on(service: Service, project: Project) -> None:
    gmail = oauth_apps.add(service, app="gmail", client_id="c", client_secret="s", project_id=project.id)
    others = [oauth_apps.share(service, gmail, app) for app in ("google_drive", "google_sheets")]
    oauth_apps.remove(service, gmail)
    left = [oauth_apps.get(service.store, other.id) for other in others]
    assert [oauth_apps.secret(service, client) for client in left] == ["s", "s"]
    assert sorted(client.shares or "" for client in left) == ["", next(each.id for each in left if not each.shares)]
    for client in left:
        oauth_apps.remove(service, client)


def test_the_family_of_an_app(service: Service) -> None:
    assert {"google_calendar", "google_drive", "google_sheets"} <= set(oauth_apps.family(service, "gmail"))
    assert oauth_apps.family(service, "github") == oauth_apps.family(service, "nothing") == []


def test_what_a_client_serves(service: Service, project: Project, plant: Callable[..., Account]) -> None:
    texts = {"client_id": "c", "client_secret": "s", "project_id": project.id}
    first = oauth_apps.add(service, app="gmail", **texts)
    assert oauth_apps.use_of(service.store, first) == OAuthAppUse(0, (), True, False)
    drive = oauth_apps.share(service, first, "google_drive")
    second = oauth_apps.add(service, app="gmail", **texts)
    oauth_apps.add(service, app="gmail", client_id="i", client_secret="s")
    plant(app="gmail", oauth_app_id=first.id)
    latest = oauth_apps.choose(service.store, project.id, "gmail")
    assert oauth_apps.use_of(service.store, first) == OAuthAppUse(1, ("google_drive",), latest == first, True)
    assert oauth_apps.use_of(service.store, drive) == OAuthAppUse(0, ("gmail",), True, False)
    assert oauth_apps.use_of(service.store, second).used_for_new is (latest == second)


def test_only_the_projects_own_are_listed(service: Service, project: Project) -> None:
    own = oauth_apps.add(service, app="gmail", client_id="c", client_secret="s", project_id=project.id)
    installations = oauth_apps.add(service, app="gmail", client_id="i", client_secret="s")
    page = oauth_apps.page(service.store, project.id, OAuthAppFilter(), Window())
    assert [client.id for client in page.items] == [own.id]
    assert oauth_apps.own(service.store, project.id, own.id) == own
    with pytest.raises(NotFound):
        oauth_apps.own(service.store, project.id, installations.id)
    assert {client.id for client in oauth_apps.list_all(service.store)} >= {own.id, installations.id}
    assert oauth_apps.own_clients(service.store, None) == {}
