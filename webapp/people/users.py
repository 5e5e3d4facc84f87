"""The people who sign in: their e-mail address, role and password. This module owns the table ``users``.

Once there is an owner, at least one owner stays enabled. What each role may do is decided in
:mod:`webapp.people.roles`. Limiting password attempts is left to :mod:`webapp.people.sign_in_attempts`, and ending
sessions and tokens of disabled or removed users to :mod:`webapp.people.logins`.
"""

import re
import unicodedata
from dataclasses import dataclass, replace

from webapp import audit
from webapp.errors import Conflict, Detail, Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import Clock
from webapp.kit.crypto import new_id
from webapp.kit.translation import gettext
from webapp.people import passwords, roles
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

MAX_EMAIL = 254  # RFC 5321 section 4.5.3.1.3, without the angle brackets
_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f<>()\[\],;:\\\"]{1,64}@[^\s@\x00-\x1f\x7f<>()\[\],;:\\\"]+")


def normal_email(email: str) -> str:
    """``email`` as it is stored and compared: trimmed, composed (NFC) and lower-cased."""
    storable = email.encode("utf-8", "replace").decode()
    return unicodedata.normalize("NFC", storable.strip()).lower()


def checked_email(email: str) -> tuple[str, list[Detail]]:
    """``email`` as it is stored, and what is wrong with it."""
    email = normal_email(email)
    if not email:
        return email, [Detail("email", gettext("Enter your e-mail address."))]
    if len(email) > MAX_EMAIL or not _EMAIL.fullmatch(email):
        sentence = gettext("That is not an e-mail address; write it as name@example.com.")
        return email, [Detail("email", sentence)]
    return email, []


@dataclass(frozen=True, slots=True)
class User:
    """A person who can sign in, unless they were disabled. Times are epoch milliseconds.

    ``seen_at`` is when one of their browsers last made a request, to the minute; None before the first sign-in.
    """

    id: str
    email: str
    role: str
    created_at: int
    updated_at: int
    disabled_at: int | None = None
    seen_at: int | None = None

    @property
    def enabled(self) -> bool:
        """Whether the person may sign in."""
        return self.disabled_at is None


_USERS = Table("users", User, write_only=("password_hash",))


@dataclass(frozen=True, slots=True)
class NewUser:
    """A checked person with a hashed password, ready to be stored."""

    user: User
    password_hash: str


def create(store: Store, clock: Clock, *, email: str, password: str, role: str) -> User:
    """Create a person. Raises :class:`Invalid` with a detail per field, :class:`Conflict` for a known address."""
    new = prepare(clock, email=email, password=password, role=role)
    with store.write() as tx:
        return insert(tx, new)


def prepare(clock: Clock, *, email: str, password: str, role: str) -> NewUser:
    """Check the values and hash the password (slow on purpose: call it outside transactions).

    Raises :class:`Invalid` with a detail per field.
    """
    roles.check(role)
    email, problems = checked_email(email)
    password, weak = passwords.checked(password)
    if problems or weak:
        details = problems + weak
        raise Invalid(details[0].message, details)
    now = clock()
    return NewUser(User(new_id("u"), email, role, now, now), passwords.hashed(password))


def insert(tx: Tx, new: NewUser) -> User:
    """Store a prepared person. Raises :class:`Conflict` when the address is taken."""
    user = new.user
    if tx.one("SELECT 1 FROM users WHERE email = :email", {"email": user.email}):
        raise Conflict(f"{user.email} already has a login here; sign in with it, or use another address.")
    _USERS.insert(tx, user, password_hash=new.password_hash)
    audit.write(tx, user.created_at, "person", user.id, "created", f"Gave a person a login as {user.role}.")
    return user


def authenticate(store: Store, *, email: str, password: str) -> User | None:
    """The person with this address and password, or None; both answers take the same time.

    The caller checks whether the person is enabled.
    """
    user = by_email(store, email)
    right = passwords.matches(_password_hash(store, user), password)
    return user if right else None


def has_any_password(reader: Reader, user_id: str) -> bool:
    """Whether a person has a password, and does not sign in only with an OpenID provider."""
    return bool(_password_hash(reader, by_id(reader, user_id)))


