"""Codes of an authenticator app: near their time, once each, and only after a first one proved that the app works; and
recovery codes, shown once, kept as hashes, good once each.
"""

from typing import Any

import pyotp
import pytest

from webapp.errors import Conflict
from webapp.kit.clock import SECOND, FakeClock
from webapp.people import totp, users
from webapp.people.totp import Totp
from webapp.people.users import User
from webapp.store.sqlite import SQLiteStore


def test_each_code_works_once_for_its_person(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    alice, bob = (
        users.create(people_store, people_clock, email=f"{name}@example.com", password="a long one", role="member").id
        for name in ("alice", "bob")
    )
    with people_store.write() as tx:
        old = totp.replace_recovery_codes(tx, alice)
        codes = totp.replace_recovery_codes(tx, alice)
        assert len(set(codes)) == totp.recovery_codes_left(tx, alice) == 10
        assert codes[0] not in str(tx.all("SELECT * FROM recovery_codes"))
        assert not totp.use_recovery_code(tx, alice, old[0]) and not totp.use_recovery_code(tx, bob, codes[0])
        assert totp.use_recovery_code(tx, alice, f" {codes[0].upper().replace('-', ' ')}\n")
        assert not totp.use_recovery_code(tx, alice, codes[0]) and not totp.use_recovery_code(tx, alice, "")
        assert totp.recovery_codes_left(tx, alice) == 9
        totp.drop_recovery_codes(tx, alice)
        assert totp.recovery_codes_left(tx, alice) == 0


class Backwards:
    """Seals by turning round."""

    def seal(self, tx: Any, row: str, plain: bytes) -> bytes:
        return plain[::-1]

    def open(self, row: str, box: bytes) -> bytes:
        return box[::-1]


@pytest.fixture
def alice(people_store: SQLiteStore, people_clock: FakeClock) -> User:
    return users.create(people_store, people_clock, email="alice@example.com", password="a long one", role="member")


@pytest.fixture
def codes(people_store: SQLiteStore, people_clock: FakeClock) -> Totp:
    return Totp(people_store, people_clock, Backwards())


def code(secret: str, clock: FakeClock, later: int = 0) -> str:
    """What the app shows, ``later`` seconds from now."""
    return pyotp.TOTP(secret).at(clock() // SECOND + later)


def test_it_is_on_once_a_code_proved_it(codes: Totp, alice: User, people_clock: FakeClock) -> None:
    store, secret = codes.store, codes.begin(alice)
    assert codes.begin(alice) == secret and secret not in str(store.all("SELECT * FROM totp_secrets"))
    right = code(secret, people_clock)
    assert codes.enable(alice, "000000" if right != "000000" else "000001") is None
    assert not codes.accepts(alice, right) and not totp.is_on(store, alice.id)
    recovery = codes.enable(alice, f"{right[:3]} {right[3:]}")
    assert recovery is not None and len(recovery) == 10 and totp.is_on(store, alice.id)
    assert totp.user_ids(store) == {alice.id}
    with pytest.raises(Conflict):
        codes.begin(alice)
    assert codes.enable(alice, code(secret, people_clock, 30)) is None, "it is on already"
    assert codes.accepts(alice, recovery[0]) and not codes.accepts(alice, recovery[0])
    with store.write() as tx:
        assert totp.disable(tx, people_clock(), alice.id) and not totp.disable(tx, people_clock(), alice.id)
    assert not codes.accepts(alice, recovery[1]) and codes.begin(alice) != secret
    verbs = [row["verb"] for row in store.all("SELECT verb FROM audit ORDER BY id")]
    assert verbs == ["created", "two_step_on", "recovered", "two_step_off"]


def test_a_code_counts_near_its_time_and_once(codes: Totp, alice: User, people_clock: FakeClock) -> None:
    secret = codes.begin(alice)
    used = code(secret, people_clock)
    assert codes.enable(alice, used)
    for later, accepted in ((0, False), (60, False), (-60, False), (30, True), (30, False), (0, False)):
        assert codes.accepts(alice, code(secret, people_clock, later)) is accepted, later
    people_clock.advance(60 * SECOND)
    assert codes.accepts(alice, code(secret, people_clock, -30)) is False, "it was taken as the one of then"
    assert codes.accepts(alice, code(secret, people_clock))
    for strange in ("", "12345", "1234567", "\ud800", "x" * 10_000):
        assert not codes.accepts(alice, strange)


def test_the_address_for_the_app(alice: User) -> None:
    assert totp.address("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", alice, "Patchbay (localhost)") == (
        "otpauth://totp/Patchbay%20%28localhost%29:alice%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
        "&issuer=Patchbay%20%28localhost%29"
    )
