"""Scopes in plain words."""

import pytest

from webapp.dashboard.build.keys.scope_words import WORDS, in_words
from webapp.service.domain.base import scopes


def test_every_scope_has_words() -> None:
    assert set(WORDS) == scopes.KNOWN - {scopes.ALL, scopes.CONNECT}


@pytest.mark.parametrize(
    ("granted", "words"),
    [
        ((scopes.ALL, scopes.PROXY), "Everything"),
        ((scopes.PROXY, scopes.CONNECT), "All of Connect"),
        ((scopes.ACTIONS, scopes.USAGE_READ), "Run actions · See usage"),
        (("connect:new",), "connect:new"),
        ((), "Nothing"),
    ],
)
def test_what_scopes_allow_together(granted: tuple[str, ...], words: str) -> None:
    assert in_words(granted) == words
