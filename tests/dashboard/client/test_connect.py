"""The client: which token makes which call, when tokens are renewed, and what every failure becomes.

The client of one Connect token: what the token says of itself, and that it stands alone.
"""

from typing import Any

import pytest

from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.connect import ConnectClient, TokenClient, TokenFacts, facts_of
from webapp.dashboard.client.transport import Remembered, ServiceDown
from webapp.dashboard.dashboard import KEY
from webapp.errors import Forbidden, NotFound
from webapp.kit.clock import HOUR, MINUTE, SECOND, FakeClock

FACTS = TokenFacts(
    success=True, project_id="proj_1", project_environment="production", external_user_id="alice",
    scope="connect:accounts:read connect:actions:*", expires_at="2030-01-01T00:00:00Z",
)  # fmt: skip


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
    user.categories(AppFilter())
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


class TokenWire:
    """Answers every call alike, and remembers it."""

    def __init__(self, answer: Any) -> None:
        self.base_url = ""
        self.answer, self.calls = answer, list[tuple[str, str, dict[str, Any]]]()

    def call(self, method: str, path: str, **call: Any) -> Any:
        self.calls.append((method, path, call))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def client(answer: Any) -> tuple[TokenClient, TokenWire]:
    wire = TokenWire(answer)
    return TokenClient(wire, FakeClock(), "ctok_1", FACTS), wire  # type: ignore[arg-type]


def test_every_call_is_made_with_the_token() -> None:
    made, wire = client({"ok": 1})
    assert made.as_user("alice", "GET", made.path("accounts")) == {"ok": 1}
    sent = {"token": "ctok_1", "environment": "production"}
    assert wire.calls == [("GET", "/v1/connect/proj_1/accounts", sent)]


def test_what_the_scope_forbids_is_absent_and_no_other_token_helps() -> None:
    made, wire = client(Forbidden())
    with pytest.raises(NotFound):
        made.as_user("alice", "GET", made.path("accounts"))
    with pytest.raises(NotFound):
        made.create_token({"external_user_id": "alice"})
    with pytest.raises(NotFound):
        made.as_project("GET", made.path("audit"))
    assert len(wire.calls) == 1


def test_without_link_sessions_the_token_s_own_link_is_used() -> None:
    made, wire = client(NotFound())
    wire.base_url = "https://connect.example.com"
    url = made.new_link("alice", {"success_redirect_uri": "a", "error_redirect_uri": "b"}, "slack")
    assert url == "https://connect.example.com/_static/connect.html?token=ctok_1&connectLink=true&app=slack"


def test_a_link_is_a_session_of_the_tokens_own() -> None:
    made, wire = client({"url": "https://connect.example.com/x"})
    uris = {"success_redirect_uri": "a", "error_redirect_uri": "b"}
    assert made.new_link("alice", uris, "slack", "apn_1") == "https://connect.example.com/x"
    method, path, call = wire.calls[0]
    assert (method, path) == ("POST", "/v1/connect/proj_1/link_sessions")
    assert call["body"] == {**uris, "app": "slack", "account_id": "apn_1"}


@pytest.mark.parametrize(
    ("scope", "wanted", "admitted"),
    [
        ("connect:*", "connect:accounts:read", True),
        ("connect:actions:*", "connect:actions:*", True),
        ("connect:actions:*", "connect:accounts:read", False),
        ("connect:accounts:read", "connect:accounts:write", False),
        ("connect:accounts:read", "connect:*", False),
        ("", "connect:accounts:read", False),
    ],
)
def test_scopes_cover_what_the_contract_says(scope: str, wanted: str, admitted: bool) -> None:
    assert FACTS.model_copy(update={"scope": scope}).admits(wanted) is admitted


@pytest.mark.parametrize(
    "answer", [{"success": False, "error": "gone"}, {"success": True, "project_id": "proj_1"}, NotFound(), Forbidden()]
)
def test_a_token_that_says_too_little_does_not_work(answer: Any) -> None:
    assert not facts_of(TokenWire(answer), "ctok_1").works  # type: ignore[arg-type]
    assert FACTS.works and FACTS.same_user(FACTS)
    assert not FACTS.same_user(FACTS.model_copy(update={"external_user_id": "bob"}))
