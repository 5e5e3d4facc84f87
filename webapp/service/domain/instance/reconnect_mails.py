"""Mails to people of the dashboard whose accounts need them (operate "Mails to people"). This module owns
``reconnect_mails`` and ``reconnect_reminders``.

An account that only its person can mend is mailed about once, and once more after a week, both for the credentials
that it has now. One mail names all accounts of a person that need them, and a person gets at most one a day. Sending
claims the person's row for some minutes. The claim becomes a whole day in the moment in which the mail server is given
the content, in the transaction that makes the link: a process that dies before then delays the mail by minutes, and one
that dies after it by a day, but no day has two mails and no account is forgotten. A failure of the mail server
is a value; the next try waits longer each time.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import make_msgid, parseaddr
from typing import TYPE_CHECKING
from urllib.parse import quote

from itsdangerous import BadSignature, URLSafeSerializer

from webapp.kit import assets, translation
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.kit.retries import back_off
from webapp.kit.text import one_line
from webapp.kit.translation import count_of, gettext
from webapp.people import preferences, users
from webapp.people.users import User
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.health import REVOKED_HERE
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import reconnect_links
from webapp.service.domain.projects import projects
from webapp.service.outbound import smtp
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.smtp import SendOutcome, SmtpAccount
from webapp.service.outbound.urls import ascii_address
from webapp.settings import Settings
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment

GATHER = 15 * MINUTE  # so that accounts that fail together are in one mail, and who reconnects at once gets none
REMIND = 7 * DAY
MAILS = 2  # about the same credentials
APART = DAY
BACK_OFF = (30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR)
MAX_NAME, MAX_REASON = 80, 200


@dataclass(frozen=True, slots=True)
class _State:
    """A person's row: not mailed before ``next_at``; ``attempt`` fences what is written after a try."""

    user_id: str
    next_at: int
    attempt: int
    failures: int
    error: str | None = None
    sent_at: int | None = None


@dataclass(frozen=True, slots=True)
class _Reminder:
    """How many mails there were about an account with the credentials of ``revision``, and when the last one was."""

    account_id: str
    revision: int
    mails: int
    mailed_at: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A person to mail now: the accounts that need them, oldest first, of which those of ``due`` are why."""

    person: User
    attempt: int
    failures: int
    accounts: tuple[Account, ...]
    due: tuple[Account, ...]


@dataclass(frozen=True, slots=True)
class Failing:
    """How many people could not be mailed lately, and why the last of them."""

    people: int
    sentence: str


_STATES = Table("reconnect_mails", _State, key="user_id")
_REMINDERS = Table("reconnect_reminders", _Reminder, key="account_id")
# People with an account that was not mailed about as often as it should be by now, by the index of dead accounts.
_DUE = (
    "SELECT DISTINCT u.id FROM accounts a JOIN users u ON u.id = a.external_id AND u.disabled_at IS NULL "
    "LEFT JOIN preferences p ON p.user_id = u.id LEFT JOIN reconnect_mails s ON s.user_id = u.id "
    "LEFT JOIN reconnect_reminders r ON r.account_id = a.id AND r.revision = a.revision "
    "WHERE a.dead = 1 AND a.updated_at <= :gathered AND COALESCE(a.error, '') <> :revoked "
    "AND COALESCE(p.reconnect_mails, 1) = 1 "
    "AND (s.next_at IS NULL OR s.next_at <= :now OR s.next_at > :farthest) "  # far away: the clock was set back
    "AND (r.mails IS NULL OR (r.mails < :most AND r.mailed_at <= :reminded)) ORDER BY u.id LIMIT :limit"
)


def due(service: Service, limit: int) -> list[str]:
    """The ids of people to mail now, at most ``limit``."""
    now = service.clock()
    values = {
        "now": now,
        "gathered": now - GATHER,
        "reminded": now - REMIND,
        "farthest": now + APART,
        "most": MAILS,
        "revoked": REVOKED_HERE,
        "limit": limit,
    }
    return [row["id"] for row in service.store.all(_DUE, values)]


def send_to(service: Service, user_id: str) -> SendOutcome | None:
    """Mail a person about their accounts; None if they need no mail now, or another process is sending it."""
    claim = _claim(service, user_id)
    settings = service.settings
    if claim is None or settings.smtp_url is None or settings.smtp_from is None:
        return None
    token = reconnect_links.new_token()
    recipient = ascii_address(claim.person.email)
    if recipient is None:
        return _record(service, claim, SendOutcome("refused", "The domain of the person's address is not valid."))
    outcome = smtp.send(
        client(service.outbound, settings),
        server(settings),
        message(service, claim, token, recipient),
        sender=parseaddr(settings.smtp_from)[1],
        recipient=recipient,
        begin=lambda: _begin(service, claim, token),
    )
    return _record(service, claim, outcome)


def server(settings: Settings) -> SmtpAccount:
    """The mail server of the settings, which have one."""
    assert settings.smtp_url is not None
    return SmtpAccount(*settings.smtp_url)


def client(outbound: OutboundClient, settings: Settings) -> OutboundClient:
    """A client that may reach the operator's mail server, which is often on a private address."""
    account = server(settings)
    host = f"[{account.host}]" if ":" in account.host else account.host
    return outbound.allowing(f"{host}:{account.port}")


