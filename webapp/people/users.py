"""The people who sign in: their address, role and password. This module owns the table ``users``.

It promises that a password is stored as an Argon2id hash alone and that checking one takes the same time whether
the address is known or not. Limiting how often somebody may try is left to :mod:`webapp.people.attempts`.
"""

import re
import threading
import unicodedata
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from webapp import audit
from webapp.errors import Conflict, Detail, Invalid
from webapp.kit.clock import Clock
from webapp.kit.crypto import new_id
from webapp.kit.translation import gettext
from webapp.store.contract import Store, Tx
from webapp.store.table import Table

ROLES = ("owner", "developer", "member")
MIN_PASSWORD, MAX_PASSWORD = 10, 1_000
MAX_EMAIL = 254  # RFC 5321 section 4.5.3.1.3, without the angle brackets

# OWASP's Password Storage Cheat Sheet: Argon2id with 19 MiB, two passes, one lane. Two at a time bound the memory.
_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_turns = threading.BoundedSemaphore(2)
# The hash of a random password nobody kept: what an unknown address is checked against.
_DUMMY = "$argon2id$v=19$m=19456,t=2,p=1$EBz7Q1ksCSDdBjRWMKEUDw$knR+6ut4ShpHTvVSy5gfRwLl2SdnxE3JsgO/kt121AY"
_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f<>()\[\],;:\\\"]{1,64}@[^\s@\x00-\x1f\x7f<>()\[\],;:\\\"]+")


@dataclass(frozen=True, slots=True)
class User:
    """A person who can sign in. Times are epoch milliseconds."""

    id: str
    email: str
    role: str
    created_at: int
    updated_at: int


_USERS = Table("users", User, write_only=("password_hash",))


@dataclass(frozen=True, slots=True)
class NewUser:
    """A person whose address, password and role were checked and whose password is hashed, ready to be stored."""

    user: User
    password_hash: str


def create(store: Store, clock: Clock, *, email: str, password: str, role: str) -> User:
    """Create a person. Raises :class:`Invalid` with a detail per field, :class:`Conflict` for a known address."""
    new = prepare(clock, email=email, password=password, role=role)
    with store.write() as tx:
        return insert(tx, new)


def prepare(clock: Clock, *, email: str, password: str, role: str) -> NewUser:
    """Check what a person gave and hash the password (slow on purpose: call it outside transactions).

    Raises :class:`Invalid` with a detail per field.
    """
    if role not in ROLES:
        raise Invalid(f"The role must be {', '.join(ROLES[:-1])} or {ROLES[-1]}.", [Detail("role", "Unknown role.")])
    email, problems = _checked_email(email)
    password, weak = _checked_password(password)
    if problems or weak:
        details = problems + weak
        raise Invalid(details[0].message, details)
    now = clock()
    return NewUser(User(new_id("u"), email, role, now, now), _hash(password))


def insert(tx: Tx, new: NewUser) -> User:
    """Store a prepared person. Raises :class:`Conflict` when the address is taken."""
    user = new.user
    if tx.one("SELECT 1 FROM users WHERE email = :email", {"email": user.email}):
        raise Conflict(f"{user.email} already has a login here; sign in with it, or use another address.")
    _USERS.insert(tx, user, password_hash=new.password_hash)
    audit.write(tx, user.created_at, "person", user.id, "created", f"Gave a person a login as {user.role}.")
    return user


def authenticate(store: Store, *, email: str, password: str) -> User | None:
    """The person with this address and password, or none; both answers take the same time."""
    user = by_email(store, email)
    matches = _verify(_password_hash(store, user), unicodedata.normalize("NFKC", password)[:MAX_PASSWORD])
    return user if matches else None


def has_password(store: Store, user_id: str, password: str) -> bool:
    """Whether ``password`` is this person's; asked again before it is changed."""
    user = by_id(store, user_id)
    return _verify(_password_hash(store, user), unicodedata.normalize("NFKC", password)) and user is not None


def set_password(store: Store, clock: Clock, *, user_id: str, password: str) -> None:
    """Give a person another password. Raises :class:`Invalid`; ending their sessions is up to the caller."""
    password, problems = _checked_password(password)
    if problems:
        raise Invalid(problems[0].message, problems)
    hashed = _hash(password)
    with store.write() as tx:
        _USERS.update(tx, user_id, password_hash=hashed, updated_at=clock())
        audit.write(tx, clock(), "person", user_id, "password_changed", "Gave a person another password.")


def by_id(store: Store, user_id: str) -> User | None:
    """The person with this id, if any."""
    return _USERS.get(store, user_id)


def by_email(store: Store, email: str) -> User | None:
    """The person with this address, if any; letter case does not matter."""
    return _USERS.one(store, "email = :email", {"email": normal_email(email)})


def all_users(store: Store) -> list[User]:
    """Everybody who can sign in, oldest first."""
    return _USERS.all(store, "1 = 1 ORDER BY created_at, id")


def any_user(reader: Store | Tx) -> bool:
    """Whether anybody can sign in yet."""
    return reader.one("SELECT 1 FROM users LIMIT 1") is not None


def normal_email(email: str) -> str:
    """``email`` as it is stored and compared: trimmed, composed (NFC) and lower-cased."""
    storable = email.encode("utf-8", "replace").decode()
    return unicodedata.normalize("NFC", storable.strip()).lower()


def _checked_email(email: str) -> tuple[str, list[Detail]]:
    email = normal_email(email)
    if not email:
        return email, [Detail("email", gettext("Enter your e-mail address."))]
    if len(email) > MAX_EMAIL or not _EMAIL.fullmatch(email):
        sentence = gettext("That is not an e-mail address; write it as name@example.com.")
        return email, [Detail("email", sentence)]
    return email, []


def _checked_password(password: str) -> tuple[str, list[Detail]]:
    if not _encodes(password):
        sentence = gettext("The password has a character that cannot be stored; leave it out.")
        return password, [Detail("password", sentence)]
    password = unicodedata.normalize("NFKC", password)  # NIST SP 800-63B: the same keys give the same password
    if len(password) < MIN_PASSWORD:
        sentence = gettext("Use at least {count} characters; a few words make a good one.").format(count=MIN_PASSWORD)
        return password, [Detail("password", sentence)]
    if len(password) > MAX_PASSWORD:
        sentence = gettext("Use at most {count} characters.").format(count=f"{MAX_PASSWORD:,}")
        return password, [Detail("password", sentence)]
    return password, []


def _encodes(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _password_hash(store: Store, user: User | None) -> str:
    """What a password is checked against; for nobody, a hash that takes as long and matches nothing."""
    row = store.one("SELECT password_hash FROM users WHERE id = :id", {"id": user.id if user else ""})
    return str(row["password_hash"]) if row else _DUMMY


def _hash(password: str) -> str:
    with _turns:
        return _hasher.hash(password)


def _verify(stored: str, password: str) -> bool:
    if not _encodes(password):
        password = ""
    with _turns:
        try:
            return _hasher.verify(stored, password)
        except VerificationError:
            return False
