"""Every way a connection can fail, told as a Failure. The one place that knows the libraries' exceptions."""

import ssl
from http.client import HTTPException, RemoteDisconnected
from http.client import IncompleteRead as BodyCutShort

from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead, ProtocolError, ReadTimeoutError

from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.sockets import BudgetExceeded

NETWORK_ERRORS = (OSError, HTTPException, HTTPError, BudgetExceeded)


def connect_failure(error: OSError, host: str) -> Failure:
    """Why no connection, or no secure one, came about."""
    if isinstance(error, TimeoutError):
        return Failure("timeout", f"{host} did not answer in time. Try again later.")
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = (error.verify_message or "it is not trusted").rstrip(".")
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
