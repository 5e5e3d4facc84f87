"""Credentials are sealed, opened in their own row only, and shown to the owner of an own client only."""

from collections.abc import Callable

import pytest

from webapp.service.domain.accounts import credentials, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Project

Plant = Callable[..., Account]
VALUES = {"oauth_access_token": "canary-access", "oauth_uid": "u-1"}


def test_what_is_sealed_is_read_again_and_not_to_be_seen(service: Service, plant: Plant) -> None:
    account = plant(values={"api_key": "canary-ü"})
    assert credentials.read(service, account) == {"api_key": "canary-ü"}
    assert b"canary" not in (account.credentials_sealed or b"")


def test_credentials_open_in_their_own_row_only(service: Service, plant: Plant) -> None:
    account, other = plant(values={"api_key": "canary-1"}), plant(values={"api_key": "canary-2"})
    moved = other._replace(credentials_sealed=account.credentials_sealed)
    with pytest.raises(Exception) as refusal:
        credentials.read(service, moved)
    assert "canary" not in str(refusal.value)
    with pytest.raises(LookupError, match="without its credentials"):
        credentials.read(service, account._replace(credentials_sealed=None))


def test_only_an_own_client_shows_them(service: Service, project: Project, plant: Plant) -> None:
    own = oauth_apps.add(service, app="tinyoauth", client_id="own", client_secret=None, project_id=project.id)
    shared = oauth_apps.add(service, app="tinyoauth", client_id="shared", client_secret="s")
    shown = credentials.for_developer(service, plant(app="tinyoauth", oauth_app_id=own.id, values=VALUES))
    assert shown == {"oauth_client_id": "own", **VALUES}
    for client_id in (None, shared.id, "oa_gone"):
        account = plant(app="tinyoauth", oauth_app_id=client_id, values=VALUES)
        assert credentials.for_developer(service, account) is None
