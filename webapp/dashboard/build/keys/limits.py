"""The state of each rate limit, recently refused calls, and custom limits."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.keys import sections
from webapp.dashboard.build.keys.sections import blueprint
from webapp.dashboard.client.build import limits
from webapp.dashboard.client.build.limits import CustomLimit, LimitNow
from webapp.dashboard.dashboard import viewer
from webapp.errors import Invalid
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.kit.translation import count_of, duration, gettext
from webapp.kit.translation import lazy as _

WORDS: Mapping[str, str] = {
    "executions": _("Actions run and set up"),
    "tools": _("Actions and triggers looked up"),
    "accounts": _("Accounts read and removed"),
    "proxy": _("Proxy requests"),
    "tokens": _("Connect tokens created"),
}
WINDOWS: Mapping[int, str] = {
    1: _("a second"),
    MINUTE // SECOND: _("a minute"),
    5 * MINUTE // SECOND: _("five minutes"),
    HOUR // SECOND: _("an hour"),
    DAY // SECOND: _("a day"),
}
NEARLY = 0.9


def context() -> dict[str, Any]:
    """The context of the bars and the list; each is ``None`` if the service does not say."""
    known = limits.now(viewer().client)
    return {
        "limits": known,
        "limit_window": window_in_words(known or ()),
        "custom_limits": limits.custom(viewer().client),
        "limit_words": WORDS,
        "used_in_words": in_words,
        "refused_in_words": refused_in_words,
        "custom_in_words": custom_in_words,
        "nearly": _is_nearly_full,
    }


def read() -> object:
    """What the service says about limits; ``None`` if nothing."""
    client = viewer().client
    return limits.custom(client) if (known := limits.now(client)) is None else known


@blueprint.get("/limits/new")
def new_limit() -> str:
    """Ask for a limit of one's own."""
    return _form("100", 60)


@blueprint.post("/limits")
def create_limit() -> AnyResponse | tuple[str, int]:
    """Make it; the page that follows shows its token."""
    text, window_s = request.form.get("requests", "").strip(), request.form.get("window", 0, type=int)
    requests = int(text[:10]) if text.isascii() and text.isdigit() else 0  # ten digits are refused as more would be
    try:
        token = limits.create(viewer().client, requests, window_s if window_s in WINDOWS else 0)
    except Invalid:
        return _form(text, window_s, gettext("Use a whole number from 1 to 1,000,000.")), 422
    sections.show_once(
        gettext("Rate limit added. Send this token as x-pd-rate-limit with the calls that it applies to."), token
    )
    return sections.back("limits")


def window_in_words(known: Sequence[LimitNow]) -> str:
    """The window of the bars, as a sentence; "" if they differ."""
    windows = {limit.window_seconds for limit in known if limit.used is not None}
    if len(windows) != 1:
        return ""
    return gettext("Usage in the current {time}.").format(time=duration(windows.pop()))


def _is_nearly_full(limit: LimitNow) -> bool:
    """Whether a person should know."""
    return (limit.used or 0) >= NEARLY * limit.limit


def in_words(limit: LimitNow) -> str:
    """``118 of 3,000``, and whether that is nearly or wholly all; ``100 in 1 minute for each user``."""
    most = f"{limit.limit:,}"
    if limit.used is None:
        return gettext("{limit} in {time} for each user").format(limit=most, time=duration(limit.window_seconds))
    words = gettext("{used} of {limit}").format(used=f"{limit.used:,}", limit=most)
    if limit.used >= limit.limit:
        return gettext("{words}, full").format(words=words)
    return gettext("{words}, nearly full").format(words=words) if _is_nearly_full(limit) else words


def refused_in_words(limit: LimitNow | CustomLimit) -> str:
    """``3 refused in the last hour, all from Web app``; "" if none were."""
    if not limit.refused:
        return ""
    if limit.refused_by is None:
        return count_of(limit.refused, "{count} refused in the last hour", "{count} refused in the last hour")
    return count_of(
        limit.refused,
        "{count} refused in the last hour, from {name}",
        "{count} refused in the last hour, all from {name}",
        name=limit.refused_by.name,
    )


def custom_in_words(limit: CustomLimit) -> str:
    """``100 calls in 1 minute``."""
    time = duration(limit.window_size_seconds)
    return count_of(limit.requests_per_window, "{count} call in {time}", "{count} calls in {time}", time=time)


def _form(requests: str, window_s: int, error: str = "") -> str:
    windows = list(WINDOWS.items())
    return sections.question(
        "limits",
        "dashboard/build/keys/new_limit.html",
        requests=requests,
        window=window_s,
        windows=windows,
        error=error,
    )
