"""Signs in at a mail server through the guard: to test the credentials of a mail account, or to send one mail.

The name is resolved and checked once and the session goes to that address, while the certificate is checked against the
name. If encryption is required, only the request for it is sent in plain text. A server that stalls or never stops
sending is cut off.
"""

import smtplib
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email import policy
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import Policy
from ipaddress import ip_address
from typing import Literal, TypeVar

from webapp.kit.clock import Deadline
from webapp.kit.sentences import marked
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import BudgetExceeded, Failure, connect_failure
from webapp.service.outbound.guard import MAIL_PORTS
from webapp.service.outbound.transport import LimitedSocket, LimitedTLSSocket, Limits, connect, secure
from webapp.service.outbound.urls import parse_host

Encryption = Literal["tls", "starttls", "none"]
MAX_BYTES = 64 * 1024


class _LinkHeader(UnstructuredHeader, BaseHeader):
    """A header whose value is a URL, written on one line: the library would encode one that is longer than a line,
    and programs that read it decode nothing (RFC 2369 section 2)."""

    def fold(self, *, policy: Policy) -> str:
        """The header as it is sent."""
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("list-unsubscribe", _LinkHeader)
SEVEN_BIT = policy.SMTP.clone(cte_type="7bit", header_factory=_HEADERS)  # every server takes it


@dataclass(frozen=True, slots=True)
class SmtpAccount:
    """The server and user of an account. `encryption`: tls from the first byte, starttls (RFC 3207), or none.

    Without a `user`, nobody signs in.
    """

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    encryption: Encryption = "tls"


@dataclass(frozen=True, slots=True)
class SmtpOutcome:
    """ok; refused: the server does not take these credentials; trouble: no usable server."""

    kind: Literal["ok", "refused", "trouble"]
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """What became of a mail.

    sent: the server has it; refused: it never takes this one; later: not now; trouble: no usable server; withheld: the
    caller did not want it sent any more; unknown: the connection broke after the content, so the server may have it.
    """

    kind: Literal["sent", "refused", "later", "trouble", "withheld", "unknown"]
    sentence: str = ""


Result = TypeVar("Result")


def check_smtp(client: OutboundClient, account: SmtpAccount, *, deadline_s: float = 10.0) -> SmtpOutcome:
    """Sign in (RFC 4954) and quit, all within `deadline_s` seconds."""
    return _in_session(client, account, Deadline(deadline_s), lambda _: SmtpOutcome("ok"))


def send(
    client: OutboundClient,
    account: SmtpAccount,
    message: EmailMessage,
    *,
    sender: str,
    recipient: str,
    begin: Callable[[], bool],
    deadline_s: float = 20.0,
) -> SendOutcome:
    """Send `message` to `recipient` (both addresses without names), all within `deadline_s` seconds.

    `begin` is called when the server would take it, right before its content, and returns whether to send it still.
    What goes wrong before was certainly not sent.
    """
    outcome = _in_session(
        client,
        account,
        Deadline(deadline_s),
        lambda session: _deliver(session, account, message, sender, recipient, begin),
    )
    return outcome if isinstance(outcome, SendOutcome) else SendOutcome("trouble", outcome.sentence)


def _deliver(
    session: "_Session",
    account: SmtpAccount,
    message: EmailMessage,
    sender: str,
    recipient: str,
    begin: Callable[[], bool],
) -> SendOutcome:
    """The transaction of one mail (RFC 5321 section 3.3)."""
    options, content_policy = [], SEVEN_BIT
    if not recipient.isascii():  # RFC 6531
        if not session.has_extn("smtputf8"):
            return SendOutcome("refused", f"The server {account.host} takes plain letters only in addresses.")
        options, content_policy = ["SMTPUTF8"], SEVEN_BIT.clone(utf8=True)
    content = message.as_bytes(policy=content_policy)
    code, _ = session.mail(sender, options)
    if code != 250:
        return SendOutcome("trouble", _trouble(account, marked(f"takes no mail from that sender ({code})")).sentence)
    code, _ = session.rcpt(recipient)
    if code not in (250, 251):
        return _not_taken(account, code)
    if not begin():
        return SendOutcome("withheld")
    try:
        code, _ = session.data(content)
    except smtplib.SMTPDataError as error:
        return _not_taken(account, error.smtp_code)
    except (smtplib.SMTPException, BudgetExceeded, OSError):
        return SendOutcome("unknown", f"The server {account.host} did not say whether it took the mail.")
    return SendOutcome("sent") if code == 250 else _not_taken(account, code)


def _not_taken(account: SmtpAccount, code: int) -> SendOutcome:
    kind: Literal["refused", "later"] = "refused" if 500 <= code < 600 else "later"
    return SendOutcome(kind, f"The server {account.host} did not take the mail ({code}).")