def failing(reader: Reader, now: int) -> Failing:
    """Whom the last try within a day did not reach."""
    where = "error IS NOT NULL AND next_at > :now - :apart"
    params = {"now": now, "apart": APART}
    row = reader.one(f"SELECT COUNT(*) AS n FROM reconnect_mails WHERE {where}", params)  # noqa: S608
    last = _STATES.one(reader, f"{where} ORDER BY next_at DESC, user_id LIMIT 1", params)
    return Failing(int(row["n"]) if row else 0, (last.error if last else None) or "")


def stop_token(service: Service, user_id: str) -> str:
    """The token with which whoever has it stops the mails to a person, without signing in."""
    return str(_signer(service).dumps(user_id))


def stop(service: Service, token: str) -> bool:
    """Stop the mails to the person of ``token``; return False if it is not valid."""
    person = person_of_stop_token(service, token)
    if person is None:
        return False
    preferences.stop_reconnect_mails(service.store, service.clock, person.id)
    return True


def person_of_stop_token(service: Service, token: str) -> User | None:
    """The person whose mails ``token`` stops; None if it is not valid or they were removed."""
    try:
        return users.by_id(service.store, str(_signer(service).loads(token)))
    except BadSignature:
        return None


def needing(service: Service, reader: Reader, user_id: str) -> list[Account]:
    """The accounts of a person that only they can mend, and can by reconnecting: their app is still there."""
    return [
        account
        for account in reconnect_links.accounts_of_person(reader, user_id)
        if account.dead and account.error != REVOKED_HERE and accounts.find_app(service, account) is not None
    ]


def _claim(service: Service, user_id: str) -> Claim | None:
    """Claim the person for one try, if they are due now."""
    now = service.clock()
    with service.store.write() as tx:
        state = _STATES.get(tx, user_id) or _State(user_id, 0, 0, 0)
        if now < state.next_at <= now + APART:
            return None
        person, needing, due = _wanted(service, tx, user_id)
        if person is None or not due:
            return None
        until = now + leases.RECONNECT_MAIL
        claimed = _State(user_id, until, state.attempt + 1, state.failures, state.error, state.sent_at)
        _STATES.upsert(tx, claimed, keep=())
        return Claim(person, claimed.attempt, claimed.failures, tuple(needing), tuple(due))


def _wanted(service: Service, tx: Tx, user_id: str) -> tuple[User | None, list[Account], list[Account]]:
    """The person if they are to be mailed, their accounts that need them, and those that they are due to read of."""
    now, person = service.clock(), users.by_id(tx, user_id)
    if person is None or not person.enabled or not preferences.of_user(tx, user_id).reconnect_mails:
        return None, [], []
    accounts_now = needing(service, tx, user_id)
    due = [
        account
        for account in accounts_now
        if account.updated_at <= now - GATHER and _is_due(_REMINDERS.get(tx, account.id), account, now)
    ]
    return person, accounts_now, due


def _is_due(reminder: _Reminder | None, account: Account, now: int) -> bool:
    if reminder is None or reminder.revision != account.revision:
        return True
    return reminder.mails < MAILS and reminder.mailed_at <= now - REMIND


def _begin(service: Service, claim: Claim, token: str) -> bool:
    """Write down that the content is about to be sent; return False if it need not be any more."""
    now = service.clock()
    with service.store.write() as tx:
        state = _STATES.get(tx, claim.person.id)
        _, _, due = _wanted(service, tx, claim.person.id)
        if state is None or state.attempt != claim.attempt or not due:
            return False
        _STATES.update(tx, claim.person.id, next_at=now + APART)
        reconnect_links.insert(tx, now, claim.person.id, token, claim.accounts)
    return True


def _record(service: Service, claim: Claim, outcome: SendOutcome) -> SendOutcome:
    """Write down what became of the mail, unless another try has begun since."""
    now, user_id = service.clock(), claim.person.id
    with service.store.write() as tx:
        state = _STATES.get(tx, user_id)
        if state is None or state.attempt != claim.attempt:
            return outcome
        if outcome.kind in ("later", "trouble"):
            failures = claim.failures + 1
            changes = {"next_at": now + back_off(BACK_OFF, failures), "failures": failures, "error": outcome.sentence}
        elif outcome.kind in ("sent", "refused"):
            for account in claim.due:
                _count(tx, account, now)
            changes = {"next_at": now + APART, "failures": 0, "error": outcome.sentence or None}
            changes |= {"sent_at": now} if outcome.kind == "sent" else {}
        else:
            changes = {"failures": 0, "error": outcome.sentence or None}
        _STATES.update(tx, user_id, **changes)
    return outcome


