"""Mails as they are found in the wild, and as somebody would make them who means harm.

Mail for triggers: unknown addresses look alike, and what comes is bounded like requests are.
"""

import time
from email.message import EmailMessage
from email.mime.text import MIMEText
from typing import Any

import orjson
import pytest

from tests.fakes.triggers import deploy, emitted
from tests.service.quotas import with_quotas
from webapp.errors import NotFound, Throttled, TooLarge
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import mailbox
from webapp.service.domain.triggers.mailbox import BadMail, IncomingMail, Mail

FROM, TO = "ada@example.com", "k3y@in.example.com"


def read(raw: bytes) -> Mail:
    found = mailbox.read_mail(raw, FROM, TO)
    orjson.dumps(dict(found.facts))  # no lone surrogate, nothing that JSON cannot carry
    return found


def composed() -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ada Lövelace <ada@example.com>"
    message["To"] = "k3y@in.example.com, bob@example.com"
    message["Subject"] = "Grüße, " + "very " * 30 + "long"
    message["Date"] = "Fri, 21 Nov 2026 10:00:00 +0100"
    message["Message-ID"] = "<1@example.com>"
    message["Received"] = "from one"
    message["Received"] = "from two"
    message.set_content("Hello\nÄda\n")
    message.add_alternative("<p>Hello <b>Äda</b></p>", subtype="html")
    return message


def test_a_whole_mail() -> None:
    message = composed()
    message.add_attachment(b"\x00\x01\xff", maintype="application", subtype="pdf", filename="Übersicht.pdf")
    message.add_attachment("a;b\n", subtype="csv", filename="table.csv")
    found = read(message.as_bytes())
    facts = dict(found.facts)
    headers = facts.pop("headers")
    assert facts == {
        "from": "Ada Lövelace <ada@example.com>",
        "to": "k3y@in.example.com, bob@example.com",
        "subject": "Grüße, " + "very " * 30 + "long",
        "date": "2026-11-21T09:00:00.000Z",
        "text": "Hello\nÄda\n",
        "html": "<p>Hello <b>Äda</b></p>\n",
    }
    assert headers["received"] == ["from one", "from two"]
    assert found.message_id == headers["message-id"] == "<1@example.com>"
    assert [(one.name, one.content_type, one.content) for one in found.attachments] == [
        ("Übersicht.pdf", "application/pdf", b"\x00\x01\xff"),
        ("table.csv", "text/csv", b"a;b\n"),
    ]


def test_a_mail_inside_a_mail_is_a_file() -> None:
    outer = EmailMessage()
    outer.set_content("See below.")
    outer.add_attachment(composed())
    (inner,) = read(outer.as_bytes()).attachments
    assert (inner.content_type, inner.name) == ("message/rfc822", "attachment-1")
    assert b"<1@example.com>" in inner.content


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", {"text": "", "subject": "", "from": FROM, "to": TO, "date": None, "html": None, "headers": {}}),
        (b"no header at all", {"text": "no header at all"}),
        (b"Subject: s\r\n\r\n", {"text": "", "subject": "s"}),
        (b"Content-Type: text/html\r\n\r\n<p>", {"text": None, "html": "<p>"}),
        (b"Content-Type: text/plain; charset=iso-8859-1\r\n\r\ncaf\xe9", {"text": "café"}),
        (b"Content-Type: text/plain; charset=klingon\r\n\r\ncaf\xc3\xa9", {"text": "café"}),
        (b"Content-Type: text/plain; charset=punycode\r\n\r\nabc", {"text": "abc"}),
        (b"Content-Type: text/plain; charset=zlib_codec\r\n\r\nabc", {"text": "abc"}),
        (b"Content-Type: text/plain; charset=\"\x00\"\r\n\r\nabc", {"text": "abc"}),
        (b"Content-Type: text/plain; charset=utf-7\r\n\r\n+2AA-", {"text": "?"}),
        (b"Content-Type: text/plain\r\n\r\n\xff\xfe\x00", {"text": "��\x00"}),
        (b"Content-Transfer-Encoding: base64\r\n\r\n!!!!", {"text": ""}),
        (b"Content-Type: multipart/mixed\r\n\r\nno boundary", {"text": None}),
        (b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n", {"text": ""}),
        (b"Subject: =?utf-8?b?!!?= =?x?q?=00=0d=0aA?=\r\n\r\n", {}),
        (b"Subject: =?utf-8?q?a=0D=0ABcc:_x=00?=\r\n\r\n", {"subject": "a Bcc: x"}),
        (b"Subject: a\r\n\tb\xff\r\n\r\n", {"subject": "a b�"}),
        (b"Date: 99 Foo 99999 99:99:99 +9999\r\n\r\n", {"date": None}),
        (b"Date: Fri, 21 Nov 2026 10:00:00 -0000\r\n\r\n", {"date": "2026-11-21T10:00:00.000Z"}),
    ],
)  # fmt: skip
def test_mails_that_are_not_as_they_should_be(raw: bytes, expected: dict[str, Any]) -> None:
    facts = read(raw).facts
    assert {name: facts[name] for name in expected} == expected


