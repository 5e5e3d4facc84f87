"""What a sender may do in one conversation, and what comes of it, by smtplib and the real listener.

Mail for e-mail triggers, sent by smtplib to the real listener.
"""

import smtplib
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.deployed import switch
from tests.service.domain.conftest import Bench
from tests.service.quotas import with_quotas
from tests.service.worker.mailbox import PlantMailbox, events, letter, running
from webapp.errors import Throttled, TooLarge, Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.triggers import deployed_triggers, deployments, fire, mailbox, trigger_json
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.domain.triggers.mailbox import BadMail
from webapp.service.worker import mail
from webapp.service.worker.mail import MailServer

EMAIL = "email-new-email"


def test_one_mail_goes_to_each_of_its_triggers_once(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox
) -> None:
    (one, first), (two, second) = plant_mailbox(), plant_mailbox(user="bob")
    to = [first, first.upper(), first.replace("@", "+tag@"), second, "nobody@in.example.com"]
    refused = sender.sendmail("", to, b"Subject: s\r\n\r\nx")
    assert list(refused) == ["nobody@in.example.com"]
    assert [len(events(mail_service, trigger)) for trigger in (one, two)] == [1, 1]
    assert events(mail_service, one)[0]["to"] == first


@pytest.mark.parametrize("local", ["nobody", "", "a" * 300, "x'--", "\u00e9", '"a b"', "%00"])
def test_whom_nobody_knows_is_refused_at_once(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox, local: str
) -> None:
    sender.ehlo()
    sender.mail("ada@example.com", ["SMTPUTF8"])
    code, _ = (
        sender.docmd("RCPT", f"TO:<{local}@in.example.com>")
        if local.isascii()
        else sender.docmd(
            "RCPT", f"TO:<{local}@in.example.com>".encode().decode("latin-1").encode("ascii", "replace").decode()
        )
    )
    assert 500 <= code < 560
    assert sender.docmd("DATA")[0] == 503


def test_paused_deleted_and_foreign_addresses_are_unknown_ones(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox
) -> None:
    (paused, address), (open_one, other) = plant_mailbox(), plant_mailbox()
    switch(mail_service, paused, active=False)
    elsewhere = other.replace("in.example.com", "example.org")
    sender.ehlo()
    sender.mail("ada@example.com")
    answers = {sender.rcpt(one) for one in (address, elsewhere, "nobody@in.example.com")}
    assert answers == {(550, b"5.1.1 There is no such address here.")}
    assert sender.rcpt(other)[0] == 250
    switch(mail_service, open_one, active=False)
    assert sender.data(b"x")[0] == 550
    assert events(mail_service, open_one) == []


