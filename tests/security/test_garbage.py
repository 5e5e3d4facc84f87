"""Garbage where anybody may send something: triggers' own URLs, their mailboxes, and what components say of it.

What is taken is one event of sound JSON; what is not is refused in a sentence; nothing is a fault of ours, and nothing
holds up what comes after it. Limits of size and number stand in the tests of the server, the inbox and the mailbox.
"""

import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.deployed import bodies, plant_trigger_of
from tests.fakes.installation import Installation, copied, prepared
from tests.fakes.ports import free_port
from tests.fakes.thirdparty import ThirdParty
from tests.fakes.triggers import request_of
from webapp.kit.clock import MINUTE, FakeClock
from webapp.service.components.calls import Emitted
from webapp.service.domain.deliveries import events
from webapp.service.domain.triggers import fire, inbox
from webapp.service.worker.mail import MailServer

HEAD = "from webapp.service.components.authoring import *\n"
SAY = """
class Say(Trigger):
    name = "Say"
    description = "Emits in the way that it is told."
    http = http_interface()

    def run(self, ctx):
        given = {
            "far": dict(ts=2**63), "early": dict(ts=-2**63), "fraction": dict(ts=1234.5), "number": dict(summary=5),
            "nul": dict(id="a\\0b", summary="c\\0d"), "half": dict(summary="half a pair: \\ud83d"),
            "log": dict(summary="logged"),
        }[ctx.event["body"]]
        if ctx.event["body"] == "log":
            ctx.log("half a pair: \\ud83d", b"\\xff")
        ctx.emit({"said": True}, **given)
"""


@pytest.fixture(scope="module")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory, running_party: ThirdParty) -> Path:
    """With a trigger that emits oddly."""
    folder = tmp_path_factory.mktemp("garbage")
    (folder / "components" / "say").mkdir(parents=True)
    (folder / "components" / "say" / "1.0.0.py").write_text(HEAD + SAY)
    return prepared(folder, running_party.apps)


@pytest.fixture
def installation(data: Path, clock: FakeClock, prepared_folder: Path) -> Iterator[Installation]:
    """Served over a real socket."""
    made = Installation(copied(prepared_folder, data), clock=clock, PATCHBAY_MAIL_PORT=str(free_port())).start()
    yield made
    made.stop()


LENGTHY, JSON = b"Content-Length: %d\r\n\r\n%b", b"Content-Type: application/json\r\n"
REQUESTS: dict[str, tuple[bytes, bytes, bytes, int]] = {  # the target, headers, the body, and how it is answered
    "NUL in the path": (b"/KEY/%00a", b"", b"hi", 200),
    "NUL in the query": (b"/KEY?a=%00&%00=b", b"", b"", 200),
    "NUL in JSON": (b"/KEY", JSON, b'{"a\\u0000": "\\u0000"}', 200),
    "half a pair in JSON": (b"/KEY", JSON, b'{"a": "\\ud800"}', 200),
    "half a pair in the query": (b"/KEY?%ed%a0%80=%ed%a0%80", b"", b"", 200),
    "no UTF-8 in path and query": (b"/KEY/%ff%fe?%ff=%fe", b"", b"\xff\xfe", 200),
    "no UTF-8 in a header": (b"/KEY", b"X-A: \xff\xfe\xed\xa0\x80\r\n", b"", 200),
    "keys twice": (b"/KEY", JSON, b'{"a": 1, "a": 2}', 200),
    "10,000 levels": (b"/KEY", JSON, b"[" * 10_000 + b"]" * 10_000, 200),
    "a number of 20,000 digits": (b"/KEY", JSON, b"9" * 20_000, 200),
    "no number": (b"/KEY", JSON, b'{"a": NaN, "b": 1e999}', 200),
    "a query of 60 kB": (b"/KEY?" + b"a=1&" * 15_000, b"", b"", 200),
    "5,000 headers": (b"/KEY", b"".join(b"X-%d: 1\r\n" % n for n in range(5_000)), b"", 200),
    "a line break in the path": (b"/KEY/%0d%0aX-Evil:%201", b"", b"", 200),
    "dots in the path": (b"/KEY/../../v1/connect", b"", b"", 200),
    "half a form": (b"/KEY", b"Content-Type: multipart/form-data; boundary=x\r\n", b"--x\r\n", 200),
    "a length below nothing": (b"/KEY", b"Content-Length: -5\r\n", b"", 400),
    "a chunk of no length": (b"/KEY", b"Transfer-Encoding: chunked\r\n", b"ZZ\r\nhello\r\n0\r\n\r\n", 400),
    "a key of NUL": (b"/%00", b"", b"", 404),
    "a key of half a pair": (b"/%ed%a0%80", b"", b"", 404),
    "a key of 60 kB": (b"/" + b"a" * 60_000, b"", b"", 404),
    "headers of 300 kB": (b"/KEY", b"X-A: " + b"a" * 300_000 + b"\r\n", b"", 431),
}


