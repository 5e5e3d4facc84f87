"""The named endings of the Connect Link: what a person reads when a connection did not come about.

Each has a heading, a sentence that names the cause, and one next step. Data only; :mod:`answers` shows them.
"""

from dataclasses import dataclass
from typing import Literal

from webapp.errors import NotFound, PatchbayError, Unavailable
from webapp.service.domain import attempts, failures
from webapp.service.domain.failures import ConnectFailed

Step = Literal["again", "close", "none", "reload"]


@dataclass(frozen=True, slots=True)
class Ending:
    """One way to end. ``sentence`` is the default; the failure's own sentence, when it has one, replaces it.

    ``step`` is the way on: ``again`` goes back to the page, ``close`` and ``none`` leave it, ``reload`` repeats it.
    """

    code: str
    heading: str
    sentence: str
    advice: str
    step: Step = "again"
    step_label: str = "Try again"
    tone: Literal["warn", "bad", "info"] = "bad"
    icon: str = "bad"
    status: int = 400


class Ended(PatchbayError):
    """The visit ends here."""

    def __init__(self, ending: Ending, sentence: str | None = None) -> None:
        super().__init__(sentence or ending.sentence)
        self.ending = ending


TOKEN_MISSING = Ending(
    "token_missing",
    "This link is incomplete",
    "Its address holds no Connect token.",
    "Open the link again from the product that gave it to you.",
    step="none",
    tone="warn",
    icon="unplug",
)
TOKEN_UNKNOWN = Ending(
    "invalid_token",
    "This link is not known here",
    "It may be cut off, or so old that it is no longer kept.",
    "Ask the product that sent you here for a new link.",
    step="none",
    tone="warn",
    icon="unplug",
    status=401,
)
COOKIE_GONE = Ending(
    "session_lost",
    "This page can’t be continued here",
    "It was opened in another browser, or its cookie is gone.",
    "Open the link again from the product that gave it to you, in this browser.",
    step="none",
    tone="warn",
    icon="lock",
    status=403,
)
NO_SUCH_APP = Ending(
    "app_not_found",
    "There is no such app",
    "The link names an app that this service does not know.",
    "Choose another app, or tell the product that sent you here.",
    step_label="Choose an app",
    tone="warn",
    icon="search",
    status=404,
)
NO_SUCH_ACCOUNT = Ending(
    "account_not_found",
    "This account is not connected any more",
    "The account that this link reconnects was removed, or belongs to somebody else.",
    "Ask the product that sent you here for a link that connects it anew.",
    step="close",
    tone="warn",
    icon="unplug",
    status=404,
)
NO_ACCOUNT_NEEDED = Ending(
    "no_account_needed",
    "No account is needed",
    "This app works without signing in.",
    "You can use it right away.",
    step="close",
    tone="info",
    icon="check",
    status=200,
)
CANCELLED = Ending(
    failures.Cancelled.code,
    "You cancelled",
    "You chose not to give access. Nothing was connected.",
    "You can start again whenever you like.",
    tone="warn",
    icon="x",
    step_label="Start again",
    status=200,
)
INTERNAL = Ending(
    "internal_error",
    "Something went wrong here",
    "The connection could not be finished. Nothing was connected.",
    "Try again in a minute.",
    status=500,
)
_BUSY = Ending("unavailable", "Busy right now", "", "Try again in a minute.", step="reload", tone="warn", status=503)

_OF_FAILURES: dict[str, Ending] = {
    ending.code: ending
    for ending in (
        CANCELLED,
        Ending(
            failures.LinkExpired.code,
            "This link has expired",
            "Links work for a limited time only.",
            "Ask the product that sent you here for a new one.",
            step="close",
            tone="warn",
            icon="clock",
            status=401,
        ),
        Ending(
            failures.RejectedByProvider.code,
            "The provider refused",
            "The provider refused the connection.",
            "Try again. If it keeps happening, write to support with the words above.",
        ),
        Ending(
            failures.WrongAccount.code,
            "That was another account",
            "This is another account than the one that is being reconnected.",
            "Try again and sign in with the account named first.",
            tone="warn",
            icon="user",
        ),
        Ending(
            failures.CredentialsRefused.code,
            "These credentials were not accepted",
            "The provider did not accept these credentials.",
            "Check them and try again.",
            icon="key",
        ),
        Ending(
            failures.ScopesMissing.code,
            "Some access was left out",
            "Access that this connection needs was not granted.",
            "Try again and leave all permissions ticked.",
            tone="warn",
            icon="shield",
        ),
        Ending(
            failures.ProviderDown.code,
            "The provider does not answer",
            "The provider does not answer now.",
            "Try again in a few minutes; nothing was lost.",
            tone="warn",
            icon="clock",
        ),
        Ending(
            failures.NoClient.code,
            "This app can’t be connected yet",
            "No OAuth client is set up for this app yet.",
            "Its operator can add one; until then, choose another app.",
            step="close",
            tone="warn",
            icon="settings",
        ),
        Ending(
            failures.AttemptUnknown.code,
            "This sign-in can’t be used any more",
            "It was already used, or was started in another browser.",
            "Start again from the connect page.",
            step_label="Start again",
            tone="warn",
            icon="refresh",
        ),
        Ending(
            attempts.INTERRUPTED,
            "The connection was interrupted",
            "It broke off in the middle, so nothing was connected.",
            "Start again; it takes a moment.",
            step_label="Start again",
            tone="warn",
            icon="refresh",
        ),
        Ending(
            attempts.TIMED_OUT,
            "That took too long",
            "The sign-in was not finished within 15 minutes.",
            "Start again; a new sign-in has its own 15 minutes.",
            step_label="Start again",
            tone="warn",
            icon="clock",
        ),
    )
}


def of_code(code: str | None) -> Ending:
    """The ending for an attempt that failed with ``code``."""
    return _OF_FAILURES.get(code or "", INTERNAL)


def of_error(error: PatchbayError) -> tuple[Ending, str]:
    """The ending for an error, and the sentence that goes with it."""
    if isinstance(error, Ended):
        return error.ending, error.message
    if isinstance(error, ConnectFailed):
        ending = of_code(error.code)
        return ending, error.message if error.message != type(error).__doc__ else ending.sentence
    if isinstance(error, Unavailable):
        return _BUSY, error.message
    if isinstance(error, NotFound):
        return NO_SUCH_APP, error.message
    return INTERNAL, error.message
