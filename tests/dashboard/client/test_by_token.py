"""The client of one Connect token: what the token says of itself, and that it stands alone."""

from typing import Any

import pytest

from webapp.dashboard.client.by_token import TokenClient, TokenFacts, facts_of
from webapp.errors import Forbidden, NotFound
from webapp.kit.clock import FakeClock

FACTS = TokenFacts(
    success=True, project_id="proj_1", project_environment="production", external_user_id="alice",
    scope="connect:accounts:read connect:actions:*", expires_at="2030-01-01T00:00:00Z",
)  # fmt: skip


class Wire:
    """Answers every call alike, and remembers it."""

    def __init__(self, answer: Any) -> None:
        self.base_url = ""
        self.answer, self.calls = answer, list[tuple[str, str, dict[str, Any]]]()

    def call(self, method: str, path: str, **call: Any) -> Any:
        self.calls.append((method, path, call))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def client(answer: Any) -> tuple[TokenClient, Wire]:
    wire = Wire(answer)
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
    assert not facts_of(Wire(answer), "ctok_1").works  # type: ignore[arg-type]
    assert FACTS.works and FACTS.same_user(FACTS)
    assert not FACTS.same_user(FACTS.model_copy(update={"external_user_id": "bob"}))
