"""The table of scopes: parsing."""

import pytest

from webapp.service.domain.base import token_scopes


def test_parsing_keeps_order_and_drops_repeats() -> None:
    text = "connect:accounts:read  connect:proxy connect:accounts:read"
    assert token_scopes.parse(text) == ("connect:accounts:read", "connect:proxy")


@pytest.mark.parametrize("text", ["connect", "connect:accounts:*", "CONNECT:*", "connect:accounts:read,connect:proxy"])
def test_an_unknown_scope_is_named(text: str) -> None:
    with pytest.raises(token_scopes.UnknownScope, match="is not a scope"):
        token_scopes.parse(text)
