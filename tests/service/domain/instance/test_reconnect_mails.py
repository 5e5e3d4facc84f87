"""Mails to people whose accounts need them: who gets one and when, what it says, and what a failure does."""

import email
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from email import policy
from email.message import EmailMessage
from typing import Any

import pytest

from tests.fakes.smtp_server import MailServer
from tests.fakes.socket_server import serving
from webapp.kit import translation
from webapp.kit.clock import DAY, HOUR, MINUTE, FakeClock
from webapp.people import preferences, users
from webapp.people.preferences import Preferences
from webapp.people.users import User
from webapp.service.domain.accounts import account_state, accounts, health
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import reconnect_links, reconnect_mails
from webapp.service.domain.instance.people import logins
from webapp.service.outbound import smtp
from webapp.service.outbound.smtp import SendOutcome
from webapp.setting_values import SmtpServer

SENDER = "Acme <accounts@acme.example>"
LINK = re.compile(r"http://localhost:8600/connect/reconnect\?token=([\w-]+)")


@dataclass
class Post:
    """A service that sends mail, its mail server, and what goes wrong with accounts."""

    service: Service
    clock: FakeClock
    server: MailServer
    plant: Any

    def person(self, address: str = "ada@example.com") -> User:
        return users.create(self.service.store, self.clock, email=address, password="a long password", role="member")

    def broken(
        self, person: User, name: str = "ada", reason: str = "Tiny Keys refuses the key.", **facts: Any
    ) -> Account:
        account = self.plant(person.id, **({"name": name} | facts))
        return account_state.mark_dead(self.service, account, reason)

    def turn(self) -> list[EmailMessage]:
        """Mail everybody who is due; the mails of this turn."""
        before = len(self.server.mails)
        for user_id in reconnect_mails.due(self.service, 10):
            reconnect_mails.send_to(self.service, user_id)
        return [email.message_from_bytes(raw, policy=policy.default) for raw in self.server.mails[before:]]

    def after(self, ms: int) -> list[EmailMessage]:
        """The mails of a turn ``ms`` milliseconds later."""
        self.clock.advance(ms)
        return self.turn()

    def restored(self, account: Account) -> None:
        """The account works again, with other credentials."""
        now = account_state.reread(self.service.store, account)
        with self.service.store.write() as tx:
            account_state.overwrite(tx, now, now._replace(healthy=True, dead=False, error=None))


