"""Mail for e-mail triggers, sent by smtplib to the real listener."""

import smtplib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

import orjson
import pytest

from tests.fakes.deployed import bodies, plant_trigger_of, switch
from tests.service.domain.conftest import Bench
from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, deploying, lifecycle, receiving, serialization
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deploying import Deployment
from webapp.service.worker import mail_server, mail_session
from webapp.service.worker.mail_server import MailServer

EMAIL = "email-new-email"


@pytest.fixture
def service(bench: Bench) -> Service:
    """The bench's service; its mail server takes any free port."""
    settings = replace(bench.service.settings, mail_port=0, mail_domain="in.example.com")
    return replace(bench.service, settings=settings)


@pytest.fixture
def scene(bench: Bench) -> Scene:
    return bench.scene


@contextmanager
def running(service: Service) -> Iterator[MailServer]:
    server = MailServer(service)
    server.start()
    try:
        yield server
    finally:
        server.stop(5)


@pytest.fixture
def server(service: Service) -> Iterator[MailServer]:
    with running(service) as started:
        yield started


@pytest.fixture
def post(server: MailServer) -> Iterator[smtplib.SMTP]:
    """Somebody who sends mail."""
    assert server.port
    with smtplib.SMTP("127.0.0.1", server.port, timeout=20) as sender:
        yield sender


def planted(service: Service, scene: Scene, **given: Any) -> tuple[DeployedTrigger, str]:
    trigger, _ = plant_trigger_of(service, scene, EMAIL, **given)
    return trigger, f"{trigger.email_local}@in.example.com"


def letter(to: str = "somebody") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ada@example.com", to, "Hello"
    message["Message-ID"] = "<one@example.com>"
    message.set_content("Text\n")
    return message


def events(service: Service, trigger: DeployedTrigger) -> list[Any]:
    return [orjson.loads(one) for one in bodies(service, trigger)]


def test_a_mail_becomes_an_event_with_its_files(post: smtplib.SMTP, service: Service, scene: Scene) -> None:
    trigger, address = planted(service, scene)
    message = letter(address)
    message.add_attachment(b"%PDF\x00", maintype="application", subtype="pdf", filename="../../a b.pdf")
    assert post.send_message(message) == {}
    (event,) = events(service, trigger)
    (attachment,) = event.pop("attachments")
    assert event.pop("headers")["message-id"] == "<one@example.com>"
    assert event == {
        "from": "ada@example.com", "to": address, "subject": "Hello", "date": None, "text": "Text\n", "html": None,
    }  # fmt: skip
    key = attachment.pop("file")
    assert attachment == {"name": "a b.pdf", "content_type": "application/pdf", "size": 5}
    assert file_stash.find(service, scene, key)[1] == b"%PDF\x00"
    assert service.store.one("SELECT emitted_id, summary FROM events") == {
        "emitted_id": "<one@example.com>",
        "summary": "Hello",
    }


def test_the_address_that_a_deployment_answers_takes_mail(post: smtplib.SMTP, service: Service, scene: Scene) -> None:
    component = service.catalog.component(EMAIL)
    assert component is not None
    trigger = deploying.deploy(service, Deployment(scene, "alice", component, {}))
    address = serialization.to_json(service, trigger)["email_address"]
    post.send_message(letter(address))
    assert [event["to"] for event in events(service, trigger)] == [address]


def test_one_mail_goes_to_each_of_its_triggers_once(post: smtplib.SMTP, service: Service, scene: Scene) -> None:
    (one, first), (two, second) = planted(service, scene), planted(service, scene, user="bob")
    to = [first, first.upper(), first.replace("@", "+tag@"), second, "nobody@in.example.com"]
    refused = post.sendmail("", to, b"Subject: s\r\n\r\nx")
    assert list(refused) == ["nobody@in.example.com"]
    assert [len(events(service, trigger)) for trigger in (one, two)] == [1, 1]
    assert events(service, one)[0]["to"] == first


@pytest.mark.parametrize("local", ["nobody", "", "a" * 300, "x'--", "\u00e9", '"a b"', "%00"])
def test_whom_nobody_knows_is_refused_at_once(post: smtplib.SMTP, service: Service, scene: Scene, local: str) -> None:
    post.ehlo()
    post.mail("ada@example.com", ["SMTPUTF8"])
    code, _ = (
        post.docmd("RCPT", f"TO:<{local}@in.example.com>")
        if local.isascii()
        else post.docmd(
            "RCPT", f"TO:<{local}@in.example.com>".encode().decode("latin-1").encode("ascii", "replace").decode()
        )
    )
    assert 500 <= code < 560
    assert post.docmd("DATA")[0] == 503


def test_paused_deleted_and_foreign_addresses_are_unknown_ones(
    post: smtplib.SMTP, service: Service, scene: Scene
) -> None:
    (paused, address), (open_one, other) = planted(service, scene), planted(service, scene)
    switch(service, paused, active=False)
    elsewhere = other.replace("in.example.com", "example.org")
    post.ehlo()
    post.mail("ada@example.com")
    answers = {post.rcpt(one) for one in (address, elsewhere, "nobody@in.example.com")}
    assert answers == {(550, b"5.1.1 There is no such address here.")}
    assert post.rcpt(other)[0] == 250
    switch(service, open_one, active=False)
    assert post.data(b"x")[0] == 550
    assert events(service, open_one) == []


