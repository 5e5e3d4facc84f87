"""Recovery codes, each of which stands in for the authenticator app once. This module owns ``recovery_codes``.

They are random and kept as their SHA-256, so that they are shown once.
"""

import secrets

from webapp.kit.crypto import hash_token
from webapp.store.contract import Reader, Tx

COUNT = 10
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that is read as something else
_PARTS, _PART_LENGTH = 3, 4  # 31**12 codes: about 2**59


def replace_all(tx: Tx, user_id: str) -> list[str]:
    """New codes for a person, in place of any before. They exist nowhere else."""
    drop(tx, user_id)
    codes = [_code() for _ in range(COUNT)]
    for code in codes:
        tx.run(
            "INSERT INTO recovery_codes (code_hash, user_id) VALUES (:hash, :user)",
            {"hash": _hash(user_id, code), "user": user_id},
        )
    return codes


def use(tx: Tx, user_id: str, code: str) -> bool:
    """Whether ``code`` is one of the person's; it is used up."""
    sql = "DELETE FROM recovery_codes WHERE code_hash = :hash AND user_id = :user"
    return bool(tx.run(sql, {"hash": _hash(user_id, code), "user": user_id}))


def left(reader: Reader, user_id: str) -> int:
    """How many codes a person has left."""
    return int(reader.tuples("SELECT COUNT(*) FROM recovery_codes WHERE user_id = :user", {"user": user_id})[0][0])


def drop(tx: Tx, user_id: str) -> None:
    """Forget the codes of a person."""
    tx.run("DELETE FROM recovery_codes WHERE user_id = :user", {"user": user_id})


def _code() -> str:
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(_PART_LENGTH)) for _ in range(_PARTS))


def _hash(user_id: str, code: str) -> str:
    plain = "".join(character for character in code.lower() if character in _ALPHABET)
    return hash_token(f"{user_id}|{plain}")
