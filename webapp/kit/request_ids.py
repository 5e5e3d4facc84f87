"""The id of the request that this thread answers, so that its log lines, its answer and its errors can be matched."""

import secrets
from contextvars import ContextVar

_current: ContextVar[str] = ContextVar("request_id", default="")


ENVIRON = "patchbay.request_id"  # where a request made while another is answered finds the other's, which it shares


def begin(shared: str | None = None) -> str:
    """Give the request that begins an id of its own, or the one it shares; for :func:`end`, what to go back to."""
    before = _current.get() if shared else ""
    _current.set(shared or secrets.token_hex(8))
    return before


def end(before: str) -> None:
    """The request is over."""
    _current.set(before)


def current() -> str:
    """The id of the request that is answered; "" outside of any."""
    return _current.get()
