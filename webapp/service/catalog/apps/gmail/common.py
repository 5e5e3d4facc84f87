"""What Gmail's components in Python share: writing a message (RFC 5322), and telling one that Gmail gives in parts."""

import mimetypes
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formataddr
from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.files import content_of
from webapp.service.components.authoring import ComponentError, Context, Option, Options, app, string, string_list

MESSAGES = "/users/me/messages"
_STANDING = ("INBOX", "UNREAD", "STARRED", "IMPORTANT", "SENT", "SPAM", "TRASH")
"""Labels of Gmail's own that stand in every mailbox, and that people know."""


def find_labels(ctx: Context) -> Options:
    """The labels of the mailbox; Gmail's own under the names that people know."""
    labels = ctx.http.get("/users/me/labels").json().get("labels", [])
    own = sorted((label["name"], label["id"]) for label in labels if label.get("type") == "user")
    standing = [(label.capitalize(), label) for label in _STANDING]
    return Options([] if ctx.page else [Option(name, id) for name, id in (*own, *standing)])


def message_url(id: str, verb: str = "") -> str:
    """The address of a message."""
    return f"{MESSAGES}/{quote(id, safe='')}{verb}"


def fetch(ctx: Context, id: str) -> dict[str, Any]:
    """A message, told as :func:`message_to_json` does."""
    return message_to_json(ctx.http.get(message_url(id), params={"format": "full"}).json())


def message_to_json(message: Mapping[str, Any]) -> dict[str, Any]:
    """What people ask of a message, by plain names."""
    payload = message.get("payload", {})
    parts = list(_parts(payload))
    return {
        "id": message["id"],
        "thread_id": message.get("threadId"),
        "label_ids": message.get("labelIds", []),
        "date": _iso(message.get("internalDate")),
        **{name: header(payload, name.replace("_", "-")) for name in ("from", "to", "cc", "subject", "message_id")},
        "snippet": message.get("snippet", ""),
        "text": _content(parts, "text/plain"),
        "html": _content(parts, "text/html"),
        "attachments": [
            {
                "id": part["body"]["attachmentId"],
                "name": part["filename"],
                "content_type": part.get("mimeType"),
                "size": part["body"].get("size"),
            }
            for part in parts
            if part.get("filename") and part.get("body", {}).get("attachmentId")
        ],
    }


def header(payload: Mapping[str, Any], name: str) -> str | None:
    """The header ``name`` of a message, whatever its letter case."""
    headers = payload.get("headers", [])
    return next((each["value"] for each in headers if each["name"].lower() == name.lower()), None)


def decoded(data: str) -> bytes:
    """What Gmail gives as base64url, with or without its padding."""
    return urlsafe_b64decode(data + "=" * (-len(data) % 4))


def composed(ctx: Context, subject: str, headers: Mapping[str, str | None]) -> str:
    """The message that the props describe, as Gmail takes it. Raises :class:`ComponentError`."""
    props, message = ctx.props, EmailMessage(policy=SMTP)
    try:
        for name, value in {**headers, "Subject": " ".join(subject.split())}.items():
            if value:
                message[name] = value
    except (ValueError, IndexError):
        raise ComponentError("An address or a name cannot be sent as it is. Check what you entered.") from None
    message.set_content(props.body, subtype="html" if props.body_type == "html" else "plain", cte="base64")
    for place in props.attachments or []:
        name, content = content_of(ctx, place)
        main, _, sub = (mimetypes.guess_type(name)[0] or "application/octet-stream").partition("/")
        message.add_attachment(content, maintype=main, subtype=sub, filename=name)
    return urlsafe_b64encode(message.as_bytes()).decode()


def sender(ctx: Context) -> str | None:
    """What stands under From; None for the account's own address, which Gmail fills in itself."""
    address = ctx.props.from_email
    return formataddr((ctx.props.from_name or "", address)) if address else None


def listed(addresses: Sequence[str] | None) -> str:
    """Addresses as a header has them."""
    return ", ".join(address.strip() for address in addresses or [] if address.strip())


def _iso(epoch_ms: str | None) -> str | None:
    moment = datetime.fromtimestamp(int(epoch_ms) / 1000, UTC) if epoch_ms else None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None


def _parts(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield part
    for inner in part.get("parts", []):
        yield from _parts(inner)


def _content(parts: Sequence[Mapping[str, Any]], kind: str) -> str | None:
    """The text of the first part of a kind that is no file."""
    texts = (part for part in parts if part.get("mimeType") == kind and not part.get("filename"))
    data = next((part["body"]["data"] for part in texts if part.get("body", {}).get("data")), None)
    return decoded(data).decode("utf-8", "replace") if data else None


account = app("gmail")
to_prop = string_list(label="To", description="E-mail addresses.")
cc_prop = string_list(label="Cc", description="E-mail addresses.", optional=True)
bcc_prop = string_list(label="Bcc", description="E-mail addresses.", optional=True)
subject_prop = string(label="Subject")
body_prop = string(label="Text")
body_type_prop = string(
    label="Format",
    default="plaintext",
    optional=True,
    options=[Option("Plain text", "plaintext"), Option("HTML", "html")],
)
from_email_prop = string(
    label="From", description="An address that you may send as. Empty for your own.", optional=True
)
from_name_prop = string(label="Sender’s name", description="Shown before the address in From.", optional=True)
reply_to_prop = string(label="Reply to", description="Where answers go, unless to you.", optional=True)
attachments_prop = string_list(
    label="Attachments",
    aliases=("attachmentUrlsOrPaths",),
    description="Addresses, or files of the stash that the run names.",
    optional=True,
)
message_prop = string(label="Message", description="Its id, as Find email gives it.")
