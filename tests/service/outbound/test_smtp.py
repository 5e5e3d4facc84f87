"""Mail accounts and mails against a small server on loopback: every encryption, wrong passwords, bad servers."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from email.message import EmailMessage
from ipaddress import ip_address
from typing import Any

import pytest

from tests.fakes.certificates import Authority
from tests.fakes.smtp_server import MailServer
from tests.fakes.socket_server import serving
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.smtp import SendOutcome, SmtpAccount, check_smtp, send

HOST = "mail.example.com"


@pytest.fixture(scope="module")
def post_office(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def mail(post_office: Authority) -> Iterator[Callable[..., MailServer]]:
    """Start mail servers for ada, whose password is ``right one``."""
    with ExitStack() as stack:

        def start(**facts: Any) -> MailServer:
            server = MailServer("ada@example.com", "right one", context=post_office.context(HOST), **facts)
            return stack.enter_context(serving(server))

        yield start


def client(ca_file: str | None, port: int) -> OutboundClient:
    guard = Guard([f"{HOST}:{port}"], resolver=lambda *_: [ip_address("127.0.0.1")])
    return OutboundClient(guard, user_agent="Patchbay-Test", ca_file=ca_file)


def account(server: MailServer, **changes: Any) -> SmtpAccount:
    base = SmtpAccount(HOST, server.port, server.user, server.password, server.encryption)
    return replace(base, **changes)


@pytest.mark.parametrize("mechanisms", ["PLAIN LOGIN", "LOGIN", "PLAIN"])
@pytest.mark.parametrize("encryption", ["tls", "starttls", "none"])
def test_signing_in(mail: Callable[..., MailServer], post_office: Authority, encryption: str, mechanisms: str) -> None:
    server = mail(encryption=encryption, mechanisms=mechanisms)
    outcome = check_smtp(client(post_office.ca_file, server.port), account(server))
    assert (outcome.kind, outcome.sentence) == ("ok", "")
    assert server.heard[-1].upper() == b"QUIT"
    assert server.heard[0] == b"ehlo [127.0.0.1]"
    assert not any(line.upper().startswith(b"MAIL") for line in server.heard)
    assert "right one" not in repr(account(server))


@pytest.mark.parametrize("change", [{"password": "wrong"}, {"user": "eve@example.com"}])
def test_wrong_credentials(mail: Callable[..., MailServer], change: dict[str, str]) -> None:
    server = mail()
    outcome = check_smtp(client(None, server.port), account(server, **change))
    assert (outcome.kind, "password" in outcome.sentence) == ("refused", True)


@pytest.mark.parametrize(("password", "word"), [("a\x00b", "invisible"), ("pässword", "accents")])
def test_passwords_that_cannot_be_sent(mail: Callable[..., MailServer], password: str, word: str) -> None:
    server = mail()
    outcome = check_smtp(client(None, server.port), account(server, password=password))
    assert (outcome.kind, word in outcome.sentence) == ("refused", True)


@pytest.mark.parametrize(
    ("facts", "asked", "word"),
    [
        ({"refusal": b"454 4.7.0 Temporary authentication failure"}, {"password": "wrong"}, "454"),
        ({"greeting": b"421 4.3.2 Shutting down"}, {}, "421"),
        ({"greeting": b"HTTP/1.1 400 Bad Request"}, {}, "SMTP"),
        ({"mechanisms": ""}, {}, "sign in"),
        ({}, {"encryption": "starttls"}, "STARTTLS"),
        ({}, {"encryption": "tls"}, "secure connection"),
        ({"greeting": b"220-" + b"x" * 5000 + b"\r\n220-" * 30_000}, {}, "session"),
    ],
)
def test_trouble(mail: Callable[..., MailServer], facts: dict[str, Any], asked: dict[str, str], word: str) -> None:
    server = mail(**facts)
    outcome = check_smtp(client(None, server.port), account(server, **asked))
    assert (outcome.kind, word in outcome.sentence) == ("trouble", True), outcome.sentence


@pytest.mark.parametrize("encryption", ["tls", "starttls"])
def test_a_certificate_that_nobody_vouches_for(mail: Callable[..., MailServer], encryption: str) -> None:
    server = mail(encryption=encryption)
    outcome = check_smtp(client(None, server.port), account(server))
    assert (outcome.kind, "certificate" in outcome.sentence) == ("trouble", True)
    assert not any(line.upper().startswith(b"AUTH") for line in server.heard)


def test_a_certificate_of_another_name(post_office: Authority) -> None:
    server = MailServer("ada", "x", "tls", post_office.context("other.example.com"))
    with serving(server):
        assert check_smtp(client(post_office.ca_file, server.port), account(server)).kind == "trouble"


def test_what_was_said_before_starttls_is_forgotten(mail: Callable[..., MailServer], post_office: Authority) -> None:
    """An attacker on the way may not slip in answers ahead of the encryption (CVE-2011-0411)."""
    server = mail(encryption="starttls", early=b"250 nobody may sign in here")
    outcome = check_smtp(client(post_office.ca_file, server.port), account(server))
    assert outcome.kind == "ok"


@pytest.mark.parametrize("encryption", ["tls", "starttls", "none"])
def test_a_server_that_stalls(encryption: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def stall() -> None:
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(5)
                    while connection.recv(1000):
                        pass

        thread = threading.Thread(target=stall)
        thread.start()
        started = time.monotonic()
        asked = SmtpAccount(HOST, port, "ada", "x", encryption)  # type: ignore[arg-type]  # one of the three
        outcome = check_smtp(client(None, port), asked, deadline_s=0.5)
        elapsed = time.monotonic() - started
        thread.join(timeout=1)
        assert not thread.is_alive()
    assert (outcome.kind, "in time" in outcome.sentence) == ("trouble", True)
    assert elapsed < 1.5


@pytest.mark.parametrize(
    ("host", "port"),
    [("127.0.0.1", 25), ("localhost", 587), ("10.0.0.1", 465), ("169.254.169.254", 25), ("mail.example.com", 22)],
)
def test_the_guard_comes_first(host: str, port: int, connects: list[object]) -> None:
    guard = Guard(resolver=lambda *_: [ip_address("127.0.0.1")])
    outcome = check_smtp(OutboundClient(guard, user_agent="Patchbay-Test"), SmtpAccount(host, port, "ada", "x"))
    assert outcome.kind == "trouble"
    assert connects == []


def test_usual_ports_of_mail_are_permitted() -> None:
    guard = Guard(resolver=lambda *_: [])
    for port in (25, 465, 587, 2525):
        outcome = check_smtp(OutboundClient(guard, user_agent="Patchbay-Test"), SmtpAccount(HOST, port, "ada", "x"))
        assert "no server named" in outcome.sentence


def sent(
    server: MailServer, ca_file: str | None = None, *, to: str = "bob@example.org", begin: bool = True, **changes: Any
) -> SendOutcome:
    """What becomes of a mail to ``to``; ``begin`` is whether it is still wanted."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Acme <ada@example.com>", to, "Käse"
    message.set_content("Grüße\n.\nBob")
    asked = account(server, **changes)
    post = client(ca_file, server.port)
    return send(post, asked, message, sender="ada@example.com", recipient=to, begin=lambda: begin, deadline_s=5)


