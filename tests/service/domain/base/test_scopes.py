"""The table of scopes: parsing."""

import pytest

from webapp.service.domain.base import scopes


def test_parsing_keeps_order_and_drops_repeats() -> None:
    text = "connect:accounts:read  connect:proxy connect:accounts:read"
    assert scopes.parse(text) == ("connect:accounts:read", "connect:proxy")


@pytest.mark.parametrize("text", ["connect", "connect:accounts:*", "CONNECT:*", "connect:accounts:read,connect:proxy"])
def test_an_unknown_scope_is_named(text: str) -> None:
    with pytest.raises(scopes.UnknownScope, match="is not a scope"):
        scopes.parse(text)
