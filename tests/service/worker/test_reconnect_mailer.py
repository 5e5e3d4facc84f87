"""The worker's thread that mails people whose accounts need them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from webapp import demo
from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import reconnect_mails
from webapp.service.outbound.smtp import SendOutcome
from webapp.service.worker import reconnect_mailer
from webapp.service.worker.reconnect_mailer import ReconnectMailer
from webapp.setting_values import SmtpServer


@pytest.fixture
def sending(service: Service) -> Service:
    """A service with a mail server, which nobody asks here."""
    server = SmtpServer("127.0.0.1", 1, "", "", "none")
    return replace(service, settings=replace(service.settings, smtp_url=server, smtp_from="a@example.com"))


def stage(monkeypatch: pytest.MonkeyPatch, outcomes: Sequence[SendOutcome | None]) -> list[str]:
    """One person is due for each outcome; whom a turn asked for."""
    asked: list[str] = []

    def send_to(_: Service, user_id: str) -> SendOutcome | None:
        asked.append(user_id)
        return outcomes[int(user_id)]

    monkeypatch.setattr(reconnect_mails, "due", lambda *_: [str(number) for number in range(len(outcomes))])
    monkeypatch.setattr(reconnect_mails, "send_to", send_to)
    return asked


def test_a_turn_mails_everybody_until_the_server_fails(sending: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    refused, trouble = SendOutcome("refused", "No such user."), SendOutcome("trouble", "No answer.")
    asked = stage(monkeypatch, [SendOutcome("sent"), None, refused, trouble, SendOutcome("sent")])
    ReconnectMailer(sending).turn()
    assert asked == ["0", "1", "2", "3"]


def test_the_same_failure_is_logged_once(
    sending: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    mailer = ReconnectMailer(sending)
    for sentence in ("No answer.", "No answer.", "", "No answer."):
        stage(monkeypatch, [SendOutcome("trouble" if sentence else "sent", sentence)])
        mailer.turn()
    assert [record.getMessage() for record in caplog.records] == ["A mail could not be sent: No answer."] * 2


def test_it_runs_only_with_a_mail_server_and_until_it_is_stopped(
    service: Service, sending: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    turns: list[object] = []

    def turn(self: ReconnectMailer) -> None:
        turns.append(self)
        if len(turns) == 1:
            raise Unavailable
        if len(turns) == 2:
            raise ValueError
        self._stopping.set()

    monkeypatch.setattr(ReconnectMailer, "turn", turn)
    monkeypatch.setattr(reconnect_mailer, "EVERY_S", 0.001)
    idle, mailer = ReconnectMailer(service), ReconnectMailer(sending)
    idle.start()
    idle.stop(1)
    mailer.start()
    mailer._thread.join(5)
    mailer.stop(1)
    assert turns == [mailer] * 3
    assert any("A turn of the mails to people failed." in record.getMessage() for record in caplog.records)


def test_the_made_up_people_of_a_demo_are_not_mailed(sending: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReconnectMailer, "turn", lambda *_: pytest.fail("it looks for people to mail"))
    with sending.store.write() as tx:
        demo.mark(tx, "Fernhollow", 0)
    mailer = ReconnectMailer(sending)
    mailer.start()
    assert not mailer._thread.is_alive()
