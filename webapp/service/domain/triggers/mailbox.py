"""Mail to triggers' own addresses: parsing a mail, finding the trigger of an address, and receiving a mail.

A mail is one event of each of its triggers, committed before it is accepted; its files go to the stash. Addresses that
never existed, were deleted or are paused are refused alike.

The payload (contract "Native payloads") is ``{from, to, subject, date, headers, text, html, attachments}``: ``from``
and ``to`` from the mail, or else from its envelope; ``date`` as ISO 8601 in UTC, null without a valid one; ``headers``
by lower-case name, a list if one repeats; ``text`` and ``html`` null if the mail has none. All other parts are
attachments. A mail may be hostile, so headers are decoded only by RFC 2047 and never parsed by the structured parser of
the standard library, which takes quadratic time; they are cut at :data:`MAX_HEADER`. A mail with too many parts is
refused.
"""

import codecs
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import parsedate_to_datetime
from typing import Any

from webapp.errors import NotFound
from webapp.kit.clock import iso
from webapp.kit.text import one_line
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.triggers import deployed_triggers, fire, inbound_requests
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Tx

MAX_ATTACHMENTS = 100
MAX_PARTS = 500
MAX_BOUNDARIES = 100  # a line is compared with the boundary of every part around it
MAX_HEADER = 8 * 1024
MAX_HEADERS = 500
MAX_ALL_HEADERS = 20_000  # of the mail and its parts together
MAX_HEADERS_LENGTH = 128 * 1024
_UTF_8 = "utf-8"
_NOT_FOR_TEXTS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
_BOUNDARY = re.compile(rb"boundary\*?\d*\*?\s*=", re.IGNORECASE)
_TEXTS = {"text/plain": "text", "text/html": "html"}