def has_password(store: Store, user_id: str, password: str) -> bool:
    """Whether ``password`` is this person's, which is checked before it is changed."""
    return passwords.matches(_password_hash(store, by_id(store, user_id)), password)


def set_password(tx: Tx, now: int, user_id: str, password_hash: str) -> None:
    """Change a person's password. The caller ends their sessions."""
    _USERS.update(tx, user_id, password_hash=password_hash, updated_at=now)
    audit.write(tx, now, "person", user_id, "password_changed", "Gave a person another password.")


def set_role(tx: Tx, now: int, user: User, role: str) -> User:
    """Change a person's role. Raises :class:`Invalid`, and :class:`Conflict` for the last owner."""
    roles.check(role)
    if role == user.role:
        return user
    keep_an_owner(tx, user)
    _USERS.update(tx, user.id, role=role, updated_at=now)
    audit.write(tx, now, "person", user.id, "role_changed", f"Made a person {role}, who was {user.role} before.")
    return replace(user, role=role, updated_at=now)


def set_enabled(tx: Tx, now: int, user: User, enabled: bool) -> User:
    """Enable or disable a person. Raises :class:`Conflict` for the last owner."""
    if enabled == user.enabled:
        return user
    disabled_at = None if enabled else now
    if not enabled:
        keep_an_owner(tx, user)
    _USERS.update(tx, user.id, disabled_at=disabled_at, updated_at=now)
    verb, sentence = ("enabled", "Let a person sign in again.") if enabled else ("disabled", "Disabled a login.")
    audit.write(tx, now, "person", user.id, verb, sentence)
    return replace(user, disabled_at=disabled_at, updated_at=now)


def mark_seen(tx: Tx, now: int, user_id: str) -> None:
    """Record that a person made a request at ``now``."""
    _USERS.update(tx, user_id, seen_at=now)


def remove(tx: Tx, now: int, user: User) -> None:
    """Delete a person with their sessions, key and preferences. Raises :class:`Conflict` for the last owner."""
    keep_an_owner(tx, user)
    _USERS.delete(tx, user.id)
    audit.write(tx, now, "person", user.id, "deleted", f"Removed the login of a person, who was {user.role}.")


def get(reader: Reader, user_id: str) -> User:
    """The person with this id. Raises :class:`NotFound`."""
    user = by_id(reader, user_id)
    if user is None:
        raise NotFound("There is no such login.")
    return user


def by_id(reader: Reader, user_id: str) -> User | None:
    """The person with this id, or None."""
    return _USERS.get(reader, user_id)


def by_email(reader: Reader, email: str) -> User | None:
    """The person with this address, ignoring case, or None."""
    return _USERS.one(reader, "email = :email", {"email": normal_email(email)})


def page(reader: Reader, window: cursors.Window) -> cursors.Page[User]:
    """A page of people, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return _USERS.page(reader, window, "1 = 1")


def all_users(store: Store) -> list[User]:
    """Everybody who has a login, oldest first."""
    return _USERS.all(store, "1 = 1 ORDER BY created_at, id")


def of_role(store: Store, role: str, limit: int) -> list[User]:
    """The first people with that role, oldest first."""
    return _USERS.all(store, "role = :role ORDER BY created_at, id LIMIT :limit", {"role": role, "limit": limit})


def any_user(reader: Store | Tx) -> bool:
    """Whether there is a user yet."""
    return reader.one("SELECT 1 FROM users LIMIT 1") is not None


def keep_an_owner(tx: Tx, user: User) -> None:
    """Raise :class:`Conflict` if ``user`` is the only enabled owner."""
    others = _USERS.count(tx, "role = 'owner' AND disabled_at IS NULL AND id <> :id", {"id": user.id})
    if roles.is_owner(user.role) and user.enabled and not others:
        raise Conflict(f"{user.email} is the only owner who can sign in; make somebody else an owner first.")


def _password_hash(reader: Reader, user: User | None) -> str | None:
    """The stored hash of a person's password; None for no person."""
    row = reader.one("SELECT password_hash FROM users WHERE id = :id", {"id": user.id if user else ""})
    return str(row["password_hash"]) if row else None
