"""Scopes in plain words: in the order they were asked for, without those that do not exist."""

from webapp.sandbox.scopes import DEFAULT_SCOPE, SCOPES, in_words


def test_scopes_in_words() -> None:
    assert in_words("webhooks admin profile") == [SCOPES["webhooks"], SCOPES["profile"]]
    assert in_words("") == []
    assert in_words(DEFAULT_SCOPE) == ["Read your name and e-mail address"]
