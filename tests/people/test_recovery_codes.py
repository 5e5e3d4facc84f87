"""Recovery codes: shown once, kept as hashes, good once each."""

from webapp.kit.clock import FakeClock
from webapp.people import recovery_codes, users
from webapp.store.sqlite import SQLiteStore


def test_each_code_works_once_for_its_person(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    alice, bob = (
        users.create(people_store, people_clock, email=f"{name}@example.com", password="a long one", role="member").id
        for name in ("alice", "bob")
    )
    with people_store.write() as tx:
        old = recovery_codes.replace_all(tx, alice)
        codes = recovery_codes.replace_all(tx, alice)
        assert len(set(codes)) == recovery_codes.left(tx, alice) == 10
        assert codes[0] not in str(tx.all("SELECT * FROM recovery_codes"))
        assert not recovery_codes.use(tx, alice, old[0]) and not recovery_codes.use(tx, bob, codes[0])
        assert recovery_codes.use(tx, alice, f" {codes[0].upper().replace('-', ' ')}\n")
        assert not recovery_codes.use(tx, alice, codes[0]) and not recovery_codes.use(tx, alice, "")
        assert recovery_codes.left(tx, alice) == 9
        recovery_codes.drop(tx, alice)
        assert recovery_codes.left(tx, alice) == 0