@pytest.mark.parametrize("encryption", ["tls", "starttls", "none"])
def test_a_mail_is_taken(mail: Callable[..., MailServer], post_office: Authority, encryption: str) -> None:
    server = mail(encryption=encryption)
    assert sent(server, post_office.ca_file) == SendOutcome("sent")
    (content,) = server.mails
    assert content.isascii()
    assert b"Subject: =?utf-8?" in content
    assert b"\r\n..\r\n" in content or b"base64" in content  # a line of one full stop does not end the content
    assert [line for line in server.heard if line[:4] in (b"mail", b"rcpt", b"MAIL", b"RCPT")] == [
        b"mail FROM:<ada@example.com>",
        b"rcpt TO:<bob@example.org>",
    ]


def test_a_relay_without_a_user(mail: Callable[..., MailServer]) -> None:
    server = mail()
    assert sent(server, user="", password="").kind == "sent"
    assert not any(line.upper().startswith(b"AUTH") for line in server.heard)


@pytest.mark.parametrize(
    ("answers", "kind", "word"),
    [
        ({"RCPT": b"550 No such user"}, "refused", "550"),
        ({"RCPT": b"450 Greylisted"}, "later", "450"),
        ({"DATA": b"554 No"}, "refused", "554"),
        ({"END": b"552 Too large"}, "refused", "552"),
        ({"END": b"451 Try later"}, "later", "451"),
        ({"END": b""}, "unknown", "did not say"),
        ({"MAIL": b"553 Not your address"}, "trouble", "553"),
    ],
)
def test_a_mail_is_not_taken(mail: Callable[..., MailServer], answers: dict[str, bytes], kind: str, word: str) -> None:
    server = mail(answers=answers)
    outcome = sent(server)
    assert (outcome.kind, word in outcome.sentence) == (kind, True), outcome.sentence
    assert server.mails == []


def test_wrong_credentials_are_trouble_for_all_mails(mail: Callable[..., MailServer]) -> None:
    server = mail()
    outcome = sent(server, password="wrong")
    assert (outcome.kind, "password" in outcome.sentence) == ("trouble", True)


def test_a_mail_that_is_not_wanted_any_more(mail: Callable[..., MailServer]) -> None:
    server = mail()
    assert sent(server, begin=False).kind == "withheld"
    assert not any(line.upper() == b"DATA" for line in server.heard)


def test_addresses_with_other_letters(mail: Callable[..., MailServer]) -> None:
    server = mail()
    assert sent(server, to="jürgen@example.org").kind == "refused"
    server = mail(extensions=(b"SMTPUTF8", b"8BITMIME"))
    assert sent(server, to="jürgen@example.org").kind == "sent"
    assert "jürgen@example.org".encode() in server.mails[0]
