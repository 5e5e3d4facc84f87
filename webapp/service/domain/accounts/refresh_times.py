"""When the token of an account expires, may still be used, and is to be refreshed. Times are epoch milliseconds."""

from collections.abc import Mapping

from webapp.kit.clock import MINUTE, SECOND
from webapp.service.domain.accounts import credentials
from webapp.service.outbound.oauth import TokenResult

EARLY = 5 * MINUTE
MARGIN = 30 * SECOND  # so that a token does not expire on its way to the provider


def expiry_time(now: int, result: TokenResult) -> int | None:
    """When the token of ``result``, obtained now, expires; None when the provider does not say."""
    return None if result.expires_in is None else now + result.expires_in * SECOND


def is_usable(now: int, expires_at: int | None) -> bool:
    """Whether a token that expires then is good for at least 30 seconds more; True for one that never expires."""
    return expires_at is None or expires_at - MARGIN > now


def refresh_time(now: int, values: Mapping[str, str], expires_at: int | None) -> int | None:
    """When to refresh a token that was obtained now, with these credentials; None if it never expires.

    That is 5 minutes before it expires, or after four fifths of its life if it lives less than 25 minutes. A token that
    is its own refresh token cannot be refreshed once it has expired: it is refreshed after four fifths of any life, so
    that enough time is left for retries. Credentials that cannot be renewed are due when they expire.
    """
    if expires_at is None or not credentials.renewable(values):
        return expires_at
    last_fifth = (expires_at - now) // 5
    early = last_fifth if _is_own_refresh_token(values) else min(EARLY, last_fifth)
    return max(expires_at - early, now)


def _is_own_refresh_token(values: Mapping[str, str]) -> bool:
    """Whether the access token refreshes itself, as the long-lived tokens of some providers do."""
    token = values.get(credentials.ACCESS_TOKEN)
    return token is not None and token == values.get(credentials.REFRESH_TOKEN)
