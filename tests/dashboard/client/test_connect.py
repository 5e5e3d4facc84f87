"""The client: which token makes which call, when tokens are renewed, and what every failure becomes."""

from typing import Any

import pytest

from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.remembered import Remembered
from webapp.dashboard.client.transport import ServiceDown
from webapp.dashboard.dashboard import KEY
from webapp.kit.clock import HOUR, MINUTE, SECOND, FakeClock


def test_access_token_is_renewed_two_minutes_early(stage: Any) -> None:
    client = stage.app.extensions[KEY].client
    for advance, fetched in ((0, 1), (HOUR - 121 * SECOND, 1), (SECOND, 2)):
        stage.clock.advance(advance)
        client.create_token({"external_user_id": "u_1"})
        assert len(stage.connect.calls("/oauth/token")) == fetched


def test_connect_token_is_renewed_before_its_end(stage: Any) -> None:
    user = UserClient(stage.app.extensions[KEY].client, "u_1")
    for advance, made in ((0, 1), (4 * HOUR - 5 * MINUTE - 1, 1), (1, 2)):
        stage.clock.advance(advance)
        user.accounts(limit=1)
        assert len(stage.connect.calls("/tokens")) == made


def client_of(stage: Any) -> ConnectClient:
    found = stage.app.extensions[KEY].client
    assert isinstance(found, ConnectClient)
    return found


def test_oauth_makes_tokens_and_nothing_else(busy: Any) -> None:
    user = UserClient(client_of(busy), busy.alice.id)
    user.apps(AppFilter(), limit=5)
    user.app("github")
    user.categories()
    user.accounts(limit=5)
    user.account("apn_000000x")
    user.uses("apn_000000x")
    user.history("apn_000000x")
    user.test_account("apn_000000x")
    user.rename_account("apn_000000x", "Other")
    user.revoke_account("apn_000000x")
    user.delete_account("apn_000000x")
    by_oauth = {path for _, path, token, _ in busy.connect.seen if token in busy.connect.oauth}
    assert by_oauth == {"/v1/connect/proj_Fake1/tokens"}
    assert len(busy.connect.calls("/oauth/token")) == 1
    assert len(busy.connect.calls("/tokens")) == 1


def test_tokens_that_were_revoked_are_made_anew_once(stage: Any) -> None:
    user = UserClient(client_of(stage), "u_1")
    user.accounts(limit=1)
    stage.connect.tokens.clear()
    stage.connect.oauth.clear()
    assert user.accounts(limit=1).total == 0
    assert len(stage.connect.calls("/oauth/token")) == 2


def test_refused_client_is_the_service_being_down(stage: Any) -> None:
    wrong = ConnectClient(
        client_of(stage).transport,
        stage.clock,
        client_id="client",
        client_secret="wrong",
        project=lambda: "proj_Fake1",
        environment="development",
    )
    with pytest.raises(ServiceDown, match="refused the dashboard’s own client"):
        UserClient(wrong, "u_1").accounts(limit=1)


def test_no_project_leads_to_another_operation(stage: Any) -> None:
    client = client_of(stage).within("proj_1/webhook/regenerate_signing_key?", "production")
    assert client.path("tokens") == "/v1/connect/proj_1%2Fwebhook%2Fregenerate_signing_key%3F/tokens"


class Wire:
    """A service that makes tokens, and answers whatever else is asked until it is down."""

    down = False

    def call(self, method: str, path: str, **call: Any) -> Any:
        if method == "POST":
            return {"access_token": "access", "token": "ctok_1", "expires_at": "2030-01-01T00:00:00Z"}
        if self.down:
            raise ServiceDown
        return {"ready": True}


def test_what_one_project_was_answered_last_is_not_given_to_another() -> None:
    wire, clock = Wire(), FakeClock()
    of_wire: dict[str, Any] = {"transport": wire, "clock": clock, "remembered": Remembered(clock, lambda at: None)}
    client = ConnectClient(
        **of_wire, client_id="", client_secret="", project=lambda: "proj_1", environment="production"
    )
    assert client.as_user("u_1", "GET", "/v1/connect/apps") == {"ready": True}
    wire.down = True
    assert client.as_user("u_1", "GET", "/v1/connect/apps") == {"ready": True}
    with pytest.raises(ServiceDown):
        client.within("proj_2", "production").as_user("u_1", "GET", "/v1/connect/apps")
