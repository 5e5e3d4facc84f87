"""Pure cryptographic helpers: sealing and deriving. No keys are kept here.

AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce and the caller's context as additional data, so that a
sealed value opens only in the row and field it was made for; HKDF-SHA256 (RFC 5869).
"""

import os
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
_NONCE_BYTES = 12


class CannotOpen(ValueError):
    """A sealed value that was made with another key or for another place, or that was changed."""


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
