"""What is ready before the processes of ``serve`` start: the schema, and what the supervisor has to know."""

import json
from pathlib import Path

import pytest

from webapp.cli.serving.preparing import prepare
from webapp.kit.clock import now
from webapp.people import start_tokens
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

NOWHERE = Path("/nowhere/runner.sock")  # no runner is asked while the catalog stands


@pytest.fixture
def settings(data: Path) -> Settings:
    return Settings.from_env({"PATCHBAY_PORT": "8600"}, data=data)


def test_the_start_token_lets_the_first_person_in_and_the_sandbox_learns_its_client(settings: Settings) -> None:
    prepared = json.loads(json.dumps(prepare(settings, NOWHERE)))
    service = open_service(settings)
    client_id, client_secret = oauth_apps.ensure_sandbox(service)
    example_id, example_secret = oauth_clients.example(service)
    assert start_tokens.admits(service.store, now, prepared["start_token"])
    close_service(service)
    assert prepared["sandbox"] == {
        "client_id": client_id,
        "client_secret": client_secret,
        "redirect_uri": "http://localhost:8600/connect/oauth/callback",
        "example_id": example_id,
        "example_secret": example_secret,
    }


def test_without_a_sandbox_nobody_learns_a_client(data: Path) -> None:
    assert prepare(Settings.from_env({"PATCHBAY_SANDBOX": "off"}, data=data), NOWHERE)["sandbox"] is None


def test_there_is_no_start_token_once_somebody_can_sign_in(settings: Settings) -> None:
    token = prepare(settings, NOWHERE)["start_token"]
    service = open_service(settings)
    start_tokens.create_owner(service.store, now, token=token, email="ada@example.com", password="a good long one")
    close_service(service)
    assert prepare(settings, NOWHERE)["start_token"] is None
