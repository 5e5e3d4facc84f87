"""Mail for triggers: unknown addresses look alike, and what comes is bounded like requests are."""

import pytest

from tests.fakes.triggers import deploy, emitted
from tests.service.quotas import with_quotas
from webapp.errors import NotFound, Throttled, TooLarge
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import mailboxes
from webapp.service.domain.triggers.mailboxes import IncomingMail


def mail(service: Service, local: str, text: str = "Hi") -> IncomingMail:
    raw = f"Subject: Hello\r\n\r\n{text}".encode()
    return IncomingMail("ada@example.com", [(f"{local}@localhost", mailboxes.find(service, local))], raw)


def test_mail_is_taken_until_a_quota_is_full(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "email-new-email")
    local = trigger.email_local or ""
    strict = with_quotas(service, TRIGGER_REQUESTS=2, TRIGGER_MB=1)
    assert mailboxes.receive(strict, mail(service, local)) == 1
    with pytest.raises(TooLarge, match="keeps 1 MB"):
        mailboxes.receive(strict, mail(service, local, "x" * 2**20))
    with pytest.raises(Throttled):
        mailboxes.receive(strict, mail(service, local))
    assert [entry["sum"] for entry in emitted(service, trigger)] == ["Hello"]
    with pytest.raises(NotFound, match="nothing at this address"):
        mailboxes.find(service, "nobody")
