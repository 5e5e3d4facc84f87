"""Webhooks, which are notified when a task is created or changed. Owns their table.

A delivery is one POST from a background thread, with a timeout of five seconds, no redirects and no retries. It goes
only to loopback addresses, because the sandbox runs on a developer's own machine.
"""

import hashlib
import hmac
import json
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3

from webapp.kit import crypto
from webapp.kit.clock import Clock, iso, iso_or_none
from webapp.kit.crypto import derive
from webapp.kit.networks import is_loopback as loopback
from webapp.sandbox.people import Person
from webapp.sandbox.store import Store
from webapp.sandbox.tasks import Task

EVENTS = ("task.created", "task.updated")
TIMEOUT_SECONDS = 5
MAX_PER_PERSON = 100


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL to notify of one kind of event, in one project or in all. ``last_status`` is the last delivery's result."""

    id: str
    person_id: str
    grant_id: str | None
    project_id: str | None
    url: str
    event: str
    created_at: int
    last_status: str | None = None
    last_at: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The webhook as the API lists it, without its secret."""
        return {
            "id": self.id,
            "url": self.url,
            "event": self.event,
            "project_id": self.project_id,
            "created_at": iso(self.created_at),
            "last_status": self.last_status,
            "last_at": iso_or_none(self.last_at),
        }


class TooMany(ValueError):
    """The person has as many webhooks as are allowed."""


class Webhooks:
    """The webhooks in ``store``. Their signing keys are derived from the installation's ``secret``."""

    def __init__(self, store: Store, clock: Clock, secret: bytes) -> None:
        self._store = store
        self._clock = clock
        self._secret = secret
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="sandbox-webhooks")

    def register(self, person: Person, grant_id: str | None, url: str, event: str, project_id: str | None) -> Webhook:
        """Add a webhook. The caller has checked the URL with :func:`allowed_url`. Raises :class:`TooMany`."""
        hook = Webhook(crypto.new_id("whk"), person.id, grant_id, project_id, url, event, self._clock())
        with self._store.write() as db:
            if db.table("webhooks").count_where("person_id = ?", [person.id]) >= MAX_PER_PERSON:
                raise TooMany("Delete a webhook first: a person may have 100.")
            db.table("webhooks").insert({name: getattr(hook, name) for name in Webhook.__slots__})
        return hook

    def of(self, person: Person) -> list[Webhook]:
        """A person's webhooks, newest first."""
        sql = "SELECT * FROM webhooks WHERE person_id = ? ORDER BY created_at DESC, id"
        with self._store.read() as db:
            return [Webhook(**row) for row in db.query(sql, [person.id])]

    def delete(self, person: Person, webhook_id: str) -> bool:
        """Delete one of a person's webhooks. Returns False if there was none."""
        sql = "DELETE FROM webhooks WHERE id = ? AND person_id = ?"
        with self._store.write() as db:
            return db.execute(sql, [webhook_id, person.id]).rowcount == 1

    def secret_of(self, hook: Webhook) -> str:
        """The key that signs the webhook's deliveries."""
        return "sbx_whk_" + derive(self._secret, f"sandbox webhook {hook.id}").hex()

    def announce(self, event: str, task: Task) -> None:
        """Deliver ``event`` about ``task`` to the webhooks for it whose grant is not revoked; returns at once."""
        sql = """SELECT w.* FROM webhooks w LEFT JOIN grants g ON g.id = w.grant_id
            WHERE w.event = ? AND (w.project_id IS NULL OR w.project_id = ?) AND g.revoked_at IS NULL"""
        with self._store.read() as db:
            hooks = [Webhook(**row) for row in db.query(sql, [event, task.project_id])]
        for hook in hooks:
            body = {"id": crypto.new_id("evt"), "event": event, "webhook_id": hook.id, "sent_at": iso(self._clock())}
            self._threads.submit(self._deliver, hook, body | {"task": task.to_json()})

    def _deliver(self, hook: Webhook, event: Mapping[str, Any]) -> None:
        status = post_signed(hook.url, self.secret_of(hook), event)
        sql = "UPDATE webhooks SET last_status = ?, last_at = ? WHERE id = ?"
        with self._store.write() as db:
            db.execute(sql, [status, self._clock(), hook.id])


def allowed_url(url: str) -> bool:
    """Whether events may be posted to ``url``: http or https, on a loopback host, without credentials."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises ValueError for an invalid port
    except ValueError:
        return False
    secrets = parts.username, parts.password
    return parts.scheme in ("http", "https") and secrets == (None, None) and is_loopback(url)


def is_loopback(url: str) -> bool:
    """Whether the host of ``url`` is a loopback address."""
    try:
        return loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def post_signed(url: str, secret: str, event: Mapping[str, Any]) -> str:
    """Post ``event`` once and return the result, such as ``204`` or ``no answer``.

    Certificates are not verified: servers on this machine often have self-signed ones. ``X-Sandbox-Signature`` is
    ``sha256=`` and the hex HMAC-SHA256 of the body, keyed with the UTF-8 secret.
    """
    body = json.dumps(event, ensure_ascii=False).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Sandbox-Tasks",
        "X-Sandbox-Event": event["event"],
        "X-Sandbox-Signature": f"sha256={signature}",
    }
    with requests.Session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
        session.trust_env = False
        session.verify = False  # the URL is always a loopback address
        try:
            options: dict[str, Any] = {"timeout": TIMEOUT_SECONDS, "allow_redirects": False, "stream": True}
            with session.post(url, data=body, headers=headers, **options) as response:
                return str(response.status_code)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError):
            return "no answer"
