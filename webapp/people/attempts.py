"""How often somebody may try a password: counted per e-mail and per network address. Owns ``sign_in_failures``.

Each try is counted before the password is checked and taken back when it was right, so that tries side by side
cannot slip through. Delays grow with the count. An unknown e-mail counts like a known one, so the answer tells
nothing.
"""

from webapp.kit.clock import HOUR, MINUTE, SECOND, Clock
from webapp.kit.crypto import hash_token
from webapp.kit.networks import network_of
from webapp.people import emails
from webapp.store.contract import Row, Store, Tx

# (failures from, wait before the next try), the last fitting row counts
EMAIL_DELAYS = ((5, 15 * SECOND), (7, MINUTE), (9, 5 * MINUTE), (12, 15 * MINUTE))
ADDRESS_DELAYS = ((20, 15 * SECOND), (30, MINUTE), (50, 15 * MINUTE))
FORGET_AFTER = HOUR


def admit(store: Store, clock: Clock, *, email: str, address: str) -> int:
    """Count a try. 0 when it may go ahead, else the whole seconds to wait (and it is not counted)."""
    now = clock()
    subjects = ((_email(email), EMAIL_DELAYS), (_address(address), ADDRESS_DELAYS))
    with store.write() as tx:
        tx.run("DELETE FROM sign_in_failures WHERE until < :limit", {"limit": now - FORGET_AFTER})
        rows = [_row(tx, subject) for subject, _ in subjects]
        wait = max((row["until"] - now for row in rows if row), default=0)
        if wait > 0:
            return -(-wait // SECOND)
        for (subject, delays), row in zip(subjects, rows, strict=True):
            _count(tx, subject, (row["failures"] if row else 0) + 1, delays, now)
    return 0


def succeeded(store: Store, *, email: str, address: str) -> None:
    """Take back a counted try that was right: the e-mail starts afresh, the address loses this one try only."""
    with store.write() as tx:
        tx.run("DELETE FROM sign_in_failures WHERE subject = :subject", {"subject": _email(email)})
        tx.run(
            "UPDATE sign_in_failures SET failures = failures - 1 WHERE subject = :subject AND failures > 0",
            {"subject": _address(address)},
        )


def _count(tx: Tx, subject: str, failures: int, delays: tuple[tuple[int, int], ...], now: int) -> None:
    delay = max((wait for least, wait in delays if failures >= least), default=0)
    tx.run(
        "INSERT INTO sign_in_failures (subject, failures, until) VALUES (:subject, :failures, :until)"
        " ON CONFLICT (subject) DO UPDATE SET failures = excluded.failures, until = excluded.until",
        {"subject": subject, "failures": failures, "until": now + delay},
    )


def _row(tx: Tx, subject: str) -> Row | None:
    return tx.one("SELECT failures, until FROM sign_in_failures WHERE subject = :subject", {"subject": subject})


def _email(email: str) -> str:
    return hash_token("email:" + emails.normal(email))


def _address(address: str) -> str:
    return hash_token(f"address:{network_of(address)}")
