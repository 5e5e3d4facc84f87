"""Identifiers, tokens, keys and sealed values, as pure functions. No keys are kept here.

An identifier is a prefix that names the kind, then base62: random, or a stable hash of what it names. A token is random
and is stored as its hash. A value is sealed by AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce and the
caller's context as additional data, so that it opens only in the row and field it was made for; keys are derived by
HKDF-SHA256 (RFC 5869).

Here is also the id of the request that this thread answers, by which its log lines, its answer and its errors are
matched.
"""

import base64
import hashlib
import hmac
import os
import secrets
import time
from contextvars import ContextVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NAME_ALPHABET = ALPHABET[:10] + ALPHABET[36:]
KEY_BYTES = 32
SIGNING_KEY = "whsec_"
_RANDOM_LENGTH = 14  # 62**14 is about 2**83: no collision in any installation's life
_STABLE_LENGTH = 12
_NONCE_BYTES = 12
# Where a request made while another is answered finds the other's id, which it shares.
REQUEST_ENVIRON = "patchbay.request_id"
_request: ContextVar[str] = ContextVar("request_id", default="")


class CannotOpen(ValueError):
    """A sealed value that was made with another key or for another place, or that was changed."""


def new_id(prefix: str) -> str:
    """A fresh random id such as ``apn_8sKx2QeTn0bV4c``; ``prefix`` without its underscore."""
    return f"{prefix}_{random_base62(_RANDOM_LENGTH)}"


def ordered_id(prefix: str) -> str:
    """A fresh id that sorts after those made before it on this machine; for rows that share a millisecond."""
    return f"{prefix}_{_base62(time.time_ns())}{random_base62(6)}"


def ordered_id_at(prefix: str, at: int) -> str:
    """What sorts before each ordered id that was made at ``at`` (epoch milliseconds) or later, and behind the rest."""
    return f"{prefix}_{_base62(at * 1_000_000)}"


def stable_id(prefix: str, *parts: str) -> str:
    """The same id for the same ``parts`` on every machine, such as an app's by its slug."""
    digest = hashlib.sha256("\x1f".join((prefix, *parts)).encode()).digest()
    number = int.from_bytes(digest, "big")
    return f"{prefix}_{_base62(number % 62**_STABLE_LENGTH)}"


def random_base62(length: int) -> str:
    """``length`` random base62 characters from the system's secure source."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def random_name(length: int) -> str:
    """``length`` random lower-case letters and digits, for addresses, whose letter case gets lost on the way."""
    return "".join(secrets.choice(_NAME_ALPHABET) for _ in range(length))


def hash_token(token: str) -> str:
    """The SHA-256 of a bearer token in hex: what is stored in its place. Tokens are random, so no salt is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def same(value: str, other: str) -> bool:
    """Whether two strings are equal, in constant time."""
    return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def new_key() -> bytes:
    """A fresh 256-bit key."""
    return secrets.token_bytes(KEY_BYTES)


def derive(key: bytes, purpose: str) -> bytes:
    """A 256-bit key for one ``purpose``, derived from ``key``; other purposes give unrelated keys."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose.encode()).derive(key)


def seal(key: bytes, plain: bytes, context: str) -> bytes:
    """``plain`` encrypted and bound to ``context``: nonce, then ciphertext with its tag."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, context.encode())


def open_sealed(key: bytes, sealed: bytes, context: str) -> bytes:
    """The bytes that :func:`seal` was given. Raises :class:`CannotOpen`."""
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context.encode())
    except (InvalidTag, ValueError) as error:
        raise CannotOpen(f"the sealed value for {context} does not open with this key") from error


def new_signing_key() -> str:
    """A fresh key that deliveries are signed with, such as ``whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw…``."""
    return SIGNING_KEY + base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


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
