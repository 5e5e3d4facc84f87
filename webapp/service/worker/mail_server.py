"""The mailbox of e-mail triggers: an SMTP server (RFC 5321) that takes mail for their addresses and nothing else.

A mail is accepted (250) when its events are committed; while the store cannot take it, the sender is told to try again
(451). It neither relays nor sends. It speaks without TLS and knows nobody, so for mail from the internet it stands
behind a mail server. A port that is taken is tried again every :data:`RETRY_S` seconds, while the worker works on. Of
several workers on one data folder one takes mail; when it ends, another does within :data:`LOOK_S`.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from webapp import deadlines
from webapp.service.domain.base.service import Service
from webapp.service.worker.mail_places import MailPlaces
from webapp.service.worker.mail_session import Handler, MailSession
from webapp.store.presence import MailPlace

RETRY_S = 30.0
LOOK_S = 1.0
AT_ONCE = 2  # mails that are read and written down side by side
_UNUSABLE = (
    "No mail arrives, because port %d on %s cannot be used (%s). Stop what uses it, set PATCHBAY_MAIL_PORT to another, "
    "or set PATCHBAY_MAIL to off."
)
log = logging.getLogger(__name__)


class MailServer:
    """Listens until it is stopped; does nothing where ``PATCHBAY_MAIL`` is off."""

    def __init__(self, service: Service) -> None:
        self._service, self._grace_s = service, 0.0
        self._thread = threading.Thread(target=self._run, name="mail", daemon=True)
        self._places = MailPlaces(service.settings.quotas)
        self._place = MailPlace(service.settings.database)
        self._stopping = asyncio.Event()
        self._tried = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.port: int | None = None

    def start(self) -> None:
        """Begin to listen, and wait until that has been tried: :attr:`port` is None when it could not be."""
        if self._service.settings.mail:
            logging.getLogger("mail.log").setLevel(logging.ERROR)  # the library would name every address
            self._thread.start()
            self._tried.wait(10)

    def wake(self) -> None:
        """Mail comes by itself."""

    def stop(self, grace_s: float) -> None:
        """Take no more mail; one that has come whole is answered, if that takes at most ``grace_s`` seconds."""
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
            self._place.leave()
            self._tried.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mail") as pool:
            handler = Handler(self._service, pool)
            mail_s = self._service.settings.quotas[deadlines.MAIL_S.name]
            server = await self._listening(lambda: MailSession(handler, self._places, mail_s))
            if server is None:
                return
            await self._stopping.wait()
            server.close()
            await self._drain()

    async def _listening(self, session: Callable[[], MailSession]) -> asyncio.Server | None:
        """The server, as soon as the port can be had; None when told to stop before."""
        host, port = self._service.settings.mail_host, self._service.settings.mail_port
        reported = False
        while not self._stopping.is_set():
            if not self._place.take():
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
        """The port could not be had: wait before it is tried again."""
        self._tried.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _drain(self) -> None:
        """Let mails that are being written down be answered, then hang up on everyone."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._grace_s
        while any(session.busy for session in self._places) and loop.time() < ends:
            await asyncio.sleep(0.02)
        for session in self._places:
            session.end("The server is going down; send the mail again later.")
        while len(self._places) and loop.time() < ends:
            await asyncio.sleep(0.02)


def _reason(error: OSError) -> str:
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error)
