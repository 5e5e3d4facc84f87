"""Identifiers: a prefix that names the kind, then base62. Random, or a stable hash of what they name."""

import hashlib
import secrets
import time

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_LENGTH = 14  # 62**14 is about 2**83: no collision in any installation's life
_STABLE_LENGTH = 12


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


def _base62(number: int) -> str:
    digits = []
    while number:
        number, rest = divmod(number, 62)
        digits.append(ALPHABET[rest])
    return "".join(reversed(digits)).rjust(_STABLE_LENGTH, "0")
