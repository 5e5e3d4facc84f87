"""The dashboard's words for codes of the API: states, kinds of events, and the endings of connections."""

from collections.abc import Mapping

from webapp.dashboard.client.models.accounts import Use
from webapp.dashboard.client.models.lenient import PageOf
from webapp.kit.translation import count_of, gettext
from webapp.kit.translation import lazy as _

STATES: Mapping[str, str] = {
    "working": _("Working"),
    "retrying": _("Retrying"),
    "needs-you": _("Needs you"),
    "no-app": _("App removed"),
}
STATE_TONES: Mapping[str, str] = {"working": "ok", "retrying": "warn", "needs-you": "bad", "no-app": "warn"}
ROLES: Mapping[str, str] = {"owner": _("Owner"), "developer": _("Developer"), "member": _("Member")}
AUTH: Mapping[str, str] = {
    "oauth": _("By signing in"),
    "keys": _("With a key"),
    "both": _("By signing in, or with a key"),
    "none": _("No account needed"),
}

# A trigger's states, and those of the addresses it delivers to.
TRIGGER_STATES: Mapping[str, str] = {
    "active": _("Active"),
    "waits": _("Waits for its account"),
    "no-app": _("Component removed"),
    "off": _("Switched off"),
    "paused": _("Paused"),
}
TRIGGER_TONES: Mapping[str, str] = {"active": "ok", "waits": "bad", "no-app": "bad", "off": "bad", "paused": ""}
SHOWN_STATES: Mapping[str, str] = {**TRIGGER_STATES, "retrying": _("Retrying"), "stopped": _("Needs you")}
SHOWN_TONES: Mapping[str, str] = {**TRIGGER_TONES, "retrying": "warn", "stopped": "bad"}
ENDPOINT_STATES: Mapping[str, str] = {
    "new": _("Nothing sent yet"),
    "happy": _("Working"),
    "unknown": _("Not found yet"),
    "penalty": _("Retrying"),
    "deactivated": _("Stopped"),
}
ENDPOINT_TONES: Mapping[str, str] = {
    "new": "",
    "happy": "ok",
    "unknown": "warn",
    "penalty": "warn",
    "deactivated": "bad",
}
# Why an attempt got no answer, by the kind of failure.
FAILURES: Mapping[str, str] = {
    "refused_by_guard": _("Address blocked"),
    "dns": _("Not found"),
    "connect": _("Connection refused"),
    "tls": _("Not secure"),
    "reset": _("Connection reset"),
    "timeout": _("No answer"),
}
VERDICTS: Mapping[str, tuple[str, str]] = {
    "delivered": (_("Delivered"), "ok"),
    "failed": (_("Failed"), "bad"),
    "retrying": (_("Retrying"), "warn"),
    "waiting": (_("On its way"), ""),
}

# What happens to accounts and triggers: the kinds of the service's history. A new one is shown as it is written.
KINDS: Mapping[str, str] = {
    "connected": _("Connected"),
    "reconnected": _("Reconnected"),
    "recovered": _("Working again"),
    "trouble": _("Trouble"),
    "dead": _("Needs you"),
    "revoked": _("Access revoked"),
    "renamed": _("Renamed"),
    "disconnected": _("Disconnected"),
    "trigger_deployed": _("Started"),
    "trigger_changed": _("Configuration changed"),
    "trigger_renamed": _("Trigger renamed"),
    "trigger_paused": _("Paused"),
    "trigger_resumed": _("Switched on"),
    "trigger_switched_off": _("Switched off"),
    "trigger_deleted": _("Deleted"),
    "trigger_interrupted": _("Interrupted"),
    "trigger_told": _("Notifications resumed"),
    "trigger_not_told": _("Notifications stopped"),
}
KIND_TONES: Mapping[str, str] = {
    "trouble": "warn",
    "dead": "bad",
    "trigger_switched_off": "bad",
    "trigger_not_told": "warn",
    "trigger_interrupted": "warn",
    "trigger_deployed": "ok",
    "trigger_told": "ok",
    "trigger_resumed": "ok",
    "connected": "ok",
    "reconnected": "ok",
    "recovered": "ok",
}

# error=<code> on the way back from the Connect Link: what happened, and one next step. {app} is the app's name, {who}
# who can help.
ENDINGS: Mapping[str, tuple[str, str]] = {
    "access_denied": (_("Nothing was connected: access was not given."), _("Connect again whenever you like.")),
    "cancelled": (_("Nothing was connected: you cancelled."), _("Connect again whenever you like.")),
    "provider_rejected": (
        _("{app} refused the connection."),
        _("Try again; if it keeps happening, ask {who}."),
    ),
    "wrong_account": (
        _("That was another {app} account, so nothing was changed."),
        _("Sign in to {app} as {account}."),
    ),
    "invalid_credentials": (_("{app} did not accept the credentials."), _("Check them and try again.")),
    "missing_scopes": (
        _("Access that this connection needs was not given."),
        _("Try again and leave every box ticked."),
    ),
    "provider_unavailable": (_("{app} did not answer."), _("Try again in a few minutes.")),
    "no_oauth_client": (_("{app} isn’t set up yet."), _("It is set up by {who}.")),
    "link_expired": (_("The link had expired."), _("Connect again; a new link is made each time.")),
    "invalid_state": (_("The sign-in was already used, or belongs to another browser."), _("Connect again from here.")),
    "window_blocked": (_("The browser blocked the window."), _("Connect again and choose to stay in this tab.")),
}
_OTHER = (_("The connection was not finished."), _("Try again; nothing was changed."))


def ending(code: str, app: str, who: str = "", account: str = "") -> tuple[str, str]:
    """What happened and what to do next, perhaps with the help of ``who``; an unknown code is not shown.

    ``account`` is the title of the account that is reconnected.
    """
    happened, step = ENDINGS.get(code, _OTHER)
    who, account = who or gettext("the operator of this service"), account or gettext("the same person")
    return happened.format(app=app), step.format(app=app, who=who, account=account)


def uses_of(uses: PageOf[Use]) -> str:
    """``2 triggers``, or ``3 things`` when they are not all triggers."""
    if {use.kind for use in uses.items} == {"trigger"}:
        return count_of(uses.total, "{count} trigger", "{count} triggers")
    return count_of(uses.total, "{count} thing", "{count} things")
