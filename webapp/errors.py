"""The tree of all errors. Each class is one kind of response; its docstring is its default message, on which a person
can act.

    PatchbayError
    ├── Invalid            400  malformed or invalid; may carry details per field
    ├── Unauthorized       401  no, unknown, expired or revoked token
    ├── Forbidden          403  scope, origin, environment or user not allowed
    ├── NotFound           404  absent, or another user's: callers cannot distinguish the two
    ├── MethodNotAllowed   405
    ├── Conflict           409
    ├── TooLarge           413
    ├── UnsupportedMedia   415
    ├── Refused            400  a provider refused the credentials or the grant
    ├── Throttled          429  contract "Rate limits"
    ├── UpstreamFailed     502  a provider gave a wrong response or none
    ├── Unavailable        503  the store cannot respond now: locked, or being repaired
    │   ├── Unwritable     503  its disk is full, read-only or failing, until the operator repairs it
    │   └── Damaged        503  its file is corrupt
    └── UpstreamTimedOut   504

JSON and HTML responses are made of these in one place each; other code knows no HTTP besides the status here.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self


@dataclass(frozen=True, slots=True)
class Detail:
    """A problem with one field of a body or query."""

    field: str
    message: str


class PatchbayError(Exception):
    """Something went wrong."""

    status: ClassVar[int] = 500

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__)

    @property
    def message(self) -> str:
        """The message to show."""
        return str(self.args[0])


class Invalid(PatchbayError):
    """The request is not valid."""

    status = 400

    def __init__(self, message: str | None = None, details: Sequence[Detail] = ()) -> None:
        super().__init__(message)
        self.details = tuple(details)

    @classmethod
    def of(cls, field: str, message: str) -> Self:
        """The error for one field, with its detail."""
        return cls(about(field, message), [Detail(field, message)])


def about(name: str, message: str) -> str:
    """A sentence with ``message`` about the field ``name``, such as "name is missing"."""
    return f"{name} {message[3:]}" if message.startswith("It is missing") else f"{name} is not valid: {message}"


class Unauthorized(PatchbayError):
    """Send a valid token in the Authorization header, as "Bearer <token>"."""

    status = 401


class Forbidden(PatchbayError):
    """The token does not allow this."""

    status = 403


class NotFound(PatchbayError):
    """There is nothing here under that id."""

    status = 404


class MethodNotAllowed(PatchbayError):
    """This address does not answer that method."""

    status = 405


class Conflict(PatchbayError):
    """This collides with something that already stands."""

    status = 409


class TooLarge(PatchbayError):
    """The body is larger than 10 MiB."""

    status = 413


class UnsupportedMedia(PatchbayError):
    """Send the body as application/json."""

    status = 415


class Refused(PatchbayError):
    """The provider refused the credentials."""

    status = 400


class Throttled(PatchbayError):
    """Throttled"""

    status = 429

    def __init__(self, limit: int, reset_at: int, retry_after: int, reason: str | None = None) -> None:
        """``reset_at`` is a Unix time in seconds, ``retry_after`` a count of seconds; ``reason`` says in a sentence
        what was too much, where the API's own word does not do."""
        super().__init__()
        self.limit, self.reset_at, self.retry_after, self.reason = limit, reset_at, retry_after, reason


class UpstreamFailed(PatchbayError):
    """The provider did not answer as it should."""

    status = 502


class Unavailable(PatchbayError):
    """The store is busy; try again in a moment."""

    status = 503
    level: ClassVar[int] = logging.INFO
    """The level at which background work logs the error."""


class Unwritable(Unavailable):
    """Nothing can be written."""

    level = logging.DEBUG  # the store logs it once, with its folder

    def __init__(self, message: str | None = None, *, cause: str = "") -> None:
        super().__init__(message)
        self.cause = cause

    @classmethod
    def because(cls, cause: str) -> Self:
        """The error with ``cause``, such as "the disk is full"."""
        kept = "What was accepted is kept; try again later."
        return cls(f"Nothing can be written now, because {cause}. {kept}", cause=cause)


class Damaged(Unavailable):
    """The database is damaged. Stop Patchbay, and put a backup in its place with `patchbay restore`."""

    level = logging.DEBUG


class UpstreamTimedOut(PatchbayError):
    """The provider took too long to answer."""

    status = 504
