"""Tries are counted per e-mail and per address, delays grow, and nothing tells who exists."""

from concurrent.futures import ThreadPoolExecutor

from webapp.kit.clock import HOUR, SECOND, FakeClock
from webapp.people import attempts
from webapp.store.sqlite import SQLiteStore


def tries(store: SQLiteStore, clock: FakeClock, count: int, email: str = "a@example.com", address: str = "") -> int:
    """How many of ``count`` tries at one moment may go ahead."""
    return sum(
        attempts.admit(store, clock, email=email, address=address or f"192.0.2.{number}") == 0
        for number in range(count)
    )


def test_fifth_failure_of_an_e_mail_brings_a_delay_that_grows(
    people_store: SQLiteStore, people_clock: FakeClock
) -> None:
    assert tries(people_store, people_clock, 10) == 5
    waits = []
    for _ in range(9):
        wait = attempts.admit(people_store, people_clock, email="A@example.com ", address="198.51.100.1")
        waits.append(wait)
        people_clock.advance(wait * SECOND)
        assert attempts.admit(people_store, people_clock, email="a@example.com", address="198.51.100.1") == 0
    assert waits == [15, 15, 60, 60, 300, 300, 300, 900, 900]


def test_an_address_is_limited_across_e_mails(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    passed = sum(
        attempts.admit(people_store, people_clock, email=f"{number}@example.com", address="2001:db8::1") == 0
        for number in range(40)
    )
    assert passed == 20
    assert attempts.admit(people_store, people_clock, email="x@example.com", address="2001:db8::ffff") > 0
    assert attempts.admit(people_store, people_clock, email="x@example.com", address="2001:db8:1::1") == 0


def test_a_right_password_starts_the_e_mail_afresh_but_not_the_address(
    people_store: SQLiteStore, people_clock: FakeClock
) -> None:
    for number in range(19):
        attempts.admit(people_store, people_clock, email=f"{number}@example.com", address="192.0.2.1")
    for _ in range(3):  # somebody with a login of their own cannot wash the address clean with it
        attempts.admit(people_store, people_clock, email="own@example.com", address="192.0.2.9")
        attempts.succeeded(people_store, email="own@example.com", address="192.0.2.9")
    attempts.succeeded(people_store, email="0@example.com", address="192.0.2.1")
    assert tries(people_store, people_clock, 5, email="own@example.com", address="192.0.2.1") == 2
    assert tries(people_store, people_clock, 9, email="0@example.com") == 5


def test_tries_are_forgotten_after_an_hour_of_peace(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    tries(people_store, people_clock, 5)
    people_clock.advance(HOUR + 16 * SECOND)
    assert tries(people_store, people_clock, 9) == 5
    assert len(people_store.all("SELECT 1 FROM sign_in_failures")) == 6


def test_tries_side_by_side_cannot_slip_through(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    def attempt(number: int) -> bool:
        return attempts.admit(people_store, people_clock, email="a@example.com", address=f"192.0.2.{number}") == 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(40))) == 5


def test_strange_addresses_are_counted_too(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    passed = sum(
        attempts.admit(people_store, people_clock, email=f"{number}@x.org", address="unix:") == 0
        for number in range(30)
    )
    assert passed == 20
    assert attempts.admit(people_store, people_clock, email="v4@x.org", address="::ffff:192.0.2.200") == 0
