"""Mail for e-mail triggers, sent by smtplib to the real listener."""

import smtplib
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.service.domain.conftest import Bench
from tests.service.worker.mailbox import PlantMailbox, events, letter, running
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.triggers import deploying, mailboxes, serialization
from webapp.service.domain.triggers.deploying import Deployment
from webapp.service.worker import mail_server

EMAIL = "email-new-email"


def test_a_mail_becomes_an_event_with_its_files(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox
) -> None:
    trigger, address = plant_mailbox()
    message = letter(address)
    message.add_attachment(b"%PDF\x00", maintype="application", subtype="pdf", filename="../../a b.pdf")
    assert sender.send_message(message) == {}
    (event,) = events(mail_service, trigger)
    (attachment,) = event.pop("attachments")
    assert event.pop("headers")["message-id"] == "<one@example.com>"
    assert event == {
        "from": "ada@example.com", "to": address, "subject": "Hello", "date": None, "text": "Text\n", "html": None,
    }  # fmt: skip
    key = attachment.pop("file")
    assert attachment == {"name": "a b.pdf", "content_type": "application/pdf", "size": 5}
    assert file_stash.find(mail_service, trigger.scene, key)[1] == b"%PDF\x00"
    assert mail_service.store.one("SELECT emitted_id, summary FROM events") == {
        "emitted_id": "<one@example.com>",
        "summary": "Hello",
    }


def test_the_address_that_a_deployment_answers_takes_mail(
    sender: smtplib.SMTP, mail_service: Service, bench: Bench
) -> None:
    component = mail_service.catalog.component(EMAIL)
    assert component is not None
    trigger = deploying.deploy(mail_service, Deployment(bench.scene, "alice", component, {}))
    address = serialization.to_json(mail_service, trigger)["email_address"]
    sender.send_message(letter(address))
    assert [event["to"] for event in events(mail_service, trigger)] == [address]


def test_what_has_come_whole_is_answered_before_the_end(
    mail_service: Service, plant_mailbox: PlantMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, address = plant_mailbox()
    begun, go = threading.Event(), threading.Event()
    real: Callable[..., int] = mailboxes.receive

    def slow(*given: Any) -> int:
        begun.set()
        go.wait(10)
        return real(*given)

    monkeypatch.setattr(mailboxes, "receive", slow)
    with running(mail_service) as server:
        assert server.port
        with smtplib.SMTP("127.0.0.1", server.port, timeout=20) as sender:
            sent: list[Any] = []
            thread = threading.Thread(target=lambda: sent.append(sender.sendmail("ada@example.com", [address], b"x")))
            thread.start()
            assert begun.wait(10)
            stopping = threading.Thread(target=server.stop, args=(10,))
            stopping.start()
            go.set()
            thread.join()
            stopping.join()
            assert sent == [{}]
            sender.close()
    assert len(events(mail_service, trigger)) == 1


def test_a_taken_port_is_said_and_tried_again(
    mail_service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_server, "RETRY_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = replace(mail_service.settings, mail_port=port)
        with running(replace(mail_service, settings=settings)) as server:
            assert server.port is None
            assert [one.getMessage() for one in caplog.records] == [
                f"No mail arrives, because port {port} on 127.0.0.1 cannot be used (address already in use). Stop what "
                "uses it, set PATCHBAY_MAIL_PORT to another, or set PATCHBAY_MAIL to off."
            ]
            other.close()
            for _ in range(100):
                with suppress(OSError), smtplib.SMTP("127.0.0.1", port, timeout=20) as sender:
                    assert sender.noop()[0] == 250
                    break
                threading.Event().wait(0.05)
            assert server.port == port


def test_of_several_on_one_folder_one_takes_mail_and_another_when_it_ends(
    mail_service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_server, "LOOK_S", 0.02)
    with running(mail_service) as first, running(mail_service) as second:
        assert first.port and second.port is None
        first.stop(1.0)
        for _ in range(100):
            if second.port:
                break
            threading.Event().wait(0.02)
        assert second.port
    assert caplog.records == []


def test_off_means_off(mail_service: Service) -> None:
    with running(replace(mail_service, settings=replace(mail_service.settings, mail=False))) as server:
        assert server.port is None
