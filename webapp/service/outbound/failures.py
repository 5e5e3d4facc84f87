"""Why a request got no usable answer, as a value: its kind, and one sentence that may be shown to a person.

Only this module knows the libraries' exceptions of connections.
"""

import ssl
from dataclasses import dataclass
from http.client import HTTPException, RemoteDisconnected
from http.client import IncompleteRead as BodyCutShort
from typing import Literal

from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead, ProtocolError, ReadTimeoutError

from webapp.kit.sentences import marked

FailureKind = Literal[
    "refused_by_guard",  # the address, port or request may not go out
    "dns",  # the name has no address, or the look-up took too long
    "connect",  # nothing listens there, or no route
    "tls",  # no trusted certificate for that name, or no TLS at all
    "timeout",  # the total deadline passed
    "too_large",  # more bytes than the caller takes
    "reset",  # the peer hung up in the middle
    "bad_response",  # what came is not what was asked for
    "redirect_refused",  # a redirect led where it may not lead
]


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that got no usable answer. `sentence` may be shown to a person."""

    kind: FailureKind
    sentence: str


class BudgetExceeded(Exception):
    """The peer sent more bytes than this exchange takes."""


NETWORK_ERRORS = (OSError, HTTPException, HTTPError, BudgetExceeded)


def connect_failure(error: OSError, host: str) -> Failure:
    """The failure of a connection or of its encryption."""
    if isinstance(error, TimeoutError):
        return Failure("timeout", f"{host} did not answer in time. Try again later.")
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = (error.verify_message or marked("it is not trusted")).rstrip(".")
        return Failure("tls", f"The certificate of {host} was refused: {reason}. Its operator must renew it.")
    if isinstance(error, ssl.SSLError):
        return Failure("tls", f"{host} offers no secure connection on that port. Check the address.")
    if isinstance(error, ConnectionResetError):
        return _reset(host)
    return Failure("connect", f"{host} accepts no connection. Check the address, or try again later.")


def exchange_failure(error: Exception, host: str, max_bytes: int) -> Failure:
    """Why an exchange over a standing connection did not come to its end."""
    cause = error.args[-1] if isinstance(error, ProtocolError) and error.args else error
    if isinstance(error, ReadTimeoutError) or isinstance(cause, TimeoutError):
        return Failure("timeout", f"{host} did not finish its answer in time. Try again later.")
    if isinstance(error, BudgetExceeded):
        return too_large(host, max_bytes)
    if isinstance(error, DecodeError):
        return Failure("bad_response", f"{host} sent an answer that cannot be unpacked. Try again later.")
    if isinstance(cause, (BodyCutShort, IncompleteRead, RemoteDisconnected, OSError)):
        return _reset(host)
    return Failure("bad_response", f"{host} did not answer in HTTP. Check the address.")


def too_large(host: str, max_bytes: int) -> Failure:
    """The answer is larger than the caller takes."""
    return Failure("too_large", f"{host} sent more than {max_bytes:,} bytes, too much to be read. Try again later.")


def _reset(host: str) -> Failure:
    return Failure("reset", f"{host} broke the connection off. Try again later.")
