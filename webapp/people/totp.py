"""Two-step sign-in with authenticator apps (TOTP, RFC 6238), and recovery codes that each replace the app once. This
module owns ``totp_secrets`` and ``recovery_codes``.

Two-step sign-in is on after a first code has proved that the app has the secret. A code is accepted from half a minute
before its time to half a minute after, and never twice (section 5.2). Secrets are stored sealed, recovery codes as
their SHA-256, so both are shown only once.
"""

import secrets
from dataclasses import dataclass, field
from typing import Protocol

import pyotp

from webapp import audit
from webapp.errors import Conflict
from webapp.kit.clock import SECOND, Clock
from webapp.kit.crypto import hash_token, same
from webapp.people.users import User
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

COUNT = 10
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # without characters that look alike
_PARTS, _PART_LENGTH = 3, 4  # 31**12 codes: about 2**59
STEP_S = 30


def replace_recovery_codes(tx: Tx, user_id: str) -> list[str]:
    """New recovery codes for a user, which replace any earlier ones. Only their hashes are stored."""
    drop_recovery_codes(tx, user_id)
    codes = [_code() for _ in range(COUNT)]
    for code in codes:
        tx.run(
            "INSERT INTO recovery_codes (code_hash, user_id) VALUES (:hash, :user)",
            {"hash": _hash(user_id, code), "user": user_id},
        )
    return codes


def use_recovery_code(tx: Tx, user_id: str, code: str) -> bool:
    """Delete the recovery code ``code``. Returns whether it was one of the user's."""
    sql = "DELETE FROM recovery_codes WHERE code_hash = :hash AND user_id = :user"
    return bool(tx.run(sql, {"hash": _hash(user_id, code), "user": user_id}))


def recovery_codes_left(reader: Reader, user_id: str) -> int:
    """How many unused recovery codes a user has."""
    return int(reader.tuples("SELECT COUNT(*) FROM recovery_codes WHERE user_id = :user", {"user": user_id})[0][0])


def drop_recovery_codes(tx: Tx, user_id: str) -> None:
    """Delete a user's recovery codes."""
    tx.run("DELETE FROM recovery_codes WHERE user_id = :user", {"user": user_id})


def _code() -> str:
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(_PART_LENGTH)) for _ in range(_PARTS))


def _hash(user_id: str, code: str) -> str:
    plain = "".join(character for character in code.lower() if character in _ALPHABET)
    return hash_token(f"{user_id}|{plain}")


class Sealer(Protocol):
    """Seals (encrypts) secrets for the rows of one table, and opens them."""

    def seal(self, tx: Tx, row: str, plain: bytes) -> bytes:
        """``plain``, sealed for ``row``."""
        ...

    def open(self, row: str, box: bytes) -> bytes:
        """The plain text of ``box``, which was sealed for ``row``."""
        ...


@dataclass(frozen=True, slots=True)
class TotpSecret:
    """A user's TOTP secret. Times are epoch milliseconds; ``enabled_at`` is None until the first code was right."""

    user_id: str
    secret_sealed: bytes = field(repr=False)
    last_step: int
    created_at: int
    enabled_at: int | None


_SECRETS = Table("totp_secrets", TotpSecret, key="user_id")


@dataclass(frozen=True, slots=True)
class Totp:
    """Switches two-step sign-in on and verifies codes."""

    store: Store
    clock: Clock
    sealer: Sealer

    def begin(self, user: User) -> str:
        """The secret for the user's app, the same until it is enabled. Raises :class:`Conflict` if it is enabled."""
        with self.store.write() as tx:
            kept = _SECRETS.get(tx, user.id)
            if kept is None:
                secret = pyotp.random_base32()
                sealed = self.sealer.seal(tx, user.id, secret.encode())
                _SECRETS.insert(tx, TotpSecret(user.id, sealed, 0, self.clock(), None))
                return secret
        if kept.enabled_at is not None:
            raise Conflict("Two-step sign-in is on already.")
        return self._open(kept)

    def enable(self, user: User, code: str) -> list[str] | None:
        """Switch two-step sign-in on and return the recovery codes, or None if ``code`` is wrong."""
        with self.store.write() as tx:
            kept = _SECRETS.get(tx, user.id)
            if kept is None or kept.enabled_at is not None or not self._take(tx, kept, code):
                return None
            _SECRETS.update(tx, user.id, enabled_at=self.clock())
            audit.write(tx, self.clock(), "person", user.id, "two_step_on", "Switched two-step sign-in on.")
            return replace_recovery_codes(tx, user.id)

    def accepts(self, user: User, code: str) -> bool:
        """Whether ``code`` is a current code or a recovery code. Neither is accepted again."""
        with self.store.write() as tx:
            kept = _SECRETS.get(tx, user.id)
            if kept is None or kept.enabled_at is None:
                return False
            if self._take(tx, kept, code):
                return True
            recovered = use_recovery_code(tx, user.id, code)
            if recovered:
                audit.write(tx, self.clock(), "person", user.id, "recovered", "Signed in with a recovery code.")
            return recovered

    def _take(self, tx: Tx, kept: TotpSecret, code: str) -> bool:
        """Whether ``code`` is a current code that was not used before; records it as used."""
        plain, generator = "".join(code.split()).replace("-", ""), pyotp.TOTP(self._open(kept))
        now = self.clock() // SECOND // STEP_S
        steps = [step for step in (now - 1, now, now + 1) if same(generator.generate_otp(step), plain)]
        if not steps or steps[-1] <= kept.last_step:
            return False
        _SECRETS.update(tx, kept.user_id, last_step=steps[-1])
        return True

    def _open(self, kept: TotpSecret) -> str:
        return self.sealer.open(kept.user_id, kept.secret_sealed).decode()


def is_on(reader: Reader, user_id: str) -> bool:
    """Whether a user's sign-in asks for a code."""
    kept = _SECRETS.get(reader, user_id)
    return kept is not None and kept.enabled_at is not None


def user_ids(reader: Reader) -> set[str]:
    """The ids of the users whose sign-in asks for a code."""
    return {kept.user_id for kept in _SECRETS.all(reader, "enabled_at IS NOT NULL")}


def disable(tx: Tx, now: int, user_id: str) -> bool:
    """Switch two-step sign-in off for a user. Returns whether it was on."""
    was_on = is_on(tx, user_id)
    _SECRETS.delete(tx, user_id)
    drop_recovery_codes(tx, user_id)
    if was_on:
        audit.write(tx, now, "person", user_id, "two_step_off", "Switched two-step sign-in off.")
    return was_on


def address(secret: str, user: User, issuer: str) -> str:
    """The ``otpauth://totp/…`` URL that the app reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=issuer)
