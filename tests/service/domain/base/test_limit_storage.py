"""Storages of the library: opened by address, or refused in one sentence."""

import sys

import pytest

from webapp.service.domain.base import limit_storage
from webapp.setting_values import BadSetting


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("carrier-pigeon://loft", "carrier-pigeon is no kind of storage"),
        ("nonsense", "is no kind of storage"),
        ("async+memory://", "leave out async+"),
    ],
)
def test_a_storage_that_cannot_be_used_is_named(address: str, said: str) -> None:
    with pytest.raises(BadSetting, match="PATCHBAY_LIMITS_STORAGE") as caught:
        limit_storage.opened(address)
    assert said in str(caught.value)


def test_a_storage_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(BadSetting, match=r"pip install 'limits\[redis\]'"):
        limit_storage.opened("redis://127.0.0.1:1")


def test_what_names_no_storage_is_not_repeated() -> None:
    with pytest.raises(BadSetting, match="use redis://") as caught:
        limit_storage.opened("canary-password@redis.example:6379")
    assert "canary" not in str(caught.value)
