"""Identifiers and tokens, and the id of the request that this thread answers.

An identifier is a prefix that names the kind, then base62: random, or a stable hash of what it names. A token is random
and is stored as its hash. A request's id is how its log lines, its answer and its errors are matched.
"""

import hashlib
import hmac
import secrets
import time
from contextvars import ContextVar

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_LENGTH = 14  # 62**14 is about 2**83: no collision in any installation's life
_STABLE_LENGTH = 12
REQUEST_ENVIRON = (
    "patchbay.request_id"  # where a request made while another is answered finds the other's, which it shares
)
_request: ContextVar[str] = ContextVar("request_id", default="")


def new_id(prefix: str) -> str:
    """A fresh random id such as ``apn_8sKx2QeTn0bV4c``; ``prefix`` without its underscore."""
    return f"{prefix}_{random_base62(_RANDOM_LENGTH)}"


def ordered_id(prefix: str) -> str:
    """A fresh id that sorts after those made before it on this machine; for rows that share a millisecond."""
    return f"{prefix}_{_base62(time.time_ns())}{random_base62(6)}"


def stable_id(prefix: str, *parts: str) -> str:
    """The same id for the same ``parts`` on every machine, such as an app's by its slug."""
    digest = hashlib.sha256("\x1f".join((prefix, *parts)).encode()).digest()
    number = int.from_bytes(digest, "big")
    return f"{prefix}_{_base62(number)[-_STABLE_LENGTH:]}"


def random_base62(length: int) -> str:
    """``length`` random base62 characters from the system's secure source."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def hash_token(token: str) -> str:
    """The SHA-256 of a bearer token in hex: what is stored in its place. Tokens are random, so no salt is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def same(value: str, other: str) -> bool:
    """Whether two strings are equal, in constant time."""
    return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def begin_request(shared: str | None = None) -> str:
    """Give the request that begins an id of its own, or the one it shares; what :func:`end_request` goes back to."""
    before = _request.get() if shared else ""
    _request.set(shared or secrets.token_hex(8))
    return before


def end_request(before: str) -> None:
    """The request is over."""
    _request.set(before)


def request_id() -> str:
    """The id of the request that is answered; "" outside of any."""
    return _request.get()


def _base62(number: int) -> str:
    digits = []
    while number:
        number, rest = divmod(number, 62)
        digits.append(ALPHABET[rest])
    return "".join(reversed(digits)).rjust(_STABLE_LENGTH, "0")