BOMBS = {
    "headers": b"".join(b"X-%d: %s\r\n" % (number, b"x" * 50) for number in range(10_000)) + b"\r\nbody",
    "one header": b"To: " + b"(" * 900_000 + b"\r\n\r\nbody",
    "addresses": b"To: " + b"a@b.example," * 60_000 + b"\r\n\r\nbody",
    "encoded words": b"Subject: " + b"=?utf-8?q?a?= " * 60_000 + b"\r\n\r\nbody",
    "parameters": b"Content-Type: text/plain" + b'; a="' * 100_000 + b"\r\n\r\nbody",
    "split parameters": b"Content-Type: text/plain; " + b"name*0*=a;" * 50_000 + b"\r\n\r\nbody",
    "parts of parameters": b"".join(b"Content-Type: text/plain;\r\n name*%d=a\r\n" % n for n in range(3_000)) + b"\r\n",
    "lines": b"Subject: s\r\n\r\n" + b"\r\n" * 1_000_000,
}
REFUSED = {
    "10,000 parts": b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 10_000,
    "101 files": b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    + b"--b\r\nContent-Type: image/png\r\n\r\nx\r\n" * 101,
    "nested parts": b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(5_000)
    ),
    "nested mails": b"Content-Type: message/rfc822\r\n\r\n" * 50_000,
    "millions of headers": b"a:b\n" * 2_600_000,
    "millions of headers in a part": b"Content-Type: message/rfc822\n\n" + b"a:b\n" * 2_600_000,
}  # fmt: skip


@pytest.mark.parametrize("raw", BOMBS.values(), ids=BOMBS.keys())
def test_bombs_that_are_taken_take_no_time(raw: bytes) -> None:
    began = time.process_time()
    found = read(raw)
    assert time.process_time() - began < 5
    assert len(orjson.dumps(found.facts["headers"])) < 300_000


@pytest.mark.faults
@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED.keys())
def test_bombs_that_are_refused_take_no_time(raw: bytes) -> None:
    began = time.process_time()
    with pytest.raises(BadMail, match=r"^(The|A) mail .*\.$"):
        mailbox.read_mail(raw, FROM, TO)
    assert time.process_time() - began < 5


def test_names_of_files_stay_what_they_are_until_somebody_cleans_them() -> None:
    message = EmailMessage()
    message.set_content("x")
    message.make_mixed()
    parts: Any = message  # its stubs take no part of the older kind
    for name in ("../../etc/passwd", "a\\b.exe", "=?utf-8?q?=2E=2E=2Fx?=", ""):
        part = MIMEText("y", "csv")
        part.add_header("Content-Disposition", "attachment", filename=name)
        parts.attach(part)
    names = [one.name for one in read(message.as_bytes()).attachments]
    assert names[0] == "../../etc/passwd" and names[2:] == ["../x", "attachment-4"]


def mail(service: Service, local: str, text: str = "Hi") -> IncomingMail:
    raw = f"Subject: Hello\r\n\r\n{text}".encode()
    return IncomingMail("ada@example.com", [(f"{local}@localhost", mailbox.find(service, local))], raw)


def test_mail_is_taken_until_a_quota_is_full(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "email-new-email")
    local = trigger.email_local or ""
    strict = with_quotas(service, TRIGGER_REQUESTS=2, TRIGGER_MB=1)
    assert mailbox.receive(strict, mail(service, local)) == 1
    with pytest.raises(TooLarge, match="keeps 1 MiB"):
        mailbox.receive(strict, mail(service, local, "x" * 2**20))
    with pytest.raises(Throttled):
        mailbox.receive(strict, mail(service, local))
    assert [entry["sum"] for entry in emitted(service, trigger)] == ["Hello"]
    with pytest.raises(NotFound, match="nothing at this address"):
        mailbox.find(service, "nobody")
