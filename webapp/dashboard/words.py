"""Words for people: states, ways to connect, and how a connection ended."""

from collections.abc import Mapping

from webapp.dashboard.shapes import PageOf, Use

STATES: Mapping[str, str] = {"working": "Working", "retrying": "Retrying", "needs-you": "Needs you"}
STATE_TONES: Mapping[str, str] = {"working": "ok", "retrying": "warn", "needs-you": "bad"}
AUTH: Mapping[str, str] = {"oauth": "OAuth", "keys": "API key", "none": "No account needed"}

# What happens to an account: the kinds of the service's history. One that is new here is shown as it is written.
KINDS: Mapping[str, str] = {
    "connected": "Connected",
    "reconnected": "Reconnected",
    "recovered": "Working again",
    "trouble": "Trouble",
    "dead": "Needs you",
    "revoked": "Access revoked",
    "renamed": "Renamed",
    "disconnected": "Disconnected",
}
KIND_TONES: Mapping[str, str] = {
    "trouble": "warn",
    "dead": "bad",
    "connected": "ok",
    "reconnected": "ok",
    "recovered": "ok",
}

# error=<code> on the way back from the Connect Link: what happened, and one next step. {app} is the app's name.
ENDINGS: Mapping[str, tuple[str, str]] = {
    "access_denied": ("Nothing was connected: access was not given.", "Connect again whenever you like."),
    "cancelled": ("Nothing was connected: you cancelled.", "Connect again whenever you like."),
    "provider_rejected": ("{app} refused the connection.", "Try again; if it stays so, ask who runs this service."),
    "wrong_account": (
        "That was another {app} account, so nothing was changed.",
        "Sign in to {app} with the first one.",
    ),
    "invalid_credentials": ("{app} did not accept the credentials.", "Check them and try again."),
    "missing_scopes": ("Access that this connection needs was not given.", "Try again and leave every box ticked."),
    "provider_unavailable": ("{app} did not answer.", "Try again in a few minutes."),
    "no_oauth_client": ("{app} has no OAuth client here yet.", "Ask who runs this service to add one."),
    "link_expired": ("The link had expired.", "Connect again; a new link is made each time."),
    "invalid_state": ("The sign-in was already used, or belongs to another browser.", "Connect again from here."),
    "window_blocked": ("The browser blocked the window.", "Connect again and choose to stay in this tab."),
}
_OTHER = ("The connection was not finished.", "Try again; nothing was changed.")


def ending(code: str, app: str) -> tuple[str, str]:
    """What happened and what to do next; a code that nobody knows is not repeated."""
    happened, step = ENDINGS.get(code, _OTHER)
    return happened.format(app=app), step.format(app=app)


def uses_of(uses: PageOf[Use]) -> str:
    """``2 triggers``, or ``3 things`` when they are not of one kind."""
    kinds = {use.kind for use in uses.items}
    kind = kinds.pop().replace("_", " ") if len(kinds) == 1 else ""
    return count_of(uses.total, kind or "thing")


def count_of(number: int, one: str, many: str | None = None) -> str:
    """``1 trigger``, ``1,200 triggers``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