def _in_session(
    client: OutboundClient, account: SmtpAccount, deadline: Deadline, use: Callable[["_Session"], Result]
) -> Result | SmtpOutcome:
    """What `use` returns, with a session in which the user is signed in; or why there is none."""
    if any(ord(character) < 32 for character in account.user + account.password):
        return SmtpOutcome("refused", "A field contains an invisible character. Type it again.")
    addresses = client.guard.pin_host(account.host, account.port, deadline, MAIL_PORTS)
    if isinstance(addresses, Failure):
        return SmtpOutcome("trouble", addresses.sentence)
    host = str(parse_host(account.host))
    try:
        sock = _open(client.tls, account, host, connect(addresses, account.port, Limits(deadline, MAX_BYTES)))
    except OSError as error:
        return SmtpOutcome("trouble", connect_failure(error, account.host).sentence)
    session = _Session(sock, host)
    try:
        _sign_in(session, client.tls, account)
        outcome = use(session)
        with suppress(smtplib.SMTPException, OSError, BudgetExceeded):
            session.quit()
        return outcome
    except (smtplib.SMTPException, BudgetExceeded, OSError, ValueError) as error:
        return _explain(account, error, deadline)
    finally:
        session.close()
        sock.close()


def _open(
    context: ssl.SSLContext, account: SmtpAccount, host: str, sock: LimitedSocket
) -> LimitedSocket | LimitedTLSSocket:
    return secure(sock, context, host) if account.encryption == "tls" else sock


def _sign_in(session: "_Session", context: ssl.SSLContext, account: SmtpAccount) -> None:
    session.greet()
    if account.encryption == "starttls":
        session.encrypt(context)
    if account.user:
        session.login(account.user, account.password)


class _Session(smtplib.SMTP):
    """The library's session over an open socket; it resolves no name and opens no connection."""

    def __init__(self, sock: LimitedSocket | LimitedTLSSocket, host: str) -> None:
        super().__init__(local_hostname=_literal(sock))
        self.sock: LimitedSocket | LimitedTLSSocket | None = sock
        self._server_name = host

    def greet(self) -> None:
        """Read the server's first words and say hello. Raises the library's exceptions."""
        code, text = self.getreply()
        if code != 220:
            raise smtplib.SMTPConnectError(code, text)
        self.ehlo_or_helo_if_needed()

    def encrypt(self, context: ssl.SSLContext) -> None:
        """STARTTLS; the state of the session before it is discarded (RFC 3207, 4.2)."""
        if not self.has_extn("starttls"):
            raise _NoEncryption
        code, text = self.docmd("STARTTLS")
        if code != 220 or not isinstance(self.sock, LimitedSocket):
            raise smtplib.SMTPResponseException(code, text)
        if self.file is not None:
            self.file.close()  # with whatever the server sent too early, which nobody has vouched for
        self.file = None
        self.sock = secure(self.sock, context, self._server_name)
        self.helo_resp = self.ehlo_resp = None
        self.esmtp_features, self.does_esmtp = {}, False
        self.ehlo_or_helo_if_needed()


class _NoEncryption(smtplib.SMTPException):
    """The server does not offer STARTTLS."""


def _literal(sock: socket.socket) -> str:
    """The name of a client without a host name (RFC 5321, 4.1.3)."""
    address = ip_address(sock.getsockname()[0].partition("%")[0])
    return f"[{address}]" if address.version == 4 else f"[IPv6:{address}]"


def _explain(account: SmtpAccount, error: Exception, deadline: Deadline) -> SmtpOutcome:
    if isinstance(error, smtplib.SMTPAuthenticationError) and 500 <= error.smtp_code < 600:
        return SmtpOutcome("refused", "The mail server refused the user name or password. Check both.")
    if isinstance(error, UnicodeEncodeError):
        return SmtpOutcome("refused", "The mail server takes plain letters only. Use a password without accents.")
    if isinstance(error, ssl.SSLError):
        return SmtpOutcome("trouble", connect_failure(error, account.host).sentence)
    if isinstance(error, _NoEncryption):
        return _trouble(account, marked("does not offer STARTTLS on that port"))
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return _trouble(account, marked("lets nobody sign in this way; another port or encryption may"))
    if isinstance(error, TimeoutError) or deadline.is_over:  # smtplib takes a timeout for a broken connection
        return _trouble(account, marked("did not answer in time"))
    if isinstance(error, smtplib.SMTPResponseException):
        return _trouble(
            account,
            marked(f"answered with {error.smtp_code}") if error.smtp_code > 0 else marked("does not speak SMTP"),
        )
    return _trouble(account, marked("accepts no mail session on that port"))


def _trouble(account: SmtpAccount, what: str) -> SmtpOutcome:
    return SmtpOutcome(
        "trouble", f"The server {account.host} {what}. Check host, port and encryption, or try again later."
    )
