"""Which OAuth clients a project has, and what each serves."""

from collections.abc import Callable

import pytest

from webapp.errors import NotFound
from webapp.kit.cursors import Window
from webapp.service.domain.accounts import project_clients, provider_clients
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.project_clients import ClientUse, Filter
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Project


def test_what_a_client_serves(service: Service, project: Project, plant: Callable[..., Account]) -> None:
    texts = {"client_id": "c", "client_secret": "s", "project_id": project.id}
    first = provider_clients.add(service, app="gmail", **texts)
    assert project_clients.use_of(service.store, first) == ClientUse(0, (), True, False)
    drive = provider_clients.share(service, first, "google_drive")
    second = provider_clients.add(service, app="gmail", **texts)
    provider_clients.add(service, app="gmail", client_id="i", client_secret="s")
    plant(app="gmail", oauth_app_id=first.id)
    latest = provider_clients.choose(service.store, project.id, "gmail")
    assert project_clients.use_of(service.store, first) == ClientUse(1, ("google_drive",), latest == first, True)
    assert project_clients.use_of(service.store, drive) == ClientUse(0, ("gmail",), True, False)
    assert project_clients.use_of(service.store, second).used_for_new is (latest == second)


def test_only_the_projects_own_are_listed(service: Service, project: Project) -> None:
    own = provider_clients.add(service, app="gmail", client_id="c", client_secret="s", project_id=project.id)
    installations = provider_clients.add(service, app="gmail", client_id="i", client_secret="s")
    page = project_clients.page(service.store, project.id, Filter(), Window())
    assert [client.id for client in page.items] == [own.id]
    assert project_clients.own(service.store, project.id, own.id) == own
    with pytest.raises(NotFound):
        project_clients.own(service.store, project.id, installations.id)
    assert {client.id for client in project_clients.list_all(service.store)} >= {own.id, installations.id}
    assert project_clients.own_clients(service.store, None) == {}
