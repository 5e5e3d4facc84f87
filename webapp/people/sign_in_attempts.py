"""Rate limits for password and code attempts, with delays that grow. This module owns ``sign_in_failures``.

An attempt counts towards the account at its network address, towards the address, and, with a higher limit, towards
the account from any address, so an attacker hardly delays the user. A device on which the user has signed in before
has only its own count. Where client addresses are unknown, only the account is counted. Each attempt is counted before
the password is checked and uncounted when it succeeds, so concurrent attempts cannot evade the limit. An unknown
e-mail address counts like a known one, so the answer does not reveal which addresses have a login.
"""

from dataclasses import dataclass

from webapp.kit.clock import HOUR, MINUTE, SECOND, Clock
from webapp.kit.crypto import hash_token
from webapp.kit.networks import network_of
from webapp.people import users
from webapp.store.contract import Row, Store, Tx

Delays = tuple[tuple[int, int], ...]
# (failures, delay of the next attempt in milliseconds): the longest delay whose number of failures is reached applies.
OWN_DELAYS: Delays = ((5, 15 * SECOND), (7, MINUTE), (9, 5 * MINUTE), (12, 15 * MINUTE))
ADDRESS_DELAYS: Delays = ((20, 15 * SECOND), (30, MINUTE), (50, 15 * MINUTE))
ACCOUNT_DELAYS: Delays = ((30, 15 * SECOND), (60, MINUTE), (120, 5 * MINUTE))
FORGET_AFTER = HOUR


@dataclass(frozen=True, slots=True)
class Source:
    """Where an attempt comes from. ``address`` is None where it is unknown; ``device`` identifies a known device.

    Each ``step`` of signing in has its own count: a correct password does not reset the attempts at the code after it.
    """

    email: str
    address: str | None
    device: str | None = None
    step: str = "password"

    @property
    def account(self) -> str:
        """The step and the normalized e-mail address that attempts are counted for."""
        return f"{self.step}|{users.normal_email(self.email)}"

    @property
    def own(self) -> str:
        """The hashed subject of this source's own count: the account at its device, or else at its network."""
        place = f"device:{self.device}" if self.device else f"network:{network_of(self.address or '')}"
        return hash_token(f"{place}|{self.account}")

    def counted(self) -> dict[str, Delays]:
        """The subjects that an attempt counts towards, with the delays of each."""
        if self.device is not None:
            return {self.own: OWN_DELAYS}
        account = {hash_token(f"account:{self.account}"): ACCOUNT_DELAYS}
        if self.address is None:
            return account
        return {self.own: OWN_DELAYS, hash_token(f"address:{network_of(self.address)}"): ADDRESS_DELAYS, **account}


def admit(store: Store, clock: Clock, source: Source) -> int:
    """Count an attempt and return 0, or return the seconds to wait before the next one, which leaves it uncounted."""
    now, counted = clock(), source.counted()
    with store.write() as tx:
        tx.run("DELETE FROM sign_in_failures WHERE until < :limit", {"limit": now - FORGET_AFTER})
        rows = {subject: _row(tx, subject) for subject in counted}
        wait = max((row["until"] - now for row in rows.values() if row), default=0)
        if wait > 0:
            return -(-wait // SECOND)
        for subject, delays in counted.items():
            row = rows[subject]
            _count(tx, subject, (row["failures"] if row else 0) + 1, delays, now)
    return 0


def succeeded(store: Store, source: Source) -> None:
    """Uncount an attempt that succeeded: the source's own count is reset, the others decrease by one."""
    with store.write() as tx:
        tx.run("DELETE FROM sign_in_failures WHERE subject = :subject", {"subject": source.own})
        for subject in source.counted():
            tx.run(
                "UPDATE sign_in_failures SET failures = failures - 1 WHERE subject = :subject AND failures > 0",
                {"subject": subject},
            )


def _count(tx: Tx, subject: str, failures: int, delays: Delays, now: int) -> None:
    delay = max((wait for least, wait in delays if failures >= least), default=0)
    tx.run(
        "INSERT INTO sign_in_failures (subject, failures, until) VALUES (:subject, :failures, :until)"
        " ON CONFLICT (subject) DO UPDATE SET failures = excluded.failures, until = excluded.until",
        {"subject": subject, "failures": failures, "until": now + delay},
    )


def _row(tx: Tx, subject: str) -> Row | None:
    return tx.one("SELECT failures, until FROM sign_in_failures WHERE subject = :subject", {"subject": subject})
