"""A mail server for tests, whose triggers have addresses below ``in.example.com``, and what is sent to them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import Any

import orjson

from tests.fakes.deployed import bodies
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.worker.mail import MailServer

PlantMailbox = Callable[..., tuple[DeployedTrigger, str]]


@contextmanager
def running(service: Service) -> Iterator[MailServer]:
    """The mail server of ``service``, until the block ends."""
    server = MailServer(service)
    server.start()
    try:
        yield server
    finally:
        server.stop(5)


def letter(to: str = "somebody") -> EmailMessage:
    """A mail of Ada's."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ada@example.com", to, "Hello"
    message["Message-ID"] = "<one@example.com>"
    message.set_content("Text\n")
    return message


def events(service: Service, trigger: DeployedTrigger) -> list[Any]:
    """The events of ``trigger``, oldest first."""
    return [orjson.loads(one) for one in bodies(service, trigger)]
