"""Functions for identifiers, tokens, keys and sealed values, and the id of the current request.

An identifier is a prefix for its kind and base62: random, or a stable hash. Tokens are random and stored as their hash.
Values are sealed with AES-256-GCM (NIST SP 800-38D), a random 96-bit nonce and the caller's context as additional data,
so that they open only in the row and field that they were sealed for. Keys are derived with HKDF-SHA256 (RFC 5869);
storing them is left to the caller. The request id connects the log lines, the response and the errors of a request.
"""

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
_RANDOM_LENGTH = 14  # 62**14 is about 2**83: collisions are practically impossible
_STABLE_LENGTH = 12
_NONCE_BYTES = 12
# The WSGI environ key of the request id that an internal request shares with the one that makes it.
REQUEST_ENVIRON = "patchbay.request_id"
_request: ContextVar[str] = ContextVar("request_id", default="")


class CannotOpen(ValueError):
    """The value was sealed with another key or for another context, or it was changed."""


def new_id(prefix: str) -> str:
    """A new random id such as ``apn_8sKx2QeTn0bV4c``; ``prefix`` is without the underscore."""
    return f"{prefix}_{random_base62(_RANDOM_LENGTH)}"


def ordered_id(prefix: str) -> str:
    """A new id that sorts after earlier ones of this machine, even within the same millisecond."""
    return f"{prefix}_{_base62(time.time_ns())}{random_base62(6)}"


def ordered_id_at(prefix: str, at: int) -> str:
    """The lower bound of the ordered ids that were made at ``at`` (epoch milliseconds) or later."""
    return f"{prefix}_{_base62(at * 1_000_000)}"


def stable_id(prefix: str, *parts: str) -> str:
    """An id derived from ``parts``, the same on every machine, such as that of an app from its slug."""
    digest = hashlib.sha256("\x1f".join((prefix, *parts)).encode()).digest()
    number = int.from_bytes(digest, "big")
    return f"{prefix}_{_base62(number % 62**_STABLE_LENGTH)}"


def random_base62(length: int) -> str:
    """``length`` random base62 characters from the system's secure source."""
    return _base62(secrets.randbelow(62**length), length)


def random_name(length: int) -> str:
    """``length`` random lower-case letters and digits, for host names and mail addresses, which ignore case."""
    return "".join(secrets.choice(_NAME_ALPHABET) for _ in range(length))


def hash_token(token: str) -> str:
    """The SHA-256 of a bearer token in hex, to be stored. Tokens are random, so it needs no salt."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def same(value: str, other: str) -> bool:
    """Whether two strings are equal, in constant time."""
    return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def new_key() -> bytes:
    """A new random 256-bit key."""
    return secrets.token_bytes(KEY_BYTES)


def derive(key: bytes, purpose: str) -> bytes:
    """A 256-bit key for ``purpose``, derived from ``key``; keys of different purposes are unrelated."""
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


def begin_request(shared: str | None = None) -> tuple[str, str]:
    """Set the id of the request that begins: ``shared`` or a new one. Returns it with the id before, as the argument
    for :func:`end_request`."""
    before, own = _request.get() if shared else "", shared or secrets.token_hex(8)
    _request.set(own)
    return own, before


def end_request(ids: tuple[str, str]) -> None:
    """Restore the id before, unless another request has begun, or the one around this one has ended."""
    own, before = ids
    if _request.get() == own:
        _request.set(before)


def request_id() -> str:
    """The id of the current request, or "" outside of requests."""
    return _request.get()


def _base62(number: int, length: int = _STABLE_LENGTH) -> str:
    """``number`` in base62, in at least ``length`` characters."""
    digits = []
    while number:
        number, rest = divmod(number, 62)
        digits.append(ALPHABET[rest])
    return "".join(reversed(digits)).rjust(length, ALPHABET[0])
