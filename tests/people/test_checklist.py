"""Marks on the checklist: hidden by one person, done for everybody, and gone with the login."""

from webapp.kit.clock import FakeClock
from webapp.people import checklist, users
from webapp.people.checklist import HIDDEN
from webapp.store.contract import Store


def test_a_person_hides_it_for_themselves(store: Store, clock: FakeClock) -> None:
    alice, bob = (
        users.create(store, clock, email=f"{name}@example.com", password="three plain words", role="owner").id
        for name in ("alice", "bob")
    )
    checklist.mark(store, clock, alice, HIDDEN)
    checklist.mark(store, clock, alice, HIDDEN)
    assert checklist.is_hidden(store, alice) and not checklist.is_hidden(store, bob)
    assert checklist.marked(store) == frozenset(), "to hide it is no step"
    checklist.unmark(store, HIDDEN, user_id=bob)
    assert checklist.is_hidden(store, alice)
    checklist.unmark(store, HIDDEN, user_id=alice)
    assert not checklist.is_hidden(store, alice)


def test_a_step_is_done_for_everybody_until_its_marks_are_removed(store: Store, clock: FakeClock) -> None:
    alice, bob = (
        users.create(store, clock, email=f"{name}@example.com", password="three plain words", role="owner")
        for name in ("alice", "bob")
    )
    for person in (alice, bob):
        checklist.mark(store, clock, person.id, "key")
    with store.write() as tx:
        users.remove(tx, clock(), alice)
    assert checklist.marked(store) == {"key"}
    checklist.unmark(store, "key")
    assert checklist.marked(store) == frozenset()
