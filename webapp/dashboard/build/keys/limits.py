"""How much of each rate limit the product's own calls have used up, in the window that is open now."""

from collections.abc import Mapping
from typing import Any

from webapp.dashboard.client.build import limits
from webapp.dashboard.client.build.limits import LimitNow
from webapp.dashboard.dashboard import viewer
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _

WORDS: Mapping[str, str] = {
    "executions": _("Actions run and set up"),
    "tools": _("Actions and triggers looked up"),
    "accounts": _("Accounts read and removed"),
    "proxy": _("Requests sent through accounts"),
}
NEARLY = 0.9


def context() -> dict[str, Any]:
    """What the bars are drawn with; ``limits`` is ``None`` where the service does not tell."""
    return {
        "limits": limits.now(viewer().client),
        "limit_words": WORDS,
        "used_in_words": in_words,
        "nearly": is_nearly_full,
    }


def is_nearly_full(limit: LimitNow) -> bool:
    """Whether a person should know."""
    return limit.used >= NEARLY * limit.limit


def in_words(limit: LimitNow) -> str:
    """``118 of 3,000``, and whether that is nearly or wholly all."""
    words = gettext("{used} of {limit}").format(used=f"{limit.used:,}", limit=f"{limit.limit:,}")
    if limit.used >= limit.limit:
        return gettext("{words}, full").format(words=words)
    return gettext("{words}, nearly full").format(words=words) if is_nearly_full(limit) else words
