"""Codes of authenticator apps (TOTP, RFC 6238), asked for after the password, and the recovery codes that stand in for
the app, once each. This module owns ``totp_secrets`` and ``recovery_codes``.

A secret counts once a first code has proved that the app knows it. A code is taken from half a minute before its time
to half a minute after, and none twice (section 5.2). The secret is kept sealed. Recovery codes are random and kept as
their SHA-256, so that they are shown once.
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
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that is read as something else
_PARTS, _PART_LENGTH = 3, 4  # 31**12 codes: about 2**59
STEP_S = 30


def replace_recovery_codes(tx: Tx, user_id: str) -> list[str]:
    """New codes for a person, in place of any before. They exist nowhere else."""
    drop_recovery_codes(tx, user_id)
    codes = [_code() for _ in range(COUNT)]
    for code in codes:
        tx.run(
            "INSERT INTO recovery_codes (code_hash, user_id) VALUES (:hash, :user)",
            {"hash": _hash(user_id, code), "user": user_id},
        )
    return codes


def use_recovery_code(tx: Tx, user_id: str, code: str) -> bool:
    """Whether ``code`` is one of the person's; it is used up."""
    sql = "DELETE FROM recovery_codes WHERE code_hash = :hash AND user_id = :user"
    return bool(tx.run(sql, {"hash": _hash(user_id, code), "user": user_id}))


def recovery_codes_left(reader: Reader, user_id: str) -> int:
    """How many codes a person has left."""
    return int(reader.tuples("SELECT COUNT(*) FROM recovery_codes WHERE user_id = :user", {"user": user_id})[0][0])


def drop_recovery_codes(tx: Tx, user_id: str) -> None:
    """Forget the codes of a person."""
    tx.run("DELETE FROM recovery_codes WHERE user_id = :user", {"user": user_id})


def _code() -> str:
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(_PART_LENGTH)) for _ in range(_PARTS))


def _hash(user_id: str, code: str) -> str:
    plain = "".join(character for character in code.lower() if character in _ALPHABET)
    return hash_token(f"{user_id}|{plain}")


class Sealer(Protocol):
    """Seals secrets for the rows of one table, and opens them."""

    def seal(self, tx: Tx, row: str, plain: bytes) -> bytes:
        """``plain`` as it is kept in ``row``."""
        ...

    def open(self, row: str, box: bytes) -> bytes:
        """What was sealed."""
        ...


@dataclass(frozen=True, slots=True)
class TotpSecret:
    """A person's secret. Times are epoch milliseconds."""

    user_id: str
    secret_sealed: bytes = field(repr=False)
    last_step: int
    created_at: int
    enabled_at: int | None


_SECRETS = Table("totp_secrets", TotpSecret, key="user_id")


@dataclass(frozen=True, slots=True)
class Totp:
    """What the verbs work with."""

    store: Store
    clock: Clock
    sealer: Sealer

    def begin(self, user: User) -> str:
        """The secret for the app of ``user``, the same until it is proved. Raises :class:`Conflict` when it was."""
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
        """Switch it on, where ``code`` is right; the recovery codes, which are shown this once."""
        with self.store.write() as tx:
            kept = _SECRETS.get(tx, user.id)
            if kept is None or kept.enabled_at is not None or not self._take(tx, kept, code):
                return None
            _SECRETS.update(tx, user.id, enabled_at=self.clock())
            audit.write(tx, self.clock(), "person", user.id, "two_step_on", "Switched two-step sign-in on.")
            return replace_recovery_codes(tx, user.id)

    def accepts(self, user: User, code: str) -> bool:
        """Whether ``code`` is right now, or one of the recovery codes; either is used up."""
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
        """Whether ``code`` is right now and was not taken before."""
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
    """Whether a person is asked for a code."""
    kept = _SECRETS.get(reader, user_id)
    return kept is not None and kept.enabled_at is not None


def everybody(reader: Reader) -> set[str]:
    """The ids of all who are asked for a code."""
    return {kept.user_id for kept in _SECRETS.all(reader, "enabled_at IS NOT NULL")}


def disable(tx: Tx, now: int, user_id: str) -> bool:
    """Ask a person for codes no more; whether that was so before."""
    was_on = is_on(tx, user_id)
    _SECRETS.delete(tx, user_id)
    drop_recovery_codes(tx, user_id)
    if was_on:
        audit.write(tx, now, "person", user_id, "two_step_off", "Switched two-step sign-in off.")
    return was_on


def address(secret: str, user: User, issuer: str) -> str:
    """What the app reads from a QR code: ``otpauth://totp/…``."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=issuer)
