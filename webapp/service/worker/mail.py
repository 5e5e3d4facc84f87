"""The mailbox of e-mail triggers: an SMTP server (RFC 5321) that takes mail for their addresses and nothing else.

Unknown recipients are refused at RCPT. A mail is accepted (250) when its events are committed; while the store is
unavailable, the sender is asked to try again (451; codes of RFC 3463). The size, lines, recipients, commands and time
of a sender are limited. The server neither relays nor sends, and has neither TLS nor logins, so mail from the
internet needs a mail server in front of it. A port that is in use is tried again every :data:`RETRY_S` seconds. Of
several workers on one data folder, one takes mail; when it ends, another takes over within :data:`LOOK_S`.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress

from aiosmtpd.smtp import SMTP, Envelope, Session

from webapp import connection_limits
from webapp.errors import NotFound, PatchbayError, Throttled, TooLarge
from webapp.kit.networks import network_of
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import mailbox
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.mailbox import BadMail, IncomingMail
from webapp.service.worker.mail_sessions import MailSessions
from webapp.store.lock_files import MailLock

log = logging.getLogger(__name__)

MAX_MAIL_BYTES = 10 * 1024 * 1024
MAX_LINE_BYTES = 64 * 1024  # RFC 5321 asks for 1,000; many programs send longer ones
MAX_RECIPIENTS = 50
COMMANDS = 100  # of one kind: an address is not found by trying
IDLE_S = 300.0  # RFC 5321 section 4.5.3.2.7
ACCEPTED = "250 2.0.0 The mail is accepted."
UNKNOWN = "550 5.1.1 There is no such address here."
LATER = "451 4.3.0 The mail cannot be taken now; try again later."
BUSY = "451 4.7.1 Too many mails for this address; try again later."
FULL = "452 4.3.1 There is no room for the files of the mail now; try again tomorrow."
CROWDED = "452 4.5.3 Too many recipients; send the mail again for the others."
RETRY_S = 30.0
LOOK_S = 1.0
AT_ONCE = 2  # mails that are read and written down side by side
_UNUSABLE = (
    "No mail arrives, because port %d on %s cannot be used (%s). Stop what uses it, set PATCHBAY_MAIL_PORT to another, "
    "or set PATCHBAY_MAIL to off."
)


class Handler:
    """Looks up recipients and receives mails. ``pool`` limits how many mails are parsed at once."""

    def __init__(self, service: Service, pool: Executor) -> None:
        self._service, self._pool = service, pool
        self.domain = service.settings.mail_domain

    async def handle_RCPT(
        self, session: "MailSession", _: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """The reply to RCPT for ``address``."""
        if len(envelope.rcpt_tos) >= MAX_RECIPIENTS:
            return CROWDED
        try:
            await asyncio.to_thread(mailbox.find, self._service, self._local(address))
        except NotFound:
            return UNKNOWN
        except Exception as error:
            return _trouble(error)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, session: "MailSession", _: Session, envelope: Envelope) -> str:
        """Receive the mail, and reply once it is stored."""
        session.busy = True
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._take, envelope)
        finally:
            session.begin_mail()

    async def handle_exception(self, error: Exception) -> str:
        """The reply to an unexpected error, without its details."""
        return _trouble(error)

    def _take(self, envelope: Envelope) -> str:
        to: dict[str, tuple[str, DeployedTrigger]] = {}
        try:
            for address in envelope.rcpt_tos:
                try:
                    trigger = mailbox.find(self._service, self._local(address))
                except NotFound:
                    continue  # gone since RCPT
                to.setdefault(trigger.id, (_shown(address), trigger))
            mail = IncomingMail(_shown(envelope.mail_from or ""), list(to.values()), envelope.original_content or b"")
            return ACCEPTED if to and mailbox.receive(self._service, mail) else UNKNOWN
        except BadMail as error:
            return f"554 5.6.0 {error}"
        except TooLarge:
            return FULL
        except Throttled:
            return BUSY
        except Exception as error:
            return _trouble(error)

    def _local(self, address: str) -> str:
        """The local part of one of our addresses, without a ``+tag``. Raises :class:`NotFound`."""
        local, _, domain = address.rpartition("@")
        local = local.partition("+")[0]
        if domain.lower() != self.domain.lower() or not (local.isascii() and local.isalnum()):
            raise NotFound("This is no address of ours.")
        return local


class MailSession(SMTP):
    """One connection; ``busy`` while its mail is being stored."""

    line_length_limit = MAX_LINE_BYTES

    def __init__(self, handler: Handler, sessions: MailSessions, mail_s: float) -> None:
        super().__init__(
            handler,
            data_size_limit=MAX_MAIL_BYTES,
            enable_SMTPUTF8=True,
            hostname=handler.domain,
            ident="Patchbay",
            timeout=IDLE_S,
            command_call_limit={"*": COMMANDS},
            auth_exclude_mechanism=["LOGIN", "PLAIN"],
            loop=asyncio.get_running_loop(),
        )
        self._sessions, self._mail_s, self._admitted = sessions, mail_s, False
        self._overdue: asyncio.TimerHandle | None = None
        self.network, self.since, self.received_bytes, self.busy = "", 0.0, 0, False

    def begin_mail(self) -> None:
        """Begin the deadline of the next mail."""
        self.busy, self.received_bytes, self.since = False, 0, self.loop.time()
        if self._overdue is not None:
            self._overdue.cancel()
        self._overdue = self.loop.call_later(self._mail_s, self._end_overdue)

    def end(self, sentence: str) -> None:
        """Send ``sentence`` and close the connection."""
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.write(f"421 4.3.2 {sentence}\r\n".encode())
            self.transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the session, or refuse it if there are too many."""
        self.network = network_of(str((transport.get_extra_info("peername") or ("",))[0]))
        self.since = self.loop.time()
        self._admitted = self._sessions.admit(self)
        if self._admitted:
            super().connection_made(transport)
            self.begin_mail()
        elif isinstance(transport, asyncio.WriteTransport):
            transport.write(b"421 4.3.2 Too many connections; try again later.\r\n")
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Pass data to the library, unless it is more than may be kept: the library limits neither lines nor mails."""
        self.received_bytes += len(data)
        if self.received_bytes > 2 * MAX_MAIL_BYTES and isinstance(self.transport, asyncio.WriteTransport):
            self.transport.abort()
        elif self._admitted and self.received_bytes > MAX_LINE_BYTES and self._sessions.is_full():
            self.end("Too many large mails at once; try again later.")
        elif self._admitted:
            super().data_received(data)

    def eof_received(self) -> bool | None:
        """The sender has closed its side."""
        return super().eof_received() if self._admitted else None

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed."""
        self._sessions.leave(self)
        if self._overdue is not None:
            self._overdue.cancel()
        if self._admitted:
            super().connection_lost(error)

    def _end_overdue(self) -> None:
        if not self.busy:
            self._sessions.end(self, connection_limits.MAIL_S, "No mail came for too long; connect again to send one.")


