"""The webhook receiver: keeps the last 50 requests and, for each path, how to answer and the key to verify with.

It verifies both signatures of a request. ``x-pd-signature`` is ``t=<unix seconds>,v1=<hex>``, the HMAC-SHA256 of
``<t>.<raw body>`` keyed with the UTF-8 bytes of the whole key. Standard Webhooks signs ``<id>.<timestamp>.<raw body>``,
keyed with the decoded bytes after ``whsec_``. Signing keys are stored sealed. The endpoint and the page are left to
``receiver_pages``.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from webapp.kit.clock import SECOND, Clock
from webapp.kit.crypto import CannotOpen, derive, open_sealed, seal
from webapp.sandbox.store import Store

PREFIX = "whsec_"
TOLERANCE_SECONDS = 300
MIN_KEY_BYTES, MAX_KEY_BYTES = 16, 128
KEPT = 50
SHOWN_BYTES = 4000
MASKED = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key"})
ANSWERS = {
    "200": "200 OK",
    "204": "204 No content",
    "302": "302 Redirect",
    "410": "410 Gone",
    "429": "429 Too many, with Retry-After",
    "500": "500 Error",
    "slow": "200 after 10 seconds",
}
EVERYWHERE = ""  # the path whose answer is the default of all paths


class State(Enum):
    """The result of verifying a signature."""

    VALID = "valid"
    WRONG = "wrong"
    MISSING = "missing"
    STALE = "stale"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of a signature, with a sentence that explains it."""

    state: State
    words: str


VALID = Verdict(State.VALID, "The signature fits.")
WRONG = Verdict(State.WRONG, "The signature does not fit this key and body.")
MISSING = Verdict(State.MISSING, "The request has no such signature.")
STALE = Verdict(State.STALE, "The signature fits, but its time is more than five minutes off.")
UNCHECKED = Verdict(State.UNCHECKED, "Paste the signing key to check it.")


def key_bytes(key: str) -> bytes:
    """The decoded bytes after ``whsec_``. Raises ``ValueError`` with a message to show if ``key`` is no signing key."""
    try:
        raw = base64.b64decode(key.removeprefix(PREFIX).encode("ascii", "replace"), validate=True)
    except binascii.Error:
        raw = b""
    if not key.startswith(PREFIX) or not MIN_KEY_BYTES <= len(raw) <= MAX_KEY_BYTES:
        raise ValueError("That is no signing key: paste all of it, beginning with whsec_.")
    return raw


