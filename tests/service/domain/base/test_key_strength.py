"""Which values of PATCHBAY_SECRET_KEY can be guessed."""

import secrets

import pytest

from webapp.service.domain.base.key_strength import is_weak


@pytest.mark.parametrize(
    "key",
    ["a" * 64, "password" * 4, "0123456789abcdef" * 4, "qwertyuiopasdfghjklzxcvbnm1234567890", "changeme-" * 4],
)
def test_what_repeats_or_is_typed_in_a_row_is_weak(key: str) -> None:
    assert is_weak(key)


@pytest.mark.parametrize(
    "key",
    [secrets.token_hex(32), secrets.token_urlsafe(24), "correct horse battery staple forever"],
    ids=["hex", "base64", "words"],  # the same in every process that collects
)
def test_what_is_random_is_not(key: str) -> None:
    assert not is_weak(key)