def test_the_size_limit_is_announced_and_kept(post: smtplib.SMTP, service: Service, scene: Scene) -> None:
    trigger, address = planted(service, scene)
    post.ehlo()
    assert post.esmtp_features["size"] == str(10 * 2**20)
    with pytest.raises(smtplib.SMTPSenderRefused, match="552"):
        post.sendmail("ada@example.com", [address], b"x" * (10 * 2**20 + 1))
    post.mail("ada@example.com")
    post.rcpt(address)
    line = b"x" * 998 + b"\r\n"
    assert post.data(line * (10 * 2**20 // 1000 + 1))[0] == 552
    assert post.sendmail("ada@example.com", [address], b"\r\n" + line * 10_000) == {}
    assert [len(event["text"]) for event in events(service, trigger)] == [9_990_000]


def test_long_lines_and_dots_arrive(post: smtplib.SMTP, service: Service, scene: Scene) -> None:
    trigger, address = planted(service, scene)
    post.sendmail("ada@example.com", [address], b"\r\n.\r\n..a\r\n" + b"y" * 20_000)
    assert events(service, trigger)[0]["text"] == ".\n..a\n" + "y" * 20_000 + "\n"


def test_a_mail_that_cannot_be_read_is_refused_for_good(post: smtplib.SMTP, service: Service, scene: Scene) -> None:
    trigger, address = planted(service, scene)
    parts = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 10_000
    with pytest.raises(smtplib.SMTPDataError, match="554"):
        post.sendmail("ada@example.com", [address], parts)
    assert events(service, trigger) == []


def test_while_the_store_is_in_trouble_the_sender_keeps_the_mail(
    post: smtplib.SMTP, service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, address = planted(service, scene)

    def busy(*_: object) -> None:
        raise Unavailable

    post.ehlo()
    with monkeypatch.context() as patched:
        patched.setattr(deployed_triggers, "by_email", busy)
        post.mail("ada@example.com")
        assert post.rcpt(address)[0] == 451
    assert post.rcpt(address)[0] == 250
    with monkeypatch.context() as patched:
        patched.setattr(lifecycle, "record", busy)
        assert post.data(b"x")[0] == 451
    assert events(service, trigger) == []
    assert post.sendmail("ada@example.com", [address], b"x") == {}
    assert len(events(service, trigger)) == 1


def test_where_there_is_no_room_for_files_nothing_is_half_written(
    post: smtplib.SMTP, service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, address = planted(service, scene)
    monkeypatch.setattr(file_stash, "MAX_SCENE_BYTES", 6)
    message = letter(address)
    for name in ("a", "b"):
        message.add_attachment(b"12345", maintype="image", subtype="png", filename=name)
    with pytest.raises(smtplib.SMTPDataError, match="452"):
        post.send_message(message)
    assert events(service, trigger) == []
    assert service.store.all("SELECT id FROM stashed_files") == []


def test_an_endless_line_ends_the_connection(server: MailServer, service: Service, scene: Scene) -> None:
    _, address = planted(service, scene)
    assert server.port
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as line:
        line.sendall(f"EHLO x\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<{address}>\r\nDATA\r\n".encode())
        sent = 0
        with suppress(OSError):
            while sent < 60 * 2**20:
                sent += line.send(b"x" * 2**20)
        assert sent < 40 * 2**20


def test_addresses_are_not_found_by_trying(post: smtplib.SMTP, scene: Scene) -> None:
    post.ehlo()
    post.mail("ada@example.com")
    codes: list[int] = []
    with pytest.raises(smtplib.SMTPServerDisconnected):
        while True:
            codes.append(post.rcpt(f"guess{len(codes)}@in.example.com")[0])
    assert codes == [550] * mail_session.COMMANDS + [421]


def test_only_so_many_are_served_at_once(server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server.port
    monkeypatch.setattr(mail_session, "MAX_SESSIONS", 1)
    with smtplib.SMTP("127.0.0.1", server.port, timeout=20) as first:
        with pytest.raises(smtplib.SMTPConnectError, match="421"):
            smtplib.SMTP("127.0.0.1", server.port, timeout=20)
        assert first.noop()[0] == 250


def test_what_has_come_whole_is_answered_before_the_end(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, address = planted(service, scene)
    begun, go = threading.Event(), threading.Event()
    real: Callable[..., int] = receiving.receive_mail

    def slow(*given: Any) -> int:
        begun.set()
        go.wait(10)
        return real(*given)

    monkeypatch.setattr(receiving, "receive_mail", slow)
    with running(service) as server:
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
    assert len(events(service, trigger)) == 1


def test_a_taken_port_is_said_and_tried_again(
    service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_server, "RETRY_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = replace(service.settings, mail_port=port)
        with running(replace(service, settings=settings)) as server:
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


def test_off_means_off(service: Service) -> None:
    with running(replace(service, settings=replace(service.settings, mail=False))) as server:
        assert server.port is None


def test_the_log_names_no_address(
    post: smtplib.SMTP, service: Service, scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    trigger, address = planted(service, scene)
    post.send_message(letter(address))
    assert events(service, trigger)
    assert address.partition("@")[0] not in caplog.text
