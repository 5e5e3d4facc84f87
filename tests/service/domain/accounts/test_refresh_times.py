"""A token is refreshed while there is time to try again, and is not used in its last seconds."""

import pytest

from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.service.domain.accounts import refresh_times
from webapp.service.outbound.oauth import TokenResult

OAUTH = {"oauth_access_token": "a", "oauth_refresh_token": "r"}
ITSELF = {"oauth_access_token": "a", "oauth_refresh_token": "a"}
SESSION = {"api_key": "k", "session_token": "s"}
ACCESS_ONLY = {"oauth_access_token": "a"}


@pytest.mark.parametrize(
    ("values", "life", "expected"),
    [
        (OAUTH, None, None),
        (OAUTH, HOUR, HOUR - 5 * MINUTE),
        (OAUTH, 25 * MINUTE, 20 * MINUTE),
        (OAUTH, 100 * SECOND, 80 * SECOND),
        (OAUTH, -HOUR, 0),  # expired already: now
        (SESSION, HOUR, HOUR - 5 * MINUTE),
        (ITSELF, 60 * DAY, 48 * DAY),
        (ACCESS_ONLY, HOUR, HOUR),
        ({"api_key": "k"}, None, None),
    ],
)
def test_when_to_refresh(values: dict[str, str], life: int | None, expected: int | None) -> None:
    now = 1_800_000_000_000
    at = refresh_times.refresh_time(now, values, None if life is None else now + life)
    assert at == (None if expected is None else now + expected)


def test_a_token_is_not_used_in_its_last_30_seconds() -> None:
    assert refresh_times.is_usable(0, None)
    assert refresh_times.is_usable(0, 30 * SECOND + 1)
    assert not refresh_times.is_usable(0, 30 * SECOND)


@pytest.mark.parametrize(("lifetime_s", "expected"), [(60, 7 + MINUTE), (None, None)])
def test_when_a_token_expires(lifetime_s: int | None, expected: int | None) -> None:
    result = TokenResult("a", None, lifetime_s, None, "bearer", {})
    assert refresh_times.expiry_time(7, result) == expected
