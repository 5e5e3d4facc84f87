"""The named endings of the Connect Link: what a person reads if a connection fails.

Each has a heading, a sentence that names the cause, and a next step. :mod:`.responses` shows them.
"""

from dataclasses import dataclass, replace
from typing import Literal

from webapp.errors import NotFound, PatchbayError, Unavailable
from webapp.kit.text import naming
from webapp.kit.translation import lazy as _
from webapp.service.domain.accounts import attempts
from webapp.service.domain.base import failures
from webapp.service.domain.base.failures import ConnectFailed

Step = Literal["again", "close", "none", "reload"]


@dataclass(frozen=True, slots=True)
class Ending:
    """One ending. The failure's own sentence, if it has one, replaces ``sentence``.

    ``step`` is the next step: ``again`` returns to the page, ``close`` and ``none`` leave it, ``reload`` reloads it.
    """

    code: str
    heading: str
    sentence: str
    advice: str
    step: Step = "again"
    step_label: str = _("Try again")
    tone: Literal["warn", "bad", "info"] = "warn"
    icon: str = "bad"
    status: int = 400

    def at(self, name: str) -> "Ending":
        """This ending with the provider's ``name`` in its heading."""
        return replace(self, heading=naming(str(self.heading), name))


class Ended(PatchbayError):
    """The visit ends with ``ending``."""

    def __init__(self, ending: Ending, sentence: str | None = None) -> None:
        super().__init__(sentence or ending.sentence)
        self.ending = ending


TOKEN_MISSING = Ending(
    "token_missing",
    _("This link is incomplete"),
    _("Its address contains no Connect token."),
    _("Open the link again from the product that gave it to you."),
    step="none",
    icon="unplug",
)
TOKEN_UNKNOWN = Ending(
    "invalid_token",
    _("This link is not known here"),
    _("It may be cut off, or so old that it is no longer kept."),
    _("Ask the product that sent you here for a new link."),
    step="none",
    icon="unplug",
    status=401,
)
COOKIE_GONE = Ending(
    "session_lost",
    _("This page can’t be continued here"),
    _("It was opened in another browser, or its cookie was deleted."),
    _("Open the link again from the product that gave it to you, in this browser."),
    step="none",
    icon="lock",
    status=403,
)
ORIGIN_NOT_ALLOWED = Ending(
    "origin_not_allowed",
    _("Accounts can’t be connected from this site"),
    _("Nothing was sent or changed."),
    _("Please tell the people who run it."),
    step="close",
    status=403,
)
NO_SUCH_APP = Ending(
    "app_not_found",
    _("There is no such app"),
    _("The link names an app that this service does not know."),
    _("Choose another app, or tell the product that sent you here."),
    step_label=_("Choose an app"),
    icon="search",
    status=404,
)
NO_SUCH_OVERRIDE = Ending(
    "app_override_not_found",
    _("This link cannot be used"),
    _("It names settings for the app that no longer exist, or that belong to another app."),
    _("Ask the product that sent you here for a new link."),
    step="close",
    icon="search",
    status=404,
)
NO_SUCH_ACCOUNT = Ending(
    "account_not_found",
    _("This account is no longer connected"),
    _("The account that this link reconnects was removed, or belongs to somebody else."),
    _("Ask the product that sent you here for a new link to connect it."),
    step="close",
    icon="unplug",
    status=404,
)
NO_ACCOUNT_NEEDED = Ending(
    "no_account_needed",
    _("No account is needed"),
    _("This app works without signing in."),
    _("You can use it right away."),
    step="close",
    tone="info",
    icon="check",
    status=200,
)
CANCELLED = Ending(
    failures.Cancelled.code,
    _("You cancelled"),
    _("You chose not to give access. Nothing was connected."),
    _("You can start again whenever you like."),
    icon="x",
    step_label=_("Start again"),
    status=200,
)
INTERNAL = Ending(
    "internal_error",
    _("Something went wrong here"),
    _("The connection could not be finished. Nothing was connected."),
    _("Try again in a minute."),
    tone="bad",
    status=500,
)
_BUSY = Ending("unavailable", _("Busy right now"), "", _("Try again in a minute."), step="reload", status=503)

