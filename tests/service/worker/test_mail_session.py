"""What a sender may do in one conversation, and what comes of it, by smtplib and the real listener."""

import smtplib
import socket
import time
from contextlib import suppress

import pytest

from tests.fakes.deployed import switch
from tests.service.quotas import with_quotas
from tests.service.worker.mailbox import PlantMailbox, events, letter, running
from webapp.errors import Throttled, TooLarge, Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.triggers import deployed_triggers, mailboxes, recording
from webapp.service.domain.triggers.mails import BadMail
from webapp.service.worker import mail_session
from webapp.service.worker.mail_server import MailServer


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
        patched.setattr(recording, "record", busy)
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
    assert codes == [550] * mail_session.COMMANDS + [421]


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

    monkeypatch.setattr(mailboxes, "receive", fail)
    _, address = plant_mailbox()
    sender.ehlo()
    sender.mail("ada@example.com")
    sender.rcpt(address)
    assert sender.data(b"x") == (code, sentence)
    assert [record.levelname for record in caplog.records] == logged
