"""The worker's tests work on the same bench as the domain's; its mail server takes any free port."""

import smtplib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.deployed import plant_trigger_of
from tests.service.domain.conftest import Bench, acme, acme_folder, acme_port, bench, open_bench
from tests.service.worker.mailbox import PlantMailbox, running
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.worker.mail import MailServer

__all__ = ["acme", "acme_folder", "acme_port", "bench", "open_bench"]


@pytest.fixture
def mail_service(bench: Bench) -> Service:
    """The bench's service, for mail to ``in.example.com``."""
    settings = replace(bench.service.settings, mail_port=0, mail_domain="in.example.com")
    return replace(bench.service, settings=settings)


@pytest.fixture
def listener(mail_service: Service) -> Iterator[MailServer]:
    """The mail server, listening."""
    with running(mail_service) as started:
        yield started


@pytest.fixture
def sender(listener: MailServer) -> Iterator[smtplib.SMTP]:
    """Somebody who sends mail."""
    assert listener.port
    with smtplib.SMTP("127.0.0.1", listener.port, timeout=20) as connected:
        yield connected


@pytest.fixture
def plant_mailbox(mail_service: Service, bench: Bench) -> PlantMailbox:
    """Puts an e-mail trigger into :func:`mail_service`; it and its address."""

    def plant(**given: Any) -> tuple[DeployedTrigger, str]:
        trigger, _ = plant_trigger_of(mail_service, bench.scene, "email-new-email", **given)
        return trigger, f"{trigger.email_local}@in.example.com"

    return plant
