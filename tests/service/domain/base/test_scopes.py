"""The table of scopes: parsing and what covers what."""

import pytest

from webapp.service.domain.base import scopes


def test_parsing_keeps_order_and_drops_repeats() -> None:
    text = "connect:accounts:read  connect:proxy connect:accounts:read"
    assert scopes.parse(text) == ("connect:accounts:read", "connect:proxy")


@pytest.mark.parametrize("text", ["connect", "connect:accounts:*", "CONNECT:*", "connect:accounts:read,connect:proxy"])
def test_an_unknown_scope_is_named(text: str) -> None:
    with pytest.raises(scopes.UnknownScope, match="is not a scope"):
        scopes.parse(text)


@pytest.mark.parametrize(
    ("granted", "needed", "covered"),
    [
        (scopes.ALL, scopes.PROJECTS_WRITE, True),
        (scopes.ALL, scopes.CONNECT, True),
        (scopes.CONNECT, scopes.ACCOUNTS_READ, True),
        (scopes.CONNECT, scopes.ACTIONS, True),
        (scopes.CONNECT, scopes.ALL, False),
        (scopes.ACTIONS, scopes.ACTIONS, True),
        (scopes.ACTIONS, scopes.TRIGGERS, False),
        (scopes.ACCOUNTS_READ, scopes.ACCOUNTS_WRITE, False),
        (scopes.ACCOUNTS_READ, scopes.CONNECT, False),
    ],
)
def test_what_covers_what(granted: str, needed: str, covered: bool) -> None:
    assert scopes.covers([granted], needed) is covered


def test_nothing_covers_nothing() -> None:
    assert not scopes.covers([], scopes.ACCOUNTS_READ)