def _count(tx: Tx, account: Account, now: int) -> None:
    """Count one more mail about ``account``, unless it was removed since."""
    if accounts.find(tx, account.scene, account.id) is None:
        return
    before = _REMINDERS.get(tx, account.id)
    mails = before.mails + 1 if before and before.revision == account.revision else 1
    _REMINDERS.upsert(tx, _Reminder(account.id, account.revision, mails, now), keep=())


def message(service: Service, claim: Claim, token: str, recipient: str) -> EmailMessage:
    """The mail to ``recipient``, in the person's language, with the one-time link of ``token``."""
    settings, spoken = service.settings, translation.language()
    translation.choose(preferences.of_user(service.store, claim.person.id).language, None, settings.language)
    try:
        stop_url = f"{settings.public_url}/connect/mails/stop?token={quote(stop_token(service, claim.person.id))}"
        mail = EmailMessage(policy=smtp.SEVEN_BIT)
        mail["From"] = settings.smtp_from
        mail["To"] = recipient
        mail["Subject"] = _subject(service, claim.accounts)
        mail["Date"] = datetime.fromtimestamp(service.clock() // SECOND, UTC)
        mail["Message-ID"] = make_msgid(domain=parseaddr(settings.smtp_from or "")[1].rpartition("@")[2])
        mail["Auto-Submitted"] = "auto-generated"  # RFC 3834 section 5
        mail["List-Unsubscribe"] = f"<{stop_url}>"
        mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"  # RFC 8058
        parts = _parts(service, claim.accounts) | {
            "link": f"{settings.public_url}/connect/reconnect?token={quote(token)}",
            "stop_url": stop_url,
        }
        mail.set_content(_plain(parts))
        template = _templates().get_template("mail/reconnect.html")
        mail.add_alternative(template.render(**parts, title=mail["Subject"]).lstrip(), subtype="html")
        return mail
    finally:
        translation.speak(spoken)


def _subject(service: Service, named: Sequence[Account]) -> str:
    if len(named) == 1:
        return gettext("{app} needs you").format(app=_app_name(service, named[0]))
    return count_of(len(named), "{count} account needs you", "{count} accounts need you")


def _parts(service: Service, named: Sequence[Account]) -> dict[str, object]:
    """The sentences of the mail, which its text and its HTML share."""
    product = one_line(projects.get(service.store, named[0].scene.project_id).app_name, MAX_NAME)
    intro = count_of(
        len(named),
        "{product} can no longer use this account. Reconnect it, and everything continues:",
        "{product} can no longer use these {count} accounts. Reconnect them, and everything continues:",
        product=product,
    )
    return {
        "language": translation.language(),
        "direction": translation.direction(),
        "intro": intro,
        "rows": [
            (_title(service, account), one_line(translation.translated(account.error or ""), MAX_REASON))
            for account in named
        ],
        "button": gettext("Reconnect"),
        "once": gettext("The link works once, within seven days. Do not pass it on."),
        "why": gettext("You get this mail because you connect accounts in {product} at {host}.").format(
            product=product, host=service.settings.public_url.partition("://")[2]
        ),
        "stop": gettext("Stop these mails"),
    }


def _plain(parts: dict[str, object]) -> str:
    """The text part: paragraphs, with the addresses written out."""
    rows = parts["rows"]
    assert isinstance(rows, list)
    accounts_named = "\n".join(f"- {title}\n  {reason}" if reason else f"- {title}" for title, reason in rows)
    link, stopping = f"{parts['button']}: {parts['link']}", f"{parts['stop']}: {parts['stop_url']}"
    paragraphs = (parts["intro"], accounts_named, link, parts["once"], f"{parts['why']}\n{stopping}")
    return "\n\n".join(map(str, paragraphs)) + "\n"


def _title(service: Service, account: Account) -> str:
    """The app and the name of the account on one line: names are what somebody typed."""
    name = account.name or account.identity_name or account.identity_id
    app = _app_name(service, account)
    return f"{app} · {one_line(name, MAX_NAME)}" if name else app


def _app_name(service: Service, account: Account) -> str:
    app = accounts.find_app(service, account)
    return one_line(app.name if app else account.app, MAX_NAME)


def _signer(service: Service) -> URLSafeSerializer:
    return URLSafeSerializer(service.keys.derive("stop-reconnect-mails"))


@functools.cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader  # a worker that sends no mail needs no templates

    return Environment(loader=FileSystemLoader(assets.templates_dir()), autoescape=True)
