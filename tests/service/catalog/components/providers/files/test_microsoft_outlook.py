"""Outlook's sending and downloading, against a fake written from
https://learn.microsoft.com/en-us/graph/api/user-sendmail
and https://learn.microsoft.com/en-us/graph/api/attachment-get."""

from collections.abc import Callable

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, FakeAnswer


@pytest.fixture
def outlook(desk_of: Callable[..., AppHarness]) -> AppHarness:
    harness = desk_of("microsoft_outlook", oauth_access_token="token")
    harness.on("POST /me/sendMail", FakeAnswer(202, b""))
    return harness


def test_an_email_is_sent_with_a_file(outlook: AppHarness) -> None:
    outlook.on("GET /a.csv", b"a,b")
    place = f"http://{outlook.host}{outlook.provider.base_path}/a.csv"
    reply = outlook.run("send-email", to=["ada@example.com"], subject="Lunch", content="Now?", attachments=[place])
    assert (reply.value["sent"], reply.exports["$summary"]) == (True, "Sent the e-mail to ada@example.com")
    assert outlook.last.json["message"] == {
        "subject": "Lunch",
        "body": {"contentType": "text", "content": "Now?"},
        "toRecipients": [{"emailAddress": {"address": "ada@example.com"}}],
        "attachments": [{"@odata.type": "#microsoft.graph.fileAttachment", "name": "a.csv", "contentBytes": "YSxi"}],
    }


def test_files_that_are_too_large_are_refused(outlook: AppHarness) -> None:
    outlook.on("GET /a.bin", b"x" * (3 * 2**20 + 1))
    place = f"http://{outlook.host}{outlook.provider.base_path}/a.bin"
    sentence = outlook.refuses("send-email", to=["a@example.com"], subject="A", content="B", attachments=[place])
    assert sentence.startswith("The files are larger than 3 MB together")


def test_an_attachment_is_downloaded(outlook: AppHarness) -> None:
    file = {"id": "A=", "name": "a.csv", "contentType": "text/csv", "size": 3}
    outlook.on("GET /me/messages/M%3D/attachments", {"value": [file]})
    outlook.on("GET /me/messages/M%3D/attachments/A%3D/$value", b"a,b")
    assert outlook.options("download-attachment", "attachment_id", message_id="M=")["found"] == {"a.csv": "A="}
    reply = outlook.run("download-attachment", message_id="M=", attachment_id="A=")
    assert reply.value == {"name": "a.csv", "size": 3, "content_type": "text/csv"}
    refusal = outlook.refuses("download-attachment", message_id="M=", attachment_id="B")
    assert refusal == "The e-mail has no such attachment. Choose another one."
