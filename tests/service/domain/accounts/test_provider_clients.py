"""OAuth clients at providers: the project's own before the installation's, and none removed that accounts live by."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from webapp.errors import Conflict, NotFound
from webapp.kit.clock import DAY, FakeClock
from webapp.service.domain.accounts import provider_clients
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
    assert provider_clients.own_clients(service.store, project.id) == {"tinyoauth": own.id}
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
        provider_clients.own(reader, project.id, theirs.id)
    assert provider_clients.own_clients(reader, project.id) == {}
    assert "tinyoauth" not in provider_clients.apps_with_client(reader, project.id)
    assert theirs not in provider_clients.list_all(reader)
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
