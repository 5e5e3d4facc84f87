"""Tries are counted so that a stranger slows himself, delays grow, and nothing tells who exists."""

from concurrent.futures import ThreadPoolExecutor

from webapp.kit.clock import HOUR, SECOND, FakeClock
from webapp.people import sign_in_attempts
from webapp.people.sign_in_attempts import Source
from webapp.store.sqlite import SQLiteStore

EMAIL = "a@example.com"
HOME = Source(EMAIL, "198.51.100.1")


def tries(store: SQLiteStore, clock: FakeClock, count: int, source: Source = HOME) -> int:
    """How many of ``count`` tries at one moment may go ahead."""
    return sum(sign_in_attempts.admit(store, clock, source) == 0 for _ in range(count))


def elsewhere(store: SQLiteStore, clock: FakeClock, count: int, email: str = EMAIL) -> int:
    """The same, each from an address of its own."""
    sources = (Source(email, f"2001:db8:{number:x}::1") for number in range(count))
    return sum(sign_in_attempts.admit(store, clock, source) == 0 for source in sources)


def test_the_fifth_failure_of_one_source_brings_a_delay_that_grows(
    people_store: SQLiteStore, people_clock: FakeClock
) -> None:
    assert tries(people_store, people_clock, 10) == 5
    waits = []
    for _ in range(9):
        wait = sign_in_attempts.admit(people_store, people_clock, Source("A@example.com ", HOME.address))
        waits.append(wait)
        people_clock.advance(wait * SECOND)
        assert sign_in_attempts.admit(people_store, people_clock, HOME) == 0
    assert waits == [15, 15, 60, 60, 300, 300, 300, 900, 900]


def test_a_stranger_slows_himself_only(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    assert tries(people_store, people_clock, 10, Source(EMAIL, "203.0.113.9")) == 5
    assert sign_in_attempts.admit(people_store, people_clock, HOME) == 0
    network = "2001:db8::1", "2001:db8::ffff", "2001:db8:1::1"
    assert tries(people_store, people_clock, 10, Source(EMAIL, network[0])) == 5
    waits = [sign_in_attempts.admit(people_store, people_clock, Source(EMAIL, address)) for address in network]
    assert waits[0] == waits[1] > 0 == waits[2], "a network is an IPv6 /64"


def test_many_strangers_slow_unknown_devices_and_never_a_known_one(
    people_store: SQLiteStore, people_clock: FakeClock
) -> None:
    known = Source(EMAIL, "2001:db8:1::1", "laptop")
    assert elsewhere(people_store, people_clock, 100) == 30
    assert sign_in_attempts.admit(people_store, people_clock, HOME) == 15
    assert sign_in_attempts.admit(people_store, people_clock, Source("other@example.com", HOME.address)) == 0
    assert tries(people_store, people_clock, 10, known) == 5, "its own count"
    assert sign_in_attempts.admit(people_store, people_clock, Source(EMAIL, None, "phone")) == 0


def test_an_address_is_limited_across_accounts(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    sources = [Source(f"{number}@example.com", HOME.address) for number in range(40)]
    assert sum(sign_in_attempts.admit(people_store, people_clock, source) == 0 for source in sources) == 20
    assert sign_in_attempts.admit(people_store, people_clock, Source("x@example.com", "198.51.100.2")) == 0


def test_where_addresses_tell_nothing_the_account_alone_is_counted(
    people_store: SQLiteStore, people_clock: FakeClock
) -> None:
    assert tries(people_store, people_clock, 40, Source(EMAIL, None)) == 30
    assert sign_in_attempts.admit(people_store, people_clock, Source("other@example.com", None)) == 0


def test_a_right_password_starts_its_own_count_afresh_only(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    for number in range(17):
        sign_in_attempts.admit(people_store, people_clock, Source(f"{number}@example.com", HOME.address))
    own = Source("own@example.com", HOME.address)
    for _ in range(3):  # somebody with a login of their own cannot wash the address clean with it
        assert sign_in_attempts.admit(people_store, people_clock, own) == 0
        sign_in_attempts.succeeded(people_store, own)
    assert tries(people_store, people_clock, 9, own) == 3
    assert tries(people_store, people_clock, 4) == 0
    assert elsewhere(people_store, people_clock, 40) == 30
    sign_in_attempts.succeeded(people_store, Source(EMAIL, "2001:db8:1::1"))
    assert elsewhere(people_store, people_clock, 40) == 0, "the account waits as before"


def test_tries_are_forgotten_after_an_hour_of_peace(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    tries(people_store, people_clock, 5)
    people_clock.advance(HOUR + 16 * SECOND)
    assert tries(people_store, people_clock, 9) == 5
    assert len(people_store.all("SELECT 1 FROM sign_in_failures")) == 3


def test_tries_side_by_side_cannot_slip_through(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    def attempt(_: int) -> bool:
        return sign_in_attempts.admit(people_store, people_clock, HOME) == 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(40))) == 5


def test_strange_addresses_are_counted_too(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    assert tries(people_store, people_clock, 9, Source(EMAIL, "unix:")) == 5
    assert sign_in_attempts.admit(people_store, people_clock, Source(EMAIL, "::ffff:192.0.2.200")) == 0