def _shown(address: str) -> str:
    """``address`` without lone surrogates, which stand for bytes that are not UTF-8."""
    return address.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _trouble(error: Exception) -> str:
    if isinstance(error, PatchbayError):
        log.warning("A mail could not be taken: %s", error.message)
    else:
        log.error("A mail could not be taken.", exc_info=error)
    return LATER


class MailServer:
    """Listens until it is stopped; does nothing if ``PATCHBAY_MAIL`` is off."""

    def __init__(self, service: Service) -> None:
        self._service, self._grace_s = service, 0.0
        self._thread = threading.Thread(target=self._run, name="mail", daemon=True)
        self._sessions = MailSessions(service.settings.quotas)
        self._lock = MailLock(service.settings.database)
        self._stopping = asyncio.Event()
        self._tried = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.port: int | None = None

    def start(self) -> None:
        """Begin to listen, and wait for the first attempt; :attr:`port` is None if it failed."""
        if self._service.settings.mail:
            logging.getLogger("mail.log").setLevel(logging.ERROR)  # the library would name every address
            self._thread.start()
            self._tried.wait(10)

    def wake(self) -> None:
        """Nothing: the server waits for connections."""

    def stop(self, grace_s: float) -> None:
        """Take no more mail, and wait up to ``grace_s`` seconds for mails that are being stored."""
        if not self._thread.is_alive() or self._loop is None:
            return
        self._grace_s = grace_s
        with suppress(RuntimeError):  # it ends by itself just now
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(grace_s + 1)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception:
            log.exception("The mail server ended.")
        finally:
            self.port = None
            self._lock.release()
            self._tried.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mail") as pool:
            handler = Handler(self._service, pool)
            mail_s = self._service.settings.quotas[connection_limits.MAIL_S.name]
            server = await self._listening(lambda: MailSession(handler, self._sessions, mail_s))
            if server is None:
                return
            await self._stopping.wait()
            server.close()
            await self._drain()

    async def _listening(self, session: Callable[[], MailSession]) -> asyncio.Server | None:
        """The server, as soon as the port is free; None if stopped before."""
        host, port = self._service.settings.mail_host, self._service.settings.mail_port
        reported = False
        while not self._stopping.is_set():
            if not self._lock.acquire():
                await self._pause(LOOK_S)
                continue
            try:
                server = await asyncio.get_running_loop().create_server(session, host, port)
            except OSError as error:
                if not reported:
                    log.error(_UNUSABLE, port, host, _reason(error))
                    reported = True
                await self._pause(RETRY_S)
                continue
            self.port = server.sockets[0].getsockname()[1]
            self._tried.set()
            if reported:
                log.info("Port %d on %s can be used now; mail arrives.", port, host)
            return server
        return None

    async def _pause(self, seconds: float) -> None:
        """Log that the port is in use, and wait before the next attempt."""
        self._tried.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _drain(self) -> None:
        """Wait for mails that are being stored, then close all connections."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._grace_s
        while any(session.busy for session in self._sessions) and loop.time() < ends:
            await asyncio.sleep(0.02)
        for session in self._sessions:
            session.end("The server is going down; send the mail again later.")
        while len(self._sessions) and loop.time() < ends:
            await asyncio.sleep(0.02)


def _reason(error: OSError) -> str:
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error)
