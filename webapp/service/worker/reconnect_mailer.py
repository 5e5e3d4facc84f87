"""Mails people whose accounts need them, if a mail server is set.

One thread sends one mail after another, so a server that hangs delays other mails and nothing else. After a failure of
the server the others wait for the next turn.
"""

import logging
import threading

from webapp import demo
from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import reconnect_mails

EVERY_S = 60.0
AT_ONCE = 100  # people that one turn mails
log = logging.getLogger(__name__)


class ReconnectMailer:
    """A thread of the worker."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stopping = threading.Event()
        self._said = ""
        self._thread = threading.Thread(target=self._run, name="reconnect-mails", daemon=True)

    def start(self) -> None:
        """Begin, if the settings have a mail server and people's accounts are here; those of a demo are nobody's."""
        if self._service.settings.sends_mail and not demo.is_demo(self._service.store):
            self._thread.start()

    def wake(self) -> None:
        """Nothing: no mail is more urgent than a minute."""

    def stop(self, grace_s: float) -> None:
        """End, after up to ``grace_s`` seconds for a mail that is being sent."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(max(grace_s, 0.1))

    def turn(self) -> None:
        """Mail everybody who is due, until the server fails. Raises :class:`Unavailable`."""
        for user_id in reconnect_mails.due(self._service, AT_ONCE):
            outcome = None if self._stopping.is_set() else reconnect_mails.send_to(self._service, user_id)
            if outcome is None:
                continue
            self._report(outcome.sentence if outcome.kind != "sent" else "")
            if outcome.kind in ("trouble", "unknown"):
                break

    def _report(self, sentence: str) -> None:
        """Log a failure, but not the same one again and again."""
        if sentence and sentence != self._said:
            log.warning("A mail could not be sent: %s", sentence)
        self._said = sentence

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.turn()
            except Unavailable as error:
                log.log(error.level, "mails to people: %s", error.message)
            except Exception:
                log.exception("A turn of the mails to people failed.")
            self._stopping.wait(EVERY_S)