class BadMail(ValueError):
    """The mail cannot be taken; the message is one sentence for its sender."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file in a mail; ``name`` is what the sender chose and must be cleaned before it names anything."""

    name: str
    content_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail that was read. ``facts`` is its payload without ``attachments``."""

    facts: Mapping[str, Any] = field(repr=False)
    attachments: tuple[Attachment, ...]

    @property
    def message_id(self) -> str | None:
        """Its Message-ID, if it has just one."""
        value = self.facts["headers"].get("message-id")
        return value if isinstance(value, str) and value else None


def read_mail(raw: bytes, sender: str, recipient: str) -> Mail:
    """The mail in ``raw``, which ``sender`` sent to ``recipient`` by its envelope. Raises :class:`BadMail`."""
    if len(_BOUNDARY.findall(raw)) > MAX_BOUNDARIES:
        raise BadMail("The mail is nested too deeply; send the files one by one.")
    try:
        message = message_from_bytes(raw, policy=_Policy(counted=itertools.count(1)))  # type: ignore[call-arg]  # policies take their attributes
        parts = _leaves(message)
    except BadMail:
        raise
    except (MessageError, RecursionError, ValueError, LookupError) as error:
        raise BadMail("The mail cannot be read; check the program that sent it.") from error
    headers = _headers(message)
    texts: dict[str, str] = {}
    attachments: list[Attachment] = []
    for part in parts:
        kind = _TEXTS.get(part.get_content_type())
        if kind and kind not in texts and part.get_content_disposition() != "attachment" and not _file_name(part):
            texts[kind] = _as_text(_content(part), part.get_content_charset()).replace("\r\n", "\n")
        elif len(attachments) < MAX_ATTACHMENTS:
            attachments.append(_attachment(part, len(attachments) + 1))
        else:
            raise BadMail(f"The mail has more than {MAX_ATTACHMENTS} files; send fewer.")
    facts = {
        "from": _first(headers, "from") or sender,
        "to": _first(headers, "to") or recipient,
        "subject": _first(headers, "subject") or "",
        "date": _date(_first(headers, "date")),
        "headers": headers,
        "text": texts.get("text"),
        "html": texts.get("html"),
    }
    return Mail(facts, tuple(attachments))


class _Policy(Compat32):
    """Headers as they are, cut at :data:`MAX_HEADER`; those of parts too, since parsing looks at some of them."""

    counted: Iterator[int] = iter(())

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        if next(self.counted) > MAX_ALL_HEADERS:
            raise BadMail("The mail has too many headers; send fewer.")
        name, _, value = "".join(sourcelines).partition(":")
        return name[:MAX_HEADER], value.strip()[:MAX_HEADER]


def _leaves(message: Message) -> list[Message]:
    """The parts that hold something. A mail inside the mail is one of them, whole: it is a file."""
    leaves: list[Message] = []
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            waiting += reversed(_inside(part))
        else:
            leaves.append(part)
        if len(leaves) + len(waiting) > MAX_PARTS:
            raise BadMail("The mail has too many parts; send fewer files.")
    return leaves


def _inside(part: Message) -> list[Message]:
    return [inner for inner in part.get_payload() if isinstance(inner, Message)]


def _headers(message: Message) -> dict[str, str | list[str]]:
    headers: dict[str, list[str]] = {}
    left = MAX_HEADERS_LENGTH
    for name, value in itertools.islice(message.raw_items(), MAX_HEADERS):
        left -= len(name) + len(value)
        if left < 0:
            break
        headers.setdefault(one_line(name, MAX_HEADER).lower(), []).append(_decoded(value))
    return {name: values[0] if len(values) == 1 else values for name, values in headers.items()}


def _first(headers: Mapping[str, str | list[str]], name: str) -> str | None:
    values = headers.get(name)
    return values[0] if isinstance(values, list) else values


def _decoded(value: str) -> str:
    """The value of a header in words (RFC 2047), on one line."""
    unfolded = value.replace("\r", "").replace("\n", "")
    try:
        pieces = decode_header(unfolded)
    except (MessageError, ValueError):
        pieces = [(unfolded, None)]
    return one_line("".join(_as_text(piece, charset) for piece, charset in pieces), MAX_HEADER)


def _as_text(raw: str | bytes, charset: str | None) -> str:
    """``raw`` in ``charset``, or in UTF-8 where that is unknown or not for texts; never a lone surrogate."""
    raw = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogateescape")
    try:
        codec = codecs.lookup(charset or "utf-8")
        text = raw.decode(_UTF_8 if codec.name in _NOT_FOR_TEXTS else codec.name, "replace")
    except (LookupError, ValueError):
        text = raw.decode(_UTF_8, "replace")
    return text.encode("utf-8", "replace").decode("utf-8")


def _content(part: Message) -> bytes:
    if not part.is_multipart():
        content = part.get_payload(decode=True)
        return content if isinstance(content, bytes) else b""
    try:
        return b"".join(inner.as_bytes() for inner in _inside(part))
    except (MessageError, RecursionError, ValueError, LookupError, TypeError) as error:
        raise BadMail("A mail inside the mail cannot be read; send it as a file.") from error


def _file_name(part: Message) -> str:
    try:
        return _decoded(part.get_filename("") or "")
    except (MessageError, ValueError, LookupError):
        return ""


def _attachment(part: Message, number: int) -> Attachment:
    return Attachment(_file_name(part) or f"attachment-{number}", part.get_content_type(), _content(part))


def _date(value: str | None) -> str | None:
    try:
        moment = parsedate_to_datetime(value or "")
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return iso(int(aware.timestamp() * 1000))
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


@dataclass(frozen=True, slots=True)
class IncomingMail:
    """A mail on its way in: the triggers that it is for, by the addresses of its envelope."""

    sender: str
    to: Sequence[tuple[str, DeployedTrigger]]
    raw: bytes = field(repr=False)


def find(service: Service, local: str) -> DeployedTrigger:
    """The trigger whose address begins with ``local``. Raises :class:`NotFound`."""
    trigger = deployed_triggers.by_email(service.store, local)
    if trigger is None or not trigger.active:
        raise NotFound(inbound_requests.NOT_FOUND)
    return trigger


def receive(service: Service, incoming: IncomingMail) -> int:
    """Receive a mail, for all of its triggers in one transaction; return the number of events.

    Raises :class:`BadMail`, :class:`webapp.errors.Throttled`, :class:`webapp.errors.TooLarge` (no room for files
    or events), :class:`webapp.errors.Unavailable`.
    """
    for _, trigger in incoming.to:
        inbound_requests.count(service, trigger)
    read = [(trigger.id, read_mail(incoming.raw, incoming.sender, address)) for address, trigger in incoming.to]
    with service.store.write() as tx:
        events = sum(_record_mail(tx, service, trigger_id, mail) for trigger_id, mail in read)
    service.wake()
    return events


def _record_mail(tx: Tx, service: Service, trigger_id: str, read: Mail) -> int:
    trigger = deployed_triggers.find(tx, trigger_id)
    if trigger is None or not trigger.active:
        return 0
    payload = {**read.facts, "attachments": _store_attachments(tx, service, trigger, read)}
    summary = one_line(read.facts["subject"], inbound_requests.MAX_SUMMARY) or None
    mail = [Emitted(payload, read.message_id, summary, service.clock())]
    recorded = fire.record(tx, service, trigger, mail)
    fire.check_storage(tx, service, trigger)
    return len(recorded)


def _store_attachments(tx: Tx, service: Service, trigger: DeployedTrigger, read: Mail) -> list[dict[str, Any]]:
    """The attachments, in one stash: ``file`` is what ``file_stash/download`` takes as ``s3_key``."""
    stash = file_stash.new_stash_id() if read.attachments else None
    kept = []
    for attachment in read.attachments:
        place = (trigger.scene, trigger.external_id, stash)
        facts = (attachment.name, attachment.content_type, attachment.content)
        key = file_stash.keep(service, tx, *place, *facts, days=file_stash.MAIL_DAYS)
        name = file_stash.clean_name(attachment.name)
        kept.append(
            {"name": name, "content_type": attachment.content_type, "size": len(attachment.content), "file": key}
        )
    return kept