def test_the_size_limit_is_announced_and_kept(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox
) -> None:
    trigger, address = plant_mailbox()
    sender.ehlo()
    assert sender.esmtp_features["size"] == str(10 * 2**20)
    with pytest.raises(smtplib.SMTPSenderRefused, match="552"):
        sender.sendmail("ada@example.com", [address], b"x" * (10 * 2**20 + 1))
    sender.mail("ada@example.com")
    sender.rcpt(address)
    line = b"x" * 998 + b"\r\n"
    assert sender.data(line * (10 * 2**20 // 1000 + 1))[0] == 552
    assert sender.sendmail("ada@example.com", [address], b"\r\n" + line * 10_000) == {}
    assert [len(event["text"]) for event in events(mail_service, trigger)] == [9_990_000]


def test_long_lines_and_dots_arrive(sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox) -> None:
    trigger, address = plant_mailbox()
    sender.sendmail("ada@example.com", [address], b"\r\n.\r\n..a\r\n" + b"y" * 20_000)
    assert events(mail_service, trigger)[0]["text"] == ".\n..a\n" + "y" * 20_000 + "\n"


def test_a_mail_that_cannot_be_read_is_refused_for_good(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox
) -> None:
    trigger, address = plant_mailbox()
    parts = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 10_000
    with pytest.raises(smtplib.SMTPDataError, match="554"):
        sender.sendmail("ada@example.com", [address], parts)
    assert events(mail_service, trigger) == []


def test_while_the_store_is_in_trouble_the_sender_keeps_the_mail(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, address = plant_mailbox()

    def busy(*_: object) -> None:
        raise Unavailable

    sender.ehlo()
    with monkeypatch.context() as patched:
        patched.setattr(deployed_triggers, "by_email", busy)
        sender.mail("ada@example.com")
        assert sender.rcpt(address)[0] == 451
    assert sender.rcpt(address)[0] == 250
    with monkeypatch.context() as patched:
        patched.setattr(fire, "record", busy)
        assert sender.data(b"x")[0] == 451
    assert events(mail_service, trigger) == []
    assert sender.sendmail("ada@example.com", [address], b"x") == {}
    assert len(events(mail_service, trigger)) == 1


def test_where_there_is_no_room_for_files_nothing_is_half_written(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, address = plant_mailbox()
    monkeypatch.setattr(file_stash, "MAX_SCENE_BYTES", 6)
    message = letter(address)
    for name in ("a", "b"):
        message.add_attachment(b"12345", maintype="image", subtype="png", filename=name)
    with pytest.raises(smtplib.SMTPDataError, match="452"):
        sender.send_message(message)
    assert events(mail_service, trigger) == []
    assert mail_service.store.all("SELECT id FROM stashed_files") == []


def test_an_endless_line_ends_the_connection(
    listener: MailServer, mail_service: Service, plant_mailbox: PlantMailbox
) -> None:
    _, address = plant_mailbox()
    assert listener.port
    with socket.create_connection(("127.0.0.1", listener.port), timeout=20) as line:
        line.sendall(f"EHLO x\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<{address}>\r\nDATA\r\n".encode())
        sent = 0
        with suppress(OSError):
            while sent < 60 * 2**20:
                sent += line.send(b"x" * 2**20)
        assert sent < 40 * 2**20


def test_addresses_are_not_found_by_trying(sender: smtplib.SMTP) -> None:
    sender.ehlo()
    sender.mail("ada@example.com")
    codes: list[int] = []
    with pytest.raises(smtplib.SMTPServerDisconnected):
        while True:
            codes.append(sender.rcpt(f"guess{len(codes)}@in.example.com")[0])
    assert codes == [550] * mail.COMMANDS + [421]


def test_who_sends_nothing_gives_way_and_is_ended_in_time(mail_service: Service, plant_mailbox: PlantMailbox) -> None:
    _, address = plant_mailbox()
    with running(with_quotas(mail_service, ADDRESS_MAIL_SESSIONS=2, MAIL_S=0.5)) as server:
        assert server.port
        idle, second, third = (smtplib.SMTP("127.0.0.1", server.port, timeout=20) for _ in range(3))
        assert idle.noop() == (421, b"4.3.2 Others wait; connect again to send more.")
        time.sleep(0.25)  # so much longer than the second's lasts the third's time, which a mail begins anew
        assert third.sendmail("ada@example.com", [address], b"x") == {}
        assert second.getreply() == (421, b"4.3.2 No mail came for too long; connect again to send one.")
        assert third.noop()[0] == 250
        for sender in (idle, second, third):
            sender.close()


def test_the_log_names_no_address(
    sender: smtplib.SMTP, mail_service: Service, plant_mailbox: PlantMailbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    trigger, address = plant_mailbox()
    sender.send_message(letter(address))
    assert events(mail_service, trigger)
    assert address.partition("@")[0] not in caplog.text


def test_a_mail_has_fifty_recipients_at_most(sender: smtplib.SMTP, plant_mailbox: PlantMailbox) -> None:
    _, address = plant_mailbox()
    sender.ehlo()
    sender.mail("ada@example.com")
    for number in range(50):
        assert sender.rcpt(address.replace("@", f"+{number}@")) == (250, b"2.1.5 OK")
    crowded = (452, b"4.5.3 Too many recipients; send the mail again for the others.")
    assert sender.rcpt(address) == crowded
    assert sender.data(b"x") == (250, b"2.0.0 The mail is accepted.")


@pytest.mark.parametrize(
    ("error", "code", "sentence", "logged"),
    [
        (BadMail("It has too many parts."), 554, b"5.6.0 It has too many parts.", []),
        (TooLarge(), 452, b"4.3.1 There is no room for the files of the mail now; try again tomorrow.", []),
        (Throttled(1, 1, 1), 451, b"4.7.1 Too many mails for this address; try again later.", []),
        (Unavailable(), 451, b"4.3.0 The mail cannot be taken now; try again later.", ["WARNING"]),
        (ValueError("canary"), 451, b"4.3.0 The mail cannot be taken now; try again later.", ["ERROR"]),
    ],
    ids=["bad", "large", "many", "busy", "bug"],
)
def test_each_reason_not_to_take_a_mail_has_its_answer(
    sender: smtplib.SMTP,
    plant_mailbox: PlantMailbox,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    code: int,
    sentence: bytes,
    logged: list[str],
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(mailbox, "receive", fail)
    _, address = plant_mailbox()
    sender.ehlo()
    sender.mail("ada@example.com")
    sender.rcpt(address)
    assert sender.data(b"x") == (code, sentence)
    assert [record.levelname for record in caplog.records] == logged


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
    trigger = deployments.deploy(mail_service, Deployment(bench.scene, "alice", component, {}))
    address = trigger_json.to_json(mail_service, trigger)["email_address"]
    sender.send_message(letter(address))
    assert [event["to"] for event in events(mail_service, trigger)] == [address]


def test_what_has_come_whole_is_answered_before_the_end(
    mail_service: Service, plant_mailbox: PlantMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, address = plant_mailbox()
    begun, go = threading.Event(), threading.Event()
    real: Callable[..., int] = mailbox.receive

    def slow(*given: Any) -> int:
        begun.set()
        go.wait(10)
        return real(*given)

    monkeypatch.setattr(mailbox, "receive", slow)
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
    monkeypatch.setattr(mail, "RETRY_S", 0.05)
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
    monkeypatch.setattr(mail, "LOOK_S", 0.02)
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
