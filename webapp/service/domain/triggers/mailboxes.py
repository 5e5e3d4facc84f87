"""Mail to triggers' own addresses: whose an address is, and taking a mail in.

A mail is one event of each of its triggers, committed before it is accepted; its files go to the stash. Addresses that
never were, that are deleted and that are paused cannot be told apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.errors import NotFound
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash
from webapp.service.domain.triggers import deployed_triggers, mails, receiving, recording
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.mails import Mail
from webapp.service.outbound.outcomes import one_line
from webapp.store.contract import Tx


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
        raise NotFound(receiving.NOTHING)
    return trigger


def receive(service: Service, incoming: IncomingMail) -> int:
    """Take a mail in, for each of its triggers in the same transaction; how many events came of it.

    Raises :class:`mails.BadMail`, :class:`webapp.errors.Throttled`, :class:`webapp.errors.TooLarge` (the place for
    files or for events is full), :class:`webapp.errors.Unavailable`.
    """
    for _, trigger in incoming.to:
        receiving.count(service, trigger)
    read = [(trigger.id, mails.read(incoming.raw, incoming.sender, address)) for address, trigger in incoming.to]
    with service.store.write() as tx:
        events = sum(_record_mail(tx, service, trigger_id, mail) for trigger_id, mail in read)
    service.wake()
    return events


def _record_mail(tx: Tx, service: Service, trigger_id: str, read: Mail) -> int:
    trigger = deployed_triggers.find(tx, trigger_id)
    if trigger is None or not trigger.active:
        return 0
    payload = {**read.facts, "attachments": _kept(tx, service, trigger, read)}
    summary = one_line(read.facts["subject"], receiving.MAX_SUMMARY) or None
    mail = [Emitted(payload, read.message_id, summary, service.clock())]
    recorded = recording.record(tx, service, trigger, mail)
    recording.hold_bytes(tx, service, trigger)
    return len(recorded)


def _kept(tx: Tx, service: Service, trigger: DeployedTrigger, read: Mail) -> list[dict[str, Any]]:
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
