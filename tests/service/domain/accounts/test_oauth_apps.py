"""OAuth clients at providers: the project's own before the installation's, and none removed that accounts live by.

What the owner of an OAuth client is told of its events, and the secret that signs them.

A secret that a provider sends waits for the owner of the client, who alone lets it sign.

Which OAuth clients a project has, and what each serves.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from webapp.errors import Conflict, NotFound
from webapp.kit.clock import DAY, FakeClock
from webapp.kit.cursors import Window
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.oauth_apps import OAuthApp, OAuthAppFilter, OAuthAppUse
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


def test_each_provider_has_a_redirect_uri_of_its_own(service: Service) -> None:
    shared = f"{service.settings.public_url}/connect/oauth/callback"
    ends = {"github": "/github", "gmail": "/accounts.google.com", "google_drive": "/accounts.google.com"}
    for app, end in ends.items():
        assert oauth_apps.new_redirect_uri(service, app) == shared + end
        client = oauth_apps.add(service, app=app, client_id="c", client_secret=None)
        assert oauth_apps.redirect_uri(service, client) == shared + end
        assert oauth_apps.redirect_uri(service, replace(client, callback="")) == shared  # added before


def test_apps_that_share_a_client_have_one_secret(service: Service, project: Project, plant: Plant) -> None:
    gmail = oauth_apps.add(service, app="gmail", client_id="c", client_secret="canary-first", project_id=project.id)
    drive = oauth_apps.share(service, gmail, "google_drive")
    sheets = oauth_apps.share(service, drive, "google_sheets")
    assert (drive.shares, sheets.shares, sheets.client_id) == (gmail.id, gmail.id, "c")
    assert oauth_apps.redirect_uri(service, sheets) == oauth_apps.redirect_uri(service, gmail)
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


def test_a_family_has_one_redirect_uri(service: Service) -> None:
    uris = {slug: oauth_apps.new_redirect_uri(service, slug) for slug in ("jira", "gmail", "google_drive")}
    assert uris["jira"].endswith("/connect/oauth/callback/atlassian")
    assert uris["gmail"] == uris["google_drive"]


def test_the_family_of_an_app(service: Service) -> None:
    assert {"google_calendar", "google_drive", "google_sheets"} <= set(oauth_apps.family(service, "gmail"))
    assert oauth_apps.family(service, "github") == oauth_apps.family(service, "nothing") == []


def test_the_owner_learns_where_events_come_and_what_is_missing(service: Service) -> None:
    client = oauth_apps.add(service, app="slack", client_id="c", client_secret="s")
    facts = oauth_apps.events_of(service, client)
    assert facts == {
        "uri": f"http://localhost:8600/h/app/slack/{client.id}",
        "address_name": "Request URL",
        "secret_name": "Signing Secret",
        "has_secret": False,
        "brings_secret": False,
        "secret_sent_at": None,
        "takes_topic": False,
    }
    assert oauth_apps.events_secret(service, client) is None
    changed = oauth_apps.update(service, client, events_secret="canary-secret")
    assert (oauth_apps.events_of(service, changed) or {})["has_secret"]
    assert oauth_apps.events_secret(service, changed) == "canary-secret"
    assert b"canary" not in (changed.events_sealed or b"canary")


def test_an_app_without_events_has_nothing_to_tell(service: Service) -> None:
    client = oauth_apps.add(service, app="github", client_id="c", client_secret="s")
    assert oauth_apps.events_of(service, client) is None


@pytest.fixture
def client(service: Service) -> OAuthApp:
    return oauth_apps.add(service, app="notion", client_id="c", client_secret="s")


def told(service: Service, client: OAuthApp) -> tuple[bool, bool]:
    """Whether a secret signs, and whether one waits."""
    facts = oauth_apps.events_of(service, oauth_apps.get(service.store, client.id)) or {}
    assert facts["brings_secret"]
    return facts["has_secret"], facts["secret_sent_at"] is not None


def test_it_signs_once_it_was_taken_and_is_shown_once(service: Service, client: OAuthApp) -> None:
    with pytest.raises(Conflict, match="has sent nothing yet"):
        oauth_apps.take_handshake(service, client)
    oauth_apps.keep_handshake(service, client, "canary-first")
    oauth_apps.keep_handshake(service, client, "canary-second")
    assert told(service, client) == (False, True)
    (row,) = service.store.all("SELECT secret_sealed FROM event_handshakes")
    assert b"canary" not in row["secret_sealed"]
    assert oauth_apps.take_handshake(service, client) == "canary-second"
    assert told(service, client) == (True, False)
    with pytest.raises(Conflict):
        oauth_apps.take_handshake(service, client)


def test_a_later_one_replaces_none_that_signs(service: Service, client: OAuthApp) -> None:
    client = oauth_apps.update(service, client, events_secret="canary-first")
    oauth_apps.keep_handshake(service, client, "canary-first")
    assert told(service, client) == (True, False)
    oauth_apps.keep_handshake(service, client, "canary-other")
    assert told(service, client) == (True, True)
    assert oauth_apps.events_secret(service, oauth_apps.get(service.store, client.id)) == "canary-first"
    oauth_apps.remove(service, client)
    assert service.store.all("SELECT 1 FROM event_handshakes") == []


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
