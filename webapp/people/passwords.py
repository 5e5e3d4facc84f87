"""Which passwords users may choose, and how passwords are hashed and verified.

Only an Argon2id hash of a password is stored. Verifying takes the same time whether or not there is a hash.
"""

import functools
import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from webapp.errors import Detail, Invalid
from webapp.kit.slots import this_thread
from webapp.kit.translation import gettext

MIN_PASSWORD, MAX_PASSWORD = 10, 1_000
NONE = ""  # in place of a hash: no password is right

# OWASP's Password Storage Cheat Sheet: Argon2id with 19 MiB, two passes, one lane. Two at a time limit the memory.
_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_concurrent_hashes = threading.BoundedSemaphore(2)
# The hash of a random password that was thrown away: what passwords for unknown addresses are verified against.
_DUMMY = "$argon2id$v=19$m=19456,t=2,p=1$EBz7Q1ksCSDdBjRWMKEUDw$knR+6ut4ShpHTvVSy5gfRwLl2SdnxE3JsgO/kt121AY"


def checked(password: str) -> tuple[str, list[Detail]]:
    """``password`` normalized as NIST SP 800-63B section 5.1.1.2 asks, and what is wrong with it."""
    if not _encodes(password):
        sentence = gettext("The password has a character that cannot be stored; leave it out.")
        return password, [Detail("password", sentence)]
    password = unicodedata.normalize("NFKC", password)
    if len(password) < MIN_PASSWORD:
        sentence = gettext("Use at least {count} characters; a few words make a good one.").format(count=MIN_PASSWORD)
        return password, [Detail("password", sentence)]
    if len(password) > MAX_PASSWORD:
        sentence = gettext("Use at most {count} characters.").format(count=f"{MAX_PASSWORD:,}")
        return password, [Detail("password", sentence)]
    if password.lower() in _common():
        sentence = gettext(
            "Many people use this password, so attackers try it first. Choose another; a few words make a good one."
        )
        return password, [Detail("password", sentence)]
    return password, []


def prepared(password: str) -> str:
    """The hash of a password that a user chose; slow, like :func:`hashed`. Raises :class:`Invalid`."""
    password, problems = checked(password)
    if problems:
        raise Invalid(problems[0].message, problems)
    return hashed(password)


def hashed(password: str) -> str:
    """The hash of a :func:`checked` password; slow on purpose, so call it outside transactions."""
    with this_thread.waiting, _concurrent_hashes:
        return _hasher.hash(password)


def matches(stored: str | None, password: str) -> bool:
    """Whether ``stored`` is the hash of ``password``; False without a hash, after the same time."""
    password = unicodedata.normalize("NFKC", password)[:MAX_PASSWORD] if _encodes(password) else ""
    with this_thread.waiting, _concurrent_hashes:
        try:
            return _hasher.verify(stored or _DUMMY, password) and bool(stored)
        except VerificationError:
            return False


@functools.cache
def _common() -> frozenset[str]:
    """The most common passwords, in lower case. The list is large and is loaded on first use."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # type: ignore[import-untyped]  # it has no type hints

    return frozenset(word for word in FREQUENCY_LISTS["passwords"] if len(word) >= MIN_PASSWORD)


def _encodes(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