def test_requests(installation: Installation, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    trigger, key = plant_trigger_of(installation.service, installation.scene, "http-new-requests")
    taken, host = 0, installation.url.removeprefix("http://").encode()
    for name, (target, headers, body, status) in REQUESTS.items():
        target = target.replace(b"KEY", key.encode())
        framed = b"\r\n" + body if b"Transfer" in headers else LENGTHY % (len(body), body)
        start = b"POST /h%b HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n" % (
            target.replace(b"KEY", key.encode()),
            host,
        )
        answer = exchanged(host, start + headers + framed)
        assert answer[9:12] == b"%d" % status, (name, answer[:200])
        assert b"X-Evil" not in answer and b"Set-Cookie" not in answer, name
        taken += status == 200
    found = [json.loads(body.decode()) for body in bodies(installation.service, trigger)]
    assert len(found) == taken and all(one["method"] == "POST" for one in found)
    query = f"deployed-triggers/{trigger.id}/events?external_user_id=alice"
    assert len(installation.api("GET", query, installation.server_token()).json()["data"]) == taken
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


def exchanged(host: bytes, data: bytes) -> bytes:
    """What the server answers to ``data``."""
    found = b""
    with socket.create_connection(("127.0.0.1", int(host.rpartition(b":")[2])), timeout=20) as client:
        try:
            client.sendall(data)
            while block := client.recv(65_536):
                found += block
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of it was read
    return found


def test_what_components_emit(installation: Installation) -> None:
    service = installation.service
    expected: list[tuple[str, str | None, int | None]] = [
        ("far", None, None), ("early", None, None), ("fraction", None, 1234), ("number", "5", None),
        ("nul", "cd", None),
        ("log", "logged", None),
    ]  # fmt: skip
    for how, summary, ts in expected:
        trigger, _ = plant_trigger_of(service, installation.scene, "~/say")
        inbox.add(service, trigger, request_of(how))
        inbox.run_queued(service, waiting(installation))
        (event,) = events.page_of_trigger(service.store, trigger.id)
        shown = events.to_json(event)
        assert shown.get("sum") == summary, how
        assert abs(shown["ts"] - (service.clock() if ts is None else ts)) < MINUTE, how
    assert inbox.claim(service) is None


def test_what_no_database_holds_is_reported_and_tried_again(installation: Installation, clock: FakeClock) -> None:
    service = installation.service
    trigger, _ = plant_trigger_of(service, installation.scene, "~/say")
    inbox.add(service, trigger, request_of("half"))
    inbox.add(service, trigger, request_of("number"))
    for pause in (0, *inbox.RETRIES_S):
        clock.advance(pause * 1_000)
        inbox.run_queued(service, waiting(installation))
    inbox.run_queued(service, waiting(installation))
    assert [one.summary for one in events.page_of_trigger(service.store, trigger.id)] == ["5"]


def test_a_fault_of_ours_does_not_hold_up_what_comes_after_it(
    installation: Installation, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = installation.service
    trigger, _ = plant_trigger_of(service, installation.scene, "~/say")
    inbox.add(service, trigger, request_of("number"))
    inbox.add(service, trigger, request_of("log"))
    with monkeypatch.context() as patch:
        patch.setattr(fire, "run_for_request", lambda *_, **__: 1 / 0)
        for pause in (0, *inbox.RETRIES_S):
            clock.advance(pause * 1_000)
            with pytest.raises(ZeroDivisionError):
                inbox.run_queued(service, waiting(installation))
    inbox.run_queued(service, waiting(installation))
    assert [one.summary for one in events.page_of_trigger(service.store, trigger.id)] == ["logged"]


def waiting(installation: Installation) -> Any:
    """The request that is run next."""
    found = inbox.claim(installation.service)
    assert found is not None
    return found


MAILS = {
    "every byte": bytes(range(256)) * 50,
    "NUL": b"Subject: a\0b\r\n\r\nx\0y",
    "a second mail behind a bare line feed": b"Subject: one\r\n\r\nx\n.\nMAIL FROM:<e@x.yz>\nDATA\nSubject: two\n\ny",
    "a second mail behind a mixed line end": b"Subject: one\r\n\r\nx\n.\r\nMAIL FROM:<e@x.yz>\r\nDATA\r\nSubject: two",
    "nothing": b"",
    "half a pair": b"Subject: =?utf-8?b?7aCA?=\r\nFrom: \xed\xa0\x80\r\n\r\n\xed\xa0\x80",
    "no charset": b"Content-Type: text/plain; charset=x-no\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!",
    "a codec that is no charset": b"Content-Type: text/plain; charset=zlib\r\nSubject: =?rot13?q?x?=\r\n\r\nx",
    "no date": b"Date: Mon, 99 Foo 99999999 99:99:99 +9999999999\r\n\r\nx",
    "a name that climbs": b"Content-Type: application/x; name*0*=utf-8''%ff%00..%2f; name*1=..\\x\r\n\r\nx",
    "parts without a boundary": b"Content-Type: multipart/mixed\r\n\r\n--",
}


def test_mails(installation: Installation, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    service = installation.service
    trigger, _ = plant_trigger_of(service, installation.scene, "email-new-email")
    address = f"{trigger.email_local}@{service.settings.mail_domain}".encode()
    server = MailServer(service)
    server.start()
    assert server.port
    for name, mail in MAILS.items():
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            talk = client.makefile("rb")
            talk.readline()
            for line in (b"HELO x", b"MAIL FROM:<a@example.com>", b"RCPT TO:<%b>" % address, b"DATA", mail + b"\r\n."):
                client.sendall(line + b"\r\n")
                said = talk.readline()
                assert said[:1] in b"23", (name, line[:40], said)
            talk.close()
    server.stop(2)
    found = [json.loads(body) for body in bodies(service, trigger)]
    assert len(found) == len(MAILS), "each was one mail"
    names = [one["name"] for event in found for one in event["attachments"]]
    assert names and not any("/" in one or "\\" in one or "\0" in one for one in names)
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


def test_large_events_come_in_pages(installation: Installation) -> None:
    """Whoever looks at a hundred of them need not hold them all at once."""
    service = installation.service
    trigger, _ = plant_trigger_of(service, installation.scene, "http-new-requests")
    for size in (1, 6, 6, 6, 17, 1):
        fire.emit(service, trigger, [Emitted("x" * size * 2**20, None, None, service.clock())])
    pages, after = list[int](), ""
    while found := events.page_of_trigger(service.store, trigger.id, after=after):
        assert sum(len(one.body or b"") for one in found) <= events.MAX_PAGE_BYTES or len(found) == 1
        pages, after = [*pages, len(found)], found[-1].id
    assert pages == [1, 1, 2, 2]


def test_values_that_are_too_large_for_a_trigger(installation: Installation) -> None:
    token = installation.token("alice")
    for size, status in ((1_000_000, 200), (1_048_577, 400)):
        props = {"response_body": "x" * size}
        body = {"id": "http-new-requests", "external_user_id": "alice", "configured_props": props}
        answer = installation.api("POST", "triggers/deploy", token, json=body)
        assert answer.status_code == status, answer.text
    assert answer.json()["details"][0]["field"] == "configured_props"
