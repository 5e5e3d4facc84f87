"""OAuth clients at providers: the project's own before the installation's, and none removed that accounts live by."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from webapp.errors import Conflict, NotFound
from webapp.kit.clock import DAY, FakeClock
from webapp.service.domain.accounts import project_clients, provider_clients
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Project, Scene

Plant = Callable[..., Account]


def test_the_own_client_is_chosen_before_the_installations(service: Service, project: Project) -> None:
    shared = provider_clients.add(service, app="tinyoauth", client_id="shared", client_secret="s")
    assert provider_clients.choose(service.store, project.id, "tinyoauth") == shared
    own = provider_clients.add(service, app="tinyoauth", client_id="own", client_secret=None, project_id=project.id)
    assert provider_clients.choose(service.store, project.id, "tinyoauth") == own
    assert provider_clients.choose(service.store, "proj_other", "tinyoauth") == shared
    assert project_clients.own_clients(service.store, project.id) == {"tinyoauth": own.id}
    for project_id, app in (("proj_other", "tinyoauth"), (project.id, "tinykeys")):
        with pytest.raises(NotFound):
            provider_clients.choose(service.store, project_id, app, own.id)


def test_the_secret_is_sealed_and_changed_only_when_one_is_given(service: Service, project: Project) -> None:
    client = provider_clients.add(
        service, app="tinyoauth", client_id="c", client_secret="first", project_id=project.id, scopes=["read"]
    )
    assert b"first" not in (client.secret_sealed or b"")
    renamed = provider_clients.update(service, replace(client, name="Ours"))
    assert (renamed.name, renamed.scopes, provider_clients.secret(service, renamed)) == ("Ours", ("read",), "first")
    changed = provider_clients.update(service, renamed, client_secret="second")
    assert provider_clients.secret(service, changed) == "second"


def test_a_client_in_use_keeps_its_id_and_stays(service: Service, project: Project, plant: Plant) -> None:
    client = provider_clients.add(service, app="tinyoauth", client_id="c", client_secret="s", project_id=project.id)
    plant(app="tinyoauth", oauth_app_id=client.id)
    with pytest.raises(Conflict, match="One account was connected"):
        provider_clients.update(service, replace(client, client_id="other"))
    with pytest.raises(Conflict, match="One account was connected"):
        provider_clients.remove(service, client)


def test_the_sandboxs_client_is_made_once(service: Service) -> None:
    assert provider_clients.ensure_sandbox(service) == provider_clients.ensure_sandbox(service)
    assert provider_clients.get(service.store, provider_clients.SANDBOX_ID).name == "Sandbox"


def test_what_a_person_brought_serves_that_person_alone_and_goes_unused(
    service: Service, project: Project, clock: FakeClock
) -> None:
    with service.store.write() as tx:
        user = external_users.ensure(tx, Scene(project.id, "development"), "alice", clock()).id
    texts = {"app": "tinyoauth", "client_id": "theirs", "client_secret": "s"}
    theirs = provider_clients.add(service, **texts, project_id=project.id, external_user_id=user)
    reader = service.store
    assert provider_clients.choose(reader, project.id, "tinyoauth") is None
    assert provider_clients.choose(reader, project.id, "tinyoauth", theirs.id, user_id=user) == theirs
    for other in (None, "exu_other"):
        with pytest.raises(NotFound):
            provider_clients.choose(reader, project.id, "tinyoauth", theirs.id, user_id=other)
    with pytest.raises(NotFound):
        project_clients.own(reader, project.id, theirs.id)
    assert project_clients.own_clients(reader, project.id) == {}
    assert "tinyoauth" not in project_clients.apps_with_client(reader, project.id)
    assert theirs not in project_clients.list_all(reader)
    assert provider_clients.purge(service) == 0
    clock.advance(DAY + 1)
    assert provider_clients.purge(service) == 1


def test_each_provider_has_a_redirect_uri_of_its_own(service: Service) -> None:
    shared = f"{service.settings.public_url}/connect/oauth/callback"
    ends = {"github": "/github", "gmail": "/accounts.google.com", "google_drive": "/accounts.google.com"}
    for app, end in ends.items():
        assert provider_clients.new_redirect_uri(service, app) == shared + end
        client = provider_clients.add(service, app=app, client_id="c", client_secret=None)
        assert provider_clients.redirect_uri(service, client) == shared + end
        assert provider_clients.redirect_uri(service, replace(client, callback="")) == shared  # added before


def test_apps_that_share_a_client_have_one_secret(service: Service, project: Project, plant: Plant) -> None:
    gmail = provider_clients.add(
        service, app="gmail", client_id="c", client_secret="canary-first", project_id=project.id
    )
    drive = provider_clients.share(service, gmail, "google_drive")
    sheets = provider_clients.share(service, drive, "google_sheets")
    assert (drive.shares, sheets.shares, sheets.client_id) == (gmail.id, gmail.id, "c")
    assert provider_clients.redirect_uri(service, sheets) == provider_clients.redirect_uri(service, gmail)
    sealed = service.store.all("SELECT id FROM provider_clients WHERE secret_sealed IS NOT NULL AND app <> 'sandbox'")
    assert [row["id"] for row in sealed] == [gmail.id]
    with pytest.raises(Conflict, match="uses this OAuth client already"):
        provider_clients.share(service, sheets, "google_drive")

    provider_clients.update(service, drive, client_secret="canary-second")
    again = [provider_clients.get(service.store, each.id) for each in (gmail, drive, sheets)]
    assert {provider_clients.secret(service, each) for each in again} == {"canary-second"}
    plant(app="google_drive", oauth_app_id=drive.id)
    with pytest.raises(Conflict, match="One account was connected"):
        provider_clients.update(service, replace(again[2], client_id="other"))


def test_who_holds_the_secret_hands_it_on(service: Service, project: Project) -> None:
    gmail = provider_clients.add(service, app="gmail", client_id="c", client_secret="s", project_id=project.id)
    others = [provider_clients.share(service, gmail, app) for app in ("google_drive", "google_sheets")]
    provider_clients.remove(service, gmail)
    left = [provider_clients.get(service.store, other.id) for other in others]
    assert [provider_clients.secret(service, client) for client in left] == ["s", "s"]
    assert sorted(client.shares or "" for client in left) == ["", next(each.id for each in left if not each.shares)]
    for client in left:
        provider_clients.remove(service, client)


def test_a_family_has_one_redirect_uri(service: Service) -> None:
    uris = {slug: provider_clients.new_redirect_uri(service, slug) for slug in ("jira", "gmail", "google_drive")}
    assert uris["jira"].endswith("/connect/oauth/callback/atlassian")
    assert uris["gmail"] == uris["google_drive"]


def test_the_family_of_an_app(service: Service) -> None:
    assert {"google_calendar", "google_drive", "google_sheets"} <= set(provider_clients.family(service, "gmail"))
    assert provider_clients.family(service, "github") == provider_clients.family(service, "nothing") == []
