"""The table: each row is a setting, and its sentence can be said to whoever meets it."""

import logging

import pytest

from webapp import quotas, settings
from webapp.quotas import REFUSALS, TABLE, Quota, Refusals


@pytest.mark.parametrize("quota", TABLE, ids=lambda quota: quota.name)
def test_each_row_is_a_setting_with_a_sentence_for_whoever_meets_it(quota: Quota) -> None:
    assert settings.Settings.from_env({}).quotas[quota.name] == quota.default <= quota.most
    assert settings.Settings.from_env({f"PATCHBAY_{quota.name}": "7"}).quotas[quota.name] == 7
    assert quota.words(12_345).endswith(".") and "12,345" in quota.words(12_345)
    assert "PATCHBAY" not in quota.sentence
    assert quota.error.status in (400, 403, 413, 429) and (quota.error.status == 429) == bool(quota.window_s)
    assert getattr(quotas, quota.name) is quota


def test_refusals_are_counted_and_named_once_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals, at = Refusals(), [1_000.0]
    monkeypatch.setattr("webapp.quotas.time.monotonic", lambda: at[0])
    caplog.set_level(logging.WARNING)
    for _ in range(3):
        refusals.add("USER_TRIGGERS", 100)
    at[0] += quotas.LOGGED_EVERY_S
    refusals.add("USER_TRIGGERS", 100)
    assert [record.getMessage() for record in caplog.records] == [
        "PATCHBAY_USER_TRIGGERS (100) refused 1 since the last such line.",
        "PATCHBAY_USER_TRIGGERS (100) refused 3 since the last such line.",
    ]
    assert refusals.counts() == {**dict.fromkeys(REFUSALS.counts(), 0), "user_triggers": 4}