_OF_FAILURES: dict[str, Ending] = {
    ending.code: ending
    for ending in (
        CANCELLED,
        Ending(
            failures.LinkExpired.code,
            _("This link has expired"),
            _("Links work for a limited time only."),
            _("Ask the product that sent you here for a new one."),
            step="close",
            icon="clock",
            status=401,
        ),
        Ending(
            failures.LinkUsed.code,
            _("This link was already used"),
            _("An account was connected with it already. Each link connects one account."),
            _("To connect another, ask the product that sent you here for a new link."),
            step="close",
            tone="info",
            icon="check",
            status=409,
        ),
        Ending(
            attempts.ELSEWHERE,
            _("You continued somewhere else"),
            _("You continued from another page or browser, so this sign-in ended."),
            _("Finish there, or start again here."),
            step_label=_("Start again here"),
            icon="refresh",
        ),
        Ending(
            failures.RejectedByProvider.code,
            _("Nothing was connected"),
            _("The provider refused the connection."),
            _("Try again. If it keeps happening, write to support with the words above."),
            tone="bad",
        ),
        Ending(
            failures.WrongAccount.code,
            _("That was another account"),
            _("This is not the account that is being reconnected."),
            _("Try again and sign in with the account named first."),
            icon="user",
        ),
        Ending(
            failures.CredentialsRefused.code,
            _("These credentials were not accepted"),
            _("The provider did not accept these credentials. Check them and try again."),
            "",
            tone="bad",
            icon="key",
        ),
        Ending(
            failures.ScopesMissing.code,
            _("Some access was not granted"),
            _("Access that this connection needs was not granted."),
            _("Try again and leave all permissions ticked."),
            icon="shield",
        ),
        Ending(
            failures.ProviderDown.code,
            _("The provider does not answer"),
            _("Try again in a few minutes."),
            _("Nothing was lost."),
            icon="clock",
        ),
        Ending(
            failures.NoClient.code,
            _("This app can’t be connected yet"),
            _("No OAuth client is set up for this app yet."),
            _("Its operator can add one; until then, choose another app."),
            step="close",
            icon="settings",
        ),
        Ending(
            failures.AttemptUnknown.code,
            _("This sign-in can no longer be used"),
            _("It was already used, or was started in another browser."),
            _("Start again from the connect page."),
            step_label=_("Start again"),
            icon="refresh",
        ),
        Ending(
            attempts.INTERRUPTED,
            _("The connection was interrupted"),
            _("It stopped partway, so nothing was connected."),
            _("Start again; it takes a moment."),
            step_label=_("Start again"),
            icon="refresh",
        ),
        Ending(
            attempts.TIMED_OUT,
            _("That took too long"),
            _("The sign-in was not finished within 15 minutes."),
            _("Start again; a new sign-in has its own 15 minutes."),
            step_label=_("Start again"),
            icon="clock",
        ),
    )
}


def of_code(code: str | None) -> Ending:
    """The ending for an attempt that failed with ``code``."""
    return _OF_FAILURES.get(code or "", INTERNAL)


def of_error(error: PatchbayError) -> tuple[Ending, str]:
    """The ending for an error, and its sentence."""
    if isinstance(error, Ended):
        return error.ending, error.message
    if isinstance(error, ConnectFailed):
        ending = of_code(error.code)
        return ending, error.message if error.message != type(error).__doc__ else ending.sentence
    if isinstance(error, Unavailable):
        return _BUSY, error.message
    if isinstance(error, NotFound):
        return NO_SUCH_APP, NO_SUCH_APP.sentence
    return INTERNAL, error.message