@pytest.fixture
def post(service: Service, clock: FakeClock, plant: Any) -> Iterator[Post]:
    """The mail server takes everything until a test says otherwise."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(MailServer("", "")))
        address = SmtpServer("127.0.0.1", server.port, "", "", "none")
        settings = replace(service.settings, smtp_url=address, smtp_from=SENDER)
        yield Post(replace(service, settings=settings), clock, server, plant)


def texts(mail: EmailMessage) -> tuple[str, str]:
    """The text and the HTML of a mail."""
    plain, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert plain is not None
    assert html is not None
    return plain.get_content(), html.get_content()


def test_one_mail_names_all_accounts_of_a_person_that_need_them(post: Post) -> None:
    ada = post.person()
    post.broken(ada, "work")
    post.broken(ada, "home")
    post.plant(ada.id, name="unharmed")
    assert post.turn() == []  # others may fail in the next minutes
    (mail,) = post.after(15 * MINUTE)
    assert (mail["To"], mail["From"], mail["Subject"]) == ("ada@example.com", SENDER, "2 accounts need you")
    for text in texts(mail):
        assert all(f"Tiny Keys · {name}" in text for name in ("work", "home"))
        assert "unharmed" not in text
        assert "Tiny Keys refuses the key." in text
        assert len(set(LINK.findall(text))) == 1
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Date"].datetime.timestamp() == post.clock() // 1000
    assert mail["Message-ID"].endswith("@acme.example>")
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert re.search(  # on one line and not encoded, as mail programs read it
        rb"\r?\nList-Unsubscribe: <http://localhost:8600/connect/mails/stop\?token=[\w.-]+>\r?\n", post.server.mails[0]
    )
    assert post.turn() == []


def test_one_reminder_after_a_week_and_then_none(post: Post) -> None:
    post.broken(post.person())
    sent = [len(post.after(DAY)) for _ in range(30)]
    assert [day for day, count in enumerate(sent) if count] == [0, 7]


def test_at_most_one_a_day_and_what_fails_meanwhile_waits(post: Post) -> None:
    ada = post.person()
    first = post.broken(ada, "work")
    assert len(post.after(HOUR)) == 1
    post.broken(ada, "home")
    assert post.after(22 * HOUR) == []
    (mail,) = post.after(2 * HOUR)
    assert mail["Subject"] == "2 accounts need you"
    post.restored(first)
    assert post.after(2 * DAY) == []
    account_state.mark_dead(post.service, account_state.reread(post.service.store, first), "Again.")
    (mail,) = post.after(HOUR)  # other credentials, so it counts anew
    assert "Again." in texts(mail)[0]


def test_who_gets_none(post: Post) -> None:
    stopped, disabled, ada = post.person("s@example.com"), post.person("d@example.com"), post.person()
    for person in (stopped, disabled):
        post.broken(person)
    preferences.stop_reconnect_mails(post.service.store, post.clock, stopped.id)
    logins(post.service).change(disabled.id, enabled=False)
    account_state.mark_dead(post.service, post.plant("user-42"), "Of a product's user, whose address nobody knows.")
    post.broken(ada, reason=health.REVOKED_HERE)
    account_state.mark_retrying(post.service, post.plant(ada.id, name="later"), "Busy.")
    post.restored(post.broken(ada, "mended"))
    assert post.after(DAY) == []
    preferences.save(post.service.store, post.clock, stopped.id, Preferences())
    assert [mail["To"] for mail in post.turn()] == ["s@example.com"]


def test_the_mail_is_in_the_language_of_its_reader(post: Post, spoken: None) -> None:
    ada = post.person()
    preferences.save(post.service.store, post.clock, ada.id, Preferences(language="de"))
    post.broken(ada)
    (mail,) = post.after(HOUR)
    plain, html = texts(mail)
    assert "Neu verbinden: http://" in plain
    assert '<html lang="de" dir="ltr">' in html
    assert translation.language() == "en"  # of the thread, which mails somebody else next


def test_names_cannot_write_headers_or_markup(post: Post) -> None:
    ada = post.person()
    account = post.plant(ada.id, identity_name="<b>x</b>\r\nBcc: eve@example.com")
    account_state.mark_dead(post.service, account, "Bad\r\nnews <i>here</i>.")
    (mail,) = post.after(HOUR)
    assert mail["Bcc"] is None
    plain, html = texts(mail)
    assert "Tiny Keys · <b>x</b> Bcc: eve@example.com" in plain
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    assert "<i>here" not in html


@pytest.mark.parametrize("answer", [{"RCPT": b"450 Later"}, {"MAIL": b"451 Later"}, {"END": b"451 Later"}])
def test_what_the_server_does_not_take_now_is_tried_again_after_growing_pauses(
    post: Post, answer: dict[str, bytes]
) -> None:
    post.broken(post.person())
    post.server.answers |= answer
    for pause in (15 * MINUTE, 30_000, MINUTE, 2 * MINUTE):
        assert post.after(pause - 1) == []
        tries = sum(line.upper().startswith(b"RCPT") for line in post.server.heard)
        post.after(1)
        assert answer.keys() == {"MAIL"} or sum(line.upper().startswith(b"RCPT") for line in post.server.heard) > tries
    failing = reconnect_mails.failing(post.service.store, post.clock())
    assert (failing.people, "127.0.0.1" in failing.sentence) == (1, True)
    post.server.answers.clear()
    assert len(post.after(HOUR)) == 1
    assert reconnect_mails.failing(post.service.store, post.clock()).people == 0
    assert post.after(HOUR) == []


def test_a_server_that_cannot_be_reached_loses_nothing(post: Post) -> None:
    ada = post.person()
    post.broken(ada)
    gone = replace(
        post.service, settings=replace(post.service.settings, smtp_url=SmtpServer("127.0.0.1", 1, "", "", "none"))
    )
    post.clock.advance(HOUR)
    outcome = reconnect_mails.send_to(gone, ada.id)
    assert outcome is not None
    assert outcome.kind == "trouble"
    assert len(post.after(MINUTE)) == 1


def test_an_address_that_the_server_refuses_gets_the_reminder_only(post: Post) -> None:
    post.broken(post.person())
    post.server.answers["RCPT"] = b"550 No such user"
    post.after(HOUR)
    tries = len(post.server.heard)
    for _ in range(6):
        post.after(DAY)
    assert len(post.server.heard) == tries
    post.server.answers.clear()
    assert len(post.after(2 * DAY)) == 1


def test_a_crash_before_the_content_delays_by_minutes_and_one_after_it_by_a_day(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = post.person()
    post.broken(ada)
    post.clock.advance(HOUR)
    for when, pause in (("before", 5 * MINUTE), ("after", DAY)):
        with monkeypatch.context() as patched:

            def die(*_: Any, begin: Any, when: str = when, **__: Any) -> SendOutcome:
                if when == "after":
                    assert begin()
                raise SystemExit

            patched.setattr(smtp, "send", die)
            with pytest.raises(SystemExit):
                reconnect_mails.send_to(post.service, ada.id)
        assert post.after(pause - 1) == []
        if when == "before":
            post.clock.advance(1)
    assert len(post.after(1)) == 1


def test_a_connection_that_breaks_after_the_content_never_makes_two_mails_in_a_day(post: Post) -> None:
    post.broken(post.person())
    post.server.answers["END"] = b""
    post.after(HOUR)
    post.server.answers.clear()
    assert post.after(23 * HOUR) == []
    assert len(post.after(HOUR)) == 1


def test_two_machines_send_one(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = post.person()
    post.broken(ada)
    post.clock.advance(HOUR)
    real, both = smtp.send, list[object]()

    def beside(*args: Any, **kwargs: Any) -> SendOutcome:
        both.append(reconnect_mails.send_to(post.service, ada.id))  # another worker, while this one is sending
        return real(*args, **kwargs)

    monkeypatch.setattr(smtp, "send", beside)
    assert len(post.turn()) == 1
    assert both == [None]


def test_what_is_mended_while_the_server_is_slow_is_not_mailed(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = post.person()
    account = post.broken(ada)
    post.clock.advance(HOUR)
    real = smtp.send

    def slowly(*args: Any, **kwargs: Any) -> SendOutcome:
        post.restored(account)
        return real(*args, **kwargs)

    monkeypatch.setattr(smtp, "send", slowly)
    assert post.turn() == []
    assert post.service.store.one("SELECT 1 AS n FROM reconnect_links") is None


def test_an_account_that_was_removed_or_whose_app_was(post: Post) -> None:
    ada = post.person()
    account = post.broken(ada)
    post.broken(ada, "gone", app="no_such_app")
    (mail,) = post.after(HOUR)
    assert "gone" not in texts(mail)[0]
    (token,) = set(LINK.findall(texts(mail)[0]))
    link = reconnect_links.by_token(post.service.store, token)
    assert link is not None
    assert reconnect_links.accounts_of(post.service.store, link) == [
        accounts.get(post.service.store, account.scene, account.id)._replace(credentials_sealed=None)
    ]
    with post.service.store.write() as tx:
        account_state.remove(tx, [account], post.clock())
    assert reconnect_links.accounts_of(post.service.store, link) == []
    assert post.after(8 * DAY) == []


def test_a_clock_that_is_set_back_silences_nobody(post: Post) -> None:
    ada = post.person()
    post.broken(ada)
    assert len(post.after(HOUR)) == 1
    with post.service.store.write() as tx:
        tx.run("UPDATE reconnect_mails SET next_at = :far", {"far": post.clock() + 400 * DAY})
    post.broken(ada, "home")
    assert len(post.after(HOUR)) == 1


def test_stopping_by_a_signed_token(post: Post) -> None:
    ada = post.person()
    preferences.save(post.service.store, post.clock, ada.id, Preferences("dark", "UTC", "de"))
    token = reconnect_mails.stop_token(post.service, ada.id)
    assert not reconnect_mails.stop(post.service, ("a" if token[0] != "a" else "b") + token[1:])
    assert not reconnect_mails.stop(post.service, ada.id)
    assert preferences.of_user(post.service.store, ada.id).reconnect_mails
    assert reconnect_mails.stop(post.service, token)
    assert reconnect_mails.stop(post.service, token)
    assert preferences.of_user(post.service.store, ada.id) == Preferences("dark", "UTC", "de", reconnect_mails=False)
