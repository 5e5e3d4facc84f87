"""A challenge is answered once."""

from webapp.people import challenges
from webapp.store.sqlite import SQLiteStore


def test_a_challenge_is_spent_once_and_forgotten_later(people_store: SQLiteStore) -> None:
    first, second = challenges.new(), challenges.new()
    assert first != second and len(first) == 32
    with people_store.write() as tx:
        assert challenges.spend(tx, 0, first) and challenges.spend(tx, 0, second)
        assert not challenges.spend(tx, challenges.LIFETIME - 1, first)
        assert challenges.spend(tx, challenges.LIFETIME, challenges.new())
        assert len(tx.all("SELECT * FROM spent_challenges")) == 1
