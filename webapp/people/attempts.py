"""How often somebody may try a password. Owns ``sign_in_failures``.

A try is counted towards the account together with the network address it comes from, towards that address, and, slowly,
towards the account from wherever: a stranger slows himself, hardly the person. A device on which the person has signed
in before is counted alone, so that no stranger slows it. Where nobody can tell whose address is whose, addresses do
not count.

Each try is counted before the password is checked and taken back when it was right, so that tries side by side
cannot slip through. Delays grow with the count. An unknown e-mail counts like a known one, so the answer tells
nothing.
"""

from dataclasses import dataclass

from webapp.kit.clock import HOUR, MINUTE, SECOND, Clock
from webapp.kit.crypto import hash_token
from webapp.kit.networks import network_of
from webapp.people import users
from webapp.store.contract import Row, Store, Tx

Delays = tuple[tuple[int, int], ...]
# (failures from, wait before the next try), the last fitting row counts
OWN_DELAYS: Delays = ((5, 15 * SECOND), (7, MINUTE), (9, 5 * MINUTE), (12, 15 * MINUTE))
ADDRESS_DELAYS: Delays = ((20, 15 * SECOND), (30, MINUTE), (50, 15 * MINUTE))
ACCOUNT_DELAYS: Delays = ((30, 15 * SECOND), (60, MINUTE), (120, 5 * MINUTE))
FORGET_AFTER = HOUR


@dataclass(frozen=True, slots=True)
class Source:
    """Where a try comes from. ``address`` is None where it cannot be told; ``device`` names one that is known.

    Each ``step`` of signing in is counted for itself: the right password gives no more tries at the code after it.
    """

    email: str
    address: str | None
    device: str | None = None
    step: str = "password"

    @property
    def account(self) -> str:
        """What is tried to get into."""
        return f"{self.step}|{users.normal_email(self.email)}"

    @property
    def own(self) -> str:
        """What is counted of this source alone: its device, or its address, with the account."""
        place = f"device:{self.device}" if self.device else f"network:{network_of(self.address or '')}"
        return hash_token(f"{place}|{self.account}")

    def counted(self) -> dict[str, Delays]:
        """What a try is counted towards, and how each of it delays."""
        if self.device is not None:
            return {self.own: OWN_DELAYS}
        account = {hash_token(f"account:{self.account}"): ACCOUNT_DELAYS}
        if self.address is None:
            return account
        return {self.own: OWN_DELAYS, hash_token(f"address:{network_of(self.address)}"): ADDRESS_DELAYS, **account}


def admit(store: Store, clock: Clock, source: Source) -> int:
    """Count a try. 0 when it may go ahead, else the whole seconds to wait (and it is not counted)."""
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
    """Take back a counted try that was right: its own count starts afresh, the others lose this one try only."""
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
