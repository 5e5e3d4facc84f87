"""Gmail's actions in Python, against a fake written from
https://developers.google.com/workspace/gmail/api/reference/rest."""

import base64
from collections.abc import Callable
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness


def data(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def message(id: str, **more: Any) -> dict[str, Any]:
    headers = {"From": "Ada <ada@example.com>", "To": "me@example.com, bob@example.com", "Subject": f"Letter {id}"}
    parts = [
        {"mimeType": "text/plain", "filename": "", "body": {"data": data("Grüße?>")}},
        {"mimeType": "text/csv", "filename": "a.csv", "body": {"attachmentId": f"at-{id}", "size": 3}},
    ]
    listed = [{"name": name, "value": value} for name, value in {**headers, "Message-Id": f"<{id}@x>"}.items()]
    payload = {"mimeType": "multipart/mixed", "headers": listed, "parts": parts}
    return {
        "id": id,
        "threadId": "t1",
        "labelIds": ["INBOX"],
        "internalDate": "1896076800000",
        "payload": payload,
    } | more


@pytest.fixture
def gmail(desk_of: Callable[..., AppHarness]) -> AppHarness:
    harness = desk_of("gmail", oauth_access_token="token")
    for id in ("1", "2", "3"):
        harness.on(f"GET /users/me/messages/{id}", message(id))
    harness.on("POST /users/me/messages/send", {"id": "9", "threadId": "t1", "labelIds": ["SENT"]})
    harness.on("GET /users/me/profile", {"emailAddress": "me@example.com", "historyId": "100"})
    return harness


def sent(harness: AppHarness) -> EmailMessage:
    raw = harness.last.json
    parsed = message_from_bytes(base64.urlsafe_b64decode((raw.get("message") or raw)["raw"]), policy=default)
    assert isinstance(parsed, EmailMessage)
    return parsed


def test_an_email_is_sent_with_a_file_and_letters_of_all_kinds(gmail: AppHarness) -> None:
    gmail.on("GET /users/me/a.csv", b"a,b")
    props = {"to": ["ada@example.com", "bob@example.com"], "subject": "Grüße\r\nBcc: eve@example.com", "body": "Schön."}
    reply = gmail.run(
        "send-email", **props, from_name="Jürgen", from_email="me@example.com", bcc=["carol@example.com"],
        attachments=[f"http://{gmail.host}{gmail.provider.base_path}/users/me/a.csv"],
    )  # fmt: skip
    email = sent(gmail)
    assert reply.exports["$summary"] == "Sent the e-mail to ada@example.com, bob@example.com"
    assert email["Subject"] == "Grüße Bcc: eve@example.com" and email["Bcc"] == "carol@example.com"
    assert (email["From"], email["To"]) == ("Jürgen <me@example.com>", "ada@example.com, bob@example.com")
    body, file = email.get_body(), next(iter(email.iter_attachments()))
    assert body is not None and body.get_content() == "Schön.\r\n"
    assert (file.get_filename(), file.get_content_type(), file.get_payload(decode=True)) == (
        "a.csv",
        "text/csv",
        b"a,b",
    )


def test_an_address_with_a_line_break_is_refused(gmail: AppHarness) -> None:
    sentence = gmail.refuses("send-email", to=["a@example.com\r\nBcc: b@example.com"], subject="Hi", body="Hi")
    assert sentence == "An address or a name cannot be sent as it is. Check what you entered."


def test_a_draft_is_written(gmail: AppHarness) -> None:
    gmail.on("POST /users/me/drafts", {"id": "r1", "message": {"id": "9"}})
    assert gmail.run("create-draft", subject="Plan", body="<b>Hi</b>", body_type="html").value["id"] == "r1"
    assert (sent(gmail)["Subject"], sent(gmail).get_content_type()) == ("Plan", "text/html")


@pytest.mark.parametrize(("everybody", "cc"), [(False, None), (True, "bob@example.com")])
def test_a_reply_stands_in_its_thread(gmail: AppHarness, everybody: bool, cc: str | None) -> None:
    gmail.run("reply-to-email", message_id="1", body="Yes.", reply_all=everybody)
    assert gmail.last.json["threadId"] == "t1"
    email = sent(gmail)
    assert (email["To"], email["Cc"], email["Subject"]) == ("Ada <ada@example.com>", cc, "Re: Letter 1")
    assert email["In-Reply-To"] == email["References"] == "<1@x>"


def test_emails_are_found_with_their_texts(gmail: AppHarness) -> None:
    gmail.on("GET /users/me/messages", {"messages": [{"id": "2"}, {"id": "1"}]})
    reply = gmail.run("find-email", q="from:ada", labels=["INBOX", "STARRED"], most=2)
    assert [each["subject"] for each in reply.value] == ["Letter 2", "Letter 1"]
    listing = next(asked for asked in gmail.provider.asked if asked.what == "GET /users/me/messages")
    assert listing.queries == {"q": ["from:ada"], "labelIds": ["INBOX", "STARRED"], "maxResults": ["2"]}
    labels = [{"id": "Label_7", "name": "Ada", "type": "user"}, {"id": "INBOX", "name": "INBOX", "type": "system"}]
    gmail.on("GET /users/me/labels", {"labels": labels})
    offered = gmail.options("find-email", "labels")["found"]
    assert (offered["Ada"], offered["Inbox"]) == ("Label_7", "INBOX")


def test_an_email_is_reported_in_plain_names(gmail: AppHarness) -> None:
    email = gmail.run("get-email", message_id="1").value
    assert (email["from"], email["message_id"], email["text"]) == ("Ada <ada@example.com>", "<1@x>", "Grüße?>")
    assert (email["html"], email["date"]) == (None, "2030-01-31T08:00:00.000Z")
    assert email["attachments"] == [{"id": "at-1", "name": "a.csv", "content_type": "text/csv", "size": 3}]


def test_an_attachment_is_downloaded(gmail: AppHarness) -> None:
    gmail.on("GET /users/me/messages/1/attachments/at-1", {"size": 3, "data": data("a?>")})
    assert gmail.options("download-attachment", "attachment", message_id="1")["found"] == {"a.csv": "a.csv"}
    reply = gmail.run("download-attachment", message_id="1", attachment="a.csv")
    assert (reply.value["size"], reply.exports["$summary"]) == (3, "Downloaded a.csv")
    assert gmail.refuses("download-attachment", message_id="1", attachment="b").startswith("The e-mail has no")
    gmail.on("GET /users/me/messages/1/attachments/at-0", {"size": 3, "data": data("a?>")})  # an id of an earlier look
    renamed = gmail.run("download-attachment", message_id="1", attachment="at-0", filename="b.csv")
    assert (renamed.value["name"], renamed.value["size"]) == ("b.csv", 3)