def check_pd(key: str | None, headers: Mapping[str, str], body: bytes, at: float) -> Verdict:
    """The verdict on ``x-pd-signature``. Header names are in lower case; ``at`` is the arrival in Unix seconds."""
    header = headers.get("x-pd-signature")
    if header is None:
        return MISSING
    if key is None:
        return UNCHECKED
    parts = dict(part.partition("=")[::2] for part in header.replace(" ", "").split(","))
    stamp = parts.get("t", "")
    expected = hmac.new(key.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return _verdict(_same(expected, parts.get("v1", "")), stamp, at)


def check_standard(key: str | None, headers: Mapping[str, str], body: bytes, at: float) -> Verdict:
    """The verdict on the Standard Webhooks headers; arguments as in :func:`check_pd`."""
    event_id, stamp, signatures = (headers.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if event_id is None or stamp is None or signatures is None:
        return MISSING
    if key is None:
        return UNCHECKED
    digest = hmac.new(key_bytes(key), f"{event_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    expected = f"v1,{base64.b64encode(digest).decode()}"
    return _verdict(any(_same(expected, signature) for signature in signatures.split()), stamp, at)


def _verdict(fits: bool, stamp: str, at: float) -> Verdict:
    if not fits or not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        return WRONG
    return VALID if abs(int(stamp) - at) <= TOLERANCE_SECONDS else STALE


def _same(signature: str, other: str) -> bool:
    return hmac.compare_digest(signature.encode(), other.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Received:
    """A received request; ``at`` in epoch milliseconds, header names in lower case."""

    id: int
    path: str
    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    at: int

    @property
    def text(self) -> str:
        """The beginning of the body as text."""
        return self.body[:SHOWN_BYTES].decode("utf-8", "replace")

    def verdicts(self, key: str | None) -> dict[str, Verdict]:
        """The verdicts on both signatures, verified with ``key``."""
        seen, at = dict(self.headers), self.at / SECOND
        return {
            "x-pd-signature": check_pd(key, seen, self.body, at),
            "Standard Webhooks": check_standard(key, seen, self.body, at),
        }


class Receiver:
    """The requests, answers and keys in ``store``."""

    def __init__(self, store: Store, clock: Clock, secret: bytes) -> None:
        self._store = store
        self._clock = clock
        self._key = derive(secret, "sandbox receiver")

    def record(self, path: str, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        """Store a request, with credentials in headers masked, and delete all but the last 50."""
        shown = [(name.lower(), "•••" if name.lower() in MASKED else value) for name, value in headers]
        row = {"path": path, "method": method, "target": target, "headers": json.dumps(shown), "body": body}
        with self._store.write() as db:
            db.table("received").insert(row | {"at": self._clock()})
            oldest = "SELECT id FROM received ORDER BY id DESC LIMIT 1 OFFSET ?"
            db.execute(f"DELETE FROM received WHERE id <= ({oldest})", [KEPT])  # noqa: S608 - a constant

    def requests(self, path: str | None = None) -> list[Received]:
        """The stored requests, newest first; with ``path`` only those of that path."""
        sql = "SELECT * FROM received WHERE :path IS NULL OR path = :path ORDER BY id DESC"
        with self._store.read() as db:
            return [_received(row) for row in db.query(sql, {"path": path})]

    def clear(self) -> None:
        """Delete all requests; answers and keys are kept."""
        with self._store.write() as db:
            db.execute("DELETE FROM received")

    def answer(self, path: str) -> str:
        """How to answer requests to ``path``: a key of :data:`ANSWERS`."""
        chosen = self.answers()
        return chosen.get(path) or chosen.get(EVERYWHERE) or "200"

    def answers(self) -> dict[str, str]:
        """The chosen answers by path."""
        with self._store.read() as db:
            rows = db.query("SELECT path, answer FROM receivers WHERE answer IS NOT NULL")
            return {row["path"]: row["answer"] for row in rows}

    def choose(self, path: str, answer: str | None) -> None:
        """Set the answer of ``path``; None resets it to the default."""
        self._set(path, "answer", answer)

    def paths(self) -> list[str]:
        """The paths with their own key or answer."""
        kept = "SELECT path FROM receivers WHERE path <> :all AND (answer IS NOT NULL OR sealed_key IS NOT NULL)"
        with self._store.read() as db:
            return [row["path"] for row in db.query(f"{kept} ORDER BY path", {"all": EVERYWHERE})]

    def key(self, path: str) -> str | None:
        """The signing key that was pasted for ``path``, if any."""
        with self._store.read() as db:
            rows = list(db.query("SELECT sealed_key FROM receivers WHERE path = ?", [path]))
        if not rows or rows[0]["sealed_key"] is None:
            return None
        try:
            return open_sealed(self._key, rows[0]["sealed_key"], f"receiver {path}").decode()
        except CannotOpen:
            return None  # sandbox.key was replaced: the key must be pasted again

    def set_key(self, path: str, key: str | None) -> None:
        """Set the signing key of ``path``; None deletes it."""
        self._set(path, "sealed_key", None if key is None else seal(self._key, key.encode(), f"receiver {path}"))

    def _set(self, path: str, column: str, value: Any) -> None:
        sql = f"""INSERT INTO receivers (path, {column}) VALUES (?, ?)
            ON CONFLICT (path) DO UPDATE SET {column} = excluded.{column}"""  # noqa: S608 - a constant
        with self._store.write() as db:
            db.execute(sql, [path, value])


def _received(row: Mapping[str, Any]) -> Received:
    headers = [(name, value) for name, value in json.loads(row["headers"])]
    return Received(**{**row, "headers": headers})
