"""Accounts that end together: those of one user, at one identity, by one client at the provider."""

from collections.abc import Callable

import pytest

from webapp.service.domain.accounts import lifecycle, provider_clients, siblings
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.provider_clients import ProviderClient
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Project

Plant = Callable[..., Account]


@pytest.fixture
def gmail(service: Service, project: Project) -> ProviderClient:
    return provider_clients.add(service, app="gmail", client_id="c", client_secret="s", project_id=project.id)


def test_what_ends_with_an_account_of_google(service: Service, plant: Plant, gmail: ProviderClient) -> None:
    drive = provider_clients.share(service, gmail, "google_drive")
    other = provider_clients.add(service, app="gmail", client_id="o", client_secret="s", project_id=gmail.project_id)
    mail = plant(app="gmail", oauth_app_id=gmail.id)
    files = plant(app="google_drive", oauth_app_id=drive.id)
    plant(app="google_drive", oauth_app_id=drive.id, identity_id="u-2")
    plant(app="gmail", oauth_app_id=other.id)
    plant("bob", app="google_drive", oauth_app_id=drive.id)
    dead = plant(app="google_drive", oauth_app_id=drive.id)
    lifecycle.mark_dead(service, dead, "Gone.")
    assert [account.id for account in siblings.of(service, mail)] == [files.id]
    assert [account.id for account in siblings.of(service, files)] == [mail.id]


def test_elsewhere_a_sign_in_ends_alone(service: Service, plant: Plant, gmail: ProviderClient) -> None:
    client = provider_clients.add(service, app="github", client_id="c", client_secret="s", project_id=gmail.project_id)
    accounts = [plant(app="github", oauth_app_id=client.id) for _ in range(2)]
    assert siblings.of(service, accounts[0]) == []
    nobody = [plant(app="gmail", oauth_app_id=gmail.id, identity_id=None) for _ in range(2)]
    assert siblings.of(service, nobody[0]) == []
    gone = [plant(app="gmail", oauth_app_id="oa_gone") for _ in range(2)]
    assert siblings.of(service, gone[0]) == []


def test_they_are_looked_after_at_once(service: Service, plant: Plant, gmail: ProviderClient) -> None:
    later = service.clock() + 60_000
    account, dead = plant(next_check_at=later), plant(next_check_at=None, dead=True)
    with service.store.write() as tx:
        lifecycle.check_soon(tx, service.clock(), [account, dead])
    rows = service.store.all("SELECT id, next_check_at AS at FROM accounts")
    assert {row["id"]: row["at"] for row in rows} == {account.id: service.clock(), dead.id: None}
