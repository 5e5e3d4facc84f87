"""Failures of connections and exchanges say what happened, to whom, and what helps."""

import ssl
from http.client import HTTPException, RemoteDisconnected

import pytest
from urllib3.exceptions import DecodeError, ProtocolError

from webapp.service.outbound.failures import BudgetExceeded, connect_failure, exchange_failure, too_large

HOST = "api.example"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ssl.SSLError("no"), "tls"),
        (ConnectionResetError(), "reset"),
        (ConnectionRefusedError(), "connect"),
        (OSError("no address to connect to"), "connect"),
    ],
)
def test_a_connection_that_did_not_come_about(error: OSError, kind: str) -> None:
    failure = connect_failure(error, HOST)
    assert failure.kind == kind
    assert HOST in failure.sentence and failure.sentence.endswith(".")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ProtocolError("broken", TimeoutError()), "timeout"),
        (BudgetExceeded(), "too_large"),
        (DecodeError("not gzip"), "bad_response"),
        (RemoteDisconnected("gone"), "reset"),
        (ProtocolError("broken", ConnectionResetError()), "reset"),
        (BrokenPipeError(), "reset"),
        (HTTPException("not HTTP"), "bad_response"),
    ],
)
def test_an_exchange_that_broke_off(error: Exception, kind: str) -> None:
    failure = exchange_failure(error, HOST, 1000)
    assert failure.kind == kind
    assert HOST in failure.sentence and failure.sentence.endswith(".")


def test_the_reason_of_a_refused_certificate_is_said_once() -> None:
    error = ssl.SSLCertVerificationError("certificate verify failed")
    error.verify_message = "certificate has expired."
    failure = connect_failure(error, HOST)
    assert failure.kind == "tls"
    assert "was refused: certificate has expired. Its operator" in failure.sentence


def test_too_large_names_the_limit() -> None:
    assert "1,048,576 bytes" in too_large(HOST, 1024 * 1024).sentence
