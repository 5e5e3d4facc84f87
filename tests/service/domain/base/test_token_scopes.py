"""The table of scopes: parsing, and what covers what."""

import pytest

from webapp.service.domain.base import token_scopes


def test_parsing_keeps_order_and_drops_repeats() -> None:
    text = "connect:accounts:read  connect:proxy connect:accounts:read"
    assert token_scopes.parse(text) == ("connect:accounts:read", "connect:proxy")


@pytest.mark.parametrize("text", ["connect", "connect:accounts:*", "CONNECT:*", "connect:accounts:read,connect:proxy"])
def test_an_unknown_scope_is_named(text: str) -> None:
    with pytest.raises(token_scopes.UnknownScope, match="is not a scope"):
        token_scopes.parse(text)


@pytest.mark.parametrize(
    ("granted", "needed", "covered"),
    [
        (token_scopes.ALL, token_scopes.PROJECTS_WRITE, True),
        (token_scopes.ALL, token_scopes.CONNECT, True),
        (token_scopes.CONNECT, token_scopes.ACCOUNTS_READ, True),
        (token_scopes.CONNECT, token_scopes.ACTIONS, True),
        (token_scopes.CONNECT, token_scopes.ALL, False),
        (token_scopes.ACTIONS, token_scopes.ACTIONS, True),
        (token_scopes.ACTIONS, token_scopes.TRIGGERS, False),
        (token_scopes.ACCOUNTS_READ, token_scopes.ACCOUNTS_WRITE, False),
        (token_scopes.ACCOUNTS_READ, token_scopes.CONNECT, False),
    ],
)
def test_what_covers_what(granted: str, needed: str, covered: bool) -> None:
    assert token_scopes.covers([granted], needed) is covered


def test_nothing_covers_nothing() -> None:
    assert not token_scopes.covers([], token_scopes.ACCOUNTS_READ)
