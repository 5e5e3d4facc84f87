"""Checks the two signatures of a delivered event. Pure: no clock, no storage.

``x-pd-signature`` is ``t=<unix seconds>,v1=<hex>``, HMAC-SHA256 of ``<t>.<raw body>`` keyed with the UTF-8 bytes of
the whole key. Standard Webhooks signs ``<id>.<timestamp>.<raw body>``, keyed with the decoded bytes after ``whsec_``.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

PREFIX = "whsec_"
TOLERANCE_SECONDS = 300
MIN_KEY_BYTES, MAX_KEY_BYTES = 16, 128


class State(Enum):
    """How a signature stands."""

    VALID = "valid"
    WRONG = "wrong"
    MISSING = "missing"
    STALE = "stale"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of one signature with a sentence about it."""

    state: State
    words: str


VALID = Verdict(State.VALID, "The signature fits.")
WRONG = Verdict(State.WRONG, "The signature does not fit this key and body.")
MISSING = Verdict(State.MISSING, "The request has no such signature.")
STALE = Verdict(State.STALE, "The signature fits, but its time is more than five minutes off.")
UNCHECKED = Verdict(State.UNCHECKED, "Paste the signing key to check it.")


def key_bytes(key: str) -> bytes:
    """The bytes after ``whsec_``. Raises ``ValueError`` with a sentence when it is no such key."""
    try:
        raw = base64.b64decode(key.removeprefix(PREFIX).encode("ascii", "replace"), validate=True)
    except binascii.Error:
        raw = b""
    if not key.startswith(PREFIX) or not MIN_KEY_BYTES <= len(raw) <= MAX_KEY_BYTES:
        raise ValueError("That is no signing key: paste all of it, beginning with whsec_.")
    return raw


def check_pd(key: str | None, headers: Mapping[str, str], body: bytes, at: float) -> Verdict:
    """The verdict on ``x-pd-signature``; ``headers`` in lower case, ``at`` the arrival in unix seconds."""
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
